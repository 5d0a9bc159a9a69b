import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { uuidv7 } from 'uuidv7';
import { connectEtcd, prefixEnd, type Kv, type KvEvent } from '../../src/kv/index.js';
import { Leader, type LeaderOptions } from '../../src/leader/index.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { silentLogger, systemClock } from '../../src/runtime/index.js';
import { campaign, type Leadership } from '../../src/store/leadership.js';
import { createStore } from '../../src/store/create.js';
import { promoteDue } from '../../src/store/promote.js';
import { loopRenewer } from '../../src/store/renewer.js';
import { readSchedule, upsertSchedule } from '../../src/store/schedules.js';
import { openSession, type Session } from '../../src/store/session.js';
import type { Store } from '../../src/store/store.js';
import { submitTask } from '../../src/store/submit.js';
import { call, claimOne, CLIENT, dump, openHolder, readTask, sig, task } from '../store/plain-worker.js';

/** On real etcd: what depends on its leases, watches and history. */

interface Node {
  readonly kv: Kv;
  readonly store: Store;
  readonly session: Session;
  readonly leader: Leader;
  /** As a SIGKILL: nothing is given back, the lease runs out. */
  kill(): Promise<void>;
}

const TTL_MS = 2_000;
let namespace: string;
let client: Store;
let kvs: Kv[];
let nodes: Node[];

function connect(): { kv: Kv; store: Store } {
  const kv = connectEtcd({ endpoints: [inject('etcd')] });
  kvs.push(kv);
  return { kv, store: createStore(kv, { namespace }) };
}

beforeEach(() => {
  namespace = `test-${uuidv7()}`;
  kvs = [];
  nodes = [];
  client = connect().store;
});

afterEach(async () => {
  await Promise.all(nodes.map(({ leader }) => leader.stop()));
  await Promise.all(nodes.map(({ session }) => session.revoke()));
  await Promise.all(kvs.map((kv) => kv.close()));
});

async function addNode(options: Partial<LeaderOptions> = {}, ttlMs = TTL_MS): Promise<Node> {
  const { kv, store } = connect();
  const session = await openSession({
    store,
    clock: systemClock,
    logger: silentLogger,
    renewer: loopRenewer,
    ttlMs,
    node: {
      host: 'test',
      pid: process.pid,
      version: '0',
      queues: [],
      handlers: [],
      labels: {},
      draining: false,
      candidate: true,
      layout: 1,
    },
  });
  const janitor = { compact: false };
  const leader = new Leader({ store, session, clock: systemClock, logger: silentLogger, janitor, ...options });
  await leader.start();
  const node: Node = { kv, store, session, leader, kill: () => kv.close() };
  nodes.push(node);
  return node;
}

const until = (done: () => boolean | Promise<boolean>, timeout = 15_000): Promise<void> =>
  vi.waitFor(async () => expect(await done()).toBe(true), { timeout, interval: 20 });

/** Everything that ever happened under a prefix since the namespace began. */
async function historyOf(prefix: string, wanted: number): Promise<KvEvent[]> {
  const events: KvEvent[] = [];
  const { kv } = connect();
  const handle = kv.watch({ key: prefix, rangeEnd: prefixEnd(prefix), startRevision: 1n }, (message) => {
    if (message.kind === 'events') events.push(...message.events);
  });
  await until(() => events.length >= wanted);
  handle.close();
  return events;
}

