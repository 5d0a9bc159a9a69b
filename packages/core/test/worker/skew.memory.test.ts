import { expect, it } from 'vitest';
import { decodeRecord } from '../../src/model/codec.js';
import type { NodeStats } from '../../src/model/records.js';
import { silentLogger } from '../../src/runtime/index.js';
import { sampleClock } from '../../src/store/compaction.js';
import { ClockSkew } from '../../src/worker/skew.js';
import { elect } from '../leader/office.js';
import { memoryRig, type MemoryRig } from '../store/stores.js';
import { handling, worker } from './rig.js';

/** A node whose clock is so far from the leader's. */
function skewed(rig: MemoryRig, ms: number) {
  const { store } = rig.process();
  return { ...store, now: () => rig.clock.now() + ms };
}

it.each([4_000, -90_000, 0])('a clock that is %i ms off is measured by the samples of the leader', async (offMs) => {
  const rig = memoryRig();
  const leads = rig.process().store;
  const leader = await elect(leads);
  const store = skewed(rig, offMs);
  const made = worker(store, rig.clock, { handlers: [handling('work')], statsEveryMs: 1_000 });
  await made.start();
  await rig.advance(500);
  await sampleClock(leads, leader);
  await rig.advance(3_000);
  const key = store.keys.stats(made.status.node ?? '');
  const [kv] = (await store.kv.range({ key })).kvs;
  expect(decodeRecord<NodeStats>(kv?.value ?? '', 'stats').clockSkewMs).toBe(offMs);
  await Promise.all([made.stop(), rig.advance(3_000)]);
});

it('of the last samples the quickest counts: one that was long on its way does not make the clock look fast', async () => {
  const rig = memoryRig();
  const skew = new ClockSkew(skewed(rig, 100), rig.clock, silentLogger);
  const { store } = rig.process();
  await skew.start();
  await rig.clock.settle();
  expect(skew.ms).toBeUndefined();
  const sample = (delayMs: number): Promise<unknown> => {
    const key = store.keys.clock(rig.clock.now() - delayMs);
    return store.kv.txn({ compare: [], success: [{ kind: 'put', key, value: '{}' }] });
  };
  for (const delayMs of [700, 5, 2_000]) {
    await sample(delayMs);
    await rig.advance(30_000);
  }
  expect(skew.ms).toBe(105);
  for (const delayMs of [31, 32, 33, 34]) {
    await sample(delayMs);
    await rig.advance(30_000);
  }
  expect(skew.ms).toBe(131);
  await Promise.all([skew.stop(), rig.advance(1_000)]);
});
