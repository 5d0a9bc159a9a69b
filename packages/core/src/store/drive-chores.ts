/** The chores of a workflow: one function each. D1: the chore goes with, or after, what it stands for. */
import type { Op } from '../kv/kv.js';
import { encodeRecord } from '../model/codec.js';
import { planReopen, startable, type States } from '../model/reopen.js';
import type { Chore, MemberFailure, SlotFailure, WorkflowRecord } from '../model/records.js';
import { isEnded, isWorkflowEnded, type TaskState } from '../model/state.js';
import { retriedByOperator } from '../model/transition.js';
import type { TaskRecord } from '../model/task.js';
import type { CompiledTask } from '../model/workflow.js';
import { chunks, step, type DriveContext, type SeenChore } from './drive-context.js';
import { dropRest, haltNext, readByIndex, releaseMembers, stopRange, stopWaiting } from './drive-members.js';
import { edgeOps } from './edge.js';
import { readMembers } from './graph.js';
import { choreOp, joinOps, memberOps } from './submit.js';
import { absent, del, modIs, put, versionIs } from './store.js';

export async function applyChore(context: DriveContext, seen: SeenChore): Promise<void> {
  const { chore } = seen;
  switch (chore.kind) {
    case 'ended':
      return afterEnd(context, seen, chore);
    case 'release':
      return afterRelease(context, seen, chore.index);
    case 'unfold':
      return unfold(context, seen);
    case 'start':
      return start(context, seen);
    case 'cancel':
      return cancelAll(context, seen, chore.reason);
    case 'reopen':
      return reopen(context, seen, chore);
  }
}

/** The chore is done: it is deleted unless it was written again meanwhile. */
async function finish(context: DriveContext, { key, revision }: SeenChore, ops: readonly Op[] = []): Promise<boolean> {
  return step(context, [modIs(key, revision)], [del(key), ...ops]);
}

export function isHalting({ workflow: { record } }: DriveContext): boolean {
  return record.state === 'CANCELLING' || isWorkflowEnded(record.state);
}

/** A member ended without success: its chain stops, and the join that its chain reports to hears of it. */
async function afterEnd(
  context: DriveContext,
  seen: SeenChore,
  chore: Extract<Chore, { kind: 'ended' }>,
): Promise<void> {
  const task = context.graph.tasks[chore.index];
  const [member] = await readByIndex(context, [chore.index]);
  // A retry may have put it back meanwhile: then there is nothing to tell.
  if (task === undefined || member === undefined || !isEnded(member.task.state)) {
    await finish(context, seen);
    return;
  }
  const { next, policy } = task.cont;
  const failure = chore.failure;
  // An operator ended it by force in a chain that ignores failures: it goes on, as after any other end.
  if (failure !== undefined && policy === 'ignore' && member.task.cause !== 'stopped' && !isHalting(context)) {
    return next === undefined ? leaveAfterSuccess(context, seen, task) : afterRelease(context, seen, chore.index);
  }
  if (next === undefined && failure === undefined) return leaveAfterSuccess(context, seen, task);
  const reason = failure === undefined ? 'the workflow is cancelled' : `${failure.name} did not succeed`;
  if (next !== undefined && !(await dropRest(context, next, reason))) return;
  const told = failure ?? { taskId: task.id, name: task.signature.name, attempt: 0, error: reason };
  await leaveFailed(context, seen, task, told, failure === undefined || member.task.cause === 'stopped');
}

async function leaveAfterSuccess(context: DriveContext, seen: SeenChore, task: CompiledTask): Promise<void> {
  const { up } = task.cont;
  await finish(context, seen, [del(context.store.keys.barrier(context.graph.id, up.join, up.slot))]);
  context.joins.add(up.join);
}

async function leaveFailed(
  context: DriveContext,
  seen: SeenChore,
  task: CompiledTask,
  failure: MemberFailure,
  cut: boolean,
): Promise<void> {
  const { up } = task.cont;
  const stops = leaveOps(context, up, { failure, cut });
  if (stops.stop !== undefined) await stopOnce(context, up.join, stops.stop);
  await finish(context, seen, stops.ops);
  context.joins.add(up.join);
}

