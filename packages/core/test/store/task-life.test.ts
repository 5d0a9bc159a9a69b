import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryStore } from '../../src/kv/index.js';
import { toTaskError } from '../../src/model/outcome.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { claim, type Holder } from '../../src/store/claim.js';
import { cancelTask, forceRelease, pause, retryTask } from '../../src/store/operate.js';
import { settle } from '../../src/store/settle.js';
import type { Store } from '../../src/store/store.js';
import { submitTask } from '../../src/store/submit.js';
import type { Signature } from '../../src/model/signature.js';
import {
  CLIENT,
  FREE,
  call,
  claimable,
  claimOne,
  dump,
  int,
  memoryWorld,
  openHolder,
  promoteNext,
  readTask,
  sig,
  text,
} from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let memory: MemoryStore;
let holder: Holder;

beforeEach(async () => {
  ({ store, clock, memory } = memoryWorld());
  holder = await openHolder(store, 'n1');
});

const submit = (signature: Signature): Promise<{ id: string; created: boolean }> =>
  submitTask(store, CLIENT, normalizeSignature(signature, {}, clock.nowMs));
const failure = (message: string, final = false) =>
  ({ kind: 'failure', error: { type: 'Error', message, attempt: 1, atMs: 0, final } }) as const;

async function places(): Promise<Record<string, string[]>> {
  const out: Record<string, string[]> = {};
  for (const kind of ['ready', 'due', 'locks', 'ended', 'unique', 'slots'] as const) {
    const keys = [...(await dump(store, kind)).keys()].map((key) => key.slice(key.lastIndexOf('/') + 1));
    if (keys.length > 0) out[kind] = keys;
  }
  return out;
}

