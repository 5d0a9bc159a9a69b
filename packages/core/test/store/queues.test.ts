/** Limits, purge and drain of a queue. */
import { beforeEach, describe, expect, it } from 'vitest';
import { normalizeSignature } from '../../src/model/validate.js';
import type { Signature } from '../../src/model/signature.js';
import type { Holder } from '../../src/store/claim.js';
import { advance } from '../../src/store/drive.js';
import { countWaiting, drainQueue, purgeQueue, setLimits } from '../../src/store/queues.js';
import { settle } from '../../src/store/settle.js';
import type { Store } from '../../src/store/store.js';
import { submitTask, submitWorkflow } from '../../src/store/submit.js';
import { judge } from '../verify/histories.js';
import {
  call,
  claimOne,
  CLIENT,
  dump,
  memoryWorld,
  openHolder,
  readTask,
  readWorkflowRecord,
  sig,
  task,
} from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let holder: Holder;

beforeEach(async () => {
  ({ store, clock } = memoryWorld());
  holder = await openHolder(store, 'worker', 3_600);
});

async function submit(id: string, more: Partial<Signature> = {}): Promise<void> {
  await submitTask(store, CLIENT, normalizeSignature(sig('work', [], { id, ...more }), {}, clock.nowMs));
}
const done = { kind: 'success', results: [] } as const;

describe('purge', () => {
  it('cancels what waits, in one page or many, and leaves what runs, what is due later and other queues', async () => {
    for (let n = 0; n < 450; n++) await submit(`t${n}`);
    await submit('later', { etaMs: clock.nowMs + 1_000 });
    await submit('other', { queue: 'other' });
    const held = await claimOne(store, holder, 't7');
    const purged = await purgeQueue(store, call('broken'), 'default', { expectedCount: 449 });
    expect(purged).toMatchObject({ purged: 449, left: 0, done: true });
    expect(await readTask(store, 't0')).toMatchObject({ state: 'CANCELLED', error: { message: 'broken' } });
    expect((await readTask(store, 'later')).state).toBe('SCHEDULED');
    expect((await readTask(store, 'other')).state).toBe('PENDING');
    await settle(store, holder, held, done);
    expect((await readTask(store, 't7')).state).toBe('SUCCESS');
    expect(await countWaiting(store, 'default')).toBe(0);
    const audits = [...(await dump(store, 'audit')).values()].filter((text) => text.includes('queue.purge'));
    expect(audits).toHaveLength(1);
    expect(JSON.parse(audits[0] ?? '')).toMatchObject({ reason: 'broken', detail: { count: 449 } });
    expect(await judge(store)).toEqual([]);
  });

  it('P2: does nothing when another number waits than was seen, and says how many do', async () => {
    await submit('a');
    await submit('b');
    const refused = purgeQueue(store, call(), 'default', { expectedCount: 1 });
    await expect(refused).rejects.toMatchObject({ code: 'conflict', fields: { count: 2 } });
    expect(await countWaiting(store, 'default')).toBe(2);
    expect((await dump(store, 'audit')).size).toBe(0);
  });

  it('P3: sent again it goes on, and spares what was submitted after it began', async () => {
    await submit('a');
    const again = call();
    await purgeQueue(store, again, 'default');
    clock.nowMs += 1;
    await submit('b');
    expect(await purgeQueue(store, again, 'default')).toMatchObject({ purged: 0, done: false });
    expect((await readTask(store, 'b')).state).toBe('PENDING');
  });

  it('a member of a workflow ends as if it had been cancelled, and its workflow with it', async () => {
    await submitWorkflow(store, CLIENT, { kind: 'chain', steps: [task('first'), task('last')] }, { id: 'w' });
    const { drives } = await purgeQueue(store, call(), 'default');
    for (const drive of drives) await advance(store, CLIENT, drive);
    expect((await readTask(store, 'w.00001')).state).toBe('CANCELLED');
    expect((await readWorkflowRecord(store, 'w')).state).not.toBe('RUNNING');
    expect(await judge(store)).toEqual([]);
  });
});

describe('drain', () => {
  it('pauses, and resolves when the last task has ended', async () => {
    await submit('a');
    await submit('b');
    const held = await claimOne(store, holder, 'a');
    const seen: number[] = [];
    const sleep = async (): Promise<void> => void (await settle(store, holder, held, done));
    await drainQueue(store, call(), 'default', { sleep, onRunning: (running) => seen.push(running) });
    expect(seen).toEqual([1]);
    expect((await dump(store, 'queues')).get('default')).toContain('paused');
    expect((await readTask(store, 'b')).state).toBe('PENDING');
  });

  it('gives up after its time, and the queue stays paused', async () => {
    await submit('a');
    await claimOne(store, holder, 'a');
    const sleep = (ms: number): Promise<void> => Promise.resolve(void (clock.nowMs += ms));
    const drained = drainQueue(store, call(), 'default', { sleep, timeoutMs: 2_000 });
    await expect(drained).rejects.toMatchObject({ code: 'timeout', fields: { running: 1 } });
  });
});

describe('limits', () => {
  it('are set beside what is set already, and taken away by null', async () => {
    const settings = async (): Promise<unknown> => JSON.parse((await dump(store, 'queues')).get('q') ?? '');
    await setLimits(store, call(), { queue: 'q' }, { concurrency: 3 });
    await setLimits(store, call(), { queue: 'q' }, { rate: { count: 5, intervalMs: 1_000 } });
    expect(await settings()).toMatchObject({ concurrency: 3, rate: { count: 5, interval_ms: 1_000 } });
    await setLimits(store, call(), { queue: 'q' }, { concurrency: null });
    expect(await settings()).not.toHaveProperty('concurrency');
    expect(await settings()).toHaveProperty('rate');
  });

  it.each([
    { concurrency: 0 },
    { rate: { count: 0, intervalMs: 1_000 } },
    { rate: { count: 100_000, intervalMs: 1_000 } },
    { rate: { count: 1, intervalMs: 10 } },
  ])('that cannot be are refused: %j', (change) => {
    expect(() => setLimits(store, call(), 'all', change)).toThrow(/concurrency|rate/);
  });
});
