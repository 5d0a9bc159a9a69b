/**
 * Bulk operations: one action on many tasks, as a job of its own.
 *
 * K1  A bulk is its tasks as they were seen: ids with mod revisions. What arrived later is not among them; what changed
 *     since is refused by the act's own guard, and listed.
 * K2  Every task is changed by the same guarded and audited act as by hand, under an operation id made of the bulk and the
 *     task's place in it. So a chunk that is done again does nothing again, and counts the same.
 * K3  A chunk's progress and what it left undone are one write, guarded by the record: progress is never ahead of, and at
 *     most one chunk behind, what was done.
 * K4  One actor has one bulk running. Its chunks exist before its record does: a record without its tasks is never seen.
 */
import { prefixEnd, type KeyValue } from '../kv/kv.js';
import {
  BULK_LIMITS,
  type BulkAction,
  type BulkChunk,
  type BulkLeft,
  type BulkRecord,
  type BulkTarget,
} from '../model/bulk.js';
import { checkInteger, invalid } from '../model/check.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { checkId } from '../model/ids.js';
import type { Json } from '../model/json.js';
import { actorText } from '../model/records.js';
import { LIMITS } from '../model/signature.js';
import { act, type Operated } from './operate.js';
import { pages } from './pages.js';
import { NO_FENCE } from './commit.js';
import { absent, put, type OperatorCall, type Store } from './store.js';
import { answered } from './submit.js';

export interface BulkInput {
  readonly action: BulkAction;
  readonly priority?: number;
  /** As shown; kept for people. */
  readonly filter: Json;
  readonly targets: readonly BulkTarget[];
  /** The revision at which the tasks were seen. */
  readonly snapshot: bigint;
}

export interface SeenBulk {
  readonly record: BulkRecord;
  readonly revision: bigint;
}

/**
 * Starts a bulk; its id is the id of the operation.
 * @throws LeaseholdError `invalid`, `too-large`; `conflict` while the same actor has another one running.
 */
export async function createBulk(store: Store, call: OperatorCall, input: BulkInput): Promise<Operated> {
  const id = checkId(call.operationId, 'operationId', 150);
  checkBulk(input);
  const { keys } = store;
  const own = keys.bulking(actorText(call.actor));
  return act(store, call, 'bulk.start', { key: keys.bulk(id), id, what: 'bulk' }, async (kv) => {
    if (kv !== undefined) throw new LeaseholdError('conflict', `there is a bulk ${id} already`, { id });
    const [running] = (await store.kv.range({ key: own })).kvs;
    if (running !== undefined) throw oneEach(running.value);
    await writeChunks(store, id, input.targets);
    const record = firstRecord(id, call, input, store.now());
    const { action, total, snapshot } = record;
    return {
      compare: [absent(own)],
      ops: [put(keys.bulk(id), encodeRecord(record)), put(own, id)],
      detail: { action, total, snapshot, filter: input.filter },
    };
  });
}

function checkBulk({ action, priority, targets }: BulkInput): void {
  if (targets.length === 0) throw invalid('targets', 'no task is meant');
  if (targets.length > BULK_LIMITS.tasks) {
    const message = `targets: ${targets.length} tasks exceed the limit of ${BULK_LIMITS.tasks}; narrow the filter`;
    throw new LeaseholdError('too-large', message, {
      field: 'targets',
      size: targets.length,
      limit: BULK_LIMITS.tasks,
    });
  }
  if (action === 'reprioritise') checkInteger(priority ?? Number.NaN, 'priority', 0, LIMITS.priorityMax);
  else if (priority !== undefined) throw invalid('priority', `${action} takes none`);
}

function oneEach(id: string): LeaseholdError {
  return new LeaseholdError('conflict', `your bulk ${id} is still running; wait for its end, or abort it`, { id });
}

