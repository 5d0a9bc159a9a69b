import {
  decodeRecord,
  decodeTask,
  explain,
  LeaseholdError,
  memberId,
  rateUntilMs,
  type LeaderRecord,
  type NodeFacts,
  type NodeRecord,
  type Settings,
  type TaskRecord,
  type WaitFacts,
  type WaitReason,
  type WorkflowRecord,
} from '@leasehold/core';
import { prefixEnd, type KeyValue } from '@leasehold/core/kv';
import { findWindow, limitsOf } from '@leasehold/core/store';
import type { Command } from 'commander';
import { run, type CommonOptions, type Session } from '../command.js';
import { ago, clean } from '../output.js';

type Store = Session['client']['store'];

export function addWhy(program: Command): void {
  program
    .command('why')
    .description('why a task does not run')
    .argument('<id>')
    .action((id: string, _flags: object, command: Command) =>
      run(command.optsWithGlobals<CommonOptions>(), (session) => why(session, id)),
    );
}

async function why({ client, out }: Session, id: string): Promise<void> {
  const task = await client.get(id);
  if (task === undefined) throw new LeaseholdError('not-found', `there is no task ${id}`, { id });
  const facts = await gather(client.store, task);
  const reasons = explain(task, facts);
  const state = facts.locked ? `it is running on ${task.node ?? 'a node'}` : `it is ${task.state}`;
  if (reasons.length === 0) return out.show({ id, state: task.state, reasons }, `${id} waits for nothing: ${state}`);
  const lines = reasons.map((reason) => `  - ${clean(say(reason, facts.nowMs))}`);
  out.show({ id, state: task.state, reasons }, `${id} is ${task.state}:\n${lines.join('\n')}`);
}

/**
 * The facts that a few reads give, one after the other: what changes between them may not fit together, which on the board,
 * whose facts are of one revision, cannot be.
 */
async function gather(store: Store, task: TaskRecord): Promise<WaitFacts> {
  const { keys, kv } = store;
  const read = [keys.lock(task.id), keys.queue(task.queue), keys.name(task.name), keys.all(), keys.leader()];
  if (task.workflow !== undefined) read.push(keys.workflow(task.workflow.id));
  const answer = await kv.txn({ compare: [], success: read.map((key) => ({ kind: 'range', key })) });
  const [lock, queue, name, all, leader, workflow] = answer.results.map((r) =>
    r.kind === 'range' ? r.kvs[0] : undefined,
  );
  const set = { ...settings('queue', queue), ...settings('name', name), ...settings('all', all) };
  const [nodes, limits, rates, unique, ahead, awaited] = await Promise.all([
    nodeFacts(store),
    limitFacts(store, task, set),
    rateFacts(store, task, set),
    uniqueHolder(store, task),
    countAhead(store, task),
    awaitedBy(store, task),
  ]);
  return {
    nowMs: Date.now(),
    locked: lock !== undefined,
    settings: set,
    nodes,
    limits,
    rates,
    ...(unique === undefined ? {} : { uniqueHolder: unique }),
    ...(leader === undefined ? {} : { leader: decodeRecord<LeaderRecord>(leader.value, 'leader') }),
    ...(workflow === undefined ? {} : { workflow: decodeRecord<WorkflowRecord>(workflow.value, 'workflow') }),
    ...(awaited === undefined ? {} : { awaited }),
    ...(ahead === undefined ? {} : { ahead }),
  };
}

function settings(what: 'queue' | 'name' | 'all', kv: KeyValue | undefined): Partial<WaitFacts['settings']> {
  return kv === undefined ? {} : { [what]: decodeRecord<Settings>(kv.value, 'settings') };
}

/** What is set for a task's queue, its name and everything, by the name of the limit. */
function limitNames(task: TaskRecord, { queue, name, all }: WaitFacts['settings']): readonly [string, Settings][] {
  const named: readonly [string, Settings | undefined][] = [
    [`queue/${task.queue}`, queue],
    [`name/${task.name}`, name],
    ['all', all],
  ];
  return named.flatMap(([limit, set]) => (set === undefined ? [] : [[limit, set]]));
}

async function limitFacts(
  store: Store,
  task: TaskRecord,
  set: WaitFacts['settings'],
): Promise<NonNullable<WaitFacts['limits']>> {
  const given = limitNames(task, set).flatMap(([limit, { concurrency: max }]) =>
    max === undefined ? [] : [{ limit, max }],
  );
  return Promise.all(
    [...limitsOf(task), ...given].map(async ({ limit, max }) => {
      const key = store.keys.slotsOf(limit);
      const { kvs } = await store.kv.range({ key, rangeEnd: prefixEnd(key) });
      return { limit, max, holders: kvs.map(({ value }) => value) };
    }),
  );
}

async function rateFacts(
  store: Store,
  task: TaskRecord,
  set: WaitFacts['settings'],
): Promise<NonNullable<WaitFacts['rates']>> {
  const found = await Promise.all(
    limitNames(task, set).map(async ([limit, { rate }]) => {
      if (rate === undefined) return [];
      const { open, taken } = await findWindow(store, limit);
      const untilMs = rateUntilMs(rate, open, taken, Date.now());
      return untilMs === undefined ? [] : [{ limit, untilMs }];
    }),
  );
  return found.flat();
}

async function uniqueHolder(store: Store, { unique }: TaskRecord): Promise<string | undefined> {
  if (unique === undefined) return undefined;
  return (await store.kv.range({ key: store.keys.unique(unique.key) })).kvs[0]?.value;
}

