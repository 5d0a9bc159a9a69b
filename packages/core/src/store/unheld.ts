/**
 * An edge of a task that nobody runs, taken by the leader: what rescue and expiry have in common.
 *
 * U1  It commits only while the record is the one it was decided on AND no lock exists: a claim, and the takeover of a
 *     lost attempt, put a lock, so the two exclude each other.
 * U2  Slots of a lost attempt hung on the lease that took its lock: they are gone, and their names may be another's by
 *     now. They are never deleted here.
 * U3  What a task that ends hands on is in the same transaction (I4), unless its workflow is halting: then nothing is.
 */
import type { Compare, KeyValue, Op } from '../kv/kv.js';
import { decodePayload, decodeRecord } from '../model/codec.js';
import type { WorkflowRecord } from '../model/records.js';
import { isEnded, isWorkflowEnded } from '../model/state.js';
import type { TaskRecord } from '../model/task.js';
import type { Taken } from '../model/transition.js';
import { inlineSuccessors, seen, type Seen } from './claim.js';
import { edgeOps } from './edge.js';
import { endingOps, type EndingContext } from './ending.js';
import { LEADER_CALL, type Leadership } from './leadership.js';
import { readKeys } from './pages.js';
import type { Drive } from './settle.js';
import { absent, createdAt, modIs, takenBy, type Store } from './store.js';
import { answered } from './submit.js';

/** A task as the decision sees it. */
export interface Sight {
  /** Undefined when there is no record. */
  readonly task: TaskRecord | undefined;
  readonly revision: bigint;
  readonly lock: KeyValue | undefined;
}

export type Step =
  | { readonly kind: 'leave' }
  /** Take an edge; `ops` go with it. Only without a lock. */
  | { readonly kind: 'edge'; readonly next: TaskRecord }
  /** Write only these, guarded by the record, by the lock as seen, and by `compare`. */
  | { readonly kind: 'write'; readonly ops: readonly Op[]; readonly compare?: readonly Compare[] };

export interface Taking {
  readonly before: TaskRecord | undefined;
  readonly after: TaskRecord | undefined;
  readonly step: Step['kind'];
  /** Pass it to `advance`: the task's workflow has something to do now. */
  readonly drive?: Drive;
}

const TRIES = 10;

/**
 * Reads, decides, commits; again when somebody was faster, which then is a new thing to decide on.
 * @throws LeaseholdError `session-lost` when this leader's term is over.
 */
export async function takeStep(
  store: Store,
  leader: Leadership,
  id: string,
  decide: (sight: Sight, taken: Taken) => Step,
): Promise<Taking> {
  for (let tries = 0; tries < TRIES; tries++) {
    const sight = await look(store, id);
    const taken = takenBy(store, leader.actor);
    const step = decide(sight, taken);
    if (step.kind === 'leave') return { before: sight.task, after: sight.task, step: 'leave' };
    const done =
      step.kind === 'write'
        ? await write(store, leader, id, sight, step)
        : await edge(store, leader, sight, step.next, taken);
    if (done !== undefined) return done;
  }
  // It changes faster than it can be decided on, so somebody is busy with it; the next pass looks again.
  return { before: undefined, after: undefined, step: 'leave' };
}

async function look(store: Store, id: string): Promise<Sight> {
  const [kv, lock] = await readKeys(store, [store.keys.task(id), store.keys.lock(id)]);
  const [current] = seen(kv);
  return { task: current?.task, revision: current?.revision ?? 0n, lock };
}

async function write(
  store: Store,
  leader: Leadership,
  id: string,
  { task, revision, lock }: Sight,
  { ops, compare: more = [] }: Extract<Step, { kind: 'write' }>,
): Promise<Taking | undefined> {
  const lockKey = store.keys.lock(id);
  const lockGuard = lock === undefined ? absent(lockKey) : createdAt(lockKey, lock.createRevision);
  const compare = [modIs(store.keys.task(id), revision), lockGuard, ...more];
  const result = await answered(store, leader.fence, LEADER_CALL, { compare, success: ops });
  return result.succeeded || result.resent ? { before: task, after: task, step: 'write' } : undefined;
}

async function edge(
  store: Store,
  leader: Leadership,
  { task, revision }: Sight,
  next: TaskRecord,
  taken: Taken,
): Promise<Taking | undefined> {
  if (task === undefined) return undefined;
  const { keys } = store;
  const { after, context } = isEnded(next.state) ? await readAround(store, next) : { after: next, context: {} };
  const ending = endingOps(store, after, taken, context);
  const first = edgeOps(keys, task, after);
  const result = await answered(store, leader.fence, LEADER_CALL, {
    compare: [modIs(keys.task(task.id), revision), absent(keys.lock(task.id)), ...ending.compare],
    success: [...first, ...ending.ops],
  });
  // A fallen guard after a lost reply may be this very edge (C4); the next look tells, and finds nothing left to do.
  if (!result.succeeded) return undefined;
  const count = ending.countAt === undefined ? undefined : result.results[first.length + ending.countAt];
  const last = count?.kind === 'range' && count.count === 0;
  const place = after.workflow;
  const drive: Drive | undefined =
    place !== undefined && (ending.chore || last)
      ? { workflow: place.id, joins: last ? [place.cont.up.join] : [] }
      : undefined;
  return { before: task, after, step: 'edge', ...(drive === undefined ? {} : { drive }) };
}

/** Whatever an ending edge has to know: callbacks, the next step, and how its workflow stands. */
async function readAround(store: Store, next: TaskRecord): Promise<{ after: TaskRecord; context: EndingContext }> {
  const { keys } = store;
  const place = next.workflow;
  const payloadKeys = next.hasCallbacks === true ? [keys.args(next.id)] : [];
  const workflowKeys = place === undefined ? [] : [keys.workflow(place.id)];
  const successorKeys = inlineSuccessors(next).map((id) => keys.task(id));
  const kvs = await readKeys(store, [...payloadKeys, ...workflowKeys, ...successorKeys]);
  const payload = payloadKeys.length === 0 ? undefined : kvs[0];
  const workflow = kvs[payloadKeys.length];
  const successors: Seen[] = kvs.slice(payloadKeys.length + workflowKeys.length).flatMap(seen);
  const context: EndingContext =
    payload === undefined ? { successors } : { successors, payload: decodePayload(payload.value) };
  if (place === undefined) return { after: next, context };
  if (workflow === undefined) return { after: next, context: { ...context, halted: true } };
  const { state } = decodeRecord<WorkflowRecord>(workflow.value, 'workflow');
  const after = { ...next, workflow: { ...place, version: Number(workflow.version) } };
  return { after, context: { ...context, halted: state === 'CANCELLING' || isWorkflowEnded(state) } };
}
