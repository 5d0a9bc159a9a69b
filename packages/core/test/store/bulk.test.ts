import { beforeEach, describe, expect, it } from 'vitest';
import { encodeRecord } from '../../src/model/codec.js';
import { BULK_LIMITS, type BulkTarget } from '../../src/model/bulk.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { abortBulk, bulkLeft, createBulk, readBulk, type BulkInput, type SeenBulk } from '../../src/store/bulk.js';
import { runChunk, sweepBulks, takeRunner } from '../../src/store/bulk-run.js';
import type { Fence } from '../../src/store/commit.js';
import { deleteTask } from '../../src/store/delete.js';
import { cancelTask, rescheduleTask, retryTask } from '../../src/store/operate.js';
import { del, put, type Store } from '../../src/store/store.js';
import { submitTask } from '../../src/store/submit.js';
import { call, CLIENT, dump, memoryWorld, readTask, sig, text } from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let runner: Fence;

beforeEach(async () => {
  ({ store, clock } = memoryWorld());
  runner = await office();
});

async function office(ttlS = 3_600): Promise<Fence> {
  const { id } = await store.kv.leaseGrant(ttlS);
  const fence = await takeRunner(store, id);
  if (fence === undefined) throw new Error('the office is taken');
  return fence;
}

const submit = (id: string, more: object = {}): Promise<unknown> =>
  submitTask(store, CLIENT, normalizeSignature(sig('work', [text('x')], { id, ...more }), {}, clock.nowMs));

/** Tasks that are CANCELLED, as they are seen. */
async function ended(count: number, from = 0): Promise<BulkTarget[]> {
  const ids = Array.from({ length: count }, (_, i) => `t${String(from + i).padStart(5, '0')}`);
  await Promise.all(ids.map((id) => submit(id)));
  await Promise.all(ids.map((id) => cancelTask(store, call(), id)));
  return Promise.all(ids.map(seenAt));
}

async function seenAt(id: string): Promise<BulkTarget> {
  const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
  return [id, String(kv?.modRevision ?? 0n)];
}

async function start(targets: readonly BulkTarget[], more: Partial<BulkInput> = {}): Promise<string> {
  const operation = call();
  await createBulk(store, operation, { action: 'retry', filter: {}, snapshot: 1n, targets, ...more });
  return operation.operationId;
}

async function bulkOf(id: string): Promise<SeenBulk> {
  const bulk = await readBulk(store, id);
  if (bulk === undefined) throw new Error(`no bulk ${id}`);
  return bulk;
}

async function runAll(id: string): Promise<SeenBulk> {
  for (;;) {
    const { bulk } = await runChunk(store, runner, await bulkOf(id));
    if (bulk?.record.endedMs !== undefined) return bulk;
  }
}

