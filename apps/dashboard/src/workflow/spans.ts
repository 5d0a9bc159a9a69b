/** The bars of a Gantt chart and the ticks of its axis. Pure. */
import { isEnded } from '@leasehold/core/model';
import type { TaskRow } from '@leasehold/wire';

export interface Span {
  readonly row: TaskRow;
  /** From when it could run to when its last attempt began; absent when it never could. */
  readonly waitFromMs: number;
  readonly runFromMs?: number;
  readonly toMs: number;
}

/** In the order in which they began. A worker's clock may be ahead of ours: no bar is shorter than nothing. */
export function spansOf(rows: readonly TaskRow[], nowMs: number): readonly Span[] {
  const spans = rows.map((row): Span => {
    const ended = isEnded(row.state) ? (row.endedMs ?? row.updatedMs) : undefined;
    const begun =
      row.startedMs !== undefined && (row.state === 'STARTED' || ended !== undefined) ? row.startedMs : undefined;
    const waitFromMs = Math.min(row.createdMs, begun ?? row.createdMs);
    const toMs = Math.max(ended ?? nowMs, begun ?? waitFromMs);
    return { row, waitFromMs, toMs, ...(begun === undefined ? {} : { runFromMs: begun }) };
  });
  return spans.toSorted(
    (a, b) =>
      (a.runFromMs ?? Number.MAX_SAFE_INTEGER) - (b.runFromMs ?? Number.MAX_SAFE_INTEGER) ||
      (a.row.workflow?.index ?? 0) - (b.row.workflow?.index ?? 0),
  );
}

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
];

/** Whole steps of the clock between two instants, at most `most`. */
export function ticksOf(fromMs: number, toMs: number, most: number): readonly number[] {
  const stepMs = STEPS_MS.find((step) => (toMs - fromMs) / step <= most) ?? Math.ceil((toMs - fromMs) / most);
  const first = Math.ceil(fromMs / stepMs) * stepMs;
  return Array.from({ length: Math.max(0, Math.floor((toMs - first) / stepMs) + 1) }, (_, i) => first + i * stepMs);
}