async function nodeFacts(store: Store): Promise<readonly NodeFacts[]> {
  const [nodes, locks] = [await readAll(store, 'nodes'), await readAll(store, 'locks')];
  const ids = locks.map(({ key }) => key.slice(key.lastIndexOf('/') + 1));
  const held = await Promise.all(ids.map((id) => readTask(store, id)));
  return nodes.map(({ value }) => {
    const node = decodeRecord<NodeRecord>(value, 'node');
    const own = held.filter((task) => task?.node === node.id);
    const runningByQueue = new Map<string, number>();
    for (const task of own)
      if (task !== undefined) runningByQueue.set(task.queue, (runningByQueue.get(task.queue) ?? 0) + 1);
    return {
      id: node.id,
      queues: new Map(node.queues.map(({ name, concurrency }) => [name, concurrency])),
      names: new Set(node.handlers.map((handler) => handler.name)),
      labels: node.labels,
      draining: node.draining,
      running: own.length,
      runningByQueue,
    };
  });
}

async function readAll(store: Store, kind: 'nodes' | 'locks'): Promise<readonly KeyValue[]> {
  const key = store.keys.kind(kind);
  return (await store.kv.range({ key, rangeEnd: prefixEnd(key) })).kvs;
}

async function readTask(store: Store, id: string): Promise<TaskRecord | undefined> {
  const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
  return kv === undefined ? undefined : decodeTask(kv.value);
}

/** Order holds within a shard, so only its own shard is looked at. */
async function countAhead(store: Store, task: TaskRecord): Promise<number | undefined> {
  if (task.state !== 'PENDING' || task.order === undefined) return undefined;
  const key = store.keys.readyShard(task.queue, task.shard);
  const rangeEnd = store.keys.ready(task.queue, task.shard, task.order, task.id);
  return (await store.kv.range({ key, rangeEnd, countOnly: true })).count;
}

async function awaitedBy(store: Store, task: TaskRecord): Promise<WaitFacts['awaited']> {
  const inputs = task.workflow?.inputs;
  if (task.state !== 'WAITING' || task.workflow === undefined || inputs === undefined) return undefined;
  if ('join' in inputs) {
    const key = store.keys.barrierOf(task.workflow.id, inputs.join);
    const { count } = await store.kv.range({ key, rangeEnd: prefixEnd(key), countOnly: true });
    return { kind: 'join', join: inputs.join, ...(count === 0 ? {} : { done: 0, total: count }) };
  }
  const before = await readTask(store, memberId(task.workflow.id, inputs.task));
  return before === undefined ? undefined : { kind: 'task', id: before.id, name: before.name, state: before.state };
}

type Params<C extends WaitReason['code']> = Extract<WaitReason, { code: C }>['params'];
type Sayings = { readonly [C in WaitReason['code']]: (params: Params<C>, nowMs: number) => string };

const SAYINGS: Sayings = {
  'not-due': ({ untilMs }, now) => `it is not due yet: ${ago(untilMs, now)}`,
  'retry-backoff': ({ untilMs, failures }, now) =>
    `it failed ${failures} times and is tried again ${ago(untilMs, now)}`,
  snoozed: ({ untilMs }, now) => `its handler asked to be run again ${ago(untilMs, now)}`,
  'promotion-late': ({ dueMs }, now) => `it was due ${ago(dueMs, now)} and the leader has not promoted it yet`,
  'no-leader': () => 'there is no leader that could promote it; start a worker that may lead',
  'lost-worker': ({ node, attempt }) => `attempt ${attempt} lost its worker ${node}; the next one takes it over`,
  'waits-for-task': ({ taskId, name, state }) =>
    `it waits for task ${taskId}${name === undefined ? '' : ` (${name}, ${state})`}`,
  barrier: ({ workflowId, total }) =>
    `it waits for members of workflow ${workflowId}${total === undefined ? '' : `: ${total} have not ended`}`,
  staged: ({ workflowId }) => `workflow ${workflowId} is still being written`,
  'workflow-stopping': ({ workflowId, reason }) =>
    `workflow ${workflowId} is stopping${reason === undefined ? '' : `: ${reason}`}`,
  'all-paused': ({ by, sinceMs, reason }, now) => `everything is paused by ${by}, ${ago(sinceMs, now)}: ${reason}`,
  'queue-paused': ({ queue, by, sinceMs, reason }, now) =>
    `queue ${queue} is paused by ${by}, ${ago(sinceMs, now)}: ${reason}`,
  'name-paused': ({ name, by, sinceMs, reason }, now) =>
    `task ${name} is paused by ${by}, ${ago(sinceMs, now)}: ${reason}`,
  'no-worker': ({ queue }) => `no live worker serves queue ${queue}`,
  'unknown-name': ({ name, queue }) => `no live worker of queue ${queue} knows the task ${name}`,
  'labels-mismatch': ({ labels }) => `no live worker that knows it has the labels ${labels}`,
  'workers-busy': ({ running, capacity }) => `every worker is busy: ${running} of ${capacity}`,
  concurrency: ({ limit, held, max, holders }) => `limit ${limit} is full, ${held} of ${max}: ${holders.join(', ')}`,
  'rate-limit': ({ limit, untilMs }, now) => `rate limit ${limit} is used up; it opens ${ago(untilMs, now)}`,
  'unique-held': ({ key, holder }) => `its unique key ${key} is held by ${holder}`,
  'storage-full': ({ usedBytes, softLimitBytes }) =>
    `etcd is above its soft limit: ${usedBytes} of ${softLimitBytes} bytes`,
  position: ({ queue, ahead }) =>
    ahead === 0 ? `it is next in its shard of ${queue}` : `${ahead} stand before it in its shard of ${queue}`,
};

export function say(reason: WaitReason, nowMs: number): string {
  // The map is keyed by code, which the compiler cannot carry through the union.
  const saying = SAYINGS[reason.code] as (params: WaitReason['params'], nowMs: number) => string;
  return saying(reason.params, nowMs);
}
