import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterKeys } from '../../src/model/cluster-keys.js';
import { RETENTION_DEFAULTS } from '../../src/model/retention.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { cancelTask } from '../../src/store/operate.js';
import { StorageMeter } from '../../src/store/storage.js';
import { submitTask } from '../../src/store/submit.js';
import { call, CLIENT, dump, sig } from '../store/plain-worker.js';
import { makeWorld, type World } from './world.js';

let world: World;
const MINUTE = 60_000;

beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.close());

async function cancelled(id: string): Promise<void> {
  await submitTask(world.store, CLIENT, normalizeSignature(sig('work', [], { id }), {}, world.clock.now()));
  await cancelTask(world.store, call(), id);
}

const compactor = async (): Promise<bigint | undefined> =>
  (await world.store.kv.range({ key: clusterKeys.compactor })).kvs[0]?.lease;

describe('the janitor', () => {
  it('deletes by age and by count, and says how much', async () => {
    const retention = { ...RETENTION_DEFAULTS, CANCELLED: { ageMs: 60 * MINUTE, count: 5, bytes: 1e9 } };
    const { leader } = await world.addNode('a', { janitor: { retention } });
    await world.until(() => leader.elected);
    for (let n = 0; n < 10; n++) {
      await cancelled(`t${n}`);
      await world.clock.advance(1_000);
    }
    await world.clock.advance(9 * MINUTE);
    expect((await dump(world.store, 'tasks')).size).toBe(10);
    await world.clock.advance(8 * MINUTE);
    expect((await dump(world.store, 'tasks')).size).toBe(5);
    await world.clock.advance(60 * MINUTE);
    expect((await dump(world.store, 'tasks')).size).toBe(0);
    expect(leader.health()).toMatchObject({ retention: { deletedTasks: 10 } });
  });

  it('samples the clock, compacts history beyond the window, and hands the duty on with its term', async () => {
    const storage = new StorageMeter(world.memory.connect(), {
      historyMs: 10 * MINUTE,
      now: () => world.clock.monotonic(),
    });
    const a = await world.addNode('a', { janitor: { storage } });
    await world.until(() => a.leader.elected);
    const first = world.memory.revision;
    await world.until(async () => (await compactor()) === a.holder.lease);
    for (let n = 0; n < 20; n++) {
      await cancelled(`t${n}`);
      await world.clock.advance(2 * MINUTE);
    }
    const past = world.store.kv.range({ key: world.store.keys.leader(), revision: first });
    await expect(past).rejects.toMatchObject({ code: 'compacted' });
    expect((await dump(world.store, 'clock')).size).toBeGreaterThan(60);
    expect(a.leader.health()).toMatchObject({ compacts: true, storage: { full: false, advice: 'none' } });
    await a.leader.stop();
    expect(await compactor()).toBeUndefined();
  });

  it('leaves history alone when it is told to', async () => {
    const a = await world.addNode('a', { janitor: { compact: false } });
    await world.until(() => a.leader.elected);
    await world.clock.advance(10 * MINUTE);
    expect(await compactor()).toBeUndefined();
    expect(a.leader.health()).toMatchObject({ compacts: false });
  });
});
