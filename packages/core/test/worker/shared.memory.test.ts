import { describe, expect, it } from 'vitest';
import { SHARDS } from '../../src/model/order.js';
import { changeSettings } from '../../src/store/index.js';
import { Membership } from '../../src/store/membership.js';
import { loopRenewer } from '../../src/store/renewer.js';
import { silentLogger } from '../../src/runtime/index.js';
import type { Stopped } from '../../src/worker/index.js';
import { memoryRig, type MemoryRig } from '../store/stores.js';
import { call, gate, handling, keysOf, lockOf, submit, taskOf, worker } from './rig.js';

function counted(): { readonly runs: Map<string, number>; readonly run: (context: { id: string }) => void } {
  const runs = new Map<string, number>();
  return { runs, run: ({ id }) => void runs.set(id, (runs.get(id) ?? 0) + 1) };
}

async function submitMany(rig: MemoryRig, store: Parameters<typeof submit>[0], count: number): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: count }, () => submit(store, 't')));
  await rig.clock.settle();
  return ids;
}

describe('workers that share a queue', () => {
  it('run 2000 tasks, none twice and none lost, each from its own shards', async () => {
    const rig = memoryRig();
    const { runs, run } = counted();
    const workers = [1, 2, 3].map(() =>
      worker(rig.process().store, rig.clock, { handlers: [handling('t', run)], concurrency: 50 }),
    );
    for (const one of workers) await one.start();
    await rig.advance(1_000);
    const { store } = rig.process();
    const ids = await submitMany(rig, store, 2_000);
    await rig.advance(5_000);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    expect(new Set(runs.keys())).toEqual(new Set(ids));
    const shares = workers.map(({ status }) => status.counters.succeeded);
    expect(Math.min(...shares)).toBeGreaterThan(400);
    await Promise.all(workers.map((one) => one.stop()));
    expect(await keysOf(store, 'locks')).toEqual([]);
  });

  it('a worker whose session is lost stops its handlers, ignores them, and goes on under a new one (reports E1, E23)', async () => {
    const rig = memoryRig();
    const one = rig.process();
    const { store } = rig.process();
    const stopped: string[] = [];
    const { passed, open } = gate();
    const slow = worker(one.store, rig.clock, {
      handlers: [
        handling('t', async (context) => {
          context.signal.addEventListener('abort', () => stopped.push((context.signal.reason as Stopped).reason));
          await passed;
        }),
      ],
      auditEveryMs: 1_000,
    });
    await slow.start();
    await rig.advance(500);
    const id = await submit(store, 't');
    await rig.advance(500);
    const first = slow.status.node;
    expect((await taskOf(store, id)).state).toBe('STARTED');
    one.kv.disconnect('blackhole');
    await rig.advance(8_250);
    expect(stopped).toEqual(['lost']);
    expect(await lockOf(store, id)).toBeDefined();
    const other = worker(store, rig.clock, { handlers: [handling('t')] });
    await other.start();
    await rig.advance(3_000);
    expect(await taskOf(store, id)).toMatchObject({ state: 'SUCCESS', attempt: 2, losses: 1, failures: 0 });
    one.kv.heal();
    open();
    await rig.advance(20_000);
    expect(await taskOf(store, id)).toMatchObject({ state: 'SUCCESS', attempt: 2 });
    expect(slow.status.node).toBeDefined();
    expect(slow.status.node).not.toBe(first);
    const late = await submit(store, 't');
    await rig.advance(2_000);
    expect((await taskOf(store, late)).state).toBe('SUCCESS');
    await Promise.all([slow.stop(), other.stop()]);
  });

  it('takes over what a dead node had begun, within seconds of its lease’s end (reports E1, E37, E41)', async () => {
    const rig = memoryRig();
    const dead = rig.process();
    const { store } = rig.process();
    const crashing = worker(dead.store, rig.clock, {
      handlers: [handling('t', () => new Promise(() => undefined))],
      concurrency: 20,
    });
    const { runs, run } = counted();
    await crashing.start();
    await rig.advance(500);
    const ids = await submitMany(rig, store, 20);
    expect((await keysOf(store, 'locks')).length).toBe(20);
    const living = worker(store, rig.clock, { handlers: [handling('t', run)] });
    await living.start();
    await rig.advance(1_000);
    expect(runs.size).toBe(0);
    // As by SIGKILL: nothing is heard of it any more.
    dead.kv.disconnect('blackhole');
    await rig.advance(10_500);
    expect(new Set(runs.keys())).toEqual(new Set(ids));
    for (const id of ids) expect(await taskOf(store, id)).toMatchObject({ state: 'SUCCESS', attempt: 2, losses: 1 });
    await living.stop();
  });

  it('leaves a task that lost its worker too often to the rescuer (report E44)', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const id = await submit(store, 't');
    for (let i = 0; i < 5; i++) {
      const process = rig.process();
      const doomed = worker(process.store, rig.clock, {
        handlers: [handling('t', () => new Promise(() => undefined))],
      });
      await doomed.start();
      await rig.advance(1_000);
      process.kv.disconnect('blackhole');
      await rig.advance(15_000);
    }
    const careful = worker(store, rig.clock, { handlers: [handling('t')] });
    await careful.start();
    await rig.advance(10_000);
    const task = await taskOf(store, id);
    expect(task).toMatchObject({ state: 'STARTED', attempt: 5, losses: 4 });
    expect(await lockOf(store, id)).toBeUndefined();
    await careful.stop();
  });

  it('takes over from a dead node whose going changes nothing about who owns which shards', async () => {
    const rig = memoryRig();
    const dead = rig.process();
    const { store } = rig.process();
    const { runs, run } = counted();
    const hang = () => new Promise(() => undefined);
    const draining = worker(dead.store, rig.clock, { handlers: [handling('t', hang)], concurrency: 20 });
    await draining.start();
    await rig.advance(500);
    const ids = await submitMany(rig, store, 20);
    void draining.drain();
    const living = worker(store, rig.clock, { handlers: [handling('t', run)] });
    await living.start();
    await rig.advance(5_000);
    expect(runs.size).toBe(0);
    dead.kv.disconnect('blackhole');
    await rig.advance(11_000);
    expect(new Set(runs.keys())).toEqual(new Set(ids));
    await living.stop();
  });

  it('an idle node steals from one that does not get on (never starves behind a busy owner)', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const { runs, run } = counted();
    const busy = worker(rig.process().store, rig.clock, {
      handlers: [handling('t', () => new Promise(() => undefined))],
      concurrency: 1,
    });
    await busy.start();
    await rig.advance(500);
    const idle = worker(rig.process().store, rig.clock, { handlers: [handling('t', run)], concurrency: 5 });
    await idle.start();
    await rig.advance(500);
    const ids = await submitMany(rig, store, 100);
    await rig.advance(120_000);
    expect(runs.size).toBe(99);
    expect(ids.length).toBe(100);
    await idle.stop();
    const stopping = busy.abort();
    await rig.advance(5_000);
    await stopping;
  });

  it('an idle queue costs next to nothing (no polling)', async () => {
    const rig = memoryRig();
    let calls = 0;
    const process = rig.process();
    process.kv.intercept = ({ method }) => {
      if (method === 'range' || method === 'txn') calls += 1;
      return 'pass';
    };
    const one = worker(process.store, rig.clock, { handlers: [handling('t')] });
    await one.start();
    await rig.advance(10_000);
    calls = 0;
    await rig.advance(60_000);
    // The audit's revision and the feeds' looks at the epoch.
    expect(calls).toBeLessThan(40);
    await one.stop();
  });

  it('two workers may share one membership: one lease, one node', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const membership = new Membership({ store, clock: rig.clock, logger: silentLogger, renewer: loopRenewer });
    await membership.start();
    const one = worker(store, rig.clock, { handlers: [handling('a')], queues: ['qa'], membership });
    const two = worker(store, rig.clock, { handlers: [handling('b')], queues: ['qb'], membership });
    await one.start();
    await two.start();
    await rig.advance(500);
    const ids = [await submit(store, 'a', { queue: 'qa' }), await submit(store, 'b', { queue: 'qb' })];
    await rig.advance(500);
    for (const id of ids) expect((await taskOf(store, id)).state).toBe('SUCCESS');
    expect((await keysOf(store, 'nodes')).length).toBe(1);
    await one.stop();
    expect((await keysOf(store, 'nodes')).length).toBe(1);
    await two.stop();
    await membership.stop();
    expect(await keysOf(store, 'nodes')).toEqual([]);
  });
});

