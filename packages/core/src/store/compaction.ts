/**
 * Forgetting history. etcd has one history for all that share it, so one node of one namespace compacts for all.
 *
 * Q1  The compactor holds a cluster-level key under its lease, and gives it up with its term.
 * Q2  Nothing younger than the largest window that any namespace registered is forgotten; when room is short, less is
 *     kept, down to a least.
 * Q3  A time becomes a revision through the samples that the leader writes: what was written at a sample's revision is as
 *     old as the sample.
 */
import { prefixEnd, type Revision } from '../kv/kv.js';
import { clusterKeys } from '../model/cluster-keys.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { historyFor, type StorageLimits, type StorageReport } from '../model/storage.js';
import { LEADER_CALL, type Leadership } from './leadership.js';
import { pages } from './pages.js';
import { absent, createdAt, found, get, leaseIs, modIs, put, type Store } from './store.js';
import { answered } from './submit.js';

interface WindowRecord {
  readonly windowMs: number;
  readonly atMs: number;
}

/** A namespace that has not renewed its window for so long has no leader any more, and no say. */
const FORGOTTEN_MS = 7 * 86_400_000;
const RENEW_MS = 3_600_000;

/** Writes down that at this moment the store was at this revision. */
export async function sampleClock(store: Store, leader: Leadership): Promise<void> {
  const nowMs = store.now();
  const key = store.keys.clock(nowMs);
  await answered(store, leader.fence, LEADER_CALL, {
    compare: [absent(key)],
    success: [put(key, encodeRecord({ atMs: nowMs }))],
  });
}

/** The revision of the newest sample that is at least so old; undefined when there is none. */
export async function revisionBefore(store: Store, timeMs: number, withinMs: number): Promise<Revision | undefined> {
  const key = store.keys.clock(Math.max(0, timeMs - withinMs));
  const answer = await store.kv.range({ key, rangeEnd: `${store.keys.clock(timeMs)}\0`, keysOnly: true });
  return answer.kvs.at(-1)?.modRevision;
}

/** Says how much history this namespace needs. */
export async function registerWindow(store: Store, leader: Leadership, windowMs: number): Promise<void> {
  const key = clusterKeys.window(store.keys.namespace);
  const [kv] = (await store.kv.range({ key })).kvs;
  const known = kv === undefined ? undefined : decodeRecord<WindowRecord>(kv.value, 'window');
  if (known?.windowMs === windowMs && known.atMs > store.now() - RENEW_MS) return;
  const record: WindowRecord = { windowMs, atMs: store.now() };
  await answered(store, leader.fence, LEADER_CALL, {
    compare: [modIs(key, kv?.modRevision ?? 0n)],
    success: [put(key, encodeRecord(record))],
  });
}

async function largestWindowMs(store: Store): Promise<number> {
  const key = clusterKeys.windows;
  let largest = 0;
  for await (const page of pages(store, { key, rangeEnd: prefixEnd(key) })) {
    for (const kv of page) {
      const { windowMs, atMs } = decodeRecord<WindowRecord>(kv.value, 'window');
      if (atMs > store.now() - FORGOTTEN_MS) largest = Math.max(largest, windowMs);
    }
  }
  return largest;
}

/** True when this leader compacts for the cluster: it does already, or nobody else does. */
export async function claimCompactor(store: Store, leader: Leadership): Promise<boolean> {
  const key = clusterKeys.compactor;
  const record = { namespace: store.keys.namespace, node: leader.node, sinceMs: store.now() };
  const result = await answered(store, leader.fence, LEADER_CALL, {
    compare: [absent(key)],
    success: [put(key, encodeRecord(record), leader.lease)],
    failure: [get(key)],
  });
  if (result.succeeded) return true;
  return found(result.results, 0)?.lease === leader.lease;
}

/** Gives the duty up, so that another namespace's leader need not wait for the lease. */
export async function resignCompactor(store: Store, leader: Leadership): Promise<void> {
  const key = clusterKeys.compactor;
  const [kv] = (await store.kv.range({ key })).kvs;
  if (kv === undefined || kv.lease !== leader.lease) return;
  await store.committer.submit(
    leader.fence,
    { compare: [createdAt(key, kv.createRevision), leaseIs(key, leader.lease)], success: [{ kind: 'delete', key }] },
    { giveUpMs: 1_000 },
  );
}

export interface Compacted {
  readonly revision: Revision;
  readonly windowMs: number;
}

/** Forgets what is older than everybody's window. Undefined: there is no sample old enough yet. */
export async function compactHistory(
  store: Store,
  report: StorageReport,
  limits: StorageLimits,
): Promise<Compacted | undefined> {
  const { quotaBytes } = report;
  const windowMs = historyFor(report, (await largestWindowMs(store)) || limits.historyMs, { ...limits, quotaBytes });
  const revision = await revisionBefore(store, store.now() - windowMs, SAMPLES_MS);
  if (revision === undefined) return undefined;
  await store.kv.compact(revision, { timeoutMs: 30_000 });
  return { revision, windowMs };
}

/** How far back from the window's edge a sample is looked for. */
const SAMPLES_MS = 3_600_000;
