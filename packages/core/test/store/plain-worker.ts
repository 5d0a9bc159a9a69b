/** A worker without threads, feeds or timers: claims what is ready and settles it, one by one or all, as a test says. */
import { uuidv7 } from 'uuidv7';
import { connectEtcd, MemoryStore, prefixEnd, type Kv } from '../../src/kv/index.js';
import { decodeTask } from '../../src/model/codec.js';
import { Keys } from '../../src/model/keys.js';
import type { AttemptOutcome } from '../../src/model/outcome.js';
import type { Actor, WorkflowRecord } from '../../src/model/records.js';
import { decodeRecord } from '../../src/model/codec.js';
import type { Signature, TypedValue, Workflow } from '../../src/model/signature.js';
import type { TaskRecord } from '../../src/model/task.js';
import { due } from '../../src/model/transition.js';
import { claim, type Held, type Holder } from '../../src/store/claim.js';
import { Committer, NO_FENCE, type CommitterOptions } from '../../src/store/commit.js';
import { advance } from '../../src/store/drive.js';
import { decodeReady, edgeOps } from '../../src/store/edge.js';
import { resolveInputs } from '../../src/store/inputs.js';
import { settle, type SettleResult } from '../../src/store/settle.js';
import { modIs, type OperatorCall, type Store } from '../../src/store/store.js';

export const CLIENT: Actor = { kind: 'client', name: 'test' };
export const LEADER: Actor = { kind: 'leader', name: 'test' };

let operations = 0;
export function call(reason = 'because', revisionSeen?: bigint): OperatorCall {
  return {
    actor: { kind: 'operator', name: 'ann' },
    operationId: `op-${++operations}`,
    reason,
    ...(revisionSeen === undefined ? {} : { revisionSeen }),
  };
}

export function makeStore(kv: Kv, clock: { nowMs: number }, options: CommitterOptions = {}, namespace = 'test'): Store {
  let ids = 0;
  return {
    kv,
    keys: new Keys(namespace),
    committer: new Committer(kv, { sleep: () => Promise.resolve(), now: () => clock.nowMs, ...options }),
    now: () => clock.nowMs,
    random: () => 0.5,
    newId: () => `0000-${String(++ids).padStart(6, '0')}`,
    limits: { payloadBytes: 262_144, workflowTasks: 10_000 },
  };
}

export function memoryWorld(): { store: Store; clock: { nowMs: number }; memory: MemoryStore } {
  const clock = { nowMs: 1_700_000_000_000 };
  const memory = new MemoryStore({ now: () => clock.nowMs });
  return { store: makeStore(memory.connect(), clock), clock, memory };
}

/** The same on a real etcd, in a namespace of its own. */
export function etcdWorld(endpoint: string): { store: Store; clock: { nowMs: number } } {
  const clock = { nowMs: Date.now() };
  const kv = connectEtcd({ endpoints: [endpoint] });
  return { store: makeStore(kv, clock, {}, `test-${uuidv7()}`), clock };
}

export async function openHolder(store: Store, node: string, ttlS = 10): Promise<Holder> {
  const { id } = await store.kv.leaseGrant(ttlS);
  const key = store.keys.node(node);
  const answer = await store.kv.txn({
    compare: [{ key, target: 'create', value: 0n }],
    success: [{ kind: 'put', key, value: JSON.stringify({ id: node }), lease: id }],
  });
  const fence = {
    id: `session/${node}`,
    compare: [
      { key, target: 'create', value: answer.revision },
      { key, target: 'lease', value: id },
    ],
  } as const;
  return { node, lease: id, fence };
}

export const text = (value: string): TypedValue => ({ type: 'string', value });
export const int = (value: number | bigint): TypedValue => ({ type: 'int64', value: String(value) });
export const sig = (name: string, args: readonly TypedValue[] = [], more: Partial<Signature> = {}): Signature => ({
  name,
  args,
  ...more,
});
export const task = (name: string, args: readonly TypedValue[] = [], more: Partial<Signature> = {}): Workflow => ({
  kind: 'task',
  signature: sig(name, args, more),
});

export async function readTask(store: Store, id: string): Promise<TaskRecord> {
  const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
  if (kv === undefined) throw new Error(`no task ${id}`);
  return decodeTask(kv.value);
}

export async function readWorkflowRecord(store: Store, id: string): Promise<WorkflowRecord> {
  const [kv] = (await store.kv.range({ key: store.keys.workflow(id) })).kvs;
  if (kv === undefined) throw new Error(`no workflow ${id}`);
  return decodeRecord<WorkflowRecord>(kv.value, 'workflow');
}

