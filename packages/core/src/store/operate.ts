/**
 * What operators do to tasks, locks, queues and workflows. Each act is one guarded transaction that carries its own audit
 * record. The act's id makes it idempotent: sent twice, it is done once and answers the same.
 *
 * With `revisionSeen` nothing is done on stale sight: the record must still be the one that the operator saw. Without it
 * the act is decided again on every change, as a program would want.
 */
import type { Compare, KeyValue, Op } from '../kv/kv.js';
import { decodePayload, decodeRecord, encodePayload, encodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import type { Json } from '../model/json.js';
import type { NodeRecord, OrderRecord, Settings, WorkflowRecord } from '../model/records.js';
import { actorText } from '../model/records.js';
import type { TypedValue } from '../model/signature.js';
import { isEnded, isWorkflowEnded } from '../model/state.js';
import { RECORD_LIMITS, type TaskPayload, type TaskRecord } from '../model/task.js';
import * as edge from '../model/transition.js';
import { utf8Length } from '../model/json.js';
import {
  absent as isAbsent,
  auditOp,
  createdAt,
  del,
  found,
  get,
  modIs,
  put,
  takenBy,
  type OperatorCall,
  type Store,
} from './store.js';
import { seen, type Seen } from './claim.js';
import { NO_FENCE } from './commit.js';
import { edgeOps } from './edge.js';
import { endingOps, slotOps } from './ending.js';
import { choreOp } from './submit.js';
import type { Drive } from './settle.js';

export interface Operated {
  /** A view that has reached it shows the change. */
  readonly revision: bigint;
  /** False when the operation id had been carried out before. */
  readonly done: boolean;
  /** Pass it to `advance`: a workflow has something to do now. */
  readonly drive?: Drive;
}

export interface Act {
  readonly compare: readonly Compare[];
  readonly ops: readonly Op[];
  readonly detail?: Json;
  readonly drive?: Drive;
}

const TRIES = 50;

/** Reads, decides, commits; again on a race, unless the operator's sight is what counts. */
export async function act(
  store: Store,
  call: OperatorCall,
  operation: string,
  target: { readonly key: string; readonly id: string; readonly what: string },
  decideAct: (kv: KeyValue | undefined) => Promise<Act> | Act,
): Promise<Operated> {
  const auditKey = store.keys.audit(call.operationId);
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await store.kv.txn({ compare: [], success: [get(target.key), get(auditKey)] });
    const before = found(answer.results, 1);
    if (before !== undefined) return { revision: before.createRevision, done: false };
    const kv = found(answer.results, 0);
    requireSeen(call, target, kv);
    const decided = await decideAct(kv);
    const result = await store.committer.submit(call.fence ?? NO_FENCE, {
      compare: [modIs(target.key, kv?.modRevision ?? 0n), isAbsent(auditKey), ...decided.compare],
      success: [
        ...decided.ops,
        auditOp(store, call, operation, [target.id], decided.detail, { revisionBefore: kv?.modRevision ?? 0n }),
      ],
      failure: [get(auditKey)],
    });
    if (result.kind === 'fenced') {
      throw new LeaseholdError('session-lost', `fence ${call.fence?.id ?? ''} does not hold any more`, {
        id: target.id,
      });
    }
    const drive = decided.drive === undefined ? {} : { drive: decided.drive };
    if (result.succeeded) return { revision: result.revision, done: true, ...drive };
    const own = found(result.results, 0);
    if (own !== undefined) return { revision: own.createRevision, done: result.resent, ...drive };
  }
  throw new LeaseholdError('conflict', `${target.what} ${target.id} kept changing; try again`, { id: target.id });
}

function requireSeen(
  call: OperatorCall,
  target: { readonly id: string; readonly what: string },
  kv: KeyValue | undefined,
): void {
  const now = kv?.modRevision ?? 0n;
  if (call.revisionSeen === undefined || call.revisionSeen === now) return;
  const became = kv === undefined ? 'is gone' : `changed at revision ${now}${stateOf(kv)}`;
  throw new LeaseholdError('conflict', `${target.what} ${target.id} ${became}; nothing was done`, {
    id: target.id,
    revision: String(now),
    revisionSeen: String(call.revisionSeen),
    ...(kv === undefined ? {} : { state: stateOf(kv).slice(2) }),
  });
}

