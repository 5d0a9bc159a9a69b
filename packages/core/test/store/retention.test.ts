import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryStore } from '../../src/kv/index.js';
import { encodeRecord } from '../../src/model/codec.js';
import { cutoffsOf, MIN_KEPT_MS, RETENTION_DEFAULTS, type RetentionPolicy } from '../../src/model/retention.js';
import type { Signature } from '../../src/model/signature.js';
import { normalizeSignature } from '../../src/model/validate.js';
import type { Holder } from '../../src/store/claim.js';
import { advance } from '../../src/store/drive.js';
import type { Leadership } from '../../src/store/leadership.js';
import { clearLeftovers } from '../../src/store/leftovers.js';
import { cancelTask, retryTask } from '../../src/store/operate.js';
import { deletePast, findCutoffs, type Retained } from '../../src/store/retention.js';
import { settle } from '../../src/store/settle.js';
import { put, type Store } from '../../src/store/store.js';
import { submitTask, submitWorkflow } from '../../src/store/submit.js';
import { elect } from '../leader/office.js';
import {
  call,
  claimOne,
  CLIENT,
  dump,
  LEADER,
  memoryWorld,
  openHolder,
  readTask,
  sig,
  task,
  text,
  workAll,
} from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let memory: MemoryStore;
let leader: Leadership;
let holder: Holder;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

beforeEach(async () => {
  ({ store, clock, memory } = memoryWorld());
  leader = await elect(store);
  holder = await openHolder(store, 'worker', 3_600);
});

const submit = (signature: Signature): Promise<unknown> =>
  submitTask(store, CLIENT, normalizeSignature(signature, {}, clock.nowMs));
const tasks = async (): Promise<string[]> => [...(await dump(store, 'tasks')).keys()];

async function done(id: string, more: Partial<Signature> = {}): Promise<void> {
  await submit(sig('work', [], { id, ...more }));
  await settle(store, holder, await claimOne(store, holder, id), {
    kind: 'success',
    results: [text('x'.repeat(5_000))],
  });
}

async function pass(policy: RetentionPolicy = RETENTION_DEFAULTS, count = false): Promise<Retained> {
  return deletePast(store, leader, await findCutoffs(store, policy, { count }));
}

function keep(more: Partial<RetentionPolicy['SUCCESS']>): RetentionPolicy {
  return { ...RETENTION_DEFAULTS, SUCCESS: { ...RETENTION_DEFAULTS.SUCCESS, ...more } };
}

/** Every key that a namespace holds for its tasks. */
async function remains(): Promise<string[]> {
  const kinds = [
    'tasks',
    'args',
    'results',
    'logs',
    'progress',
    'ended',
    'workflows',
    'graphs',
    'joins',
    'barriers',
    'failures',
    'chores',
  ] as const;
  const all = await Promise.all(
    kinds.map(async (kind) => [...(await dump(store, kind)).keys()].map((key) => `${kind}/${key}`)),
  );
  return all.flat();
}