/** All keys of a kind with their values. */
export async function dump(store: Store, kind: Parameters<Keys['kind']>[0]): Promise<Map<string, string>> {
  const prefix = store.keys.kind(kind);
  const { kvs } = await store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix) });
  return new Map(kvs.map((kv) => [kv.key.slice(prefix.length), kv.value]));
}

/** Ready entries that nobody holds, in order. */
export async function claimable(store: Store): Promise<{ record: TaskRecord; revision: bigint }[]> {
  const prefix = store.keys.kind('ready');
  const { kvs } = await store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix) });
  const locks = await dump(store, 'locks');
  const out: { record: TaskRecord; revision: bigint }[] = [];
  for (const kv of kvs) {
    const id = kv.key.slice(kv.key.lastIndexOf('/') + 1);
    if (locks.has(id)) continue;
    const carried = decodeReady(kv.value).record;
    const [current] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
    if (current === undefined) throw new Error(`ready entry without a record: ${kv.key}`);
    const record = decodeTask(current.value);
    out.push({
      record: carried !== undefined && current.modRevision === kv.modRevision ? carried : record,
      revision: current.modRevision,
    });
  }
  return out;
}

export const FREE = { queue: 0n, name: 0n, all: 0n };

export async function claimOne(store: Store, holder: Holder, id?: string): Promise<Held> {
  const ready = await claimable(store);
  const next = id === undefined ? ready[0] : ready.find(({ record }) => record.id === id);
  if (next === undefined) throw new Error(`nothing to claim${id === undefined ? '' : `: ${id}`}`);
  const slots = (next.record.workflow?.limits ?? []).map(({ limit }) => ({ limit, n: 0 }));
  const result = await claim(store, holder, { task: next.record, revision: next.revision, settings: FREE, slots });
  if (result.kind !== 'claimed') throw new Error(`not claimed: ${result.kind}`);
  return result.held;
}

export type Handler = (args: readonly TypedValue[], task: TaskRecord) => readonly TypedValue[];

/** Runs one held task with a handler; what it throws is a failure. */
export async function runHeld(store: Store, holder: Holder, held: Held, handler: Handler): Promise<SettleResult> {
  const own = held.task.args ?? held.payload?.args ?? [];
  const args = [...own, ...(await resolveInputs(store, held.task))];
  let outcome: AttemptOutcome;
  try {
    outcome = { kind: 'success', results: handler(args, held.task) };
  } catch (error) {
    const { name, message } = error as Error;
    const at = { attempt: held.task.attempt, node: holder.node, atMs: store.now() };
    outcome = { kind: 'failure', error: { type: name, message, ...at } };
  }
  const result = await settle(store, holder, held, outcome);
  if (result.kind === 'settled' && result.drive !== undefined) await advance(store, LEADER, result.drive);
  return result;
}

/** Moves everything due to ready; time jumps to the next due entry. */
export async function promoteNext(store: Store, clock: { nowMs: number }): Promise<boolean> {
  const prefix = store.keys.kind('due');
  const { kvs } = await store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix), limit: 1 });
  const parsed = kvs[0] === undefined ? undefined : store.keys.parse(kvs[0].key);
  if (parsed?.kind !== 'due') return false;
  clock.nowMs = Math.max(clock.nowMs, parsed.timeMs);
  const [kv] = (await store.kv.range({ key: store.keys.task(parsed.id) })).kvs;
  if (kv === undefined) throw new Error(`due entry without a record: ${parsed.id}`);
  const record = decodeTask(kv.value);
  await store.committer.submit(NO_FENCE, {
    compare: [modIs(kv.key, kv.modRevision)],
    success: edgeOps(store.keys, record, due(record, { by: 'leader:test', nowMs: clock.nowMs })),
  });
  return true;
}

/** Works until nothing is ready or due. Returns the ids in the order in which they ran. */
export async function workAll(
  store: Store,
  clock: { nowMs: number },
  holder: Holder,
  handler: Handler,
  pick: (ready: number) => number = () => 0,
): Promise<string[]> {
  const ran: string[] = [];
  for (let rounds = 0; rounds < 100_000; rounds++) {
    const ready = await claimable(store);
    const next = ready[pick(ready.length)];
    if (next === undefined) {
      if (await promoteNext(store, clock)) continue;
      return ran;
    }
    clock.nowMs += 1;
    ran.push(next.record.id);
    await runHeld(store, holder, await claimOne(store, holder, next.record.id), handler);
  }
  throw new Error('never came to an end');
}