describe('the life of one task', () => {
  it('I1: every state has exactly the places that it implies', async () => {
    const { id } = await submit(sig('add', [int(1), int(2)], { retry: { count: 1 } }));
    expect(await places()).toEqual({ ready: [id] });
    const first = await claimOne(store, holder);
    expect(await places()).toEqual({ ready: [id], locks: [id] });
    expect((await readTask(store, id)).state).toBe('STARTED');
    await settle(store, holder, first, failure('once'));
    expect(await places()).toEqual({ due: [id] });
    expect((await readTask(store, id)).state).toBe('RETRY');
    await promoteNext(store, clock);
    expect(await places()).toEqual({ ready: [id] });
    const second = await claimOne(store, holder);
    expect(second.token > first.token).toBe(true);
    const done = await settle(store, holder, second, { kind: 'success', results: [int(3)] });
    expect(done).toMatchObject({ kind: 'settled', task: { state: 'SUCCESS', attempt: 2, failures: 1 } });
    expect(await places()).toEqual({ ended: [id] });
  });

  it('an ETA in the future waits in the due index, a past one does not delay', async () => {
    const { id } = await submit(sig('later', [], { etaMs: clock.nowMs + 60_000 }));
    expect(await places()).toEqual({ due: [id] });
    const now = await submit(sig('now', [], { etaMs: clock.nowMs - 60_000 }));
    expect(await places()).toEqual({ due: [id], ready: [now.id] });
  });

  it('I2, report E23: a worker whose lease ended can write nothing more, and the loser is told so', async () => {
    const { id } = await submit(sig('slow'));
    const held = await claimOne(store, holder);
    clock.nowMs += 11_000;
    memory.tick();
    expect(await places()).toEqual({ ready: [id] });
    const other = await openHolder(store, 'n2');
    const again = await claimOne(store, other);
    expect(again.task).toMatchObject({ attempt: 2, losses: 1, failures: 0, node: 'n2' });
    expect(again.token > held.token).toBe(true);
    expect(await settle(store, holder, held, { kind: 'success', results: [text('stale')] })).toEqual({
      kind: 'fenced',
    });
    await settle(store, other, again, { kind: 'success', results: [text('fresh')] });
    expect((await readTask(store, id)).results).toEqual([text('fresh')]);
  });

  it('I2: with its session alive but its lock gone, an attempt is superseded', async () => {
    const { id } = await submit(sig('slow'));
    const held = await claimOne(store, holder);
    await forceRelease(store, call('stuck'), id);
    const result = await settle(store, holder, held, { kind: 'success', results: [] });
    expect(result).toMatchObject({ kind: 'superseded', task: { state: 'PENDING', losses: 1 } });
    expect(await claimable(store)).toHaveLength(1);
  });

  it('I3: two claims of one task: one wins, the other is told who holds it', async () => {
    await submit(sig('one'));
    const [ready] = await claimable(store);
    if (ready === undefined) throw new Error('nothing ready');
    const other = await openHolder(store, 'n2');
    const candidate = { task: ready.record, revision: ready.revision, settings: FREE, slots: [] };
    const results = await Promise.all([claim(store, holder, candidate), claim(store, other, candidate)]);
    expect(results.map((result) => result.kind).sort()).toEqual(['claimed', 'held']);
  });

  it('I9: after pause returns no claim decided before it commits', async () => {
    await submit(sig('one', [], { queue: 'q' }));
    const [ready] = await claimable(store);
    if (ready === undefined) throw new Error('nothing ready');
    await pause(store, call('maintenance'), { queue: 'q' });
    const candidate = { task: ready.record, revision: ready.revision, settings: FREE, slots: [] };
    expect(await claim(store, holder, candidate)).toMatchObject({ kind: 'blocked', by: 'settings' });
    await pause(store, call('maintenance'), 'all');
    expect(await claim(store, holder, candidate)).toMatchObject({ kind: 'blocked', by: 'settings' });
  });

  it('I7: an ended task changes only by a recorded retry, which takes its unique key again or names its holder', async () => {
    const unique = { key: 'customer 7', onConflict: 'reject' } as const;
    const first = await submit(sig('bill', [], { unique }));
    await expect(submit(sig('bill', [], { unique }))).rejects.toMatchObject({
      code: 'unique-conflict',
      fields: { holder: first.id },
    });
    await settle(store, holder, await claimOne(store, holder), failure('no money', true));
    expect(await dump(store, 'unique')).toEqual(new Map());
    const second = await submit(sig('bill', [], { unique }));
    await expect(retryTask(store, call(), first.id)).rejects.toMatchObject({
      code: 'unique-conflict',
      fields: { holder: second.id },
    });
    await settle(store, holder, await claimOne(store, holder), { kind: 'success', results: [] });
    const retried = await retryTask(store, call('paid now'), first.id);
    expect(retried.done).toBe(true);
    expect(await readTask(store, first.id)).toMatchObject({ state: 'PENDING', attempt: 1, failures: 0 });
    expect([...(await dump(store, 'audit')).values()].map((audit) => JSON.parse(audit).reason)).toContain('paid now');
  });

  it('I5: submitting the same id twice makes one task', async () => {
    expect(await submit(sig('a', [], { id: 'mine' }))).toMatchObject({ id: 'mine', created: true });
    expect(await submit(sig('a', [], { id: 'mine' }))).toMatchObject({ id: 'mine', created: false });
    expect(await claimable(store)).toHaveLength(1);
  });

  it('report E14: cancelling a running task is durable, and its worker settles it as cancelled', async () => {
    const { id } = await submit(sig('long'));
    const held = await claimOne(store, holder);
    await cancelTask(store, call('wrong customer'), id);
    expect(await readTask(store, id)).toMatchObject({
      state: 'STARTED',
      cancelRequested: { reason: 'wrong customer' },
    });
    expect([...(await dump(store, 'orders')).keys()]).toEqual([`n1/cancel/${id}`]);
    // S2: the record has changed under the worker; the settling is decided again, not dropped.
    const result = await settle(store, holder, held, { kind: 'cancelled', reason: 'wrong customer' });
    expect(result).toMatchObject({ kind: 'settled', task: { state: 'CANCELLED' } });
    expect(await places()).toEqual({ ended: [id] });
  });

  it('a failure after a cancel was asked for is not tried again', async () => {
    const { id } = await submit(sig('long', [], { retry: { count: 5 } }));
    const held = await claimOne(store, holder);
    await cancelTask(store, call('enough'), id);
    await settle(store, holder, held, failure('aborted'));
    expect(await readTask(store, id)).toMatchObject({ state: 'CANCELLED' });
  });

  it('an operator who acts on stale sight gets a conflict that says what happened, and nothing is done', async () => {
    const { id } = await submit(sig('x'));
    const [before] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
    await claimOne(store, holder);
    await expect(cancelTask(store, call('late', before?.modRevision), id)).rejects.toMatchObject({
      code: 'conflict',
      fields: { state: 'STARTED' },
    });
    expect((await readTask(store, id)).cancelRequested).toBeUndefined();
  });

  it('the same operation sent twice is done once', async () => {
    const { id } = await submit(sig('x'));
    await settle(store, holder, await claimOne(store, holder), failure('no', true));
    const operation = call('again');
    expect(await retryTask(store, operation, id)).toMatchObject({ done: true });
    await settle(store, holder, await claimOne(store, holder), failure('no', true));
    expect(await retryTask(store, operation, id)).toMatchObject({ done: false });
    expect((await readTask(store, id)).state).toBe('FAILURE');
  });

  it('report E13: attempts are numbered and earlier errors are kept, bounded', async () => {
    const { id } = await submit(sig('x', [], { retry: { count: 8, backoff: 'fixed', delayMs: 1 } }));
    for (let i = 1; i <= 9; i++) {
      const held = await claimOne(store, holder);
      const error = toTaskError(new Error(`error ${i} ${'x'.repeat(5_000)}`), i, 'n1', clock.nowMs);
      await settle(store, holder, held, { kind: 'failure', error });
      await promoteNext(store, clock);
    }
    const record = await readTask(store, id);
    expect(record).toMatchObject({ state: 'FAILURE', attempt: 9, failures: 9 });
    expect(record.pastErrors).toHaveLength(5);
    const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
    expect(Buffer.byteLength(kv?.value ?? '')).toBeLessThanOrEqual(4_096);
  });

  it('large args and results live beside the record, in the same transaction', async () => {
    const big = text('y'.repeat(50_000));
    const { id } = await submit(sig('big', [big]));
    expect((await readTask(store, id)).args).toBeUndefined();
    const held = await claimOne(store, holder);
    expect(held.payload?.args).toEqual([big]);
    await settle(store, holder, held, { kind: 'success', results: [big] });
    expect(await readTask(store, id)).toMatchObject({ state: 'SUCCESS', resultRef: 1 });
    expect((await dump(store, 'results')).size).toBe(1);
  });

  it("the stored record is readable and decodes into the article's struct: id, name, status, schedule_at", async () => {
    const { id } = await submit(sig('processInventory', [text('SKU-99283'), int(50)]));
    const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
    expect(JSON.parse(kv?.value ?? '')).toMatchObject({
      id,
      name: 'processInventory',
      status: 'PENDING',
      schedule_at: new Date(clock.nowMs).toISOString(),
      args: [
        { type: 'string', value: 'SKU-99283' },
        { type: 'int64', value: '50' },
      ],
    });
  });
});
