/** Workers and a leader under rate limits: what began when. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Leader } from '../../src/leader/index.js';
import type { RateLimit, Settings } from '../../src/model/records.js';
import { silentLogger } from '../../src/runtime/index.js';
import { changeSettings, type SettingsTarget } from '../../src/store/index.js';
import { openHolder } from '../store/plain-worker.js';
import { memoryRig } from '../store/stores.js';
import { call, handling, keysOf, submit, worker } from './rig.js';

async function paced(target: SettingsTarget, settings: Settings, workers = 3) {
  const rig = memoryRig();
  const { store } = rig.process();
  const holder = await openHolder(store, 'leads', 3_600);
  const session = { holder, signal: new AbortController().signal };
  const leader = new Leader({ store, clock: rig.clock, logger: silentLogger, session });
  await leader.start();
  await changeSettings(store, call(), target, 'settings', () => settings);
  const began: number[] = [];
  const handlers = ['work', 'other'].map((name) =>
    handling(name, () => {
      began.push(rig.clock.monotonic());
    }),
  );
  const made = Array.from({ length: workers }, () => worker(rig.process().store, rig.clock, { handlers }));
  for (const each of made) await each.start();
  const stop = async (): Promise<void> => {
    for (const each of made) await Promise.all([each.stop(), rig.advance(2_000)]);
    await Promise.all([leader.stop(), rig.advance(1_000)]);
  };
  return { rig, store, began, stop };
}

/** The most that began within any span of an interval, wherever it begins. */
function mostWithin(began: readonly number[], { intervalMs }: RateLimit): number {
  return Math.max(...began.map((from) => began.filter((at) => at >= from && at < from + intervalMs).length));
}

it('never more than the count in any interval, by any number of workers, and everything gets its turn', async () => {
  const rate: RateLimit = { count: 5, intervalMs: 1_000 };
  const { rig, store, began, stop } = await paced({ queue: 'default' }, { rate });
  for (let n = 0; n < 23; n++) await submit(store, 'work');
  await rig.advance(12_000);
  expect(began).toHaveLength(23);
  expect(mostWithin(began, rate)).toBe(5);
  expect(Math.max(...began) - Math.min(...began)).toBeGreaterThanOrEqual(4_000);
  await stop();
});

it('an even limit is spread over its interval', async () => {
  const rate: RateLimit = { count: 4, intervalMs: 2_000, even: true };
  const { rig, store, began, stop } = await paced('all', { rate });
  for (let n = 0; n < 9; n++) await submit(store, 'work');
  await rig.advance(15_000);
  expect(began).toHaveLength(9);
  const gaps = began.slice(1).map((at, i) => at - (began[i] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...gaps)).toBeLessThan(1_500);
  await stop();
});

it('the rate of one name stops nothing else, and ends when the setting goes', async () => {
  const { rig, store, began, stop } = await paced({ name: 'work' }, { rate: { count: 1, intervalMs: 600_000 } }, 1);
  for (let n = 0; n < 4; n++) await submit(store, 'work');
  for (let n = 0; n < 6; n++) await submit(store, 'other');
  await rig.advance(5_000);
  expect(began).toHaveLength(7);
  await changeSettings(store, call(), { name: 'work' }, 'settings', () => ({}));
  await rig.advance(3_000);
  expect(began).toHaveLength(10);
  expect(await keysOf(store, 'rates')).toEqual([]);
  await stop();
});

it('property: whenever tasks come, no span of an interval sees more than the count', async () => {
  const wave = fc.record({ tasks: fc.integer({ min: 1, max: 6 }), afterMs: fc.integer({ min: 0, max: 1_500 }) });
  const rates = fc.record({
    count: fc.integer({ min: 1, max: 6 }),
    intervalMs: fc.integer({ min: 300, max: 2_000 }),
    even: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(rates, fc.array(wave, { minLength: 1, maxLength: 10 }), async (rate, waves) => {
      const { rig, store, began, stop } = await paced({ queue: 'default' }, { rate }, 2);
      let tasks = 0;
      for (const wave of waves) {
        await rig.advance(wave.afterMs);
        for (let n = 0; n < wave.tasks; n++) await submit(store, 'work');
        tasks += wave.tasks;
      }
      await rig.advance(1_000 + (tasks / rate.count + 2) * (rate.intervalMs + 500));
      expect(began).toHaveLength(tasks);
      expect(mostWithin(began, rate)).toBeLessThanOrEqual(rate.count);
      await stop();
    }),
    { numRuns: 15 },
  );
});