function stateOf(kv: KeyValue): string {
  const record = JSON.parse(kv.value) as { status?: string; state?: string };
  const state = record.status ?? record.state;
  return state === undefined ? '' : `: ${state}`;
}

function actOnTask(
  store: Store,
  call: OperatorCall,
  operation: string,
  id: string,
  decideAct: (task: Seen) => Promise<Act> | Act,
): Promise<Operated> {
  return act(store, call, operation, { key: store.keys.task(id), id, what: 'task' }, (kv) => {
    const [task] = seen(kv);
    if (task === undefined) throw new LeaseholdError('not-found', `there is no task ${id}`, { id });
    return decideAct(task);
  });
}

function wrongState(task: TaskRecord, allowed: string): LeaseholdError {
  return new LeaseholdError('wrong-state', `task ${task.id} is ${task.state}; this needs ${allowed}`, {
    id: task.id,
    state: task.state,
  });
}

/**
 * Cancels a task: at once when nobody runs it; a running one is asked to stop, durably, and its worker settles it as
 * CANCELLED. With `force` a running one is ended here and now: its worker can write nothing more.
 * @throws LeaseholdError `not-found`, `wrong-state` (ended already), `conflict`.
 */
export function cancelTask(
  store: Store,
  call: OperatorCall,
  id: string,
  options: { readonly force?: boolean } = {},
): Promise<Operated> {
  return actOnTask(store, call, options.force === true ? 'task.cancel-force' : 'task.cancel', id, async (member) => {
    const { task } = member;
    if (isEnded(task.state)) throw wrongState(task, 'a task that has not ended');
    // Its workflow would end before what it waits for has (D4).
    if (task.state === 'WAITING') throw wrongState(task, 'a task that waits for no other; cancel its workflow');
    if (task.state === 'STARTED' && options.force !== true) return askToStop(store, call, task);
    return endNow(store, call, task);
  });
}

function askToStop(store: Store, call: OperatorCall, task: TaskRecord): Act {
  const taken = takenBy(store, call.actor);
  const reason = call.reason ?? 'cancelled by an operator';
  const next = edge.cancelRequested(task, taken, reason);
  const order: OrderRecord = { by: taken.by, atMs: taken.nowMs, reason };
  const ops = edgeOps(store.keys, task, next);
  if (task.node !== undefined) ops.push(put(store.keys.order(task.node, 'cancel', task.id), encodeRecord(order)));
  return { compare: [], ops, detail: { from: task.state, requested: true } };
}

async function endNow(store: Store, call: OperatorCall, task: TaskRecord): Promise<Act> {
  const taken = takenBy(store, call.actor);
  const asked = task.cancelRequested;
  const next =
    asked === undefined
      ? edge.cancelled(task, taken, call.reason ?? 'cancelled by an operator')
      : edge.cancelledAsAsked(task, taken, asked.reason);
  const payload = await payloadOf(store, task);
  const ending = endingOps(store, next, taken, { halted: true, ...(payload === undefined ? {} : { payload }) });
  const lock =
    task.state === 'STARTED' ? await freeing(store, task) : { compare: [isAbsent(store.keys.lock(task.id))], ops: [] };
  return {
    compare: [...lock.compare, ...ending.compare],
    ops: [...edgeOps(store.keys, task, next), ...lock.ops, ...ending.ops],
    detail: { from: task.state, to: next.state },
    ...driveFor(task),
  };
}

function driveFor(task: TaskRecord): { drive?: Drive } {
  return task.workflow === undefined ? {} : { drive: { workflow: task.workflow.id, joins: [] } };
}

async function payloadOf(store: Store, task: TaskRecord): Promise<TaskPayload | undefined> {
  if (task.hasCallbacks !== true && task.args !== undefined) return undefined;
  const [kv] = (await store.kv.range({ key: store.keys.args(task.id) })).kvs;
  return kv === undefined ? undefined : decodePayload(kv.value);
}