/** What leaving a join without success writes; `stop` is set when the other members are to be stopped first. */
export function leaveOps(
  context: DriveContext,
  up: { readonly join: number; readonly slot: number },
  left: SlotFailure,
): { readonly ops: readonly Op[]; readonly stop?: string } {
  const { keys } = context.store;
  const { id, joins } = context.graph;
  const policy = joins[up.join]?.policy ?? 'stop';
  const ops: Op[] = [del(keys.barrier(id, up.join, up.slot))];
  if (policy === 'ignore' && !left.cut) return { ops };
  ops.push(put(keys.failure(id, up.join, up.slot), encodeRecord(left)));
  const stop = policy === 'stop' && !left.cut;
  return stop ? { ops, stop: `${left.failure.name} did not succeed` } : { ops };
}

/** Stops the members of a join, once per pass however many of them failed. */
export async function stopOnce(context: DriveContext, join: number, reason: string): Promise<void> {
  if (context.stop.has(join)) return;
  context.stop.set(join, reason);
  const range = context.graph.joins[join]?.range ?? [0, 0];
  await stopRange(context, range[0], range[1], reason);
}

async function afterRelease(context: DriveContext, seen: SeenChore, index: number): Promise<void> {
  const next = context.graph.tasks[index]?.cont.next;
  if (next === undefined) {
    await finish(context, seen);
    return;
  }
  if (isHalting(context)) {
    await haltNext(context, next, [modIs(seen.key, seen.revision)], [del(seen.key)]);
    return;
  }
  const guards = [modIs(seen.key, seen.revision)];
  if (await releaseMembers(context, next.entries, next.joins ?? [], guards)) await finish(context, seen);
}

/** Writes every member of a sealed workflow as WAITING, joins first; then it may start. Idempotent: create only. */
async function unfold(context: DriveContext, seen: SeenChore): Promise<void> {
  const { store, graph, workflow, taken } = context;
  const { keys } = store;
  const guard = modIs(seen.key, seen.revision);
  const joins = graph.joins.flatMap(({ join }) =>
    chunks(joinOps(store, graph, join), 60).map((ops) => step(context, [guard], ops)),
  );
  if (!(await Promise.all(joins)).every(Boolean)) return;
  const header: WorkflowRecord = { ...workflow.record, version: workflow.version };
  const known = new Set<number>();
  for await (const page of readMembers(store, graph.id, 0, graph.tasks.length)) {
    for (const { task } of page) known.add(task.workflow?.index ?? -1);
  }
  const missing = graph.tasks.filter((task) => !known.has(task.index));
  const written = await Promise.all(
    missing.map((task) =>
      step(context, [guard, absent(keys.task(task.id))], memberOps(store, header, task, taken, true).ops),
    ),
  );
  if (!written.every(Boolean)) return;
  await finish(context, seen, [choreOp(store, graph.id, { kind: 'start' })]);
}

/** Releases every waiting member whose predecessor is complete: after unfolding and after reopening. */
async function start(context: DriveContext, seen: SeenChore): Promise<void> {
  const { graph, workflow } = context;
  const states = await readStates(context, { handsOn: workflow.record.generation });
  const guards = [modIs(seen.key, seen.revision)];
  const ready = startable(graph, states);
  // What would begin now is over instead; what runs already, and whatever follows either, is told of by its own end (D4).
  const begin = isHalting(context)
    ? (chunk: readonly number[]) => stopWaiting(context, chunk, 'the workflow is cancelled')
    : (chunk: readonly number[]) => releaseMembers(context, chunk, [], guards);
  for (const chunk of chunks(ready, 1_000)) if (!(await begin(chunk))) return;
  if (!(await finish(context, seen))) return;
  // Joins without members at the start are complete now, and a reopened one may have nothing left to await.
  for (const { join } of graph.joins) context.joins.add(join);
}

