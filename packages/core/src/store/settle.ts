/**
 * Settle: the outcome of an attempt, committed by the worker that holds its lock, or not at all.
 *
 * S1  It commits only while the record is the one it was decided on and the lock is still this attempt's, under this
 *     session's lease (I2). A lost lock means: superseded, nothing was written.
 * S2  When the lock is mine but the record changed (a cancel, an edit), it is decided again on the new record and sent
 *     again; never dropped.
 * S3  A reply that got lost is resolved by reading: an ended record with my attempt and my name is my own success.
 */
import type { Compare, KeyValue, Op, OpResult } from '../kv/kv.js';
import { decodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { decide, type AttemptOutcome, type Decision } from '../model/outcome.js';
import type { WorkflowRecord } from '../model/records.js';
import type { TypedValue } from '../model/signature.js';
import { isWorkflowEnded } from '../model/state.js';
import type { TaskRecord, WorkflowPlace } from '../model/task.js';
import type { Taken } from '../model/transition.js';
import { inlineSuccessors, seen, type Held, type Holder, type Seen } from './claim.js';
import type { SubResult } from './commit.js';
import { edgeOps } from './edge.js';
import { endingOps, slotOps, type Ending } from './ending.js';
import { createdAt, del, found, get, leaseIs, modIs, put, type Store } from './store.js';

/** Where a workflow's driver should look: its chores, and these joins. */
export interface Drive {
  readonly workflow: string;
  readonly joins: readonly number[];
}

export type SettleResult =
  | {
      readonly kind: 'settled';
      readonly task: TaskRecord;
      readonly revision: bigint;
      /** Its workflow's driver has something to do now: pass this to `advance`. */
      readonly drive?: Drive;
    }
  /** The lock is gone or another's: this attempt's result counts for nothing. */
  | { readonly kind: 'superseded'; readonly task?: TaskRecord }
  | { readonly kind: 'fenced' };

const MAX_DECISIONS = 50;

export async function settle(store: Store, holder: Holder, held: Held, outcome: AttemptOutcome): Promise<SettleResult> {
  let current = held;
  let halted = isStopped(held.task);
  let resent = false;
  for (let round = 0; round < MAX_DECISIONS; round++) {
    const taken: Taken = { by: `node:${holder.node}`, nowMs: store.now() };
    const decision = decide(current.task, outcome, taken, store.random);
    const plan = settlement(store, holder, current, decision, taken, outcome, halted);
    const result = await store.committer.submit(holder.fence, plan);
    resent ||= result.resent;
    if (result.kind === 'fenced') return resent ? readBack(store, holder, held) : { kind: 'fenced' };
    if (result.succeeded) return settled(decision.task, result, plan.ending);
    const again = reconsider(holder, held, current, result.results, resent);
    if (again.kind !== 'again') return again;
    current = again.held;
    halted = again.halted;
  }
  throw new LeaseholdError('conflict', `${held.task.id} changed ${MAX_DECISIONS} times while it was settled`, {
    id: held.task.id,
  });
}

interface Plan {
  readonly compare: readonly Compare[];
  readonly success: readonly Op[];
  readonly failure: readonly Op[];
  readonly ending: Ending & { readonly offset: number };
}

function settlement(
  store: Store,
  holder: Holder,
  held: Held,
  decision: Decision,
  taken: Taken,
  outcome: AttemptOutcome,
  halted: boolean,
): Plan {
  const { keys } = store;
  const { id, workflow } = held.task;
  const full = outcome.kind === 'success' ? outcome.results : undefined;
  const ending = endingOps(store, decision.task, taken, {
    successors: held.successors,
    halted,
    ...(held.payload === undefined ? {} : { payload: held.payload }),
    ...(full === undefined ? {} : { results: full }),
  });
  const first: Op[] = [
    ...edgeOps(keys, held.task, decision.task),
    del(keys.lock(id)),
    ...slotOps(store, held.task),
    ...resultOps(store, decision),
  ];
  return {
    compare: [
      modIs(keys.task(id), held.revision),
      createdAt(keys.lock(id), held.token),
      leaseIs(keys.lock(id), holder.lease),
      ...ending.compare,
    ],
    success: [...first, ...ending.ops],
    failure: [
      get(keys.task(id)),
      get(keys.lock(id)),
      ...(workflow === undefined ? [] : [get(keys.workflow(workflow.id))]),
      ...inlineSuccessors(held.task).map((successor) => get(keys.task(successor))),
    ],
    ending: { ...ending, offset: first.length },
  };
}

function resultOps(store: Store, decision: Decision): Op[] {
  if (decision.results === undefined) return [];
  const { id, attempt } = decision.task;
  return [put(store.keys.result(id, attempt), encodeResults(decision.results))];
}

export function encodeResults(results: readonly TypedValue[]): string {
  return JSON.stringify({ v: 1, results });
}

export function decodeResults(text: string): readonly TypedValue[] {
  return (JSON.parse(text) as { results: readonly TypedValue[] }).results;
}

function settled(
  task: TaskRecord,
  result: Extract<SubResult, { kind: 'answered' }>,
  ending: Plan['ending'],
): SettleResult {
  const count = ending.countAt === undefined ? undefined : result.results[ending.offset + ending.countAt];
  const last = count?.kind === 'range' && count.count === 0;
  const drive = task.workflow !== undefined && (ending.chore || last) ? { drive: driveOf(task.workflow, last) } : {};
  return { kind: 'settled', task, revision: result.revision, ...drive };
}

function driveOf(place: WorkflowPlace, joinToo: boolean): Drive {
  return { workflow: place.id, joins: joinToo ? [place.cont.up.join] : [] };
}

type Reconsidered = SettleResult | { readonly kind: 'again'; readonly held: Held; readonly halted: boolean };

function reconsider(
  holder: Holder,
  held: Held,
  decidedOn: Held,
  results: readonly OpResult[],
  resent: boolean,
): Reconsidered {
  const [task] = seen(found(results, 0));
  const lock = found(results, 1);
  if (task === undefined) return { kind: 'superseded' };
  if (!isMine(lock, holder, held)) {
    if (resent && isMyEnding(task.task, holder, held)) return ownEnding(task);
    return { kind: 'superseded', task: task.task };
  }
  const workflow = held.task.workflow === undefined ? undefined : found(results, 2);
  const first = held.task.workflow === undefined ? 2 : 3;
  const successors = inlineSuccessors(held.task).flatMap((_, i) => seen(found(results, first + i)));
  const { record, halted } = readPlace(task, workflow);
  return { kind: 'again', held: { ...decidedOn, task: record, revision: task.revision, successors }, halted };
}

/** The record as the workflow stands now: under a new version if it was reopened, halted if it is being cancelled. */
function readPlace(task: Seen, workflow: KeyValue | undefined): { record: TaskRecord; halted: boolean } {
  const place = task.task.workflow;
  if (place === undefined) return { record: task.task, halted: false };
  if (workflow === undefined) return { record: task.task, halted: true };
  const { state } = decodeRecord<WorkflowRecord>(workflow.value, 'workflow');
  const version = Number(workflow.version);
  return {
    record: { ...task.task, workflow: { ...place, version } },
    halted: state === 'CANCELLING' || isWorkflowEnded(state) || isStopped(task.task),
  };
}

/** Its workflow asked it to stop: a success that comes all the same counts, but nothing follows it. */
function isStopped(task: TaskRecord): boolean {
  return task.cancelRequested?.stopped === true;
}

function isMine(lock: KeyValue | undefined, holder: Holder, held: Held): boolean {
  return lock !== undefined && lock.createRevision === held.token && lock.lease === holder.lease;
}

function isMyEnding(task: TaskRecord, holder: Holder, held: Held): boolean {
  return task.attempt === held.task.attempt && task.by === `node:${holder.node}` && task.state !== 'STARTED';
}

function ownEnding(task: Seen): SettleResult {
  const drive = task.task.workflow === undefined ? {} : { drive: driveOf(task.task.workflow, true) };
  return { kind: 'settled', task: task.task, revision: task.revision, ...drive };
}

/** The fence failed after a lost reply: the session is over, but the settling may have been applied before (C5). */
async function readBack(store: Store, holder: Holder, held: Held): Promise<SettleResult> {
  const answer = await store.kv.range({ key: store.keys.task(held.task.id) });
  const [task] = seen(answer.kvs[0]);
  return task !== undefined && isMyEnding(task.task, holder, held) ? ownEnding(task) : { kind: 'fenced' };
}