/** Takes the lock and slots away from whoever holds them; guarded by the lock that was read, or its absence. */
async function freeing(store: Store, task: TaskRecord): Promise<{ compare: Compare[]; ops: Op[]; held: boolean }> {
  const key = store.keys.lock(task.id);
  const [lock] = (await store.kv.range({ key })).kvs;
  if (lock === undefined) return { compare: [isAbsent(key)], ops: [], held: false };
  return { compare: [createdAt(key, lock.createRevision)], ops: [del(key), ...slotOps(store, task)], held: true };
}

/**
 * Takes a lock away from its holder: the task is PENDING again at once, and what the holder still writes counts for
 * nothing. The handler may still be running: side effects outside need the fencing token.
 * @throws LeaseholdError `not-found`, `wrong-state` (not running), `conflict`.
 */
export function forceRelease(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  return actOnTask(store, call, 'lock.force-release', id, async ({ task }) => {
    if (task.state !== 'STARTED') throw wrongState(task, 'STARTED');
    // A request to stop outlives its worker: the task is over, not free again.
    if (task.cancelRequested !== undefined) return endNow(store, call, task);
    const next = edge.forceReleased(task, takenBy(store, call.actor));
    const lock = await freeing(store, task);
    const ops = [...edgeOps(store.keys, task, next), ...lock.ops];
    if (task.node !== undefined && lock.held) {
      const order: OrderRecord = { by: actorText(call.actor), atMs: store.now(), reason: call.reason ?? '' };
      ops.push(put(store.keys.order(task.node, 'released', id), encodeRecord(order)));
    }
    return { compare: lock.compare, ops, detail: { node: task.node ?? '', attempt: task.attempt } };
  });
}

/**
 * Runs an ended task again (or a retrying or scheduled one at once). Attempts and errors are kept, retries start anew, its
 * unique key is taken again. A member of a workflow is put back together with what was stopped because of it.
 * @throws LeaseholdError `not-found`, `wrong-state`, `unique-conflict` naming the holder, `conflict`.
 */
export function retryTask(
  store: Store,
  call: OperatorCall,
  id: string,
  options: { readonly args?: readonly TypedValue[] } = {},
): Promise<Operated> {
  return actOnTask(store, call, 'task.retry', id, async ({ task }) => {
    if (!edge.mayRetry(task)) throw wrongState(task, 'FAILURE, CANCELLED, SUCCESS, RETRY or SCHEDULED');
    if (task.workflow !== undefined && isEnded(task.state)) {
      if (options.args !== undefined) throw editedMember(task);
      return reopenMember(store, call, task);
    }
    const taken = takenBy(store, call.actor);
    const next = edge.retriedByOperator(task, taken, {});
    const edited =
      options.args === undefined ? { task: next, ops: [] } : await withEditedArgs(store, next, options.args);
    const unique = await takeUnique(store, task);
    return {
      compare: [isAbsent(store.keys.lock(id)), ...unique],
      ops: [...edgeOps(store.keys, task, edited.task), ...edited.ops],
      detail: { from: task.state, attempt: task.attempt, edited: options.args !== undefined },
    };
  });
}

function editedMember(task: TaskRecord): LeaseholdError {
  return new LeaseholdError(
    'wrong-state',
    `task ${task.id} is a member of a workflow: its arguments cannot be edited`,
    {
      id: task.id,
      workflow: task.workflow?.id,
    },
  );
}

async function withEditedArgs(
  store: Store,
  task: TaskRecord,
  args: readonly TypedValue[],
): Promise<{ task: TaskRecord; ops: Op[] }> {
  const { args: _old, ...rest } = task;
  const payload = await payloadOf(store, task);
  const small = utf8Length(JSON.stringify(args)) <= RECORD_LIMITS.inlineBytes;
  const { args: _stored, ...callbacks } = payload ?? {};
  const stored: TaskPayload = small ? callbacks : { ...callbacks, args };
  const key = store.keys.args(task.id);
  const op = Object.keys(stored).length > 0 ? put(key, encodePayload(stored)) : del(key);
  return { task: small ? { ...rest, args } : rest, ops: [op] };
}

/** I7: the key is taken again, or the conflict names its holder. */
async function takeUnique(store: Store, task: TaskRecord): Promise<Compare[]> {
  if (task.unique === undefined || !isEnded(task.state)) return [];
  const key = store.keys.unique(task.unique.key);
  const [holder] = (await store.kv.range({ key })).kvs;
  if (holder === undefined) return [isAbsent(key)];
  // Held for its window, by itself.
  if (holder.value === task.id) return [modIs(key, holder.modRevision)];
  throw new LeaseholdError('unique-conflict', `unique key "${task.unique.key}" is held by task ${holder.value}`, {
    key: task.unique.key,
    holder: holder.value,
  });
}