describe('leaders on etcd', () => {
  it('a killed leader is followed within the lease, and only once its lease is over', async () => {
    const a = await addNode();
    await until(() => a.leader.elected);
    const b = await addNode();
    await until(() => b.leader.seen !== undefined);
    const killedAt = performance.now();
    await a.kill();
    await until(() => b.leader.elected);
    const tookMs = performance.now() - killedAt;
    console.log(`handover after a kill: ${Math.round(tookMs)} ms with a lease of ${TTL_MS} ms`);
    expect(tookMs).toBeLessThan(TTL_MS + 3_000);
    expect(a.session.isTrusted()).toBe(false);
    await until(() => !a.leader.elected);
  });

  it('a leader that stops is followed at once', async () => {
    const a = await addNode();
    await until(() => a.leader.elected);
    const b = await addNode();
    await until(() => b.leader.seen !== undefined);
    await a.leader.stop();
    await until(() => b.leader.elected, 1_000);
  });

  it('I8: a paused ex-leader writes nothing once its lease is over', async () => {
    const { store: own } = connect();
    // A second ahead, so that the task is due to it at once.
    const store = { ...own, now: () => Date.now() + 1_000 };
    const holder = await openHolder(store, 'paused', 60);
    const outcome = await campaign(store, holder);
    if (outcome.kind !== 'elected') throw new Error(outcome.kind);
    const { leadership }: { leadership: Leadership } = outcome;
    await submitTask(
      client,
      CLIENT,
      normalizeSignature(sig('work', [], { id: 'x', etaMs: Date.now() + 500 }), {}, Date.now()),
    );
    await client.kv.leaseRevoke(holder.lease);
    // It knows of nothing: no watch, no session tells it.
    await expect(promoteDue(store, leadership)).rejects.toMatchObject({ code: 'session-lost' });
    expect((await readTask(client, 'x')).state).toBe('SCHEDULED');
    const b = await addNode();
    await until(async () => (await readTask(client, 'x')).state === 'PENDING');
    await expect(promoteDue(store, leadership)).resolves.toMatchObject({ promoted: 0 });
    expect((await readTask(client, 'x')).by).toBe(`leader:${b.session.id}`);
  });

  it('report E10: ten thousand tasks due at one instant are ready within seconds', async () => {
    const count = 10_000;
    const submittedMs = Date.now();
    // A submitter whose time stands still: all are due at one instant, however long their submission takes.
    const submitter = { ...client, now: () => submittedMs };
    const submit = (i: number) => {
      const signature = sig('work', [], { id: `t${i}`, etaMs: submittedMs + 1 });
      return submitTask(submitter, CLIENT, normalizeSignature(signature, {}, submittedMs));
    };
    await Promise.all(Array.from({ length: count }, (_, i) => submit(i)));
    expect((await dump(client, 'due')).size).toBe(count);
    const dueAt = performance.now();
    const { leader } = await addNode({}, 20_000);
    await until(() => leader.health()?.promoted === count, 60_000);
    console.log(
      `10 000 due at one instant: promoted within ${Math.round(performance.now() - dueAt)} ms, election included`,
    );
    expect((await dump(client, 'due')).size).toBe(0);
    expect((await dump(client, 'ready')).size).toBe(count);
  }, 120_000);

  it('I11, report E46: a schedule fires every instant exactly once over leaders that come and go', async () => {
    let current = await addNode();
    await until(() => current.leader.elected);
    await upsertSchedule(client, call(), { id: 's', spec: '@every 1s', missed: 'all', workflow: task('tick') });
    const { record } = (await readSchedule(client, 's')) ?? {};
    for (let n = 0; n < 3; n++) {
      const next = await addNode();
      await until(async () => ((await readSchedule(client, 's'))?.record.fired ?? 0) >= (n + 1) * 2);
      if (n === 1) await current.kill();
      else await current.leader.stop();
      await until(() => next.leader.elected);
      current = next;
    }
    await until(async () => ((await readSchedule(client, 's'))?.record.fired ?? 0) >= 8);
    await current.leader.stop();
    const { record: last } = (await readSchedule(client, 's')) ?? {};
    const fired = last?.fired ?? 0;
    const fires = (await historyOf(client.keys.fires('s'), fired)).filter(({ type }) => type === 'put');
    expect(fires.map(({ kv }) => kv.version)).toEqual(Array.from({ length: fired }, () => 1n));
    const times = fires
      .map(({ kv }) => client.keys.parse(kv.key))
      .map((key) => (key?.kind === 'fires' ? key.timeMs : 0));
    expect(times).toEqual(Array.from({ length: fired }, (_, n) => (record?.anchorMs ?? 0) + (n + 1) * 1_000));
    expect([...(await dump(client, 'tasks')).keys()].toSorted()).toEqual(times.map((time) => `s-${time}`).toSorted());
  });

  it('report E1: when a node is killed, its tasks are free again within its lease, without any worker', async () => {
    const { leader } = await addNode({ rescuer: { graceMs: 200 } });
    await until(() => leader.elected);
    const worker = await openHolder(client, 'worker', 2);
    for (let n = 0; n < 20; n++) {
      await submitTask(client, CLIENT, normalizeSignature(sig('work', [], { id: `t${n}` }), {}, Date.now()));
      await claimOne(client, worker, `t${n}`);
    }
    // Nobody renews its lease from here on.
    await until(async () => (await readTask(client, 't19')).cause === 'lost');
    await until(() => leader.health()?.rescued === 20);
    expect((await readTask(client, 't0')).losses).toBe(1);
  });
});
