/** Pure: how a rate limit is cut into windows. */
import type { RateLimit } from './records.js';

/** One window: so many units may be taken in it, and the next one opens so long after its first unit was taken. */
export interface RateWindow {
  readonly units: number;
  readonly lengthMs: number;
}

/** Windows of an `even` limit are not shorter: each costs the leader a write, and all of them the way from claim to opening. */
export const SHORTEST_WINDOW_MS = 200;

/** A burst limit has one window an interval. An even one has several, and any `parts` in a row have `count` units together. */
export function windowOf({ count, intervalMs, even }: RateLimit, index: number): RateWindow {
  if (even !== true) return { units: count, lengthMs: intervalMs };
  const parts = Math.max(1, Math.min(count, Math.floor(intervalMs / SHORTEST_WINDOW_MS)));
  const until = (n: number): number => Math.floor((n * count) / parts);
  const part = index % parts;
  return { units: until(part + 1) - until(part), lengthMs: Math.ceil(intervalMs / parts) };
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
