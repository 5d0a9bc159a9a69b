import { expect, it } from 'vitest';
import { silentLogger } from '../../src/runtime/index.js';
import { put } from '../../src/store/index.js';
import { Limits } from '../../src/worker/limits.js';
import { memoryRig } from '../store/stores.js';

async function limitsOf() {
  const rig = memoryRig();
  const { store } = rig.process();
  let wakes = 0;
  const limits = new Limits(store, rig.clock, silentLogger, () => (wakes += 1));
  // The first question starts the feed; until it has answered nothing is known to be free.
  expect(limits.reserve([{ limit: 'a', max: 1 }])).toEqual({ kind: 'full', limit: 'a' });
  await rig.clock.settle();
  expect(limits.takeFreed()).toBe('all');
  return { rig, store, limits, wakes: () => wakes };
}

it('a slot that a claim has chosen is not chosen again, and is told of when the claim failed', async () => {
  const { limits, wakes } = await limitsOf();
  const first = limits.reserve([{ limit: 'a', max: 1 }]);
  expect(first).toEqual({ kind: 'reserved', slots: [{ limit: 'a', n: 0 }] });
  expect(limits.reserve([{ limit: 'a', max: 1 }])).toEqual({ kind: 'full', limit: 'a' });
  const before = wakes();
  limits.release([{ limit: 'a', n: 0 }], false);
  expect(wakes()).toBe(before + 1);
  expect(limits.takeFreed()).toEqual(new Map([['a', 1]]));
  expect(limits.reserve([{ limit: 'a', max: 1 }]).kind).toBe('reserved');
  await limits.stop();
});

it('one slot of each limit, or none of any', async () => {
  const { limits } = await limitsOf();
  limits.reserve([{ limit: 'b', max: 1 }]);
  const both = [
    { limit: 'a', max: 1 },
    { limit: 'b', max: 1 },
  ];
  expect(limits.reserve(both)).toEqual({ kind: 'full', limit: 'b' });
  expect(limits.reserve([{ limit: 'a', max: 1 }]).kind).toBe('reserved');
  await limits.stop();
});

it('slots of others count, also those beyond a limit that was lowered, until they are freed', async () => {
  const { rig, store, limits } = await limitsOf();
  await store.kv.txn({ compare: [], success: [7, 8, 9].map((n) => put(store.keys.slot('a', n), 'task')) });
  await rig.clock.settle();
  expect(limits.reserve([{ limit: 'a', max: 3 }]).kind).toBe('full');
  expect(limits.reserve([{ limit: 'a', max: 4 }]).kind).toBe('reserved');
  await store.kv.txn({ compare: [], success: [{ kind: 'delete', key: store.keys.slot('a', 8) }] });
  await rig.clock.settle();
  expect(limits.takeFreed()).toEqual(new Map([['a', 1]]));
  await limits.stop();
});