describe('a bulk', () => {
  it('changes every task as it was seen, each with an audit record of its own', async () => {
    const id = await start(await ended(BULK_LIMITS.chunk + 50));
    const { record } = await runAll(id);
    expect(record).toMatchObject({ state: 'DONE', total: 250, position: 250, done: 250, skipped: 0, conflicted: 0 });
    expect((await readTask(store, 't00249')).state).toBe('PENDING');
    const audits = [...(await dump(store, 'audit')).keys()].filter((key) => key.startsWith(`${id}-`));
    expect(audits).toHaveLength(250);
  });

  it('leaves alone what came or changed after it was counted, and lists what changed', async () => {
    const targets = await ended(3);
    await retryTask(store, call(), 't00001');
    const id = await start(targets);
    await ended(1, 10);
    const { record } = await runAll(id);
    expect(record).toMatchObject({ total: 3, done: 2, conflicted: 1 });
    expect((await readTask(store, 't00010')).state).toBe('CANCELLED');
    const { left } = await bulkLeft(store, id, { from: 0, limit: 10 });
    expect(left).toEqual([['t00001', 'conflicted', 'conflict', expect.stringContaining('nothing was done')]]);
  });

  it('skips what its state does not allow, with the reason', async () => {
    await submit('running');
    const id = await start([await seenAt('running'), ...(await ended(1))]);
    expect((await runAll(id)).record).toMatchObject({ done: 1, skipped: 1 });
    expect((await bulkLeft(store, id, { from: 0, limit: 10 })).left[0]?.slice(0, 3)).toEqual([
      'running',
      'skipped',
      'wrong-state',
    ]);
  });

  it('goes on exactly where it was when its runner dies within a chunk', async () => {
    const targets = await ended(40);
    const id = await start(targets);
    const before = await bulkOf(id);
    await runChunk(store, runner, before);
    // As if the chunk's progress had not been written: the tasks are done, the record and the chunk are as before.
    const [chunk] = [...(await dump(store, 'targets')).keys()];
    await store.kv.txn({
      compare: [],
      success: [
        put(store.keys.bulk(id), encodeRecord(before.record)),
        put(store.keys.target(id, Number(chunk?.split('/')[1])), encodeRecord({ atMs: 1, targets })),
      ],
    });
    expect((await runAll(id)).record).toMatchObject({ state: 'DONE', done: 40, conflicted: 0, skipped: 0 });
    expect((await readTask(store, 't00000')).attempt).toBe(0);
  });

  it('is aborted between two chunks; what it did not come to stays as it is', async () => {
    const id = await start(await ended(BULK_LIMITS.chunk * 2));
    const { bulk } = await runChunk(store, runner, await bulkOf(id));
    expect(bulk?.record).toMatchObject({ state: 'RUNNING', position: BULK_LIMITS.chunk });
    await abortBulk(store, call(), id);
    expect((await runAll(id)).record).toMatchObject({ state: 'ABORTED', done: BULK_LIMITS.chunk });
    expect((await readTask(store, 't00399')).state).toBe('CANCELLED');
    expect((await dump(store, 'targets')).size).toBe(1);
    await expect(abortBulk(store, call(), id)).rejects.toMatchObject({ code: 'wrong-state' });
  });

  it('that is aborted while a chunk runs counts that chunk, and stops', async () => {
    const id = await start(await ended(BULK_LIMITS.chunk * 2));
    const stale = await bulkOf(id);
    await abortBulk(store, call(), id);
    const { bulk } = await runChunk(store, runner, stale);
    expect(bulk?.record).toMatchObject({ state: 'ABORTING', done: BULK_LIMITS.chunk });
    expect((await runAll(id)).record.state).toBe('ABORTED');
  });

  it('is one for each actor; another one after its end', async () => {
    const targets = await ended(2);
    const id = await start(targets);
    await expect(start(targets)).rejects.toMatchObject({ code: 'conflict', fields: { id } });
    await runAll(id);
    await expect(start(targets)).resolves.toBeDefined();
  });

  it('started twice under one operation is one bulk', async () => {
    const targets = await ended(2);
    const operation = call();
    const input: BulkInput = { action: 'retry', filter: {}, snapshot: 1n, targets };
    const first = await createBulk(store, operation, input);
    expect(await createBulk(store, operation, input)).toEqual({ revision: first.revision, done: false });
  });

  it('without tasks, of too many, or with a priority that it does not take is refused', async () => {
    await expect(start([])).rejects.toMatchObject({ code: 'invalid' });
    await expect(start([['a', '1']], { priority: 3 })).rejects.toMatchObject({ code: 'invalid' });
    await expect(start([['a', '1']], { action: 'reprioritise' })).rejects.toMatchObject({ code: 'invalid' });
    const many = Array.from({ length: BULK_LIMITS.tasks + 1 }, (): BulkTarget => ['a', '1']);
    await expect(start(many)).rejects.toMatchObject({ code: 'too-large' });
  });

  it('writes nothing for a runner whose lease has ended', async () => {
    const id = await start(await ended(2));
    const bulk = await bulkOf(id);
    await store.kv.txn({ compare: [], success: [del(store.keys.runner())] });
    const successor = await office();
    await expect(runChunk(store, runner, bulk)).rejects.toMatchObject({ code: 'session-lost' });
    expect((await readTask(store, 't00000')).state).toBe('CANCELLED');
    expect((await runChunk(store, successor, bulk)).bulk?.record.done).toBe(2);
  });

  it('has one runner at a time', async () => {
    const { id } = await store.kv.leaseGrant(10);
    expect(await takeRunner(store, id)).toBeUndefined();
  });

  it('is forgotten a week after its end, with its chunks', async () => {
    const id = await start(await ended(2));
    await runAll(id);
    await sweepBulks(store, runner);
    expect(await readBulk(store, id)).toBeDefined();
    clock.nowMs += BULK_LIMITS.keptMs;
    await sweepBulks(store, runner);
    expect([await readBulk(store, id), (await dump(store, 'targets')).size]).toEqual([undefined, 0]);
  });
});

describe('a task', () => {
  it('is deleted with all that is only there because of it, ten minutes after its end', async () => {
    await submit('a', { unique: { key: 'order', windowMs: 3_600_000, onConflict: 'reject' } });
    await cancelTask(store, call(), 'a');
    await expect(deleteTask(store, call(), 'a')).rejects.toMatchObject({ code: 'wrong-state' });
    clock.nowMs += 600_000;
    await store.kv.txn({ compare: [], success: [put(store.keys.log('a', 1, 1), 'x')] });
    await deleteTask(store, call(), 'a');
    for (const kind of ['tasks', 'args', 'ended', 'logs', 'unique', 'deadlines'] as const) {
      expect([kind, (await dump(store, kind)).size]).toEqual([kind, 0]);
    }
  });

  it('that is live, pinned, or changed since it was seen is not deleted', async () => {
    await submit('a');
    await expect(deleteTask(store, call(), 'a')).rejects.toMatchObject({ code: 'wrong-state' });
    await cancelTask(store, call(), 'a');
    clock.nowMs += 600_000;
    await store.kv.txn({ compare: [], success: [put(store.keys.pin('a'), '{}')] });
    await expect(deleteTask(store, call(), 'a')).rejects.toMatchObject({
      message: expect.stringContaining('pinned') as string,
    });
    await store.kv.txn({ compare: [], success: [del(store.keys.pin('a'))] });
    await expect(deleteTask(store, call('because', 1n), 'a')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('keeps the time it has waited when only its priority changes, and gets its place back', async () => {
    await submit('a');
    const before = await readTask(store, 'a');
    clock.nowMs += 60_000;
    await rescheduleTask(store, call(), 'a', { priority: 3 });
    expect((await readTask(store, 'a')).order).toBeLessThan(before.order ?? 0);
    await rescheduleTask(store, call(), 'a', { priority: 0 });
    expect((await readTask(store, 'a')).order).toBe(before.order);
  });
});