describe('retention', () => {
  it('report E26: deletes what is older than its age with everything that belongs to it, and nothing younger', async () => {
    await done('old', { args: [text('y'.repeat(5_000))] });
    await store.kv.txn({
      compare: [],
      success: [
        put(store.keys.progress('old'), '{}'),
        put(store.keys.log('old', 1, 0), '{}'),
        put(store.keys.log('old', 1, 1), '{}'),
      ],
    });
    clock.nowMs += 23 * HOUR;
    await done('young');
    await submit(sig('work', [], { id: 'live' }));
    expect(await pass()).toMatchObject({ deletedTasks: 0 });
    clock.nowMs += 2 * HOUR;
    expect(await pass()).toEqual({ deletedTasks: 1, deletedWorkflows: 0, strays: 0 });
    expect((await remains()).filter((key) => key.includes('old'))).toEqual([]);
    expect(await tasks()).toEqual(['live', 'young']);
  });

  it('keeps failures longer than successes', async () => {
    await done('fine');
    await submit(sig('work', [], { id: 'failed' }));
    const error = { type: 'Error', message: 'no', attempt: 1, atMs: 0, final: true };
    await settle(store, holder, await claimOne(store, holder, 'failed'), { kind: 'failure', error });
    clock.nowMs += 3 * DAY;
    await pass();
    expect(await tasks()).toEqual(['failed']);
    clock.nowMs += 5 * DAY;
    await pass();
    expect(await remains()).toEqual([]);
  });

  it('T1: never within ten minutes of the end, whatever the policy', async () => {
    await done('x');
    clock.nowMs += MIN_KEPT_MS - 1;
    const none = keep({ ageMs: 0, count: 0, bytes: 0 });
    expect(await pass(none, true)).toMatchObject({ deletedTasks: 0 });
    clock.nowMs += 1;
    expect(await pass(none, true)).toMatchObject({ deletedTasks: 1 });
  });

  it('T1: what is pinned stays, what is retried meanwhile stays', async () => {
    await done('pinned');
    await done('retried');
    await store.kv.txn({ compare: [], success: [put(store.keys.pin('pinned'), '')] });
    clock.nowMs += 2 * DAY;
    const cutoffs = await findCutoffs(store, RETENTION_DEFAULTS, { count: false });
    await retryTask(store, call(), 'retried');
    await deletePast(store, leader, cutoffs);
    expect((await readTask(store, 'retried')).state).toBe('PENDING');
    expect(await tasks()).toEqual(['pinned', 'retried']);
  });

  it('keeps the newest so many', async () => {
    for (let n = 0; n < 10; n++) {
      await done(`t${n}`);
      clock.nowMs += 1_000;
    }
    clock.nowMs += HOUR;
    expect(await pass(keep({ count: 3 }), true)).toMatchObject({ deletedTasks: 7 });
    expect(await tasks()).toEqual(['t7', 't8', 't9']);
    expect(await pass(keep({ count: 3 }), true)).toMatchObject({ deletedTasks: 0 });
  });

  it('keeps the newest so many bytes, results included', async () => {
    for (let n = 0; n < 10; n++) {
      await done(`t${n}`);
      clock.nowMs += 1_000;
    }
    clock.nowMs += HOUR;
    await pass(keep({ bytes: 5 * 6_000 }), true);
    expect((await tasks()).length).toBeGreaterThanOrEqual(4);
    expect((await tasks()).length).toBeLessThanOrEqual(5);
  });

  it('T2: a workflow goes as a whole when it is past, and none of its members before', async () => {
    const group = { kind: 'group', members: [task('a'), task('b')] } as const;
    await submitWorkflow(store, CLIENT, { kind: 'chain', steps: [group, task('c')] }, { id: 'w' });
    const first = await claimOne(store, holder, 'w.00000');
    await settle(store, holder, first, { kind: 'success', results: [] });
    clock.nowMs += 2 * DAY;
    expect(await pass()).toMatchObject({ deletedTasks: 0 });
    await workAll(store, clock, holder, () => []);
    await advance(store, LEADER, 'w');
    clock.nowMs += 23 * HOUR;
    expect(await pass()).toMatchObject({ deletedTasks: 0 });
    clock.nowMs += 2 * HOUR;
    expect(await pass()).toEqual({ deletedTasks: 3, deletedWorkflows: 1, strays: 0 });
    expect(await remains()).toEqual([]);
  });

  it('T2: a pass that is cut off after the workflow went is finished by the next one', async () => {
    await submitWorkflow(store, CLIENT, { kind: 'group', members: [task('a'), task('b')] }, { id: 'w' });
    await workAll(store, clock, holder, () => []);
    await store.kv.txn({ compare: [], success: [{ kind: 'delete', key: store.keys.workflow('w') }] });
    clock.nowMs += 2 * DAY;
    expect(await pass()).toMatchObject({ deletedTasks: 2 });
    expect(await tasks()).toEqual([]);
  });

  it('T3: entries that no record implies are removed', async () => {
    await submit(sig('work', [], { id: 'live' }));
    await store.kv.txn({
      compare: [],
      success: [
        put(store.keys.ended(clock.nowMs, 'ghost'), 'SUCCESS'),
        put(store.keys.ended(clock.nowMs, 'live'), 'SUCCESS'),
      ],
    });
    clock.nowMs += 2 * DAY;
    expect(await pass()).toEqual({ deletedTasks: 0, deletedWorkflows: 0, strays: 2 });
    expect((await dump(store, 'ended')).size).toBe(0);
    expect((await readTask(store, 'live')).state).toBe('PENDING');
  });

  it('deletes thousands in small requests', async () => {
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => submit(sig('work', [], { id: `t${i}` }))));
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => cancelTask(store, call(), `t${i}`)));
    clock.nowMs += 2 * DAY;
    expect(await pass()).toMatchObject({ deletedTasks: 1_000 });
    expect(await remains()).toEqual([]);
  });

  it('I8: after the term is over nothing is deleted', async () => {
    await done('x');
    clock.nowMs += 2 * DAY;
    await store.kv.txn({ compare: [], success: [{ kind: 'delete', key: store.keys.leader() }] });
    await expect(pass()).rejects.toMatchObject({ code: 'session-lost' });
    expect(await tasks()).toEqual(['x']);
  });

  it('cutoffs: for any times, at most so many are kept, and those are the newest', () => {
    const times = fc
      .array(fc.integer({ min: 0, max: 1_000_000 }), { maxLength: 60 })
      .map((list) => list.sort((a, b) => a - b));
    fc.assert(
      fc.property(times, fc.nat(70), fc.nat(2_000), (list, count, meanBytes) => {
        const nowMs = 100 * DAY;
        const policy = keep({ ageMs: 200 * DAY, count, bytes: 20_000 });
        const kept = { times: list, meanBytes };
        const none = { times: [], meanBytes: 0 };
        const { SUCCESS: cutoff } = cutoffsOf(policy, { SUCCESS: kept, FAILURE: none, CANCELLED: none }, nowMs);
        const left = list.filter((time) => time > cutoff);
        const allowed = Math.min(count, meanBytes > 0 ? Math.floor(20_000 / meanBytes) : Infinity);
        const oldest = left[0];
        // Only those of the oldest kept millisecond may be too many.
        expect(left.filter((time) => time !== oldest).length).toBeLessThanOrEqual(allowed);
        if (list.length <= allowed) expect(left).toEqual(list);
      }),
    );
  });
});

