import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryStore } from '../../src/kv/index.js';
import type { AuditRecord, ScheduleRecord } from '../../src/model/records.js';
import { decodeRecord, encodeRecord } from '../../src/model/codec.js';
import { fireSchedule, type Fired } from '../../src/store/fire.js';
import type { Leadership } from '../../src/store/leadership.js';
import {
  deleteSchedule,
  listSchedules,
  pauseSchedule,
  readSchedule,
  resumeSchedule,
  runScheduleNow,
  upsertSchedule,
  type ScheduleInput,
} from '../../src/store/schedules.js';
import { settle } from '../../src/store/settle.js';
import type { Store } from '../../src/store/store.js';
import { submitTask } from '../../src/store/submit.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { elect } from '../leader/office.js';
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
  text,
} from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let memory: MemoryStore;
let leader: Leadership;
let start: number;
const HOUR = 3_600_000;

beforeEach(async () => {
  ({ store, clock, memory } = memoryWorld());
  clock.nowMs = Date.UTC(2030, 0, 1);
  start = clock.nowMs;
  leader = await elect(store);
});

const upsert = (more: Partial<ScheduleInput> = {}): Promise<unknown> =>
  upsertSchedule(store, call(), { id: 's', spec: '@hourly', workflow: task('work', [text('x')]), ...more });

async function record(): Promise<ScheduleRecord> {
  const seen = await readSchedule(store, 's');
  if (seen === undefined) throw new Error('no schedule');
  return seen.record;
}

async function fire(by: Leadership = leader): Promise<Fired> {
  const seen = await readSchedule(store, 's');
  if (seen === undefined) throw new Error('no schedule');
  return fireSchedule(store, by, seen);
}

const tasks = async (): Promise<string[]> => [...(await dump(store, 'tasks')).keys()];

describe('schedules', () => {
  it('report E29: the same upsert twice changes nothing; a new spec counts from now', async () => {
    await upsert({ spec: '@every 10m' });
    const first = await record();
    expect(first).toMatchObject({
      zone: 'UTC',
      missed: 'one',
      overlap: 'allow',
      fired: 0,
      anchorMs: start,
      nextMs: start + 600_000,
    });
    clock.nowMs += 15 * 60_000;
    await fire();
    await upsert({ spec: '@every 10m' });
    expect(await record()).toMatchObject({
      anchorMs: start,
      lastMs: start + 600_000,
      fired: 1,
      nextMs: start + 1_200_000,
    });
    clock.nowMs += HOUR;
    await upsert({ spec: '@every 7m' });
    expect(await record()).toMatchObject({
      anchorMs: clock.nowMs,
      lastMs: clock.nowMs,
      fired: 1,
      nextMs: clock.nowMs + 420_000,
    });
    await fire();
    expect(await tasks()).toHaveLength(1);
  });

  it.each([
    [{ id: 'a b' }, 'id'],
    [{ spec: '61 * * * *' }, 'cron'],
    [{ spec: '0 0 1--100000000' }, 'cron'],
    [{ zone: 'Mars/Olympus' }, 'zone'],
    [{ missed: 'often' as 'one' }, 'missed'],
    [{ overlap: 'fight' as 'allow' }, 'overlap'],
    [{ endMs: 5, startMs: 10 }, 'endMs'],
    [{ count: 0 }, 'count'],
    [{ jitterMs: -1 }, 'jitterMs'],
    [{ workflow: task('work', [], { id: 'mine' }) }, 'workflow.id'],
    [{ workflow: task('work', [], { etaMs: Date.UTC(2031, 0, 1) }) }, 'workflow.etaMs'],
    [{ workflow: { kind: 'chain', steps: [] } as const }, 'workflow'],
  ])('refuses %j, naming %s', async (more, field) => {
    await expect(upsert(more)).rejects.toMatchObject({ code: 'invalid', fields: { field } });
    expect((await dump(store, 'schedules')).size).toBe(0);
  });

  it('every act is recorded in its own transaction, done once per operation id, and refused on stale sight', async () => {
    const once = call('nightly run');
    const input = { id: 's', spec: '@hourly', workflow: task('work') };
    const done = await upsertSchedule(store, once, input);
    expect(await upsertSchedule(store, once, input)).toMatchObject({ done: false, revision: done.revision });
    const audit = decodeRecord<AuditRecord>((await dump(store, 'audit')).get(once.operationId) ?? '', 'audit');
    expect(audit).toMatchObject({
      operation: 'schedule.upsert',
      targets: ['s'],
      actor: { name: 'ann' },
      reason: 'nightly run',
    });
    await pauseSchedule(store, call(), 's');
    await expect(deleteSchedule(store, call('', done.revision), 's')).rejects.toMatchObject({ code: 'conflict' });
    await expect(pauseSchedule(store, call(), 'nobody')).rejects.toMatchObject({ code: 'not-found' });
    await deleteSchedule(store, call(), 's');
    expect([...(await dump(store, 'schedules'))]).toEqual([]);
  });

  it('is listed; what falls into a pause is not made up for', async () => {
    await upsert({ missed: 'all' });
    await pauseSchedule(store, call('holiday'), 's');
    clock.nowMs += 5 * HOUR;
    await fire();
    expect(await tasks()).toEqual([]);
    expect(await record()).toMatchObject({ paused: { reason: 'holiday' } });
    await resumeSchedule(store, call(), 's');
    expect((await record()).nextMs).toBe(start + 6 * HOUR);
    clock.nowMs += HOUR;
    await fire();
    expect(await tasks()).toEqual([`s-${start + 6 * HOUR}`]);
    const listed: string[] = [];
    for await (const { id } of listSchedules(store)) listed.push(id);
    expect(listed).toEqual(['s']);
  });

  it('runs now, outside its instants', async () => {
    await upsert();
    const before = await record();
    const act = call();
    const { submittedId } = await runScheduleNow(store, act, 's');
    expect(await readTask(store, submittedId)).toMatchObject({
      state: 'PENDING',
      parent: 'schedule:s',
      by: 'operator:ann',
    });
    await runScheduleNow(store, act, 's');
    expect(await tasks()).toHaveLength(1);
    expect(await record()).toMatchObject({
      lastMs: before.lastMs,
      nextMs: before.nextMs,
      fired: 0,
      lastTaskId: submittedId,
    });
  });
});

