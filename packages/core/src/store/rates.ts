/**
 * Windows of rate limits. A claim takes a numbered unit of the window that is open, in its own transaction.
 *
 * R1  A limit has one open window: the transaction that opens it deletes the opener of the one before. A claim compares the
 *     opener and the absence of its unit, so no interleaving takes more than the window's units, or one of a closed window.
 * R2  Windows go by one clock, the leader's monotonic one, and from what the leader has seen: the next opens no sooner than
 *     the interval after the leader saw the first unit taken. An idle window stays open and costs nothing.
 * R3  A new leader has no such sight. It goes by the times in the units, and allows for clocks that differ by `SKEW_MS`;
 *     it never waits longer than an interval.
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

/** The open window of a limit, and when its first unit was taken, by the clock of the node that took it. */
export async function findWindow(
  store: Store,
  limit: string,
): Promise<{ readonly open?: OpenWindow; readonly usedMs?: number }> {
  let open: OpenWindow | undefined;
  let usedMs = Infinity;
  for await (const page of pages(store, spanOf(store.keys.ratesOf(limit)))) {
    for (const { key, value, createRevision: revision } of page) {
      const parsed = store.keys.parse(key);
      if (parsed?.kind !== 'rates') continue;
      const { window, n } = parsed;
      if (n === 0) open = { limit, window, revision, record: decodeRecord<WindowRecord>(value, 'rate window') };
      else if (window === open?.window)
        usedMs = Math.min(usedMs, decodeRecord<RateUnitRecord>(value, 'rate unit').atMs);
    }
  }
  if (open === undefined) return {};
  return usedMs === Infinity ? { open } : { open, usedMs };
}

/** Whether a unit of the window was taken. */
export async function isUsed(store: Store, { limit, window }: OpenWindow): Promise<boolean> {
  const { kvs } = await store.kv.range({ ...unitsOf(store, limit, window), limit: 1, keysOnly: true });
  return kvs.length > 0;
}

/**
 * Opens the next window, and closes the one before. With `ifUnused` only while no unit of that was taken.
 * Undefined: it was otherwise than believed; find it again.
 * @throws LeaseholdError `session-lost` when this leader's term is over.
 */
export async function openWindow(
  store: Store,
  leader: Leadership,
  limit: string,
  rate: RateLimit,
  before: OpenWindow | undefined,
  ifUnused = false,
): Promise<OpenWindow | undefined> {
  const { keys } = store;
  const nowMs = store.now();
  const index = before === undefined ? 0 : before.record.index + 1;
  const window = Math.max(Math.floor(nowMs), (before?.window ?? 0) + 1);
  const record: WindowRecord = { ...windowOf(rate, index), index, openedMs: nowMs, rate };
  const key = keys.rate(limit, window, 0);
  const old = before === undefined ? undefined : keys.rate(limit, before.window, 0);
  const result = await answered(store, leader.fence, LEADER_CALL, {
    compare: [
      absent(key),
      ...(before === undefined || old === undefined ? [] : [createdAt(old, before.revision)]),
      ...(before !== undefined && ifUnused ? [{ ...absent(''), ...unitsOf(store, limit, before.window) }] : []),
    ],
    success: [put(key, encodeRecord(record)), ...(old === undefined ? [] : [del(old)])],
  });
  return result.succeeded ? { limit, window, revision: result.revision, record } : undefined;
}

/** Deletes the units of windows that were closed. */
export function clearWindows(store: Store, leader: Leadership, { limit, window }: OpenWindow): Promise<number> {
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
