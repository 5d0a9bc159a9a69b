import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryStore } from '../../src/kv/index.js';
import { RECORD_LIMITS } from '../../src/model/task.js';
import { normalizeSignature } from '../../src/model/validate.js';
import type { Signature } from '../../src/model/signature.js';
import { claim, type Holder } from '../../src/store/claim.js';
import { advance } from '../../src/store/drive.js';
import type { Leadership } from '../../src/store/leadership.js';
import { cancelTask } from '../../src/store/operate.js';
import { findUnlocked, locksLostAt, rescueTask } from '../../src/store/rescue.js';
import { settle } from '../../src/store/settle.js';
import type { Store } from '../../src/store/store.js';
import { submitTask, submitWorkflow } from '../../src/store/submit.js';
import { afterReads, elect } from '../leader/office.js';
import {
  call,
  claimOne,
  CLIENT,
  dump,
  FREE,
  LEADER,
  makeStore,
  memoryWorld,
  openHolder,
  readTask,
  readWorkflowRecord,
  sig,
  task,
} from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let memory: MemoryStore;
let leader: Leadership;
let holder: Holder;

beforeEach(async () => {
  ({ store, clock, memory } = memoryWorld());
  leader = await elect(store);
  holder = await openHolder(store, 'worker', 10);
});

const submit = (signature: Signature): Promise<unknown> =>
  submitTask(store, CLIENT, normalizeSignature(signature, {}, clock.nowMs));

/** The worker dies: its lease ends and takes node and locks with it. */
function kill(): void {
  memory.revoke(holder.lease);
}

async function unlocked(): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of findUnlocked(store)) ids.push(...page);
  return ids;
}

