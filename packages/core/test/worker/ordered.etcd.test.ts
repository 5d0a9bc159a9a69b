/** An ordered queue on real etcd: two nodes, two submitters whose clocks differ by a minute. */
import { uuidv7 } from 'uuidv7';
import { expect, inject, it } from 'vitest';
import { silentLogger, systemClock } from '../../src/runtime/index.js';
import { threadRenewer } from '../../src/store/keepalive.js';
import { setLimits } from '../../src/store/index.js';
import { createWorker } from '../../src/worker/index.js';
import { etcdStore, until } from '../store/stores.js';
import { judgeOrder } from './line.js';
import { call, handling, submit } from './rig.js';

const COUNT = 100;

it('is claimed in the order of commits by two nodes, whoever submitted, by whatever clock', async () => {
  const endpoint = inject('etcd');
  const namespace = `test-${uuidv7()}`;
  const places = [1, 2, 3].map(() => etcdStore(endpoint, namespace));
  const [{ store }, second, third] = places as [(typeof places)[0], (typeof places)[0], (typeof places)[0]];
  await setLimits(store, call(), { queue: 'default' }, { ordered: true });
  const judge = await judgeOrder(store, systemClock);
  await judge.feed.ready();
  const workers = [store, second.store].map((own) =>
    createWorker(own, {
      handlers: [handling('t')],
      concurrency: 20,
      leaseTtlMs: 2_000,
      renewer: threadRenewer({ etcd: { endpoints: [endpoint] } }),
      clock: systemClock,
      logger: silentLogger,
    }),
  );
  for (const worker of workers) await worker.start();
  const behind = { ...third.store, now: () => Date.now() - 60_000 };
  const submitAll = (own: typeof behind): Promise<unknown> =>
    Promise.all(Array.from({ length: COUNT }, (_, n) => submit(own, 't', { priority: n % 2 })));
  await Promise.all([submitAll(second.store), submitAll(behind)]);
  await until('all were claimed', () => judge.claims.length >= 2 * COUNT, 30_000);
  expect(judge.wrong).toEqual([]);
  expect(new Set(judge.claims).size).toBe(2 * COUNT);
  await Promise.all(workers.map((worker) => worker.stop()));
  await judge.feed.stop();
  await Promise.all(places.map(({ kv }) => kv.close()));
});
