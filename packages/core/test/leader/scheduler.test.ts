import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../src/store/settle.js';
import {
  deleteSchedule,
  readSchedule,
  runScheduleNow,
  upsertSchedule,
  type ScheduleInput,
} from '../../src/store/schedules.js';
import { call, claimOne, dump, openHolder, readTask, task } from '../store/plain-worker.js';
import { makeWorld, type World } from './world.js';

let world: World;
let start: number;
const MINUTE = 60_000;

beforeEach(() => {
  world = makeWorld();
  start = world.clock.now();
});
afterEach(() => world.close());

const upsert = (more: Partial<ScheduleInput> = {}): Promise<unknown> =>
  upsertSchedule(world.store, call(), { id: 's', spec: '@every 1m', workflow: task('work'), ...more });
const tasks = async (): Promise<string[]> => [...(await dump(world.store, 'tasks')).keys()];
const instants = (n: number): string[] => Array.from({ length: n }, (_, i) => `s-${start + (i + 1) * MINUTE}`);

describe('the scheduler', () => {
  it('fires at the instant, follows changes at once, and stops with the schedule', async () => {
    const { leader } = await world.addNode('a');
    await world.until(() => leader.elected);
    await world.clock.advance(start + 10_000 - world.clock.now());
    start = world.clock.now();
    await upsert();
    await world.clock.advance(MINUTE - 10);
    expect(await tasks()).toEqual([]);
    await world.clock.advance(20);
    expect(await tasks()).toEqual(instants(1));
    await world.clock.advance(2 * MINUTE);
    expect(await tasks()).toEqual(instants(3));
    expect(leader.health()).toMatchObject({ schedules: { total: 1, paused: 0, overdue: 0, fired: 3 } });
    await upsert({ spec: '@every 10s' });
    await world.clock.advance(25_000);
    expect(await tasks()).toHaveLength(5);
    await deleteSchedule(world.store, call(), 's');
    await world.clock.advance(5 * MINUTE);
    expect(await tasks()).toHaveLength(5);
    expect(leader.health()).toMatchObject({ schedules: { total: 0 } });
  });

  it('report E46, E47, I11: over many changes of leader every instant fires exactly once', async () => {
    let current = await world.addNode('n0');
    await world.until(() => current.leader.elected);
    start = world.clock.now();
    await upsert();
    for (let n = 1; n <= 12; n++) {
      const next = await world.addNode(`n${n}`);
      // Now here, now there within the minute, also right at an instant.
      await world.clock.advance([25_000, 35_000, MINUTE, 59_990][n % 4] ?? 0);
      if (n % 3 === 0) current.pause();
      else await current.die();
      await world.until(() => next.leader.elected, 5_000);
      if (n % 3 === 0) current.wakeUp();
      current = next;
    }
    await world.clock.advance(1_000);
    const passed = Math.floor((world.clock.now() - start) / MINUTE);
    expect(await tasks()).toEqual(instants(passed));
    expect((await dump(world.store, 'fires')).size).toBe(passed);
  });

  it('report E38: with nobody to lead for long, the policy decides what is made up for', async () => {
    await upsert({ missed: 'all', missedWindowMs: 10 * MINUTE });
    await upsert({ id: 'once', missed: 'one' });
    await upsert({ id: 'never', missed: 'skip' });
    await world.clock.advance(30 * MINUTE + 500);
    const { leader } = await world.addNode('a');
    await world.until(() => leader.elected);
    await world.clock.advance(1_000);
    const count = async (id: string): Promise<number> =>
      (await tasks()).filter((one) => one.startsWith(`${id}-`)).length;
    expect(await count('s')).toBe(10);
    // One instant is due on time at this very moment, and stands for the missed ones.
    expect(await count('once')).toBe(1);
    expect(await count('never')).toBe(1);
  });

  it('a queued instant runs when the run before has ended', async () => {
    const { leader } = await world.addNode('a');
    await world.until(() => leader.elected);
    start = world.clock.now();
    await upsert({ overlap: 'queue' });
    const worker = await openHolder(world.store, 'worker', 3_600);
    await world.clock.advance(MINUTE + 10);
    const held = await claimOne(world.store, worker, instants(1)[0]);
    await world.clock.advance(3 * MINUTE);
    expect(await tasks()).toHaveLength(1);
    await settle(world.store, worker, held, { kind: 'success', results: [] });
    await world.clock.advance(50);
    expect(await tasks()).toEqual([instants(1)[0], `s-${start + 4 * MINUTE}`]);
  });

  it('a schedule that cannot be read or decided does not hold up the others', async () => {
    const { leader } = await world.addNode('a');
    await world.until(() => leader.elected);
    const put = (id: string, value: string) =>
      world.store.kv.txn({ compare: [], success: [{ kind: 'put', key: world.store.keys.schedule(id), value }] });
    await put('newer', '{"v":99}');
    start = world.clock.now();
    await upsert();
    const { record } = (await readSchedule(world.store, 's')) ?? {};
    await put(
      'broken',
      JSON.stringify({ v: 1, ...record, id: 'broken', spec: 'every now and then', anchor_ms: start }),
    );
    await world.clock.advance(MINUTE + 10);
    expect(await tasks()).toEqual(instants(1));
  });

  it('a large run that an operator asked for is submitted', async () => {
    const { leader } = await world.addNode('a');
    await world.until(() => leader.elected);
    await upsert({
      workflow: { kind: 'group', members: Array.from({ length: 120 }, (_, i) => task(`t${i}`)) },
      spec: '@yearly',
    });
    const { submittedId } = await runScheduleNow(world.store, call(), 's');
    await world.until(async () => (await dump(world.store, 'ready')).size === 120);
    expect((await readTask(world.store, `${submittedId}.00000`)).state).toBe('PENDING');
  });

  it('fires nothing while the store has no room for new work', async () => {
    let room = false;
    const { leader } = await world.addNode('a', { scheduler: { admits: () => room } });
    await world.until(() => leader.elected);
    await upsert({ missed: 'all' });
    await world.clock.advance(3 * MINUTE);
    expect(await tasks()).toEqual([]);
    room = true;
    await world.until(async () => (await tasks()).length === 3, 20_000);
  });
});
