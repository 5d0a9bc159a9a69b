/** Ordered queues: whatever the nodes, the clocks and the network, claims come in the order of commits. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Leader } from '../../src/leader/index.js';
import { chain, group } from '../../src/model/build.js';
import { silentLogger } from '../../src/runtime/index.js';
import { setLimits, submitWorkflow, type Store } from '../../src/store/index.js';
import { Line, type Standing } from '../../src/worker/line.js';
import { openHolder } from '../store/plain-worker.js';
import { memoryRig } from '../store/stores.js';
import { judgeOrder } from './line.js';
import { call, gate, handling, submit, worker } from './rig.js';

const CLIENT = { kind: 'client', name: 'test' } as const;

/** A process whose wall clock is wrong. */
function skewed(store: Store, byMs: number): Store {
  return { ...store, now: () => store.now() + byMs };
}

async function orderedRig(
  workers: number,
  run: (context: { id: string; attempt: number }) => unknown = () => undefined,
) {
  const rig = memoryRig();
  const { store } = rig.process();
  await setLimits(store, call(), { queue: 'default' }, { ordered: true });
  const holder = await openHolder(store, 'leads', 3_600);
  const leader = new Leader({
    store,
    clock: rig.clock,
    logger: silentLogger,
    session: { holder, signal: new AbortController().signal },
  });
  await leader.start();
  const processes = Array.from({ length: workers }, () => rig.process());
  const made = processes.map(({ store: own }) =>
    worker(own, rig.clock, { handlers: [handling('t', run)], concurrency: 8 }),
  );
  const stop = async (): Promise<void> => {
    for (const each of made) await Promise.all([each.stop(), rig.advance(2_000)]);
    await Promise.all([leader.stop(), rig.advance(1_000)]);
  };
  const start = async (): Promise<void> => {
    for (const each of made) await each.start();
    await rig.advance(1_000);
  };
  return { rig, store, processes, made, start, stop };
}

describe('a line', () => {
  it('keeps the order of commits within a priority, and lets priorities age between them', () => {
    const place = fc.record({ priority: fc.nat(3), created: fc.nat(20), skew: fc.integer({ min: -5, max: 5 }) });
    fc.assert(
      fc.property(fc.array(place, { maxLength: 40 }), (places) => {
        const line = new Line<Standing>(() => true);
        const all = places.map(({ priority, created, skew }, i): Standing => {
          return { id: `t${i}`, priority, created: BigInt(created), order: created + skew - priority * 6 };
        });
        all.forEach((item) => line.push(item));
        const left = new Set(all);
        for (let item = line.pop(); item !== undefined; item = line.pop()) {
          const taken = item;
          left.delete(taken);
          for (const other of left) {
            if (other.priority !== taken.priority) continue;
            expect(other.created < taken.created).toBe(false);
          }
          // Between priorities: it was the head with the least order.
          const heads = [0, 1, 2, 3].flatMap((priority) => {
            const same = [...left].filter((other) => other.priority === priority);
            return same.sort((a, b) => Number(a.created - b.created) || (a.id < b.id ? -1 : 1)).slice(0, 1);
          });
          for (const head of heads)
            if (head.priority !== taken.priority) expect(head.order).toBeGreaterThanOrEqual(taken.order);
        }
        expect(left.size).toBe(0);
      }),
    );
  });
});

