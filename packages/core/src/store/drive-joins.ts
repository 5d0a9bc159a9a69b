/** Completion of a join: the release of what follows, the news to the join around it, or the end of the workflow. */
import { prefixEnd, type Compare, type KeyValue, type Op } from '../kv/kv.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import type { MemberFailure, SlotFailure, WorkflowRecord } from '../model/records.js';
import type { TypedValue } from '../model/signature.js';
import type { Continuation } from '../model/task.js';
import { utf8Length } from '../model/json.js';
import { countTasks, type CompiledJoin } from '../model/workflow.js';
import { submissionOps, withArgs } from './callbacks.js';
import { step, type DriveContext } from './drive-context.js';
import { isHalting, leaveOps, stopOnce } from './drive-chores.js';
import { dropRest, haltNext, releaseMembers } from './drive-members.js';
import { del, modIs, put, versionIs } from './store.js';

export type Completion = 'done' | 'not-yet' | 'again';

interface JoinState {
  readonly marker: KeyValue;
  readonly failures: readonly SlotFailure[];
  readonly failureCount: number;
}

/** Failures that an error callback gets at most; the rest is counted. */
const TOLD_FAILURES = 100;

export async function completeJoin(context: DriveContext, join: number): Promise<Completion> {
  const compiled = context.graph.joins[join];
  if (compiled === undefined) return 'done';
  const state = await readJoin(context, join);
  if (state === undefined) return 'not-yet';
  if (compiled.cont === undefined) return endWorkflow(context, state);
  // A mark under `ignore` is only there for a member that was cut off.
  const failed = state.failureCount > 0;
  const { cont } = compiled;
  const goesOn = !failed || (cont.policy === 'ignore' && !state.failures.every((one) => one.cut));
  if (goesOn && cont.next !== undefined && isHalting(context)) {
    const over = await haltNext(context, cont.next, guards(context, join, state), [del(state.marker.key)]);
    return over ? 'done' : 'again';
  }
  return failed ? failJoin(context, compiled, cont, state) : passJoin(context, compiled, cont, state);
}

/** Undefined while members are awaited, or when the join was completed before. */
async function readJoin({ store: { kv, keys }, graph }: DriveContext, join: number): Promise<JoinState | undefined> {
  const barrier = keys.barrierOf(graph.id, join);
  const failures = keys.failuresOf(graph.id, join);
  const answer = await kv.txn({
    compare: [],
    success: [
      { kind: 'range', key: keys.join(graph.id, join) },
      { kind: 'range', key: barrier, rangeEnd: prefixEnd(barrier), countOnly: true },
      { kind: 'range', key: failures, rangeEnd: prefixEnd(failures), limit: TOLD_FAILURES },
    ],
  });
  const [markers, members, failed] = answer.results;
  if (markers?.kind !== 'range' || members?.kind !== 'range' || failed?.kind !== 'range') return undefined;
  const [marker] = markers.kvs;
  if (marker === undefined || members.count > 0) return undefined;
  return {
    marker,
    failures: failed.kvs.map((kv) => decodeRecord<SlotFailure>(kv.value, 'failure')),
    failureCount: failed.count,
  };
}

/** The join is empty, not completed by anybody else, and the workflow is the one that was read (D2, D3). */
function guards(context: DriveContext, join: number, state: JoinState): Compare[] {
  const { store, graph, workflow } = context;
  const barrier = store.keys.barrierOf(graph.id, join);
  return [
    modIs(state.marker.key, state.marker.modRevision),
    { key: barrier, rangeEnd: prefixEnd(barrier), target: 'create', value: 0n },
    versionIs(store.keys.workflow(graph.id), workflow.version),
  ];
}

async function passJoin(
  context: DriveContext,
  join: CompiledJoin,
  cont: Continuation,
  state: JoinState,
  callback: readonly Op[] = [],
): Promise<Completion> {
  const guard = guards(context, join.join, state);
  if (cont.next !== undefined) {
    if (!(await releaseMembers(context, cont.next.entries, cont.next.joins ?? [], guard))) return 'again';
    return (await step(context, guard, [del(state.marker.key), ...callback])) ? 'done' : 'again';
  }
  const { keys } = context.store;
  const ops = [del(state.marker.key), del(keys.barrier(context.graph.id, cont.up.join, cont.up.slot)), ...callback];
  // Looked at in any case: a step whose reply was lost may be done.
  context.joins.add(cont.up.join);
  return (await step(context, guard, ops)) ? 'done' : 'again';
}

