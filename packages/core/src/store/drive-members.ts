/** What the driver does to members: release them, stop them, put them back. */
import { prefixEnd, type Compare, type Op } from '../kv/kv.js';
import { decodePayload, encodeRecord } from '../model/codec.js';
import { memberId } from '../model/ids.js';
import type { OrderRecord } from '../model/records.js';
import { isEnded } from '../model/state.js';
import type { Continuation, TaskPayload, TaskRecord } from '../model/task.js';
import { cancelled, cancelRequested, released } from '../model/transition.js';
import type { Seen } from './claim.js';
import { seen } from './claim.js';
import { chunks, step, type DriveContext } from './drive-context.js';
import { edgeOps } from './edge.js';
import { endingOps } from './ending.js';
import { readMembers } from './graph.js';
import { absent, del, found, get, modIs, put, versionIs } from './store.js';

/** Reads members by index, those that exist. */
export async function readByIndex(context: DriveContext, indexes: readonly number[]): Promise<Seen[]> {
  const { store, graph } = context;
  const out: Seen[] = [];
  for (const chunk of chunks(indexes, 100)) {
    const ops = chunk.map((index) => get(store.keys.task(memberId(graph.id, index))));
    const answer = await store.kv.txn({ compare: [], success: ops });
    chunk.forEach((_, i) => out.push(...seen(found(answer.results, i))));
  }
  return out;
}

/**
 * Releases waiting members and the held joins of an empty next step, under `guards`. Resolves false when a guard fell;
 * members that are not WAITING any more have been released before and are passed over.
 */
export async function releaseMembers(
  context: DriveContext,
  entries: readonly number[],
  joins: readonly number[],
  guards: readonly Compare[],
): Promise<boolean> {
  const { store, graph, workflow, taken } = context;
  const { keys } = store;
  const guard = versionIs(keys.workflow(graph.id), workflow.version);
  const members = (await readByIndex(context, entries)).filter(({ task }) => task.state === 'WAITING');
  const results = await Promise.all([
    ...members.map(({ task, revision }) =>
      step(
        context,
        [guard, ...guards, modIs(keys.task(task.id), revision)],
        [...edgeOps(keys, task, released(task, taken, workflow.version))],
      ),
    ),
    ...joins.map((join) => step(context, [guard, ...guards], [del(keys.barrier(graph.id, join, 'hold'))])),
  ]);
  for (const join of joins) context.joins.add(join);
  return results.every(Boolean);
}

/** What comes later in a chain. */
export type Rest = Pick<NonNullable<Continuation['next']>, 'rest' | 'restJoins'>;

/**
 * Ends WAITING members of [from, to), whose predecessor is over without success, and closes the joins among them. False
 * when something changed meanwhile: the caller keeps its chore and does it again.
 */
export async function dropRest(
  context: DriveContext,
  { rest: [from, to], restJoins }: Rest,
  reason: string,
): Promise<boolean> {
  const { store, graph } = context;
  const { keys } = store;
  const done: boolean[] = [];
  for await (const page of readMembers(store, graph.id, from, to)) {
    const waiting = page.filter(({ task }) => task.state === 'WAITING');
    const dropped = waiting.map(({ task, revision }) => {
      const next = cancelled(task, context.taken, reason, 'stopped');
      return step(context, [modIs(keys.task(task.id), revision)], edgeOps(keys, task, next));
    });
    done.push(...(await Promise.all(dropped)));
  }
  const inside = graph.joins.slice(...(restJoins ?? [0, 0]));
  // Guarded by the version: sent late, this must not close a join that a retry has opened again.
  const guard = versionIs(keys.workflow(graph.id), context.workflow.version);
  const closed = inside.map(({ join }) => step(context, [guard], closeJoinOps(context, join)));
  done.push(...(await Promise.all(closed)));
  return done.every(Boolean);
}

/** Forgets a join that will never complete: its chain has stopped before it. */
function closeJoinOps({ store: { keys }, graph }: DriveContext, join: number): Op[] {
  const barrier = keys.barrierOf(graph.id, join);
  return [del(keys.join(graph.id, join)), { kind: 'delete', key: barrier, rangeEnd: prefixEnd(barrier) }];
}

