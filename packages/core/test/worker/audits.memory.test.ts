import { expect, it } from 'vitest';
import { silentLogger } from '../../src/runtime/index.js';
import { claim, del } from '../../src/store/index.js';
import { Membership } from '../../src/store/membership.js';
import { loopRenewer } from '../../src/store/renewer.js';
import type { Stopped } from '../../src/worker/index.js';
import { memoryRig } from '../store/stores.js';
import { handling, keysOf, lockOf, submit, taskOf, worker } from './rig.js';

async function rigWith(run: Parameters<typeof handling>[1]) {
  const rig = memoryRig();
  const { store, kv } = rig.process();
  const membership = new Membership({ store, clock: rig.clock, logger: silentLogger, renewer: loopRenewer });
  await membership.start();
  const made = worker(store, rig.clock, { handlers: [handling('t', run)], membership, auditEveryMs: 1_000 });
  await made.start();
  await rig.advance(500);
  const stop = async (): Promise<void> => {
    await made.stop();
    await membership.stop();
  };
  return { rig, store, kv, membership, made, stop };
}

it('a lock that nobody here runs is handed back, and uses no attempt of its failures or losses', async () => {
  const { rig, store, membership, stop } = await rigWith(() => undefined);
  const id = await submit(store, 'elsewhere');
  const task = await taskOf(store, id);
  const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
  const holder = membership.session?.holder;
  if (holder === undefined || kv === undefined) throw new Error('there is no session');
  const settings = { queue: 0n, name: 0n, all: 0n };
  const claimed = await claim(store, holder, { task, revision: kv.modRevision, settings, slots: [] });
  expect(claimed.kind).toBe('claimed');
  await rig.advance(1_000);
  expect(await lockOf(store, id)).toBeDefined();
  await rig.advance(2_500);
  expect(await lockOf(store, id)).toBeUndefined();
  expect(await taskOf(store, id)).toMatchObject({ state: 'PENDING', handBacks: 1, failures: 0, losses: 0 });
  await stop();
});

it('a handler whose lock is gone is told to stop, and what it returns counts for nothing', async () => {
  const reasons: string[] = [];
  const { rig, store, made, stop } = await rigWith(
    ({ signal }) =>
      new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => {
          reasons.push((signal.reason as Stopped).reason);
          resolve();
        }),
      ),
  );
  const id = await submit(store, 't');
  await rig.advance(250);
  await store.kv.txn({ compare: [], success: [del(store.keys.lock(id))] });
  await rig.advance(2_500);
  expect(reasons).toEqual(['released']);
  expect((await taskOf(store, id)).state).toBe('STARTED');
  expect(made.status).toMatchObject({ running: 0, counters: { succeeded: 0 } });
  await stop();
});

it('a claim whose answers were all lost still runs its task, once', async () => {
  const runs: number[] = [];
  const { rig, store, kv, stop } = await rigWith(({ attempt }) => void runs.push(attempt));
  const other = rig.process().store;
  let losing = true;
  kv.intercept = ({ method }) => (losing && method === 'txn' ? 'drop-after' : 'pass');
  const id = await submit(other, 't');
  await rig.advance(34_000);
  losing = false;
  await rig.advance(10_000);
  expect(runs.length).toBe(1);
  expect(await taskOf(store, id)).toMatchObject({ state: 'SUCCESS', losses: 0, failures: 0 });
  expect(await keysOf(store, 'locks')).toEqual([]);
  await stop();
});
