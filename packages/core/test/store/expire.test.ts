import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryStore } from '../../src/kv/index.js';
import { normalizeSignature } from '../../src/model/validate.js';
import type { Signature } from '../../src/model/signature.js';
import type { Holder } from '../../src/store/claim.js';
import { advance } from '../../src/store/drive.js';
import { expireDue, nextDeadlineMs, type Expired } from '../../src/store/expire.js';
import type { Leadership } from '../../src/store/leadership.js';
import { settle } from '../../src/store/settle.js';
import type { Store } from '../../src/store/store.js';
import { submitTask, submitWorkflow } from '../../src/store/submit.js';
import { elect } from '../leader/office.js';
import {
  claimOne,
  CLIENT,
  dump,
  LEADER,
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
let start: number;

beforeEach(async () => {
  ({ store, clock, memory } = memoryWorld());
  leader = await elect(store);
  holder = await openHolder(store, 'worker', 10);
  start = clock.nowMs;
});

const submit = (signature: Signature): Promise<unknown> =>
  submitTask(store, CLIENT, normalizeSignature(signature, {}, clock.nowMs));

async function pass(): Promise<Expired> {
  const result = await expireDue(store, leader);
  for (const drive of result.drives) await advance(store, LEADER, drive);
  return result;
}

describe('expiry', () => {
  it('cancels what has not started in time, frees its unique key, and touches nothing before', async () => {
    await submit(sig('work', [], { id: 'x', expiresMs: start + 1_000, unique: { key: 'k', onConflict: 'reject' } }));
    clock.nowMs = start + 999;
    expect(await pass()).toMatchObject({ ended: 0 });
    clock.nowMs = start + 1_000;
    expect(await pass()).toMatchObject({ ended: 1, left: 0 });
    expect(await readTask(store, 'x')).toMatchObject({
      state: 'CANCELLED',
      cause: 'expired',
      error: { type: 'ExpiredError' },
    });
    for (const kind of ['ready', 'deadlines', 'unique'] as const) expect((await dump(store, kind)).size).toBe(0);
  });

  it('what has started once does not expire in the queue any more', async () => {
    await submit(sig('work', [], { id: 'x', expiresMs: start + 1_000 }));
    await settle(store, holder, await claimOne(store, holder, 'x'), { kind: 'hand-back' });
    clock.nowMs = start + 5_000;
    expect(await pass()).toEqual({ ended: 0, asked: 0, freed: 0, strays: 0, left: 0, drives: [] });
    expect((await readTask(store, 'x')).state).toBe('PENDING');
  });

  it('a running task past its deadline is asked to stop once, durably, and its node is told', async () => {
    await submit(sig('work', [], { id: 'x', deadlineMs: start + 1_000 }));
    const held = await claimOne(store, holder, 'x');
    clock.nowMs = start + 1_000;
    expect(await pass()).toMatchObject({ asked: 1 });
    expect(await readTask(store, 'x')).toMatchObject({
      state: 'STARTED',
      cancelRequested: { by: `leader:${leader.node}` },
    });
    expect([...(await dump(store, 'orders')).keys()]).toEqual(['worker/cancel/x']);
    const before = memory.revision;
    expect(await pass()).toMatchObject({ asked: 0, left: 1 });
    expect(memory.revision).toBe(before);
    await settle(store, holder, held, { kind: 'cancelled', reason: 'too late' });
    expect((await readTask(store, 'x')).state).toBe('CANCELLED');
    expect((await dump(store, 'deadlines')).size).toBe(0);
  });

  it('one that waits for a retry, or lost its worker, fails at its deadline', async () => {
    await submit(
      sig('work', [], {
        id: 'retrying',
        deadlineMs: start + 1_000,
        retry: { count: 3, delayMs: 10_000, backoff: 'fixed' },
      }),
    );
    await submit(sig('work', [], { id: 'lost', deadlineMs: start + 1_000 }));
    const error = { type: 'Error', message: 'no', attempt: 1, atMs: start };
    await settle(store, holder, await claimOne(store, holder, 'retrying'), { kind: 'failure', error });
    await claimOne(store, holder, 'lost');
    memory.revoke(holder.lease);
    clock.nowMs = start + 1_000;
    expect(await pass()).toMatchObject({ ended: 2 });
    for (const id of ['retrying', 'lost']) {
      expect(await readTask(store, id)).toMatchObject({
        state: 'FAILURE',
        cause: 'expired',
        error: { type: 'ExpiredError' },
      });
    }
    expect((await dump(store, 'due')).size).toBe(0);
  });

  it('one that never ran is cancelled at its deadline', async () => {
    await submit(sig('work', [], { id: 'x', etaMs: start + 500, deadlineMs: start + 1_000 }));
    clock.nowMs = start + 1_000;
    expect(await pass()).toMatchObject({ ended: 1 });
    expect(await readTask(store, 'x')).toMatchObject({ state: 'CANCELLED', cause: 'expired' });
  });

  it('X3: a waiting member is left until it is released, and then its workflow hears of the expiry', async () => {
    const late = task('late', [], { expiresMs: start + 1_000 });
    await submitWorkflow(store, CLIENT, { kind: 'chain', steps: [task('first'), late, task('last')] }, { id: 'w' });
    const held = await claimOne(store, holder, 'w.00000');
    clock.nowMs = start + 2_000;
    expect(await pass()).toMatchObject({ ended: 0, left: 1 });
    await settle(store, holder, held, { kind: 'success', results: [] });
    expect(await pass()).toMatchObject({ ended: 1, left: 0 });
    expect((await readTask(store, 'w.00001')).cause).toBe('expired');
    expect((await readTask(store, 'w.00002')).state).toBe('CANCELLED');
    expect((await readWorkflowRecord(store, 'w')).state).toBe('FAILURE');
  });

  it('X1: an entry that no record implies is removed', async () => {
    await store.kv.txn({
      compare: [],
      success: [{ kind: 'put', key: store.keys.deadline(start - 1, 'ghost'), value: 'expires' }],
    });
    expect(await pass()).toMatchObject({ strays: 1 });
    expect((await dump(store, 'deadlines')).size).toBe(0);
  });

  it('tells the next deadline within a horizon', async () => {
    await submit(sig('work', [], { id: 'x', deadlineMs: start + 5_000 }));
    expect(await nextDeadlineMs(store, start, 10_000)).toBe(start + 5_000);
    expect(await nextDeadlineMs(store, start, 1_000)).toBeUndefined();
  });
});
