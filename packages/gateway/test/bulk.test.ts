import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BulkCount, BulkDetail, BulkLeftPage, BulkPage, Done, Problem } from '@leasehold/wire';
import { cancelTask } from '@leasehold/core/store';
import { createGateway } from '../src/index.js';
import { ACTOR, openWorld, type World } from './world.js';

let world: World;
beforeEach(async () => {
  world = await openWorld('memory', { bulkPaceMs: 1 });
});
afterEach(() => world.close());

let operations = 0;
async function ended(count: number, tag: string): Promise<string[]> {
  const made = await Promise.all(Array.from({ length: count }, () => world.submit('mail', [], { tags: [tag] })));
  const ids = made.map(({ id }) => id);
  await Promise.all(
    ids.map((id) => cancelTask(world.store, { actor: ACTOR, operationId: `test-${++operations}` }, id)),
  );
  await world.caughtUp();
  return ids;
}

const count = async (body: object) => BulkCount.parse((await world.call('POST', '/bulk/count', body)).body);
const start = (body: object, key?: string) =>
  world.call('POST', '/bulk', body, key === undefined ? {} : { 'idempotency-key': key });
const row = async (id: string) => BulkDetail.parse((await world.call('GET', `/bulk/${id}`)).body).row;
const finished = (id: string) => expect.poll(async () => (await row(id)).endedMs, { timeout: 20_000 }).toBeDefined();
const problem = (body: unknown) => Problem.parse(body);
const tagged = (tag: string) => ({ action: 'retry', filter: { tag: [tag], state: ['CANCELLED'] } });

describe('a bulk over REST', () => {
  test('means exactly what was counted; what fails afterwards is left alone (scenario 14)', async () => {
    await ended(600, 'night');
    const { count: n, asOf, possible, typed } = await count(tagged('night'));
    expect([n, possible, typed]).toEqual([600, 600, false]);
    const newcomers = await ended(30, 'night');
    const { id } = Done.parse((await start({ ...tagged('night'), count: n, asOf, reason: 'restocked' })).body);
    await finished(id);
    expect(await row(id)).toMatchObject({ state: 'DONE', total: 600, done: 600, skipped: 0, conflicted: 0 });
    const after = await count(tagged('night'));
    expect(after.count).toBe(newcomers.length);
    const rows = BulkPage.parse((await world.call('GET', '/bulk')).body).rows;
    expect(rows[0]).toMatchObject({ id, reason: 'restocked', by: 'operator:local', snapshot: asOf });
  });

  test('what changed between the count and the start is not touched, and said', async () => {
    const [first = ''] = await ended(5, 'a');
    const { count: n, asOf } = await count(tagged('a'));
    await world.call('POST', `/tasks/${first}/retry`, { revisionSeen: await revisionOf(first) });
    await world.caughtUp();
    const { id } = Done.parse((await start({ ...tagged('a'), count: n, asOf })).body);
    await finished(id);
    expect(await row(id)).toMatchObject({ total: 4, done: 4, filter: { changed: 1 } });
  });

  test('picked tasks that have changed are conflicts, and are listed by page', async () => {
    const ids = await ended(6, 'b');
    const tasks = await Promise.all(ids.map(async (id) => ({ id, revision: await revisionOf(id) })));
    for (const { id, revision } of tasks.slice(0, 3)) {
      await world.call('POST', `/tasks/${id}/retry`, { revisionSeen: revision });
    }
    const { body } = await start({ action: 'retry', tasks, count: 6, asOf: world.gateway.board.revision });
    const { id } = Done.parse(body);
    await finished(id);
    expect(await row(id)).toMatchObject({ total: 6, done: 3, conflicted: 3 });
    const left = BulkLeftPage.parse((await world.call('GET', `/bulk/${id}/left`)).body).rows;
    expect(left.map((each) => [each.id, each.kind])).toEqual(ids.slice(0, 3).map((each) => [each, 'conflicted']));
  });

  test('goes on in another server when the first one has gone', async () => {
    await ended(1_000, 'c');
    const { count: n, asOf } = await count(tagged('c'));
    const { id } = Done.parse((await start({ ...tagged('c'), count: n, asOf })).body);
    await world.gateway.board.reached(BigInt((await row(id)).revision));
    await world.gateway.close();
    const { namespace } = world.store.keys;
    const other = await createGateway({ kv: world.kv, namespace, quietMs: 100 });
    await other.ready();
    await expect
      .poll(() => other.board.state.bulks.get(id)?.record, { timeout: 20_000 })
      .toMatchObject({ state: 'DONE', done: 1_000, conflicted: 0, skipped: 0 });
    await other.close();
  });

  test('more than a hundred cancellations ask for the count to be typed, also of a program', async () => {
    await Promise.all(Array.from({ length: 101 }, () => world.submit('mail', [], { tags: ['d'] })));
    await world.caughtUp();
    const body = { action: 'cancel', filter: { tag: ['d'] } };
    const { count: n, asOf, typed } = await count(body);
    expect([n, typed]).toEqual([101, true]);
    const refused = await start({ ...body, count: n, asOf });
    expect(problem(refused.body)).toMatchObject({ code: 'invalid', field: 'typed' });
    expect((await start({ ...body, count: n, asOf, typed: '100' })).status).toBe(400);
    const { id } = Done.parse((await start({ ...body, count: n, asOf, typed: '101' })).body);
    await finished(id);
    expect(await row(id)).toMatchObject({ state: 'DONE', done: 101 });
  });

  test('two starts at once: one begins, the other is a conflict that names it', async () => {
    await ended(400, 'e');
    const { count: n, asOf } = await count(tagged('e'));
    const body = { ...tagged('e'), count: n, asOf };
    const answers = await Promise.all([start(body, 'bulk-x'), start(body, 'bulk-y')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const refused = problem(answers.find(({ status }) => status === 409)?.body);
    expect(refused.fields?.['id']).toMatch(/^bulk-[xy]$/);
    await finished(String(refused.fields?.['id']));
  });

  test('an abort stops it; the rest stays as it was; a second abort is a wrong state', async () => {
    const own = await openWorld('memory', { bulkPaceMs: 200 });
    world = (await world.close(), own);
    await ended(1_000, 'f');
    const { count: n, asOf } = await count(tagged('f'));
    const { id } = Done.parse((await start({ ...tagged('f'), count: n, asOf })).body);
    await expect.poll(async () => (await row(id)).position).toBeGreaterThan(0);
    const answers = await Promise.all([1, 2].map(() => world.call('POST', `/bulk/${id}/abort`, { reason: 'stop' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    await finished(id);
    const { state, done } = await row(id);
    expect(state).toBe('ABORTED');
    expect(done).toBeLessThan(1_000);
    await world.caughtUp();
    expect((await count(tagged('f'))).count).toBe(1_000 - done);
  });

  test.each([
    ['neither filter nor tasks', {}, 'filter'],
    ['both', { filter: {}, tasks: [{ id: 'a', revision: '1' }] }, 'filter'],
    ['an unknown action', { action: 'explode', filter: {} }, 'action'],
    ['a priority that is none', { action: 'reprioritise', filter: {}, priority: 'high' }, 'priority'],
  ])('with %s is refused', async (_words, body, field) => {
    await ended(1, 'g');
    const answer = await start({ action: 'retry', count: 1, asOf: world.gateway.board.revision, ...body });
    expect([answer.status, problem(answer.body).field]).toEqual([400, field]);
  });
});

async function revisionOf(id: string): Promise<string> {
  const [kv] = (await world.kv.range({ key: world.store.keys.task(id) })).kvs;
  return String(kv?.modRevision);
}
