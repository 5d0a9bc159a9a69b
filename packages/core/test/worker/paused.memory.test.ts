import { describe, expect, it } from 'vitest';
import { pause, resume } from '../../src/store/index.js';
import { decideClaim, type Grounds } from '../../src/worker/claiming.js';
import { submitTask } from '../../src/store/submit.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { CLIENT, memoryWorld, openHolder } from '../store/plain-worker.js';
import { memoryRig } from '../store/stores.js';
import { call, handling, lockOf, submit, taskOf, worker } from './rig.js';

/** Found by chaos: both ways past a pause led through settings that were known and not looked at. */
describe('a pause (I9)', () => {
  it.each([
    ['a queue', { queue: 'default' }],
    ['everything', 'all'],
  ] as const)('of %s holds for idle workers that steal', async (_what, target) => {
    const rig = memoryRig();
    const { store } = rig.process();
    const workers = [1, 2, 3].map(() =>
      worker(rig.process().store, rig.clock, { handlers: [handling('t')], stealEveryMs: 200 }),
    );
    for (const one of workers) await one.start();
    await rig.advance(1_000);
    await pause(store, call(), target);
    const id = await submit(store, 't');
    await rig.advance(20_000);
    expect(await taskOf(store, id)).toMatchObject({ state: 'PENDING', attempt: 0 });
    await resume(store, call(), target);
    await rig.advance(2_000);
    expect((await taskOf(store, id)).state).toBe('SUCCESS');
    await Promise.all(workers.map((one) => one.stop()));
  });

  it('holds for a claim that was allowed before it and is decided again after it', async () => {
    const { store } = memoryWorld();
    const holder = await openHolder(store, 'n1');
    const { id } = await submitTask(store, CLIENT, normalizeSignature({ name: 't', args: [] }, {}, store.now()));
    const allowedBy = { queue: 0n, name: 0n, all: 0n };
    await pause(store, call(), { queue: 'default' });
    const task = await taskOf(store, id);
    const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
    let waited = 0;
    const grounds = { store, settings: { catchUp: () => Promise.resolve(void (waited += 1)) } } as unknown as Grounds;
    const entry = {
      key: '',
      shard: 0,
      order: task.order ?? 0,
      priority: 0,
      created: 0n,
      id,
      revision: 0n,
      ready: { name: 't' },
      // A record that turns out old: the first try is refused and the task read again.
      seen: { task, revision: (kv?.modRevision ?? 0n) - 1n },
      place: 'taken',
      reason: '',
      renewed: false,
    } as const;
    const session = { holder, check: () => Promise.resolve() } as never;
    const decided = await decideClaim(grounds, session, 'default', entry as never, {
      slots: [],
      units: [],
      settings: allowedBy,
    });
    expect(decided).toBe('again');
    expect(waited).toBe(1);
    expect(await lockOf(store, id)).toBeUndefined();
  });
});