async function reopenMember(store: Store, call: OperatorCall, task: TaskRecord): Promise<Act> {
  const place = task.workflow;
  if (place === undefined) throw new Error('unreachable: a member has a place');
  return reopenAct(store, call, place.id, { only: place.index });
}

/** The workflow's part of a reopening: RUNNING under a new version and generation, and the chore that does the rest. */
async function reopenAct(
  store: Store,
  call: OperatorCall,
  workflowId: string,
  selection: { readonly only?: number; readonly from?: number },
): Promise<Act> {
  const key = store.keys.workflow(workflowId);
  const [kv] = (await store.kv.range({ key })).kvs;
  if (kv === undefined) throw new LeaseholdError('not-found', `there is no workflow ${workflowId}`, { id: workflowId });
  const act = reopenOps(store, call, kv, selection);
  return { ...act, compare: [modIs(key, kv.modRevision), ...act.compare] };
}

function reopenOps(
  store: Store,
  call: OperatorCall,
  kv: KeyValue,
  selection: { readonly only?: number; readonly from?: number },
): Act {
  const taken = takenBy(store, call.actor);
  const {
    endedMs: _ended,
    failures: _failures,
    reason: _reason,
    ...record
  } = decodeRecord<WorkflowRecord>(kv.value, 'workflow');
  // While it runs, what goes on in it (a failure that is being told, a follower that runs) cannot be told from what is put back.
  if (!isWorkflowEnded(record.state)) {
    throw new LeaseholdError(
      'wrong-state',
      `workflow ${record.id} is ${record.state}; a part of it is retried when it has ended`,
      {
        id: record.id,
        state: record.state,
      },
    );
  }
  const next: WorkflowRecord = {
    ...record,
    state: 'RUNNING',
    version: Number(kv.version) + 1,
    generation: record.generation + 1,
    updatedMs: taken.nowMs,
  };
  return {
    // One reopening at a time: the next one waits until this one has put everything back.
    compare: [isAbsent(store.keys.chore(record.id, 'reopen')), isAbsent(store.keys.chore(record.id, 'start'))],
    ops: [put(kv.key, encodeRecord(next)), choreOp(store, record.id, { kind: 'reopen', by: taken.by, ...selection })],
    detail: { generation: next.generation, ...selection },
    drive: { workflow: record.id, joins: [] },
  };
}

/**
 * Runs an ended workflow again: what failed and what never ran; `from` a member on, also what had succeeded.
 * @throws LeaseholdError `not-found`, `wrong-state`, `conflict`.
 */
export function retryWorkflow(
  store: Store,
  call: OperatorCall,
  id: string,
  options: { readonly from?: number } = {},
): Promise<Operated> {
  return actOnWorkflow(store, call, 'workflow.retry', id, (record, kv) => {
    if (!isWorkflowEnded(record.state) || (record.state === 'SUCCESS' && options.from === undefined)) {
      throw new LeaseholdError(
        'wrong-state',
        `workflow ${id} is ${record.state}; only a failed or cancelled one is retried`,
        {
          id,
          state: record.state,
        },
      );
    }
    if (options.from !== undefined && (options.from < 0 || options.from >= record.tasks)) {
      throw new LeaseholdError('invalid', `from: workflow ${id} has members 0 to ${record.tasks - 1}`, {
        field: 'from',
      });
    }
    return reopenOps(store, call, kv, options.from === undefined ? {} : { from: options.from });
  });
}

