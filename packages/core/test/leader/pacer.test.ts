/** Rate limits: windows opened by the leader, units taken by claims; never more than the limit, whoever interleaves. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SHORTEST_WINDOW_MS, windowOf } from '../../src/model/rate.js';
import type { RateLimit } from '../../src/model/records.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { claim } from '../../src/store/claim.js';
import { changeSettings } from '../../src/store/operate.js';
import { clearLimit, closeWindow, findWindow, openWindow, type OpenWindow } from '../../src/store/rates.js';
import { submitTask } from '../../src/store/submit.js';
import { call, claimable, CLIENT, dump, memoryWorld, openHolder, sig } from '../store/plain-worker.js';
import { elect } from './office.js';
import { makeWorld, type World } from './world.js';

describe('windows of a rate', () => {
  it('a burst limit has one window an interval', () => {
    expect(windowOf({ count: 7, intervalMs: 1_000 }, 3)).toEqual({ units: 7, lengthMs: 1_000 });
  });

  it('property: as many windows of an even limit as make an interval have exactly its units, spread evenly', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.integer({ min: 1, max: 3_600_000 }),
        fc.nat(10_000),
        (count, intervalMs, from) => {
          const rate: RateLimit = { count, intervalMs, even: true };
          const { lengthMs } = windowOf(rate, from);
          const parts = Math.max(1, Math.min(count, Math.floor(intervalMs / SHORTEST_WINDOW_MS)));
          const units = Array.from({ length: parts }, (_, i) => windowOf(rate, from + i).units);
          expect(units.reduce((a, b) => a + b, 0)).toBe(count);
          expect(Math.max(...units) - Math.min(...units)).toBeLessThanOrEqual(1);
          expect(Math.min(...units)).toBeGreaterThan(0);
          expect(lengthMs * parts).toBeGreaterThanOrEqual(intervalMs);
        },
      ),
    );
  });
});

describe('R1', () => {
  it('property: claims that interleave with the opening of windows take no more than each window has', async () => {
    const step = fc.constantFrom('claim', 'claim', 'claim', 'open', 'open-stale');
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 8 }),
        async (count, rounds) => {
          const { store } = memoryWorld();
          const leader = await elect(store);
          const holders = [await openHolder(store, 'a', 600), await openHolder(store, 'b', 600)];
          const rate: RateLimit = { count, intervalMs: 1_000 };
          for (let n = 0; n < 30; n++)
            await submitTask(store, CLIENT, normalizeSignature(sig('work', [], { id: `t${n}` }), {}, store.now()));
          const windows: OpenWindow[] = [];
          const open = async (before: OpenWindow | undefined): Promise<void> => {
            if (before !== undefined && !(await closeWindow(store, leader, before))) return;
            const index = windows.length;
            const opening = { rate, units: count, index, after: before?.window ?? 0 };
            const next = await openWindow(store, leader, 'queue/default', opening);
            if (next !== undefined) windows.push(next);
          };
          await open(undefined);
          const won = new Map<number, number>();
          const tryClaim = async (n: number, at: number): Promise<void> => {
            const window = windows[Math.max(0, windows.length - 1 - (n % 2))];
            const ready = await claimable(store);
            const next = ready[(at * 7 + n) % Math.max(1, ready.length)];
            const holder = holders[n % 2];
            if (window === undefined || next === undefined || holder === undefined) return;
            const units = [{ ...window, n: 1 + (n % count), opener: window.revision }];
            const settings = { queue: 0n, name: 0n, all: 0n };
            const candidate = { task: next.record, revision: next.revision, settings, slots: [], units };
            const result = await claim(store, holder, candidate);
            if (result.kind === 'claimed') won.set(window.window, (won.get(window.window) ?? 0) + 1);
          };
          for (const [at, round] of rounds.entries()) {
            await Promise.all(
              round.map((what, n) => {
                if (what === 'claim') return tryClaim(n, at);
                return open(what === 'open' ? windows.at(-1) : windows[0]);
              }),
            );
            const openers = [...(await dump(store, 'rates')).keys()].filter((key) => key.endsWith('/00000'));
            expect(openers).toHaveLength(1);
          }
          for (const taken of won.values()) expect(taken).toBeLessThanOrEqual(count);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('a unit of a closed window is refused, and the refusal says why', async () => {
    const { store } = memoryWorld();
    const leader = await elect(store);
    const holder = await openHolder(store, 'a', 600);
    await submitTask(store, CLIENT, normalizeSignature(sig('work', [], { id: 't' }), {}, store.now()));
    const rate: RateLimit = { count: 1, intervalMs: 1_000 };
    const first = await openWindow(store, leader, 'all', { rate, units: 1, index: 0, after: 0 });
    if (first === undefined) throw new Error('not opened');
    // The one before is closed first: until then no other opens.
    const next2 = { rate, units: 1, index: 1, after: first.window };
    expect(await openWindow(store, leader, 'all', next2)).toBeUndefined();
    expect(await closeWindow(store, leader, first)).toBe(true);
    const second = await openWindow(store, leader, 'all', next2);
    const [next] = await claimable(store);
    if (next === undefined || second === undefined) throw new Error('nothing to claim');
    const at = { task: next.record, revision: next.revision, settings: { queue: 0n, name: 0n, all: 0n }, slots: [] };
    const stale = await claim(store, holder, { ...at, units: [{ ...first, n: 1, opener: first.revision }] });
    expect(stale).toMatchObject({ kind: 'blocked', by: 'units' });
    const fresh = await claim(store, holder, { ...at, units: [{ ...second, n: 1, opener: second.revision }] });
    expect(fresh.kind).toBe('claimed');
    // Under another leader's fence nothing is opened (I8).
    await clearLimit(store, leader, 'all');
    expect(await findWindow(store, 'all')).toEqual({ taken: [] });
  });
});

describe('the pacer', () => {
  let world: World;
  beforeEach(() => (world = makeWorld()));
  afterEach(() => world.close());

  const opener = async (): Promise<OpenWindow> => {
    const { open } = await findWindow(world.store, 'queue/default');
    if (open === undefined) throw new Error('no window is open');
    return open;
  };
  const setRate = (rate: RateLimit | undefined): Promise<unknown> =>
    changeSettings(world.store, call(), { queue: 'default' }, 'settings', () => (rate === undefined ? {} : { rate }));
  const takeUnit = async ({ limit, window }: OpenWindow, n: number): Promise<void> => {
    const value = JSON.stringify({ v: 1, task: 't', at_ms: world.clock.now() });
    const key = world.store.keys.rate(limit, window, n);
    await world.store.kv.txn({ compare: [], success: [{ kind: 'put', key, value }] });
  };
  const opened = (): Promise<boolean> =>
    opener().then(
      () => true,
      () => false,
    );

  it('opens a window for a rate that is set, and leaves it open while nobody takes of it', async () => {
    await world.addNode('n1');
    await setRate({ count: 2, intervalMs: 1_000 });
    await world.until(opened);
    const first = await opener();
    await world.clock.advance(120_000);
    expect(await opener()).toEqual(first);
  });

  it('R2: the next window has what an interval leaves: units that were taken late are not given again early', async () => {
    await world.addNode('n1');
    await setRate({ count: 3, intervalMs: 1_000 });
    await world.until(opened);
    const first = await opener();
    await takeUnit(first, 1);
    await world.clock.settle();
    await world.clock.advance(900);
    await takeUnit(first, 2);
    await takeUnit(first, 3);
    await world.clock.settle();
    await world.clock.advance(90);
    expect(await opener()).toEqual(first);
    await world.until(async () => (await opener()).window > first.window, 200);
    const second = await opener();
    expect(second.record.units).toBe(1);
    await takeUnit(second, 1);
    await world.clock.settle();
    await world.clock.advance(700);
    expect(await opener()).toEqual(second);
    await world.until(async () => (await opener()).record.units === 2, 1_000);
  });

  it('gives the whole count back when nothing was taken for an interval, and clears the old units away', async () => {
    await world.addNode('n1');
    await setRate({ count: 2, intervalMs: 1_000 });
    await world.until(opened);
    const first = await opener();
    await world.clock.advance(5_000);
    await takeUnit(first, 1);
    await world.clock.settle();
    await world.clock.advance(990);
    expect(await opener()).toEqual(first);
    await world.until(async () => (await opener()).window > first.window, 200);
    await world.until(async () => (await dump(world.store, 'rates')).size === 1);
  });

  it('R4: another rate takes the place of a window at once, less what was taken within its interval', async () => {
    await world.addNode('n1');
    await setRate({ count: 2, intervalMs: 10_000 });
    await world.until(opened);
    await setRate({ count: 5, intervalMs: 10_000 });
    await world.until(async () => (await opener()).record.units === 5, 500);
    await takeUnit(await opener(), 1);
    await world.clock.settle();
    await setRate({ count: 9, intervalMs: 10_000 });
    await world.until(async () => (await opener()).record.units === 8, 500);
    await world.until(async () => (await opener()).record.units === 9, 11_000);
  });

  it('R3: a new leader goes on with the window of the one before, and opens the next no sooner', async () => {
    const first = await world.addNode('n1');
    await setRate({ count: 1, intervalMs: 60_000 });
    await world.until(opened);
    const window = await opener();
    await takeUnit(window, 1);
    await world.clock.settle();
    await first.die();
    await world.addNode('n2');
    await world.clock.advance(59_000);
    expect(await opener()).toEqual(window);
    await world.until(async () => (await opener()).window > window.window, 8_000);
  });

  it('clears away what belongs to a rate that is not set any more, also of a former leader', async () => {
    const first = await world.addNode('n1');
    await setRate({ count: 1, intervalMs: 1_000 });
    await world.until(opened);
    await first.die();
    await setRate(undefined);
    await world.addNode('n2');
    await world.until(async () => (await dump(world.store, 'rates')).size === 0);
  });
});
