import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AuditPage, Done, Problem, ScheduleDetail, ScheduleDone } from '@leasehold/wire';
import { openWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const secret = { type: 'string', name: 'password', value: 'hunter2' };
const workflow = { kind: 'task', signature: { name: 'mail', queue: 'default', args: [secret] } };
const make = (id: string, more: object = {}) =>
  world.call('POST', `/schedules/${id}`, {
    spec: '0 3 * * *',
    zone: 'Asia/Seoul',
    workflow,
    revisionSeen: '0',
    ...more,
  });

async function detailOf(id: string): Promise<ScheduleDetail> {
  await world.caughtUp();
  return ScheduleDetail.parse((await world.call('GET', `/schedules/${id}`)).body);
}

describe('a schedule', () => {
  test('is made, listed with its next instant, and shows what it submits without its secrets', async () => {
    const { status, body } = await make('nightly');
    expect(status, JSON.stringify(body)).toBe(200);
    const detail = await detailOf('nightly');
    expect(detail.row).toMatchObject({
      id: 'nightly',
      spec: '0 3 * * *',
      zone: 'Asia/Seoul',
      target: 'mail',
      fired: 0,
    });
    expect(detail.row.revision).toBe(Done.parse(body).revision);
    expect(JSON.stringify(detail)).not.toContain('hunter2');
    const list = await world.call('GET', '/schedules');
    expect(JSON.stringify(list.body)).toContain('nightly');
  });

  test('that is there already is not made a second time: a conflict, nothing is done', async () => {
    const { status, body } = await make('nightly', { spec: '0 4 * * *' });
    expect(status).toBe(409);
    expect(Problem.parse(body).detail).toContain('nothing was done');
    expect((await detailOf('nightly')).row.spec).toBe('0 3 * * *');
  });

  test('is edited without its workflow, which stays as it was stored', async () => {
    const { row } = await detailOf('nightly');
    const { status } = await world.call('POST', '/schedules/nightly', { spec: '@hourly', revisionSeen: row.revision });
    expect(status).toBe(200);
    expect((await detailOf('nightly')).row).toMatchObject({ spec: '@hourly', zone: 'Asia/Seoul' });
    const [kv] = (await world.kv.range({ key: world.store.keys.schedule('nightly') })).kvs;
    expect(kv?.value).toContain('hunter2');
  });

  test('is run by hand, and the run is among its runs', async () => {
    const { row } = await detailOf('nightly');
    const run = await world.call('POST', '/schedules/nightly/run', { revisionSeen: row.revision });
    const { submittedId } = ScheduleDone.parse(run.body);
    expect((await detailOf('nightly')).runs).toMatchObject([{ id: submittedId, kind: 'task', state: 'PENDING' }]);
  });

  test('of two who pause it on the same sight, one wins', async () => {
    const { row } = await detailOf('nightly');
    const pause = () =>
      world.call('POST', '/schedules/nightly/pause', { revisionSeen: row.revision, reason: 'stocktaking' });
    const answers = await Promise.all([pause(), pause()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await detailOf('nightly')).row.paused).toMatchObject({ reason: 'stocktaking' });
  });

  test.each([
    ['a bad expression', { spec: '61 * * * *' }],
    ['a bad zone', { zone: 'Mars/Olympus' }],
    ['a bad policy', { missed: 'maybe' }],
    ['no workflow', { workflow: undefined }],
    ['a workflow that is none', { workflow: 7 }],
    ['a workflow that is null', { workflow: null }],
  ])('is refused with %s', async (_what, more) => {
    const { status } = await make('other', more);
    expect(status).toBe(400);
  });
});

describe('the audit', () => {
  test('tells every act, newest first, page by page, and nothing twice', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await world.call('GET', `/audit?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      const page = AuditPage.parse(body);
      seen.push(...page.rows.map(({ operation }) => operation));
      expect(page.rows.length).toBeLessThanOrEqual(2);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(seen).toEqual(['schedule.pause', 'schedule.run-now', 'schedule.upsert', 'schedule.upsert']);
  });

  test('shows who, why and what was seen', async () => {
    const page = AuditPage.parse((await world.call('GET', '/audit')).body);
    expect(page.rows[0]).toMatchObject({ operation: 'schedule.pause', targets: ['nightly'], reason: 'stocktaking' });
    expect(page.rows[0]?.actor).toContain('operator:');
  });
});

describe('the bounds of a schedule', () => {
  test('stay when they are left out, and are taken away by null; wrong ones in the core’s words', async () => {
    const endMs = Date.now() + 86_400_000;
    const made = Done.parse((await make('bounded', { count: 3, jitterMs: 5_000, endMs })).body);
    expect(await detailOf('bounded')).toMatchObject({ count: 3, jitterMs: 5_000, endMs });
    const change = (revisionSeen: string, more: object) => make('bounded', { revisionSeen, ...more });
    const kept = Done.parse((await change(made.revision, { spec: '0 5 * * *' })).body);
    expect(await detailOf('bounded')).toMatchObject({ count: 3, row: { spec: '0 5 * * *' } });
    expect((await change(kept.revision, { count: null, endMs: null })).status).toBe(200);
    const after = await detailOf('bounded');
    expect([after.count, after.endMs, after.jitterMs]).toEqual([undefined, undefined, 5_000]);
    const wrong = await change(after.row.revision, { count: 0 });
    expect([wrong.status, Problem.parse(wrong.body).field]).toEqual([400, 'count']);
  });
});