/** Cancels a workflow: from this revision on nothing of it starts; running members are asked to stop. */
export function cancelWorkflow(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  return actOnWorkflow(store, call, 'workflow.cancel', id, (record, kv) => {
    if (record.state !== 'RUNNING') {
      throw new LeaseholdError(
        'wrong-state',
        `workflow ${id} is ${record.state}; only a running one can be cancelled`,
        {
          id,
          state: record.state,
        },
      );
    }
    const taken = takenBy(store, call.actor);
    const reason = call.reason ?? 'cancelled by an operator';
    const next: WorkflowRecord = {
      ...record,
      state: 'CANCELLING',
      version: Number(kv.version) + 1,
      updatedMs: taken.nowMs,
      reason,
    };
    return {
      compare: [],
      ops: [put(kv.key, encodeRecord(next)), choreOp(store, id, { kind: 'cancel', reason, by: taken.by })],
      drive: { workflow: id, joins: [] },
    };
  });
}

function actOnWorkflow(
  store: Store,
  call: OperatorCall,
  operation: string,
  id: string,
  decideAct: (record: WorkflowRecord, kv: KeyValue) => Act,
): Promise<Operated> {
  return act(store, call, operation, { key: store.keys.workflow(id), id, what: 'workflow' }, (kv) => {
    if (kv === undefined) throw new LeaseholdError('not-found', `there is no workflow ${id}`, { id });
    return decideAct(decodeRecord<WorkflowRecord>(kv.value, 'workflow'), kv);
  });
}

/** Another time, another priority, or now; only while nobody runs it. */
export function rescheduleTask(
  store: Store,
  call: OperatorCall,
  id: string,
  change: { readonly etaMs?: number; readonly priority?: number },
): Promise<Operated> {
  return actOnTask(store, call, 'task.reschedule', id, ({ task }) => {
    if (task.state !== 'SCHEDULED' && task.state !== 'RETRY' && task.state !== 'PENDING') {
      throw wrongState(task, 'SCHEDULED, RETRY or PENDING');
    }
    const next = edge.rescheduled(task, takenBy(store, call.actor), change);
    return { compare: [isAbsent(store.keys.lock(id))], ops: edgeOps(store.keys, task, next), detail: { ...change } };
  });
}

/** What settings speak of: a queue, a task name, or everything. */
export type SettingsTarget = { readonly queue: string } | { readonly name: string } | 'all';

export function settingsKey(store: Store, target: SettingsTarget): string {
  if (target === 'all') return store.keys.all();
  return 'queue' in target ? store.keys.queue(target.queue) : store.keys.name(target.name);
}

/** Changes settings. After it returns, no claim that was decided on the old ones commits (I9). */
export function changeSettings(
  store: Store,
  call: OperatorCall,
  target: SettingsTarget,
  operation: string,
  change: (settings: Settings) => Settings,
): Promise<Operated> {
  const key = settingsKey(store, target);
  const id = target === 'all' ? 'all' : 'queue' in target ? `queue:${target.queue}` : `name:${target.name}`;
  return act(store, call, operation, { key, id, what: 'settings' }, (kv) => {
    const before = kv === undefined ? {} : decodeRecord<Settings>(kv.value, 'settings');
    const after = change(before);
    // Written even when empty: a deleted key and a missing one have the same revision 0, and I9 needs a new one.
    return { compare: [], ops: [put(key, encodeRecord(after))], detail: { paused: after.paused !== undefined } };
  });
}

export function pause(store: Store, call: OperatorCall, target: SettingsTarget): Promise<Operated> {
  const paused = { by: actorText(call.actor), sinceMs: store.now(), reason: call.reason ?? '' };
  return changeSettings(store, call, target, 'pause', (settings) => ({ ...settings, paused }));
}

export function resume(store: Store, call: OperatorCall, target: SettingsTarget): Promise<Operated> {
  return changeSettings(store, call, target, 'resume', ({ paused: _paused, ...settings }) => settings);
}

/** Asks a node to take nothing more and to finish what it runs. The node obeys when it sees the order. */
export function drainNode(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  const key = store.keys.order(id, 'drain', 'node');
  return act(store, call, 'node.drain', { key, id, what: 'order for node' }, async () => {
    const [node] = (await store.kv.range({ key: store.keys.node(id) })).kvs;
    if (node === undefined) throw new LeaseholdError('not-found', `there is no live node ${id}`, { id });
    const record = decodeRecord<NodeRecord>(node.value, 'node');
    const order: OrderRecord = { by: actorText(call.actor), atMs: store.now(), reason: call.reason ?? '' };
    return { compare: [], ops: [put(key, encodeRecord(order))], detail: { host: record.host } };
  });
}