/** Before the record, and again over what a try that died left behind: nobody reads them without a record. */
async function writeChunks(store: Store, id: string, targets: readonly BulkTarget[]): Promise<void> {
  const writing: Promise<unknown>[] = [];
  for (let at = 0; at < targets.length; at += BULK_LIMITS.chunk) {
    const chunk: BulkChunk = { atMs: store.now(), targets: targets.slice(at, at + BULK_LIMITS.chunk) };
    const key = store.keys.target(id, at / BULK_LIMITS.chunk);
    const sub = { compare: [absent(store.keys.bulk(id))], success: [put(key, encodeRecord(chunk))] };
    writing.push(answered(store, NO_FENCE, {}, sub));
  }
  await Promise.all(writing);
}

function firstRecord(id: string, call: OperatorCall, input: BulkInput, nowMs: number): BulkRecord {
  return {
    id,
    state: 'RUNNING',
    action: input.action,
    ...(input.priority === undefined ? {} : { priority: input.priority }),
    filter: input.filter,
    ...(call.reason === undefined ? {} : { reason: call.reason }),
    actor: call.actor,
    snapshot: input.snapshot.toString(),
    total: input.targets.length,
    position: 0,
    done: 0,
    skipped: 0,
    conflicted: 0,
    createdMs: nowMs,
    updatedMs: nowMs,
  };
}

/** Asks a bulk to stop; the chunk that is under way is finished and counted. @throws LeaseholdError `not-found`, `wrong-state`. */
export function abortBulk(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  return act(store, call, 'bulk.abort', { key: store.keys.bulk(id), id, what: 'bulk' }, (kv) => {
    if (kv === undefined) throw new LeaseholdError('not-found', `there is no bulk ${id}`, { id });
    const record = decodeBulk(kv);
    if (record.state !== 'RUNNING') {
      const message = `bulk ${id} is ${record.state}; only a running one is aborted`;
      throw new LeaseholdError('wrong-state', message, { id, state: record.state });
    }
    const next: BulkRecord = { ...record, state: 'ABORTING', updatedMs: store.now() };
    return { compare: [], ops: [put(kv.key, encodeRecord(next))], detail: { position: record.position } };
  });
}

export async function readBulk(store: Store, id: string): Promise<SeenBulk | undefined> {
  const [kv] = (await store.kv.range({ key: store.keys.bulk(id) })).kvs;
  return kv === undefined ? undefined : { record: decodeBulk(kv), revision: kv.modRevision };
}

/** All bulks, by id. */
export async function* listBulks(store: Store): AsyncGenerator<SeenBulk> {
  const prefix = store.keys.kind('bulk');
  for await (const page of pages(store, { key: prefix, rangeEnd: prefixEnd(prefix) }, { limit: 100 })) {
    yield* page.map((kv) => ({ record: decodeBulk(kv), revision: kv.modRevision }));
  }
}

/** What a bulk did not do, in the order of its tasks, from chunk `from` on; `next` is the chunk to go on with. */
export async function bulkLeft(
  store: Store,
  id: string,
  page: { readonly from: number; readonly limit: number },
): Promise<{ readonly left: readonly BulkLeft[]; readonly next?: number }> {
  const prefix = store.keys.targets(id);
  const left: BulkLeft[] = [];
  const span = { key: store.keys.target(id, page.from), rangeEnd: prefixEnd(prefix) };
  for await (const kvs of pages(store, span, { limit: 20 })) {
    for (const kv of kvs) {
      const parsed = store.keys.parse(kv.key);
      const chunk = decodeRecord<BulkChunk>(kv.value, 'chunk');
      if (parsed?.kind !== 'targets' || chunk.left === undefined) return { left };
      if (left.length >= page.limit) return { left, next: parsed.part };
      left.push(...chunk.left);
    }
  }
  return { left };
}

export function decodeBulk(kv: Pick<KeyValue, 'value'>): BulkRecord {
  return decodeRecord<BulkRecord>(kv.value, 'bulk');
}
