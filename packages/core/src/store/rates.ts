/**
 * Windows of rate limits. A claim takes a numbered unit of the window that is open, in its own transaction.
 *
 * R1  A limit has one open window. A claim compares its opener and the absence of its unit, so no interleaving takes more
 *     than the window's units, or one of a closed window. The next opens after the one before was closed and its units
 *     were read: how many were taken is then known exactly.
 * R2  In no span of an interval more than the limit's count: a window has as many units as the count leaves beside what was
 *     taken within an interval before its opening (`model/rate.ts`). Times are those at which the leader saw a unit, by its
 *     monotonic clock: never before it was taken.
 * R3  A new leader has no such sight. It goes by the times in the units, and allows for clocks that differ by `SKEW_MS`;
 *     it never waits longer than an interval.
 * R4  A window is for one setting: a claim under another takes none of its units, and the leader replaces it.
 */
import { prefixEnd } from '../kv/kv.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { windowOf, type RateUnitRecord, type WindowRecord } from '../model/rate.js';
import type { RateLimit, Settings } from '../model/records.js';
import { LEADER_CALL, type Leadership } from './leadership.js';
import { pages, type Span } from './pages.js';
import { absent, createdAt, del, put, type Store } from './store.js';
import { answered } from './submit.js';
import { deleteSpan } from './sweep.js';

/** A window that is open. */
export interface OpenWindow {
  readonly limit: string;
  readonly window: number;
  /** Create revision of its opener. */
  readonly revision: bigint;
  readonly record: WindowRecord;
}

/** How far the clocks of nodes may differ without a new leader's opening a window too soon. */
export const SKEW_MS = 5_000;

/** Every rate limit that is set, by its limit's name. */
export async function readRateLimits(store: Store): Promise<ReadonlyMap<string, RateLimit>> {
  const { keys } = store;
  const limits = new Map<string, RateLimit>();
  const spans = [
    spanOf(keys.kind('queues')),
    spanOf(keys.kind('names')),
    { key: keys.all(), rangeEnd: `${keys.all()}\0` },
  ];
  for (const span of spans) {
    for await (const page of pages(store, span)) {
      for (const { key, value } of page) {
        const { rate } = decodeRecord<Settings>(value, 'settings');
        const parsed = keys.parse(key);
        if (rate === undefined || parsed === undefined) continue;
        if (parsed.kind === 'queues') limits.set(`queue/${parsed.name}`, rate);
        else if (parsed.kind === 'names') limits.set(`name/${parsed.name}`, rate);
        else if (parsed.kind === 'all') limits.set('all', rate);
      }
    }
  }
  return limits;
}

/** Limits that have anything under `rates/`. */
export async function knownRates(store: Store): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const page of pages(store, spanOf(store.keys.kind('rates')), { keysOnly: true })) {
    for (const { key } of page) {
      const parsed = store.keys.parse(key);
      if (parsed?.kind === 'rates') names.add(parsed.limit);
    }
  }
  return names;
}

/** A unit that was taken, with the time by the clock of the node that took it. */
export interface TakenUnit {
  readonly window: number;
  readonly n: number;
  readonly atMs: number;
}

/** The open window of a limit, if there is one, and every unit that is kept. */
export async function findWindow(
  store: Store,
  limit: string,
): Promise<{ readonly open?: OpenWindow; readonly taken: readonly TakenUnit[] }> {
  let open: OpenWindow | undefined;
  const taken: TakenUnit[] = [];
  for await (const page of pages(store, spanOf(store.keys.ratesOf(limit)))) {
    for (const { key, value, createRevision: revision } of page) {
      const parsed = store.keys.parse(key);
      if (parsed?.kind !== 'rates') continue;
      const { window, n } = parsed;
      if (n === 0) open = { limit, window, revision, record: decodeRecord<WindowRecord>(value, 'rate window') };
      else taken.push({ window, n, atMs: decodeRecord<RateUnitRecord>(value, 'rate unit').atMs });
    }
  }
  return open === undefined ? { taken } : { open, taken };
}

/** Which units of a window were taken. */
export async function unitsTaken(store: Store, limit: string, window: number): Promise<readonly number[]> {
  const units: number[] = [];
  for await (const page of pages(store, unitsOf(store, limit, window), { keysOnly: true })) {
    for (const { key } of page) {
      const parsed = store.keys.parse(key);
      if (parsed?.kind === 'rates') units.push(parsed.n);
    }
  }
  return units;
}

/**
 * Closes a window: none of its units is taken any more. False: it was otherwise than believed; find it again.
 * @throws LeaseholdError `session-lost` when this leader's term is over.
 */
export async function closeWindow(store: Store, leader: Leadership, open: OpenWindow): Promise<boolean> {
  const key = store.keys.rate(open.limit, open.window, 0);
  const result = await answered(store, leader.fence, LEADER_CALL, {
    compare: [createdAt(key, open.revision)],
    success: [del(key)],
  });
  return result.succeeded;
}

export interface Opening {
  readonly rate: RateLimit;
  readonly units: number;
  readonly index: number;
  /** The number of the window before, 0 without one. */
  readonly after: number;
}

/**
 * Opens a window; the one before has been closed. Undefined: it was otherwise than believed; find it again.
 * @throws LeaseholdError `session-lost` when this leader's term is over.
 */
export async function openWindow(
  store: Store,
  leader: Leadership,
  limit: string,
  { rate, units, index, after }: Opening,
): Promise<OpenWindow | undefined> {
  const { keys } = store;
  const nowMs = store.now();
  const window = Math.max(Math.floor(nowMs), after + 1);
  const record: WindowRecord = { ...windowOf(rate, index), units, index, openedMs: nowMs, rate };
  const key = keys.rate(limit, window, 0);
  const result = await answered(store, leader.fence, LEADER_CALL, {
    compare: [absent(key), ...(after === 0 ? [] : [absent(keys.rate(limit, after, 0))])],
    success: [put(key, encodeRecord(record))],
  });
  return result.succeeded ? { limit, window, revision: result.revision, record } : undefined;
}

/** Deletes the units of the windows before this one. */
export function clearWindows(store: Store, leader: Leadership, limit: string, window: number): Promise<number> {
  return deleteSpan(store, leader, { key: store.keys.ratesOf(limit), rangeEnd: store.keys.rate(limit, window, 0) });
}

/** Deletes all of a limit that is not set any more. */
export function clearLimit(store: Store, leader: Leadership, limit: string): Promise<number> {
  return deleteSpan(store, leader, spanOf(store.keys.ratesOf(limit)));
}

function unitsOf(store: Store, limit: string, window: number): Span {
  const first = store.keys.rate(limit, window, 1);
  return { key: first, rangeEnd: prefixEnd(first.slice(0, first.lastIndexOf('/') + 1)) };
}

function spanOf(prefix: string): Span {
  return { key: prefix, rangeEnd: prefixEnd(prefix) };
}
