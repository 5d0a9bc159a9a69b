/**
 * Working on bulks: one runner for a namespace, whoever holds the `runner` key.
 *
 * U1  The key is created under the runner's own lease. Every act and every progress that a runner writes compares its
 *     create revision, its lease and the epoch: a runner that was paused and has a successor writes nothing.
 * U2  A successor goes on at the record's position. What its predecessor did of that chunk is found by its audit (K2).
 */
import { prefixEnd, type LeaseId, type Op } from '../kv/kv.js';
import {
  aborted,
  afterChunk,
  BULK_LIMITS,
  chunkAt,
  isBulkEnded,
  type BulkChunk,
  type BulkLeft,
  type BulkRecord,
  type BulkTarget,
} from '../model/bulk.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { isLeaseholdError, LeaseholdError, type ErrorCode } from '../model/errors.js';
import { actorText } from '../model/records.js';
import { decodeBulk, listBulks, type SeenBulk } from './bulk.js';
import { NO_FENCE, type Fence } from './commit.js';
import { deleteTask } from './delete.js';
import { cancelTask, rescheduleTask, retryTask, type Operated } from './operate.js';
import { pages } from './pages.js';
import type { Drive } from './settle.js';
import { absent, createdAt, del, found, get, leaseIs, modIs, put, type OperatorCall, type Store } from './store.js';

/** Takes the runner's office if it is free. Undefined: another has it, or the lease is over. */
export async function takeRunner(store: Store, lease: LeaseId): Promise<Fence | undefined> {
  const key = store.keys.runner();
  const epoch = (await store.kv.range({ key: store.keys.epoch() })).kvs[0]?.modRevision ?? 0n;
  const sameEpoch = modIs(store.keys.epoch(), epoch);
  const result = await store.committer.submit(NO_FENCE, {
    compare: [absent(key), sameEpoch],
    success: [put(key, lease.toString(), lease)],
    failure: [get(key)],
  });
  if (result.kind === 'fenced') return undefined;
  const kv = result.succeeded ? undefined : found(result.results, 0);
  const term = result.succeeded ? result.revision : kv?.lease === lease ? kv.createRevision : undefined;
  if (term === undefined) return undefined;
  return { id: `runner/${term}`, compare: [createdAt(key, term), leaseIs(key, lease), sameEpoch] };
}

export interface ChunkRun {
  /** The bulk after it; undefined when it is gone. */
  readonly bulk: SeenBulk | undefined;
  /** Pass them to `advance`. */
  readonly drives: readonly Drive[];
}

/**
 * Does one chunk of a bulk, or ends it when it is to be aborted.
 * @throws LeaseholdError `session-lost` when this runner's term is over; KvError when the store does not answer.
 */
export async function runChunk(store: Store, fence: Fence, bulk: SeenBulk): Promise<ChunkRun> {
  const { record } = bulk;
  if (isBulkEnded(record)) return { bulk, drives: [] };
  if (record.state === 'ABORTING') {
    return { bulk: await write(store, fence, bulk, (now) => aborted(now, store.now()), []), drives: [] };
  }
  const key = store.keys.target(record.id, chunkAt(record));
  const [kv] = (await store.kv.range({ key })).kvs;
  const targets = kv === undefined ? [] : (decodeRecord<BulkChunk>(kv.value, 'chunk').targets ?? []);
  // Its record would never get on: end it, saying how far it came.
  if (targets.length === 0) {
    return { bulk: await write(store, fence, bulk, (now) => aborted(now, store.now()), []), drives: [] };
  }
  const outcomes = await Promise.all(targets.map((target, i) => one(store, fence, record, target, i)));
  const left = outcomes.flatMap((outcome) => ('left' in outcome ? [outcome.left] : []));
  const drives = outcomes.flatMap((outcome) => ('drive' in outcome ? [outcome.drive] : []));
  const chunk: BulkChunk = { atMs: store.now(), left };
  const next = await write(
    store,
    fence,
    bulk,
    (now) => (now.position === record.position ? afterChunk(now, targets.length, left, store.now()) : now),
    [put(key, encodeRecord(chunk))],
  );
  return { bulk: next, drives };
}

type Outcome = { readonly left: BulkLeft } | { readonly drive: Drive } | { readonly done: true };

/** Refusals that say something of the task; anything else stops the chunk, to be done again. */
const SKIPPED: ReadonlySet<ErrorCode> = new Set([
  'wrong-state',
  'not-found',
  'unique-conflict',
  'invalid',
  'too-large',
]);