describe('an ordered queue', () => {
  it('is claimed in the order of commits though the clocks of its submitters differ by minutes', async () => {
    const { rig, store, start, stop } = await orderedRig(1);
    const judge = await judgeOrder(store, rig.clock);
    await rig.clock.settle();
    const ids: string[] = [];
    // Each clock is behind the one before it: by their times the last would go first.
    for (let n = 0; n < 40; n++) ids.push(await submit(skewed(store, -n * 60_000), 't'));
    await start();
    await rig.advance(2_000);
    expect(judge.claims).toEqual(ids);
    expect(judge.wrong).toEqual([]);
    await stop();
  });

  it('a queue that is not ordered goes by the clocks of its submitters', async () => {
    const { rig, store, start, stop } = await orderedRig(1);
    await setLimits(store, call(), { queue: 'default' }, { ordered: null });
    const judge = await judgeOrder(store, rig.clock);
    await rig.clock.settle();
    for (let n = 0; n < 10; n++) await submit(skewed(store, -n * 60_000), 't');
    await start();
    await rig.advance(2_000);
    expect(judge.claims).toHaveLength(10);
    expect(judge.wrong).not.toEqual([]);
    await stop();
  });

  it('holds for several nodes, wrong clocks, lost answers and slow networks, with ETAs, workflows and retries', async () => {
    const step = fc.record({
      kind: fc.constantFrom('now', 'now', 'now', 'eta', 'chain', 'group', 'retry', 'wait'),
      priority: fc.nat(2),
      skewMs: fc.integer({ min: -120_000, max: 0 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), fc.nat(), async (steps, seed) => {
        const failing = new Set<string>();
        const { rig, store, processes, start, stop } = await orderedRig(3, ({ id, attempt }) => {
          if (attempt === 1 && failing.has(id)) throw new Error('the first attempt fails');
        });
        const judge = await judgeOrder(store, rig.clock);
        let state = seed;
        for (const { kv } of processes) {
          kv.intercept = ({ method }) => {
            state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
            if (method !== 'txn') return 'pass';
            if (state % 11 === 0) return 'drop-after';
            return state % 13 === 0 ? 'drop-before' : { delayMs: state % 40 };
          };
        }
        await start();
        let tasks = 0;
        for (const { kind, priority, skewMs } of steps) {
          const own = skewed(store, skewMs);
          const part = { name: 't', args: [], priority };
          if (kind === 'wait') await rig.advance(200);
          else if (kind === 'chain') await submitWorkflow(own, CLIENT, chain([part, part]));
          else if (kind === 'group') await submitWorkflow(own, CLIENT, group([part, part, part]));
          else if (kind === 'eta') await submit(own, 't', { priority, etaMs: store.now() + 700 });
          else {
            const id = `id-${tasks}-${seed}`;
            if (kind === 'retry') failing.add(id);
            await submit(own, 't', { id, priority, retry: { count: 3, backoff: 'fixed', delayMs: 300 } });
          }
          tasks += { chain: 2, group: 3, wait: 0, retry: 2, now: 1, eta: 1 }[kind];
        }
        for (const { kv } of processes) kv.intercept = undefined;
        await rig.advance(20_000);
        expect(judge.wrong).toEqual([]);
        expect(judge.claims.length).toBe(tasks);
        await stop();
      }),
      { numRuns: 25 },
    );
  });

  it('offers nothing before it has read everything, though the first page holds who came last', async () => {
    const { rig, store, start, stop } = await orderedRig(1);
    const judge = await judgeOrder(store, rig.clock);
    await rig.clock.settle();
    const ids: string[] = [];
    // More than one page in each shard, and the wrong way round by the clocks.
    for (let n = 0; n < 2_500; n++) ids.push(await submit(skewed(store, -n * 10), 't'));
    await start();
    await rig.advance(10_000);
    expect(judge.claims).toEqual(ids);
    await stop();
  });

  it('lets nobody past while it reads again what a key had held up', async () => {
    const began: string[] = [];
    const first = gate();
    const { rig, store, processes, start, stop } = await orderedRig(1, async ({ id }) => {
      began.push(id);
      if (id === 'a1') await first.passed;
    });
    const one = { concurrency: { key: 'a', max: 1 } };
    for (const id of ['a1', 'a2']) await submit(store, 't', { id, ...one });
    await start();
    for (const { kv } of processes) {
      // Reads of records take their time; a claim does not.
      kv.intercept = (asked) =>
        asked.method === 'txn' && asked.request.compare.length === 0 ? { delayMs: 300 } : 'pass';
    }
    first.open();
    await rig.advance(50);
    await submit(store, 't', { id: 'a3', ...one });
    await rig.advance(3_000);
    expect(began).toEqual(['a1', 'a2', 'a3']);
    await stop();
  });

  it('passes over what a key holds up, and keeps the order within the key', async () => {
    const began: string[] = [];
    const first = gate();
    const { rig, store, start, stop } = await orderedRig(2, async ({ id }) => {
      began.push(id);
      if (id === 'a1') await first.passed;
    });
    const one = (key: string) => ({ concurrency: { key, max: 1 } });
    for (const id of ['a1', 'a2', 'b1', 'a3', 'b2']) await submit(store, 't', { id, ...one(id.slice(0, 1)) });
    await start();
    await rig.advance(2_000);
    expect(began).toEqual(['a1', 'b1', 'b2']);
    first.open();
    await rig.advance(2_000);
    expect(began).toEqual(['a1', 'b1', 'b2', 'a2', 'a3']);
    await stop();
  });

  it('with one at a time in the queue, runs in the order of commits, one after the other ended', async () => {
    const log: string[] = [];
    const { rig, store, start, stop } = await orderedRig(3, async ({ id }) => {
      log.push(`begin ${id}`);
      await rig.clock.sleep(100);
      log.push(`end ${id}`);
    });
    await setLimits(store, call(), { queue: 'default' }, { concurrency: 1 });
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push(await submit(skewed(store, -n * 1_000), 't'));
    await start();
    await rig.advance(10_000);
    expect(log).toEqual(ids.flatMap((id) => [`begin ${id}`, `end ${id}`]));
    await stop();
  });

  it('a task whose node was lost keeps its place', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    await setLimits(store, call(), { queue: 'default' }, { ordered: true });
    const lost = rig.process();
    const never = gate();
    const doomed = worker(lost.store, rig.clock, { handlers: [handling('t', () => never.passed)], concurrency: 1 });
    await doomed.start();
    await rig.advance(500);
    const ids = [await submit(store, 't'), await submit(store, 't'), await submit(store, 't')];
    await rig.advance(500);
    lost.kv.disconnect('blackhole');
    const began: string[] = [];
    const other = worker(store, rig.clock, {
      handlers: [handling('t', ({ id }) => void began.push(id))],
      concurrency: 1,
    });
    await rig.advance(20_000);
    await other.start();
    await rig.advance(3_000);
    expect(began).toEqual(ids);
    never.open();
    lost.kv.heal();
    await Promise.all([doomed.stop(), other.stop(), rig.advance(5_000)]);
  });

  it('may be switched on while it is served: from the change on no claim goes by the old order', async () => {
    const { rig, store, start, stop } = await orderedRig(2);
    await setLimits(store, call(), { queue: 'default' }, { ordered: null, concurrency: 1 });
    await start();
    await setLimits(store, call(), { queue: 'default' }, { ordered: true });
    const judge = await judgeOrder(store, rig.clock);
    await rig.clock.settle();
    for (let n = 0; n < 20; n++) await submit(skewed(store, -n * 60_000), 't');
    await rig.advance(6_000);
    expect(judge.claims).toHaveLength(20);
    expect(judge.wrong).toEqual([]);
    await stop();
  });
});