describe('leftovers', () => {
  it('K1: a staging that was given up goes, header first; a young one stays; a slow submitter cannot seal it', async () => {
    const header = { id: 'w', createdMs: clock.nowMs };
    const stage = (id: string, createdMs: number) =>
      store.kv.txn({
        compare: [],
        success: [
          put(store.keys.staged(id), encodeRecord({ ...header, id, createdMs })),
          put(store.keys.graph(id, 0), 'part'),
          put(store.keys.graph(id, 1), 'part'),
        ],
      });
    await stage('old', clock.nowMs);
    clock.nowMs += 11 * 60_000;
    await stage('young', clock.nowMs);
    expect(await clearLeftovers(store, leader)).toMatchObject({ staged: 1 });
    expect([...(await dump(store, 'staged')).keys()]).toEqual(['young']);
    expect([...(await dump(store, 'graphs')).keys()].every((key) => key.startsWith('young/'))).toBe(true);
  });

  it('parts whose header went before a crash are found', async () => {
    await store.kv.txn({ compare: [], success: [put(store.keys.graph('lost', 0), 'part')] });
    await submitWorkflow(store, CLIENT, { kind: 'chain', steps: [task('a'), task('b')] }, { id: 'w' });
    expect(await clearLeftovers(store, leader)).toMatchObject({ graphs: 1 });
    expect([...(await dump(store, 'graphs')).keys()]).toEqual(['w/00000']);
  });

  it('report B17: the departed age out, the living stay; orders to the dead go', async () => {
    const stats = (id: string, atMs: number) => put(store.keys.stats(id), encodeRecord({ atMs }));
    await store.kv.txn({
      compare: [],
      success: [
        stats('worker', clock.nowMs),
        stats('dead', clock.nowMs),
        put(store.keys.order('worker', 'drain', 'node'), '{}'),
        put(store.keys.order('dead', 'cancel', 'x'), '{}'),
      ],
    });
    expect(await clearLeftovers(store, leader)).toMatchObject({ stats: 0, orders: 1 });
    clock.nowMs += 2 * HOUR;
    expect(await clearLeftovers(store, leader)).toMatchObject({ stats: 1 });
    expect([...(await dump(store, 'stats')).keys()]).toEqual(['worker']);
    expect([...(await dump(store, 'orders')).keys()]).toEqual(['worker/drain/node']);
  });

  it('old audit records, proofs of decided instants and clock samples go', async () => {
    const lastMs = clock.nowMs;
    await store.kv.txn({
      compare: [],
      success: [
        put(store.keys.audit('op'), encodeRecord({ operation: 'x', atMs: lastMs })),
        put(store.keys.schedule('s'), encodeRecord({ id: 's', lastMs })),
        put(store.keys.fire('s', lastMs), '{}'),
        put(store.keys.fire('s', lastMs + 1), '{}'),
        put(store.keys.fire('gone', lastMs), '{}'),
        put(store.keys.clock(lastMs), '{}'),
      ],
    });
    clock.nowMs += 8 * DAY;
    expect(await clearLeftovers(store, leader)).toMatchObject({ audit: 0, fires: 2, clock: 1 });
    expect([...(await dump(store, 'fires')).keys()]).toEqual([`s/${String(lastMs + 1).padStart(15, '0')}`]);
    clock.nowMs += 30 * DAY;
    expect(await clearLeftovers(store, leader)).toMatchObject({ audit: 1 });
    expect(memory.revision).toBeGreaterThan(0n);
  });
});