async function one(
  store: Store,
  fence: Fence,
  record: BulkRecord,
  [id, revision]: BulkTarget,
  index: number,
): Promise<Outcome> {
  const call: OperatorCall = {
    actor: record.actor,
    operationId: `${record.id}-${record.position + index}`,
    request: record.id,
    revisionSeen: BigInt(revision),
    fence,
    ...(record.reason === undefined ? {} : { reason: record.reason }),
  };
  try {
    const { drive } = await actOn(store, call, record, id);
    return drive === undefined ? { done: true } : { drive };
  } catch (error) {
    if (!isLeaseholdError(error)) throw error;
    if (error.code === 'conflict') return { left: [id, 'conflicted', error.code, error.message] };
    if (SKIPPED.has(error.code)) return { left: [id, 'skipped', error.code, error.message] };
    throw error;
  }
}

function actOn(store: Store, call: OperatorCall, record: BulkRecord, id: string): Promise<Operated> {
  switch (record.action) {
    case 'retry':
      return retryTask(store, call, id);
    case 'cancel':
      return cancelTask(store, call, id);
    case 'delete':
      return deleteTask(store, call, id);
    case 'reprioritise':
      return rescheduleTask(store, call, id, { priority: record.priority ?? 0 });
  }
}

const TRIES = 20;

/** K3. An abort that was asked for in between is seen and kept. */
async function write(
  store: Store,
  fence: Fence,
  bulk: SeenBulk,
  change: (record: BulkRecord) => BulkRecord,
  ops: readonly Op[],
): Promise<SeenBulk | undefined> {
  const { keys } = store;
  const key = keys.bulk(bulk.record.id);
  let seen = bulk;
  for (let tries = 0; tries < TRIES; tries++) {
    const next = change(seen.record);
    // It is what it would become: an answer that was lost, or a chunk that another runner has counted.
    if (next === seen.record) return seen;
    const ends = isBulkEnded(next) ? endOps(store, next) : [];
    const result = await store.committer.submit(fence, {
      compare: [modIs(key, seen.revision)],
      success: [put(key, encodeRecord(next)), ...ops, ...ends],
      failure: [get(key)],
    });
    if (result.kind === 'fenced') throw new LeaseholdError('session-lost', 'another runner works on bulks now');
    if (result.succeeded) return { record: next, revision: result.revision };
    const kv = found(result.results, 0);
    if (kv === undefined) return undefined;
    seen = { record: decodeBulk(kv), revision: kv.modRevision };
    if (isBulkEnded(seen.record)) return seen;
  }
  throw new LeaseholdError('conflict', `bulk ${bulk.record.id} kept changing; it is tried again`, {
    id: bulk.record.id,
  });
}

/** Its actor may start another; what it never came to is not kept. */
function endOps(store: Store, record: BulkRecord): Op[] {
  const from = Math.ceil(record.position / BULK_LIMITS.chunk);
  const rangeEnd = prefixEnd(store.keys.targets(record.id));
  const untouched: Op[] =
    record.position < record.total ? [{ kind: 'delete', key: store.keys.target(record.id, from), rangeEnd }] : [];
  return [del(store.keys.bulking(actorText(record.actor))), ...untouched];
}

/** Chunks whose bulk never came to be are given so long to become one. */
const UNSEALED_MS = 3_600_000;

/** Forgets bulks that ended long ago, and chunks that never became a bulk. */
export async function sweepBulks(store: Store, fence: Fence): Promise<void> {
  const known = new Set<string>();
  for await (const { record, revision } of listBulks(store)) {
    known.add(record.id);
    if (record.endedMs === undefined || store.now() - record.endedMs < BULK_LIMITS.keptMs) continue;
    const prefix = store.keys.targets(record.id);
    await store.committer.submit(fence, {
      compare: [modIs(store.keys.bulk(record.id), revision)],
      success: [del(store.keys.bulk(record.id)), { kind: 'delete', key: prefix, rangeEnd: prefixEnd(prefix) }],
    });
  }
  const prefix = store.keys.kind('targets');
  for await (const page of pages(store, { key: prefix, rangeEnd: prefixEnd(prefix) }, { limit: 50 })) {
    for (const kv of page) {
      const parsed = store.keys.parse(kv.key);
      if (parsed?.kind !== 'targets' || known.has(parsed.id)) continue;
      if (store.now() - decodeRecord<BulkChunk>(kv.value, 'chunk').atMs < UNSEALED_MS) continue;
      await store.committer.submit(fence, {
        compare: [absent(store.keys.bulk(parsed.id)), modIs(kv.key, kv.modRevision)],
        success: [del(kv.key)],
      });
    }
  }
}
