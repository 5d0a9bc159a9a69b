/** Pages by key: a cursor names the last row seen, so rows that come and go shift nothing. */
import { LeaseholdError } from '@leasehold/core/model';
import type { TaskFilter, TaskListQuery, TaskOrder, TaskRow, TaskSort } from '@leasehold/wire';
import { DEFAULT_TASK_ORDER, SORT_PATTERN, TaskFilter as TaskFilterSchema } from '@leasehold/wire';
import { matchTask, taskKey } from '../projection/match.js';
import { slotOrder, type Slot } from '../projection/sorted-list.js';
import { withoutPayload } from '../projection/rows.js';
import type { BoardView } from '../projection/board-view.js';
import { issueProblem } from './problems.js';

export function encodeCursor(slot: Slot): string {
  return Buffer.from(JSON.stringify([slot.key, slot.id])).toString('base64url');
}

export function decodeCursor(text: string, kind: 'number' | 'string'): Slot {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const [key, id] = Array.isArray(value) ? (value as unknown[]) : [];
    if (typeof key === kind && typeof id === 'string') return { key: key as number | string, id };
  } catch {
    // Refused below.
  }
  throw new LeaseholdError('invalid', 'cursor: it is not one that this API gave; start without a cursor', {
    field: 'cursor',
  });
}

export function orderOfQuery(sort: string | undefined): TaskOrder {
  if (sort === undefined) return DEFAULT_TASK_ORDER;
  if (!SORT_PATTERN.test(sort)) {
    throw new LeaseholdError(
      'invalid',
      `sort: "${sort}" is not a sort; give one of the known fields, with "-" before it for descending`,
      {
        field: 'sort',
      },
    );
  }
  const desc = sort.startsWith('-');
  return { by: (desc ? sort.slice(1) : sort) as TaskSort, desc };
}

export function filterOfQuery(query: TaskListQuery): TaskFilter {
  const { state, name, queue, node, tag, workflow, error, q, from, to } = query;
  const given = { state, name, queue, node, tag, workflow, error, q, from, to };
  const parsed = TaskFilterSchema.safeParse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  );
  if (parsed.success) return parsed.data;
  throw issueProblem('query', parsed.error);
}

export interface TaskPageResult {
  readonly revision: string;
  readonly total: number;
  readonly rows: readonly TaskRow[];
  readonly next?: string;
}

/** One page. Looks through all entries once and keeps only the page: no list is made for a passing reader. */
export function taskPage(
  board: BoardView,
  filter: TaskFilter,
  order: TaskOrder,
  limit: number,
  cursor?: string,
  payload = true,
): TaskPageResult {
  const match = matchTask(filter, payload);
  const keyOf = taskKey(order);
  const compare = slotOrder(order.desc);
  const kind = order.by === 'name' || order.by === 'queue' ? 'string' : 'number';
  const after = cursor === undefined ? undefined : decodeCursor(cursor, kind);
  let total = 0;
  const best: Slot[] = [];
  for (const entry of board.state.tasks.values()) {
    if (!match(entry)) continue;
    total++;
    const slot = { key: keyOf(entry), id: entry.id };
    if (after !== undefined && compare(slot, after) <= 0) continue;
    keepBest(best, slot, compare, limit + 1);
  }
  const rows = best.slice(0, limit).flatMap(({ id }) => {
    const row = board.views.task(id);
    return row === undefined ? [] : [payload ? row : withoutPayload(row)];
  });
  const last = best[limit - 1];
  return {
    revision: board.revision,
    total,
    rows,
    ...(best.length > limit && last !== undefined ? { next: encodeCursor(last) } : {}),
  };
}

/** Keeps the first `size` slots, sorted. */
function keepBest(best: Slot[], slot: Slot, compare: (a: Slot, b: Slot) => number, size: number): void {
  const last = best.at(-1);
  if (best.length >= size && last !== undefined && compare(slot, last) >= 0) return;
  let low = 0;
  let high = best.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(best[middle] as Slot, slot) < 0) low = middle + 1;
    else high = middle;
  }
  best.splice(low, 0, slot);
  if (best.length > size) best.pop();
}

/** Pages of a small view, in its own order. */
export function pageOf<R extends { readonly id: string }>(
  board: BoardView,
  rows: readonly R[],
  limit: number,
  cursor: string | undefined,
): { revision: string; total: number; rows: readonly R[]; next?: string } {
  const from = cursor === undefined ? 0 : rows.findIndex(({ id }) => id === decodeCursor(cursor, 'string').id) + 1;
  const page = rows.slice(from, from + limit);
  const last = page.at(-1);
  return {
    revision: board.revision,
    total: rows.length,
    rows: page,
    ...(from + limit < rows.length && last !== undefined ? { next: encodeCursor({ key: '', id: last.id }) } : {}),
  };
}
