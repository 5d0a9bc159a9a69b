/** Pure: how a rate limit is cut into windows. */
import type { RateLimit } from './records.js';

/** One window: at most so many units may be taken in it. The next one of an even limit opens so long after its first unit. */
export interface RateWindow {
  readonly units: number;
  readonly lengthMs: number;
}

/** Windows of an `even` limit are not shorter: each costs the leader a write, and all of them the way from claim to opening. */
export const SHORTEST_WINDOW_MS = 200;

/** A burst limit gives all it may at once. An even one has several, and any `parts` in a row have `count` units together. */
export function windowOf({ count, intervalMs, even }: RateLimit, index: number): RateWindow {
  if (even !== true) return { units: count, lengthMs: intervalMs };
  const parts = Math.max(1, Math.min(count, Math.floor(intervalMs / SHORTEST_WINDOW_MS)));
  const until = (n: number): number => Math.floor((n * count) / parts);
  const part = index % parts;
  return { units: until(part + 1) - until(part), lengthMs: Math.ceil(intervalMs / parts) };
}

/**
 * How many units the next window may have, and how long that is to be waited for. `ages`: how long ago each unit was taken,
 * ms. Whatever span of an interval one looks at: what was taken in it before the window's opening is younger than an
 * interval then, and was left out of the window.
 */
export function unitsNow(
  rate: RateLimit,
  index: number,
  ages: Iterable<number>,
): { readonly units: number; readonly waitMs: number } {
  const young = [...ages].filter((age) => age <= rate.intervalMs).sort((a, b) => b - a);
  const room = rate.count - young.length;
  if (room > 0) return { units: Math.min(windowOf(rate, index).units, room), waitMs: 0 };
  // When so many have left that there is room for one.
  const oldest = young[-room] ?? 0;
  return { units: 0, waitMs: Math.max(1, Math.floor(rate.intervalMs - oldest) + 1) };
}

export function sameRate(a: RateLimit, b: RateLimit): boolean {
  return a.count === b.count && a.intervalMs === b.intervalMs && (a.even ?? false) === (b.even ?? false);
}

/** `rates/<limit>/<window>/00000`: opens the window. Exactly one of a limit exists at a time. */
export interface WindowRecord extends RateWindow {
  /** Counts the windows of this limit. */
  readonly index: number;
  readonly openedMs: number;
  readonly rate: RateLimit;
}

/** `rates/<limit>/<window>/<n>`, n from 1 on: a unit that a claim took. `atMs` by the clock of its node. */
export interface RateUnitRecord {
  readonly task: string;
  readonly atMs: number;
}

/**
 * Until when nothing begins under a limit, epoch ms, for who explains; undefined while the open window has a unit left. An
 * estimate: the leader goes by its own sight, and needs a moment to open the next.
 */
export function rateUntilMs(
  rate: RateLimit,
  open: { readonly window: number; readonly record: WindowRecord } | undefined,
  taken: readonly { readonly window: number; readonly atMs: number }[],
  nowMs: number,
): number | undefined {
  const own = taken.filter(({ window }) => window === open?.window);
  if (open !== undefined && own.length < open.record.units && sameRate(open.record.rate, rate)) return undefined;
  const ages = taken.map(({ atMs }) => nowMs - atMs);
  const { waitMs } = unitsNow(rate, (open?.record.index ?? -1) + 1, ages);
  const usedMs = own.reduce((least, { atMs }) => Math.min(least, atMs), nowMs);
  const nextMs = rate.even === true && open !== undefined ? usedMs + open.record.lengthMs : nowMs;
  return Math.max(nowMs + waitMs, nextMs);
}