describe('firing', () => {
  it('I11: submits the task, moves the schedule and leaves the proof, in one transaction', async () => {
    await upsert();
    clock.nowMs = start + HOUR + 20;
    const before = memory.revision;
    expect(await fire()).toMatchObject({ latenessMs: [20], nextMs: start + 2 * HOUR });
    expect(memory.revision).toBe(before + 1n);
    const id = `s-${start + HOUR}`;
    expect(await readTask(store, id)).toMatchObject({
      state: 'PENDING',
      name: 'work',
      parent: 'schedule:s',
      by: `leader:${leader.node}`,
    });
    expect(await record()).toMatchObject({ lastMs: start + HOUR, nextMs: start + 2 * HOUR, fired: 1, lastTaskId: id });
    expect([...(await dump(store, 'fires')).keys()]).toEqual([`s/${String(start + HOUR).padStart(15, '0')}`]);
    expect(await fire()).toMatchObject({ latenessMs: [] });
    expect(memory.revision).toBe(before + 1n);
  });

  it('I11: two leaders that decide on the same sight fire an instant once', async () => {
    await upsert();
    clock.nowMs = start + HOUR;
    const seen = await readSchedule(store, 's');
    if (seen === undefined) throw new Error('no schedule');
    await fireSchedule(store, leader, seen);
    await store.kv.txn({ compare: [], success: [{ kind: 'delete', key: store.keys.leader() }] });
    const next = await elect(store);
    // The first one is over and writes nothing, the second one decides on old sight and finds that it is done.
    await expect(fireSchedule(store, leader, { ...seen, record: { ...seen.record } })).rejects.toMatchObject({
      code: 'session-lost',
    });
    expect(await fireSchedule(store, next, seen)).toMatchObject({ latenessMs: [] });
    expect(await tasks()).toHaveLength(1);
    expect((await record()).fired).toBe(1);
  });

  it('F1: what an operator changed meanwhile counts: a schedule that was just paused does not fire', async () => {
    await upsert();
    clock.nowMs = start + HOUR;
    const seen = await readSchedule(store, 's');
    if (seen === undefined) throw new Error('no schedule');
    await pauseSchedule(store, call('stop it'), 's');
    expect(await fireSchedule(store, leader, seen)).toMatchObject({ latenessMs: [] });
    expect(await tasks()).toEqual([]);
    expect(await record()).toMatchObject({ paused: { reason: 'stop it' }, fired: 0 });
  });

  it('F1: an instant whose proof is there does not fire again, whatever the schedule says', async () => {
    await upsert();
    const before = await readSchedule(store, 's');
    clock.nowMs = start + HOUR;
    await fire();
    const id = `s-${start + HOUR}`;
    // As after a restore of the schedule alone, when retention has taken the task.
    const success = [
      { kind: 'delete', key: store.keys.task(id) },
      { kind: 'put', key: store.keys.schedule('s'), value: encodeRecord(before?.record ?? {}) },
    ] as const;
    await store.kv.txn({ compare: [], success });
    expect(await fire()).toMatchObject({ latenessMs: [], passedOver: ['it fired before'] });
    expect(await tasks()).toEqual([]);
    expect(await record()).toMatchObject({ lastMs: start + HOUR });
  });

  it('I11: an answer that is lost does not make an instant fire twice', async () => {
    await upsert({ missed: 'all', missedWindowMs: 5 * HOUR });
    clock.nowMs = start + 3 * HOUR;
    let n = 0;
    const kv = memory.connect({
      intercept: ({ method }) => (method === 'txn' && n++ % 2 === 0 ? 'drop-after' : 'pass'),
    });
    const { makeStore } = await import('./plain-worker.js');
    const seen = await readSchedule(store, 's');
    if (seen === undefined) throw new Error('no schedule');
    await fireSchedule(makeStore(kv, clock), leader, seen);
    expect(await tasks()).toEqual([1, 2, 3].map((h) => `s-${start + h * HOUR}`));
    expect((await record()).fired).toBe(3);
  });

  it('a whole workflow is submitted with it, a large one under its derived id', async () => {
    await upsert({ workflow: { kind: 'chain', steps: [task('a'), task('b')] } });
    clock.nowMs = start + HOUR;
    await fire();
    const small = `s-${start + HOUR}`;
    expect(await readWorkflowRecord(store, small)).toMatchObject({ name: 's', parent: 'schedule:s', tasks: 2 });
    await upsert({ workflow: { kind: 'group', members: Array.from({ length: 120 }, (_, i) => task(`t${i}`)) } });
    clock.nowMs = start + 2 * HOUR;
    const large = `s-${start + 2 * HOUR}`;
    expect(await fire()).toMatchObject({ workflows: [large], latenessMs: [0] });
    expect(await readWorkflowRecord(store, large)).toMatchObject({ tasks: 120 });
    expect(await record()).not.toHaveProperty('submitting');
    expect((await dump(store, 'fires')).size).toBe(2);
  });

  it('F3: a large workflow whose submission was cut off is submitted by the next leader', async () => {
    await upsert({ workflow: { kind: 'group', members: Array.from({ length: 120 }, (_, i) => task(`t${i}`)) } });
    clock.nowMs = start + HOUR;
    let writes = 0;
    const kv = memory.connect({
      intercept: ({ method, request }) =>
        method === 'txn' && request.compare.length > 0 && ++writes > 1 ? 'refuse' : 'pass',
    });
    const { makeStore } = await import('./plain-worker.js');
    let ticks = 0;
    const broken = makeStore(kv, clock, { giveUpMs: 0, now: () => (ticks += 1_000) });
    const seen = await readSchedule(store, 's');
    if (seen === undefined) throw new Error('no schedule');
    await expect(fireSchedule(broken, leader, seen)).rejects.toThrow();
    const id = `s-${start + HOUR}`;
    expect((await record()).submitting).toBe(id);
    expect((await dump(store, 'workflows')).size).toBe(0);
    expect(await fire()).toMatchObject({ workflows: [id] });
    expect(await readWorkflowRecord(store, id)).toMatchObject({ tasks: 120 });
    expect(await record()).toMatchObject({ fired: 1 });
  });

  it('I8: a leader whose term ended after the firing submits nothing of a large workflow', async () => {
    await upsert({ workflow: { kind: 'group', members: Array.from({ length: 120 }, (_, i) => task(`t${i}`)) } });
    clock.nowMs = start + HOUR;
    let writes = 0;
    const kv = memory.connect({
      intercept: ({ method, request }) => {
        if (method === 'txn' && request.compare.length > 0 && ++writes === 2) {
          memory.txn({ compare: [], success: [{ kind: 'delete', key: store.keys.leader() }], failure: [] });
        }
        return 'pass';
      },
    });
    const { makeStore } = await import('./plain-worker.js');
    const seen = await readSchedule(store, 's');
    if (seen === undefined) throw new Error('no schedule');
    const paused = fireSchedule(makeStore(kv, clock), leader, seen);
    await expect(paused).rejects.toMatchObject({ code: 'session-lost' });
    expect((await record()).submitting).toBe(`s-${start + HOUR}`);
    for (const kind of ['workflows', 'staged', 'graphs'] as const) expect((await dump(store, kind)).size).toBe(0);
  });

  it('a schedule whose count is used up keeps no instant that waits for the run before', async () => {
    const holder = await openHolder(store, 'worker');
    await upsert({ overlap: 'queue', count: 2 });
    clock.nowMs = start + HOUR;
    await fire();
    const held = await claimOne(store, holder, `s-${start + HOUR}`);
    clock.nowMs = start + 2 * HOUR;
    expect(await fire()).toMatchObject({ waitsFor: `s-${start + HOUR}` });
    await settle(store, holder, held, { kind: 'success', results: [] });
    clock.nowMs = start + 3 * HOUR;
    expect(await fire()).not.toHaveProperty('waitsFor');
    expect(await record()).toMatchObject({ fired: 2 });
    expect(await record()).not.toHaveProperty('queuedMs');
  });

  it('F2: an instant that cannot be submitted is passed over with its reason', async () => {
    await upsert({ workflow: task('work', [], { unique: { key: 'k', onConflict: 'reject' } }) });
    await submitTask(
      store,
      CLIENT,
      normalizeSignature(sig('other', [], { id: 'o', unique: { key: 'k', onConflict: 'reject' } }), {}, clock.nowMs),
    );
    clock.nowMs = start + HOUR;
    expect(await fire()).toMatchObject({ passedOver: ['its unique key is held by task o'] });
    expect((await dump(store, 'fires')).size).toBe(1);
    expect(await record()).toMatchObject({ lastMs: start + HOUR, fired: 0 });
    await submitTask(
      store,
      CLIENT,
      normalizeSignature(sig('other', [], { id: `s-${start + 2 * HOUR}` }), {}, clock.nowMs),
    );
    clock.nowMs = start + 2 * HOUR;
    await upsert({ workflow: task('work') });
    expect(await fire()).toMatchObject({ passedOver: [`the id s-${start + 2 * HOUR} is taken`] });
    clock.nowMs = start + 3 * HOUR;
    expect(await fire()).toMatchObject({ passedOver: [], latenessMs: [0] });
  });

  it('overlap `queue` waits for the run before; `cancel-other` cancels it', async () => {
    const holder = await openHolder(store, 'worker');
    await upsert({ overlap: 'queue' });
    clock.nowMs = start + HOUR;
    await fire();
    const first = `s-${start + HOUR}`;
    const held = await claimOne(store, holder, first);
    clock.nowMs = start + 2 * HOUR;
    expect(await fire()).toMatchObject({ latenessMs: [], waitsFor: first });
    expect(await record()).toMatchObject({ queuedMs: start + 2 * HOUR, lastMs: start + 2 * HOUR });
    await settle(store, holder, held, { kind: 'success', results: [] });
    clock.nowMs += 60_000;
    expect(await fire()).toMatchObject({ latenessMs: [60_000] });
    const second = `s-${start + 2 * HOUR}`;
    expect((await readTask(store, second)).state).toBe('PENDING');
    await upsert({ overlap: 'cancel-other' });
    clock.nowMs = start + 3 * HOUR;
    await fire();
    expect((await readTask(store, second)).state).toBe('CANCELLED');
    expect((await readTask(store, `s-${start + 3 * HOUR}`)).state).toBe('PENDING');
  });
});
