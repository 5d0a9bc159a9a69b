/** Rate limits on real etcd, by real time: nodes with leaders of their own, of which one opens the windows. */
import { expect, inject, it } from 'vitest';
import { uuidv7 } from 'uuidv7';
import { prefixEnd } from '../../src/kv/index.js';
import { defineTask } from '../../src/model/define.js';
import { startNode } from '../../src/node/index.js';
import { silentLogger } from '../../src/runtime/index.js';
import { setLimits } from '../../src/store/index.js';
import { handle } from '../../src/worker/index.js';
import { until } from '../store/stores.js';
import { call } from './rig.js';

it('two nodes together begin no more than the count in a window, and it goes on when the leader stops', async () => {
  const work = defineTask('work', { args: ['int64'] });
  const began: number[] = [];
  const handlers = [handle(work, () => void began.push(performance.now()))];
  const etcd = { endpoints: [inject('etcd')] };
  const options = { etcd, namespace: `test-${uuidv7()}`, handlers, logger: silentLogger, leaseTtlMs: 2_000 };
  const nodes = [await startNode(options), await startNode(options)];
  const { client, store } = nodes[0] ?? (await startNode(options));
  await setLimits(store, call(), { queue: 'default' }, { rate: { count: 4, intervalMs: 500 } });
  for (let n = 0; n < 24; n++) await client.submit(work.signature([n]));
  await until('some began', () => began.length >= 12);
  const leader = nodes.find((node) => node.leaderHealth !== undefined);
  if (leader !== nodes[0]) await leader?.stop();
  await until('all began', () => began.length === 24);
  const times = began.toSorted((a, b) => a - b);
  // Whichever four follow each other in windows: the fifth begins an interval after the first of them.
  for (let i = 0; i + 4 < times.length; i += 4) {
    expect((times[i + 4] ?? 0) - (times[i] ?? 0)).toBeGreaterThan(450);
  }
  const rates = store.keys.kind('rates');
  const left = async (): Promise<number> =>
    (await store.kv.range({ key: rates, rangeEnd: prefixEnd(rates) })).kvs.length;
  await until('old units are cleared away', async () => (await left()) <= 5);
  await Promise.all(nodes.map((node) => node.stop()));
});
