import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryStore } from '../../src/kv/index.js';
import { normalizeSignature } from '../../src/model/validate.js';
import type { Leadership } from '../../src/store/leadership.js';
import { cancelTask } from '../../src/store/operate.js';
import { nextDueMs, promoteDue } from '../../src/store/promote.js';
import type { Store } from '../../src/store/store.js';
import { submitTask } from '../../src/store/submit.js';
import { afterReads, elect } from '../leader/office.js';
import { call, claimable, CLIENT, dump, makeStore, memoryWorld, readTask, sig } from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let memory: MemoryStore;
let leader: Leadership;

beforeEach(async () => {
  ({ store, clock, memory } = memoryWorld());
  leader = await elect(store);
});

async function submitAt(etaMs: number, id: string, by: Store = store): Promise<void> {
  await submitTask(by, CLIENT, normalizeSignature(sig('work', [], { id, etaMs }), {}, clock.nowMs));
}

describe('promotion', () => {
  it('moves what is due to the ready index, by the time it was due, and leaves the rest', async () => {
    const start = clock.nowMs;
    await submitAt(start + 2_000, 'second');
    await submitAt(start + 1_000, 'first');
    await submitAt(start + 9_000, 'later');
    clock.nowMs = start + 5_000;
    const latenesses: number[] = [];
    const result = await promoteDue(store, leader, { onPromoted: (ms) => latenesses.push(ms) });
    expect(result).toEqual({ promoted: 2, strays: 0, unreadable: [] });
    expect(latenesses).toEqual([4_000, 3_000]);
    const ready = await claimable(store);
    expect(ready.filter(({ record }) => record.id !== 'later').map(({ record }) => record.cause)).toEqual([
      'due',
      'due',
    ]);
    expect(await readTask(store, 'first')).toMatchObject({
      state: 'PENDING',
      by: `leader:${leader.node}`,
      order: start + 1_000,
    });
    expect((await readTask(store, 'later')).state).toBe('SCHEDULED');
    expect([...(await dump(store, 'due')).keys()].map((key) => key.split('/')[1])).toEqual(['later']);
  });

  it('report E10: ten thousand due at one instant are promoted in batches, not one at a time', async () => {
    let requests = 0;
    const counting = memory.connect({ intercept: ({ method }) => (method === 'txn' && requests++, 'pass') });
    const many = makeStore(counting, clock);
    const etaMs = clock.nowMs + 1_000;
    await Promise.all(
      Array.from({ length: 10_000 }, (_, i) => submitAt(etaMs, `t-${String(i).padStart(5, '0')}`, many)),
    );
    clock.nowMs = etaMs;
    requests = 0;
    expect(await promoteDue(many, leader)).toMatchObject({ promoted: 10_000 });
    expect((await dump(store, 'due')).size).toBe(0);
    expect((await dump(store, 'ready')).size).toBe(10_000);
    // 10 000 / 64 requests of writes and 10 000 / 100 of reads, with room for uneven batches.
    expect(requests).toBeLessThan(400);
  }, 120_000);

  it('P1, report E16: nothing due in the future is read or remembered', async () => {
    await submitAt(clock.nowMs + 86_400_000, 'tomorrow');
    let read = 0;
    const counting = memory.connect({ intercept: ({ method }) => (method === 'txn' && read++, 'pass') });
    expect(await promoteDue(makeStore(counting, clock), leader)).toMatchObject({ promoted: 0 });
    expect(read).toBe(0);
  });

  it('P2: a task that is cancelled meanwhile stays cancelled', async () => {
    const etaMs = clock.nowMs + 1_000;
    await submitAt(etaMs, 'x');
    clock.nowMs = etaMs;
    const meanwhile = (): Promise<unknown> => cancelTask(store, call(), 'x').catch(() => undefined);
    const racing = makeStore(afterReads(memory.connect(), meanwhile), clock);
    expect(await promoteDue(racing, leader)).toEqual({ promoted: 0, strays: 0, unreadable: [] });
    expect((await readTask(store, 'x')).state).toBe('CANCELLED');
    expect((await dump(store, 'ready')).size).toBe(0);
  });

  it('P3: an entry without its record is removed, and does not hide what is behind it', async () => {
    const etaMs = clock.nowMs + 1_000;
    await store.kv.txn({
      compare: [],
      success: [{ kind: 'put', key: store.keys.due(clock.nowMs, 'ghost'), value: '' }],
    });
    await submitAt(etaMs, 'real');
    clock.nowMs = etaMs;
    expect(await promoteDue(store, leader)).toMatchObject({ promoted: 1, strays: 1 });
    expect((await dump(store, 'due')).size).toBe(0);
  });

  it('an unreadable record is reported and left, the others are promoted', async () => {
    const etaMs = clock.nowMs + 1_000;
    await submitAt(etaMs, 'good');
    await submitAt(etaMs, 'new-layout');
    await store.kv.txn({
      compare: [],
      success: [{ kind: 'put', key: store.keys.task('new-layout'), value: '{"v":99}' }],
    });
    clock.nowMs = etaMs;
    expect(await promoteDue(store, leader)).toEqual({ promoted: 1, strays: 0, unreadable: ['new-layout'] });
  });

  it('I8: after the term is over nothing is promoted', async () => {
    const etaMs = clock.nowMs + 1_000;
    await submitAt(etaMs, 'x');
    clock.nowMs = etaMs;
    await store.kv.txn({ compare: [], success: [{ kind: 'delete', key: store.keys.leader() }] });
    await elect(store);
    await expect(promoteDue(store, leader)).rejects.toMatchObject({ code: 'session-lost' });
    expect((await readTask(store, 'x')).state).toBe('SCHEDULED');
  });

  it('tells the next due time within a horizon', async () => {
    await submitAt(clock.nowMs + 5_000, 'x');
    expect(await nextDueMs(store, clock.nowMs, 10_000)).toBe(clock.nowMs + 5_000);
    expect(await nextDueMs(store, clock.nowMs, 4_000)).toBeUndefined();
  });
});