async function cancelAll(context: DriveContext, seen: SeenChore, reason: string): Promise<void> {
  const { graph } = context;
  await stopRange(context, 0, graph.tasks.length, reason);
  await finish(context, seen);
}

async function reopen(
  context: DriveContext,
  seen: SeenChore,
  chore: Extract<Chore, { kind: 'reopen' }>,
): Promise<void> {
  const { store, graph, workflow, taken } = context;
  const { keys } = store;
  const guards = [modIs(seen.key, seen.revision), versionIs(keys.workflow(graph.id), workflow.version)];
  const selection = {
    ...(chore.only === undefined ? {} : { only: chore.only }),
    ...(chore.from === undefined ? {} : { from: chore.from }),
  };
  const again = await reopenedAlready(context);
  const plan = planReopen(graph, await readStates(context, { asFailed: again }), selection);
  const opened = plan.joins.map(({ join, slots, held }) =>
    step(context, guards, [
      put(keys.join(graph.id, join), ''),
      ...(held ? [put(keys.barrier(graph.id, join, 'hold'), '')] : []),
      ...slots.flatMap((slot): Op[] => [
        put(keys.barrier(graph.id, join, slot), ''),
        del(keys.failure(graph.id, join, slot)),
      ]),
    ]),
  );
  // Nothing to put back: it ends again as it had.
  if (plan.joins.length === 0) opened.push(step(context, guards, [put(keys.join(graph.id, 0), '')]));
  if (!(await Promise.all(opened)).every(Boolean)) return;
  for (const chunk of chunks([...plan.tasks], 200)) {
    const members = (await readByIndex(context, chunk)).filter(({ task }) => isEnded(task.state));
    const back = members.map(({ task, revision }) => {
      const options = { waiting: true, generation: workflow.record.generation, version: workflow.version };
      const next = retriedByOperator(task, { ...taken, by: chore.by }, options);
      return step(context, [...guards, modIs(keys.task(task.id), revision)], edgeOps(keys, task, next));
    });
    if (!(await Promise.all(back)).every(Boolean)) return;
  }
  await finish(context, seen, [choreOp(store, graph.id, { kind: 'start' })]);
}

/** Members that this reopening has put back before a crash: for the plan they are still what they were, failed. */
async function reopenedAlready(context: DriveContext): Promise<ReadonlySet<number>> {
  const { store, graph, workflow } = context;
  const again = new Set<number>();
  for await (const page of readMembers(store, graph.id, 0, graph.tasks.length)) {
    for (const { task } of page) {
      if (task.state === 'WAITING' && task.workflow?.generation === workflow.record.generation) {
        again.add(task.workflow.index);
      }
    }
  }
  return again;
}

/** For a plan a member that was cancelled itself has failed; CANCELLED stands for one that its workflow stopped. */
function stateForPlan(task: TaskRecord): TaskState {
  return task.state === 'CANCELLED' && task.cause !== 'stopped' ? 'FAILURE' : task.state;
}

/**
 * `asFailed`: members that this reopening has put back already. `handsOn`: what ended in this generation counts as not over:
 * it was released since the start was due, and it, or its join, sees to what follows. Only what was over before is past.
 */
async function readStates(
  context: DriveContext,
  { asFailed, handsOn }: { readonly asFailed?: ReadonlySet<number>; readonly handsOn?: number } = {},
): Promise<States> {
  const { store, graph } = context;
  const states: (TaskState | undefined)[] = graph.tasks.map(() => undefined);
  for await (const page of readMembers(store, graph.id, 0, graph.tasks.length)) {
    for (const { task } of page) {
      const { index = -1, generation } = task.workflow ?? {};
      if (index < 0) continue;
      if (asFailed?.has(index) === true) states[index] = 'CANCELLED';
      else if (generation === handsOn && isEnded(task.state)) states[index] = 'STARTED';
      else states[index] = stateForPlan(task);
    }
  }
  return states;
}