describe('limits', () => {
  async function most(
    setUp: (rig: MemoryRig, store: Parameters<typeof submit>[0]) => Promise<void>,
    options: (i: number) => Parameters<typeof submit>[2],
    keyOf: (headers: Readonly<Record<string, string>>) => string = () => '',
  ): Promise<{ most: number; done: number; left: readonly string[] }> {
    const rig = memoryRig();
    const running = new Map<string, number>();
    let top = 0;
    let done = 0;
    const run = async ({ headers, signal }: { headers: Readonly<Record<string, string>>; signal: AbortSignal }) => {
      const key = keyOf(headers);
      running.set(key, (running.get(key) ?? 0) + 1);
      top = Math.max(top, running.get(key) ?? 0);
      await rig.clock.sleep(20 + 30 * Math.random(), signal);
      running.set(key, (running.get(key) ?? 0) - 1);
      done += 1;
    };
    const { store } = rig.process();
    await setUp(rig, store);
    const workers = [1, 2, 3].map(() =>
      worker(rig.process().store, rig.clock, { handlers: [handling('t', run)], concurrency: 20 }),
    );
    for (const one of workers) await one.start();
    await rig.advance(500);
    await Promise.all(Array.from({ length: 60 }, (_, i) => submit(store, 't', options(i))));
    await rig.advance(30_000);
    await Promise.all(workers.map((one) => one.stop()));
    return { most: top, done, left: await keysOf(store, 'slots') };
  }

  const limit =
    (target: Parameters<typeof changeSettings>[2], concurrency: number) =>
    async (_rig: MemoryRig, store: Parameters<typeof submit>[0]) => {
      await changeSettings(store, call(), target, 'limit', (settings) => ({ ...settings, concurrency }));
    };

  it.each([
    ['a queue', limit({ queue: 'default' }, 3), 3],
    ['a name', limit({ name: 't' }, 2), 2],
    ['everything', limit('all', 4), 4],
  ] as const)('of %s: never more at once on all nodes, and all of it runs', async (_what, setUp, max) => {
    const result = await most(setUp, () => ({}));
    expect(result).toEqual({ most: max, done: 60, left: [] });
  });

  it('by key: one at a time for each customer, and one customer’s backlog does not hold up the others', async () => {
    const result = await most(
      () => Promise.resolve(),
      (i) => {
        const customer = i < 45 ? 'big' : `small${i % 3}`;
        return { concurrency: { key: customer, max: 1 }, headers: { customer } };
      },
      (headers) => headers['customer'] ?? '',
    );
    expect(result).toEqual({ most: 1, done: 60, left: [] });
  });
});

it('there are eight shards, which the tests above count on', () => expect(SHARDS).toBe(8));