/**
 * Stops members of [from, to) that are under way: those that nobody runs are cancelled, running ones are asked to stop.
 * WAITING ones follow when their predecessor has ended (D4).
 */
export async function stopRange(context: DriveContext, from: number, to: number, reason: string): Promise<void> {
  const { store, graph } = context;
  // Again until nobody is left: a member that succeeded meanwhile may have released the next one.
  for (let found = true; found;) {
    found = false;
    for await (const page of readMembers(store, graph.id, from, to)) {
      const live = page.filter(({ task }) => isUnderWay(task));
      found ||= live.length > 0;
      await Promise.all(live.map((member) => stopMember(context, member, reason)));
    }
  }
}

/**
 * Ends waiting members that a cancelled workflow would have released. Each leaves a chore, which sees to what follows it.
 * False when one of them changed meanwhile.
 */
export async function stopWaiting(context: DriveContext, indexes: readonly number[], reason: string): Promise<boolean> {
  const waiting = (await readByIndex(context, indexes)).filter(({ task }) => task.state === 'WAITING');
  return (await Promise.all(waiting.map((member) => tryStop(context, member, reason)))).every(Boolean);
}

/**
 * The next step of a cancelled workflow is due: what would begin is over instead. Part of it may have begun before the cancel;
 * that ends by itself, and whoever ends last leaves the chain, so that it is not left while something of it runs (D4).
 */
export async function haltNext(
  context: DriveContext,
  next: NonNullable<Continuation['next']>,
  guards: readonly Compare[],
  ops: readonly Op[],
): Promise<boolean> {
  if (!(await stopWaiting(context, next.entries, 'the workflow is cancelled'))) return false;
  const { keys } = context.store;
  const joins = next.joins ?? [];
  const holds = joins.map((join) => del(keys.barrier(context.graph.id, join, 'hold')));
  for (const join of joins) context.joins.add(join);
  return step(context, guards, [...ops, ...holds]);
}

function isUnderWay(task: TaskRecord): boolean {
  return !isEnded(task.state) && task.state !== 'WAITING' && task.cancelRequested === undefined;
}

const STOP_TRIES = 20;

async function stopMember(context: DriveContext, first: Seen, reason: string): Promise<void> {
  let member: Seen | undefined = first;
  for (let tries = 0; tries < STOP_TRIES && member !== undefined; tries++) {
    const { task } = member;
    if (!isUnderWay(task)) return;
    if (await tryStop(context, member, reason)) return;
    const answer = await context.store.kv.range({ key: context.store.keys.task(task.id) });
    member = seen(answer.kvs[0])[0];
  }
}

async function tryStop(context: DriveContext, { task, revision }: Seen, reason: string): Promise<boolean> {
  const { store, taken } = context;
  const { keys } = store;
  const guard = modIs(keys.task(task.id), revision);
  if (task.state === 'STARTED') {
    const order: OrderRecord = { by: taken.by, atMs: taken.nowMs, reason };
    const ops: Op[] = edgeOps(keys, task, cancelRequested(task, taken, reason, true));
    if (task.node !== undefined) ops.push(put(keys.order(task.node, 'cancel', task.id), encodeRecord(order)));
    return step(context, [guard], ops);
  }
  const next = cancelled(task, taken, reason, 'stopped');
  const payload = await readPayload(context, task.id, task.hasCallbacks === true);
  const ending = endingOps(store, next, taken, { halted: true, ...(payload === undefined ? {} : { payload }) });
  return step(
    context,
    [guard, absent(keys.lock(task.id)), ...ending.compare],
    [...edgeOps(keys, task, next), ...ending.ops],
  );
}

async function readPayload(context: DriveContext, id: string, wanted: boolean): Promise<TaskPayload | undefined> {
  if (!wanted) return undefined;
  const [kv] = (await context.store.kv.range({ key: context.store.keys.args(id) })).kvs;
  return kv === undefined ? undefined : decodePayload(kv.value);
}