describe('rescue', () => {
  it('report E1, E32: a task whose worker died is PENDING again, its loss counted and no retry used', async () => {
    await submit(sig('work', [], { id: 'x' }));
    await claimOne(store, holder, 'x');
    kill();
    expect(await unlocked()).toEqual(['x']);
    expect(await rescueTask(store, leader, 'x')).toEqual({ outcome: 'pending' });
    expect(await readTask(store, 'x')).toMatchObject({
      state: 'PENDING',
      cause: 'lost',
      losses: 1,
      failures: 0,
      attempt: 1,
    });
    expect(await unlocked()).toEqual([]);
    expect((await dump(store, 'ready')).size).toBe(1);
  });

  it('report E40: a running task is left alone, however long it runs', async () => {
    await submit(sig('work', [], { id: 'x' }));
    await claimOne(store, holder, 'x');
    clock.nowMs += 365 * 86_400_000;
    expect(await unlocked()).toEqual([]);
    expect(await rescueTask(store, leader, 'x')).toEqual({ outcome: 'left' });
    expect((await readTask(store, 'x')).state).toBe('STARTED');
  });

  it('finds only what is STARTED without a lock among pending, running and ended tasks', async () => {
    for (const id of ['pending', 'running', 'lost', 'ended', 'released']) await submit(sig('work', [], { id }));
    const other = await openHolder(store, 'other');
    await claimOne(store, other, 'running');
    await claimOne(store, holder, 'lost');
    await settle(store, other, await claimOne(store, other, 'ended'), { kind: 'success', results: [] });
    await settle(store, other, await claimOne(store, other, 'released'), { kind: 'hand-back' });
    kill();
    expect(await unlocked()).toEqual(['lost']);
  });

  it('R2: the revision before the lease ended names the locks that went with it', async () => {
    for (const id of ['a', 'b', 'c']) await submit(sig('work', [], { id }));
    const other = await openHolder(store, 'other');
    await claimOne(store, holder, 'a');
    await claimOne(store, holder, 'c');
    await claimOne(store, other, 'b');
    kill();
    const revision = memory.revision;
    await submit(sig('work', [], { id: 'd' }));
    expect(await locksLostAt(store, 'worker', revision)).toEqual(['a', 'c']);
    await store.kv.compact(revision);
    expect(await locksLostAt(store, 'worker', revision)).toBeUndefined();
  });

  it('report E44: a task that loses its worker too often is quarantined, and calls its onError', async () => {
    await submit(sig('poison', [], { id: 'x', onError: [task('alarm')] }));
    for (let n = 1; n <= RECORD_LIMITS.losses; n++) {
      holder = await openHolder(store, `worker-${n}`, 10);
      await claimOne(store, holder, 'x');
      kill();
      expect(await rescueTask(store, leader, 'x')).toEqual({
        outcome: n < RECORD_LIMITS.losses ? 'pending' : 'quarantined',
      });
    }
    expect(await readTask(store, 'x')).toMatchObject({
      state: 'FAILURE',
      cause: 'quarantined',
      losses: RECORD_LIMITS.losses,
      error: { type: 'QuarantinedError' },
    });
    const alarm = await readTask(store, `x.e${RECORD_LIMITS.losses}.0`);
    expect(alarm).toMatchObject({ name: 'alarm', state: 'PENDING', parent: 'x' });
    expect((await dump(store, 'unique')).size).toBe(0);
  });

  it('report E22: a task that was asked to stop is cancelled when its worker dies, not run again', async () => {
    await submit(sig('work', [], { id: 'x' }));
    await claimOne(store, holder, 'x');
    await cancelTask(store, call('enough'), 'x');
    kill();
    expect(await rescueTask(store, leader, 'x')).toEqual({ outcome: 'cancelled' });
    expect(await readTask(store, 'x')).toMatchObject({ state: 'CANCELLED', error: { message: 'enough' } });
  });

  it('U1: an attempt that an operator ended meanwhile stays ended', async () => {
    await submit(sig('work', [], { id: 'x' }));
    await claimOne(store, holder, 'x');
    kill();
    const forced = (): Promise<unknown> => cancelTask(store, call(), 'x', { force: true }).catch(() => undefined);
    const racing = makeStore(afterReads(memory.connect(), forced), clock);
    expect(await rescueTask(racing, leader, 'x')).toEqual({ outcome: 'left' });
    expect((await readTask(store, 'x')).state).toBe('CANCELLED');
  });

  it('U2: slots that another task holds by now are not freed', async () => {
    await submit(sig('work', [], { id: 'x', concurrency: { key: 'customer', max: 1 } }));
    await submit(sig('work', [], { id: 'y', concurrency: { key: 'customer', max: 1 } }));
    const slots = [{ limit: 'key/customer', n: 0 }];
    const other = await openHolder(store, 'other');
    const [x, y] = await Promise.all(['x', 'y'].map((id) => store.kv.range({ key: store.keys.task(id) })));
    const take = (id: string, revision: bigint, by: Holder) =>
      readTask(store, id).then((record) => claim(store, by, { task: record, revision, settings: FREE, slots }));
    await take('x', x?.kvs[0]?.modRevision ?? 0n, holder);
    kill();
    expect(await take('y', y?.kvs[0]?.modRevision ?? 0n, other)).toMatchObject({ kind: 'claimed' });
    await rescueTask(store, leader, 'x');
    expect([...(await dump(store, 'slots')).values()]).toEqual(['y']);
  });

  it('report E25: a quarantined member leaves its barrier with a chore, and the workflow fails', async () => {
    await submitWorkflow(store, CLIENT, { kind: 'group', members: [task('poison'), task('fine')] }, { id: 'w' });
    const id = 'w.00000';
    for (let n = 1; n <= RECORD_LIMITS.losses; n++) {
      holder = await openHolder(store, `worker-${n}`, 10);
      await claimOne(store, holder, id);
      kill();
      const { drive } = await rescueTask(store, leader, id);
      if (drive !== undefined) await advance(store, LEADER, drive);
    }
    expect(await readWorkflowRecord(store, 'w')).toMatchObject({ state: 'FAILURE', failures: [{ taskId: id }] });
  });

  it('I8: after the term is over nothing is rescued', async () => {
    await submit(sig('work', [], { id: 'x' }));
    await claimOne(store, holder, 'x');
    kill();
    await store.kv.txn({ compare: [], success: [{ kind: 'delete', key: store.keys.leader() }] });
    await expect(rescueTask(store, leader, 'x')).rejects.toMatchObject({ code: 'session-lost' });
    expect((await readTask(store, 'x')).state).toBe('STARTED');
  });
});