async function failJoin(
  context: DriveContext,
  join: CompiledJoin,
  cont: Continuation,
  state: JoinState,
): Promise<Completion> {
  const guard = guards(context, join.join, state);
  const told = toldFailures(state);
  const cut = state.failures.every((one) => one.cut);
  const callback = cut || isHalting(context) ? [] : errorCallback(context, join, told);
  if (cont.policy === 'ignore' && !cut && !isHalting(context)) return passJoin(context, join, cont, state, callback);
  const [failure, ...others] = summary(context, state, told);
  if (cont.next !== undefined) {
    const reason = `${failure.name} did not succeed`;
    if (!(await dropRest(context, cont.next, reason))) return 'again';
  }
  const leave = leaveOps(context, cont.up, { failure, cut, ...(others.length > 0 ? { others } : {}) });
  if (leave.stop !== undefined) await stopOnce(context, cont.up.join, leave.stop);
  context.joins.add(cont.up.join);
  return (await step(context, guard, [del(state.marker.key), ...leave.ops, ...callback])) ? 'done' : 'again';
}

function toldFailures(state: JoinState): readonly MemberFailure[] {
  const real = state.failures.filter((one) => !one.cut);
  const told = real.length > 0 ? real : state.failures;
  return told.flatMap(({ failure, others = [] }) => [failure, ...others]).slice(0, TOLD_FAILURES);
}

/** What the join around this one is told: the first failure stands for all, and says how many are not listed. */
function summary(
  context: DriveContext,
  state: JoinState,
  told: readonly MemberFailure[],
): [MemberFailure, ...MemberFailure[]] {
  const none = { taskId: context.graph.id, name: 'group', attempt: 0, error: 'the workflow is cancelled' };
  const [first = none, ...others] = told;
  const more = state.failureCount - TOLD_FAILURES;
  const error = more > 0 ? `${first.error} (and ${more} more)`.slice(0, 320) : first.error;
  return [{ ...first, error }, ...others];
}

/** Bytes of one callback's failures, over all copies that are written of them. */
const TOLD_BYTES = 300_000;

function errorCallback(context: DriveContext, join: CompiledJoin, failures: readonly MemberFailure[]): Op[] {
  if (join.onError === undefined) return [];
  const { store, graph, workflow, taken } = context;
  const all = failures.map(({ taskId, name, attempt, error }) => ({ task_id: taskId, name, attempt, error }));
  // Every task with which it begins gets them, in its arguments and in the stored source.
  const copies = 2 * countTasks(join.onError);
  let told = all;
  while (told.length > 1 && copies * utf8Length(JSON.stringify(told)) > TOLD_BYTES) {
    told = told.slice(0, Math.ceil(told.length / 2));
  }
  const value: TypedValue = { type: 'json', name: 'failures', value: told };
  const id = `${graph.id}-e${join.join}-${workflow.record.generation}`;
  return submissionOps(
    store,
    withArgs(join.onError, (args) => [value, ...args]),
    id,
    taken,
    graph.id,
  );
}

const delAll = (prefix: string): Op => ({ kind: 'delete', key: prefix, rangeEnd: prefixEnd(prefix) });

async function endWorkflow(context: DriveContext, state: JoinState): Promise<Completion> {
  const { store, graph, workflow, taken } = context;
  const { keys } = store;
  const chores = keys.chores(graph.id);
  const cancelling = workflow.record.state === 'CANCELLING';
  const failures = toldFailures(state).slice(0, 10);
  const ended: WorkflowRecord = {
    ...workflow.record,
    state: cancelling ? 'CANCELLED' : state.failureCount > 0 ? 'FAILURE' : 'SUCCESS',
    joins: graph.joins.length,
    version: workflow.version + 1,
    endedMs: taken.nowMs,
    updatedMs: taken.nowMs,
    ...(failures.length > 0 ? { failures } : {}),
  };
  const noChores: Compare = { key: chores, rangeEnd: prefixEnd(chores), target: 'create', value: 0n };
  const done = await step(
    context,
    [...guards(context, 0, state), noChores],
    // With it goes what a cancellation has overtaken: an empty join that nobody completed.
    [...[keys.joins(graph.id), keys.barriers(graph.id)].map(delAll), put(keys.workflow(graph.id), encodeRecord(ended))],
  );
  return done ? 'done' : 'again';
}
