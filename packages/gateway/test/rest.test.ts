import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ClusterStatus,
  Done,
  ErrorRow,
  HandlerList,
  NodeRow,
  Problem,
  QueueRow,
  SubmitCheck,
  TaskDetail,
  TaskPage,
  WorkflowDetail,
  type TaskRow,
} from '@leasehold/wire';
import { decodeTask, encodeRecord } from '@leasehold/core/model';
import { z } from 'zod';
import { openWorld, text, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const problem = (body: unknown) => Problem.parse(body);
const int32 = (value: unknown) => ({ type: 'int32', value });

describe('submitting a task', () => {
  test('answers its id and the revision at which it is there', async () => {
    const { status, body } = await world.call('POST', '/tasks', { name: 'mail', args: [text('kim@example.com')] });
    expect(status).toBe(200);
    const done = Done.parse(body);
    expect(done).toMatchObject({ kind: 'task', created: true });
    const [kv] = (await world.kv.range({ key: world.store.keys.task(done.id) })).kvs;
    expect(kv?.modRevision.toString()).toBe(done.revision);
  });

  test('with an Idempotency-Key is done once, however often it is sent', async () => {
    const send = () => world.call('POST', '/tasks', { name: 'mail', args: [] }, { 'idempotency-key': 'click-1' });
    const [first, second] = [await send(), await send()];
    expect(first.body).toMatchObject({ id: 'click-1', created: true });
    expect(second.body).toMatchObject({ id: 'click-1', created: false, revision: first.body['revision'] });
  });

  test('keeps every digit of 2^60, also as a number of the JSON', async () => {
    const body = '{"name":"mail","args":[{"type":"int64","value":1152921504606846976}]}';
    const { body: done } = await world.call('POST', '/tasks', body);
    const { body: detail } = await world.call('GET', `/tasks/${String(done['id'])}`);
    expect(TaskDetail.parse(detail).args).toEqual([{ type: 'int64', value: '1152921504606846976' }]);
  });

  test.each([
    ['50.5 is not int32', { name: 'mail', args: [int32(50.5)] }, 'args[0]', 400],
    ['"x" is not int32', { name: 'mail', args: [int32('x')] }, 'args[0]', 400],
    ['is not one of supported types', { name: 'mail', args: [{ type: 'int33', value: 1 }] }, 'args[0]', 400],
    ['null is not string', { name: 'mail', args: [{ type: 'string', value: null }] }, 'args[0]', 400],
    ['name', { name: '', args: [] }, 'name', 400],
    ['there is no such field', { name: 'mail', args: [], nmae: 'x' }, 'nmae', 400],
    ['-1', { name: 'mail', args: [], retry: { count: -1 } }, 'retry.count', 400],
    ['in the past', { name: 'mail', args: [], expiresMs: 1 }, 'expiresMs', 400],
    ['is not a date', { name: 'mail', args: [], etaMs: 'tomorrow' }, 'etaMs', 400],
    ['262144', { name: 'mail', args: [text('x'.repeat(300_000))] }, 'args', 413],
  ])('is refused in the core’s own words: %s', async (words, body, field, status) => {
    const answer = await world.call('POST', '/tasks', body);
    expect(answer.status).toBe(status);
    expect(answer.type).toContain('application/problem+json');
    const { detail, field: at } = problem(answer.body);
    expect(detail).toContain(words);
    expect(at).toBe(field);
  });

  test('over 1 MiB says the limit', async () => {
    const answer = await world.call('POST', '/tasks', `{"name":"mail","args":[],"x":"${'y'.repeat(1_100_000)}"}`);
    expect(answer.status).toBe(413);
    expect(problem(answer.body).detail).toContain('1048576 bytes');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'as %s is refused',
    async (type) => {
      const answer = await world.call('POST', '/tasks', '{"name":"mail","args":[]}', { 'content-type': type });
      expect([answer.status, problem(answer.body).code]).toEqual([415, 'unsupported-media']);
    },
  );

  test('an id of a member’s form is refused', async () => {
    const answer = await world.call('POST', '/tasks', { name: 'mail', args: [] }, { 'idempotency-key': 'a.00001' });
    expect(problem(answer.body)).toMatchObject({ code: 'invalid', field: 'id' });
  });

  test('can be checked first: size, and names that no live worker knows', async () => {
    await world.joinNode('checker', { names: ['mail'] });
    await world.caughtUp();
    const known = await world.call('POST', '/tasks/check', { name: 'mail', args: [text('hello')] });
    expect(SubmitCheck.parse(known.body)).toMatchObject({ tasks: 1, joins: 0, unknownNames: [], limit: 262_144 });
    const unknown = await world.call('POST', '/tasks/check', { name: 'fax', args: [] });
    expect(SubmitCheck.parse(unknown.body).unknownNames).toEqual(['fax']);
  });
});

describe('submitting a workflow', () => {
  const task = (name: string, args: unknown[] = []) => ({ kind: 'task', signature: { name, args } });
  const chord = { kind: 'chord', header: [task('mail'), task('mail'), task('mail')], callback: task('mail') };

  test('its graph, members and barrier are seen', async () => {
    const { body } = await world.call('POST', '/workflows', { workflow: chord });
    const { id } = Done.parse(body);
    await world.caughtUp();
    const detail = WorkflowDetail.parse((await world.call('GET', `/workflows/${id}`)).body);
    expect(detail.row).toMatchObject({ tasks: 4, state: 'RUNNING', states: { PENDING: 3, WAITING: 1 } });
    expect(detail.graph?.tasks.map(({ after }) => after)).toEqual([[], [], [], [0, 1, 2]]);
    expect(detail.graph?.joins[1]).toMatchObject({ slots: 3, left: 3 });
    expect(detail.members.map(({ state }) => state)).toEqual(['PENDING', 'PENDING', 'PENDING', 'WAITING']);
    const callback = TaskDetail.parse((await world.call('GET', `/tasks/${id}.00003`)).body);
    expect(callback.why[0]).toMatchObject({ code: 'barrier', params: { workflowId: id, join: 1, done: 0, total: 3 } });
  });

  test('the path of what is wrong is named', async () => {
    const workflow = { kind: 'chain', steps: [task('mail'), task('mail', [int32(50.5)])] };
    const answer = await world.call('POST', '/workflows', { workflow });
    expect(problem(answer.body)).toMatchObject({ status: 400, field: 'steps[1].args[0]' });
    expect(problem(answer.body).detail).toContain('50.5 is not int32');
  });

  test('Machinery’s own JSON is taken', async () => {
    const workflow = { Name: 'mail', Args: [{ Name: 'n', Type: 'int64', Value: 5 }] };
    const answer = await world.call('POST', '/workflows', { workflow, format: 'machinery' });
    expect([answer.status, answer.body['detail']]).toEqual([200, undefined]);
  });

  test('cancel: nothing more starts; a second cancel is a wrong state', async () => {
    const { id } = Done.parse((await world.call('POST', '/workflows', { workflow: chord })).body);
    await world.caughtUp();
    const row = WorkflowDetail.parse((await world.call('GET', `/workflows/${id}`)).body).row;
    const first = await world.call('POST', `/workflows/${id}/cancel`, {
      revisionSeen: row.revision,
      reason: 'wrong file',
    });
    expect(first.status).toBe(200);
    await expect
      .poll(async () => (await world.call('GET', `/workflows/${id}`)).body)
      .toMatchObject({ row: { state: 'CANCELLED' } });
    const late = WorkflowDetail.parse((await world.call('GET', `/workflows/${id}`)).body).row;
    const again = await world.call('POST', `/workflows/${id}/cancel`, { revisionSeen: late.revision });
    expect(problem(again.body).code).toBe('wrong-state');
  });
});

describe('a task that failed', () => {
  async function failed(message = 'stock is gone: item 99283'): Promise<TaskRow> {
    const holder = await world.joinNode(`worker-${Math.random()}`);
    const { id } = await world.submit('mail', [text('kim'), text('s3cr3t')], { secrets: [1] });
    await world.fail(holder, await world.start(holder, id), message);
    return TaskDetail.parse((await world.call('GET', `/tasks/${id}`)).body).row;
  }

  test('shows its attempt with node, fencing token and error, and its history with causes', async () => {
    const row = await failed();
    const detail = TaskDetail.parse((await world.call('GET', `/tasks/${row.id}`)).body);
    expect(detail.history.map(({ cause }) => cause)).toEqual(['submitted', 'claimed', 'failed-final']);
    expect(detail.historyWhole).toBe(true);
    expect(detail.attempts).toMatchObject([{ attempt: 1, cause: 'failed-final', token: detail.history[1]?.revision }]);
    expect(detail.attempts[0]?.error?.message).toContain('stock is gone');
    expect(detail.args).toEqual([
      { type: 'string', value: 'kim' },
      { type: 'string', value: null, hidden: true },
    ]);
    expect(JSON.stringify(detail)).not.toContain('s3cr3t');
  });

  test('is retried at the revision seen; on stale sight nothing is done', async () => {
    const row = await failed();
    const retry = (headers = {}) =>
      world.call('POST', `/tasks/${row.id}/retry`, { revisionSeen: row.revision, reason: 'restocked' }, headers);
    const first = await retry({ 'idempotency-key': 'retry-1' });
    expect(first.status).toBe(200);
    const repeated = await retry({ 'idempotency-key': 'retry-1' });
    expect(repeated.body).toEqual(first.body);
    const other = await retry();
    expect(other.status).toBe(409);
    expect(problem(other.body)).toMatchObject({ code: 'conflict', fields: { revision: first.body['revision'] } });
    const [audit] = (await world.kv.range({ key: world.store.keys.audit('retry-1') })).kvs;
    expect(JSON.parse(audit?.value ?? '{}')).toMatchObject({
      operation: 'task.retry',
      reason: 'restocked',
      actor: { kind: 'operator', name: 'local' },
    });
  });

  test('is retried with edited arguments; what the editor never saw stays as it was', async () => {
    const row = await failed();
    const args = [
      { type: 'string', value: 'lee' },
      { type: 'string', value: null, hidden: true },
    ];
    const answer = await world.call('POST', `/tasks/${row.id}/retry`, { revisionSeen: row.revision, args });
    expect(answer.status).toBe(200);
    const [kv] = (await world.kv.range({ key: world.store.keys.task(row.id) })).kvs;
    expect(JSON.parse(kv?.value ?? '{}')).toMatchObject({
      status: 'PENDING',
      args: [{ value: 'lee' }, { value: 's3cr3t' }],
    });
  });

  test('edited arguments are checked in the core’s words', async () => {
    const row = await failed();
    const answer = await world.call('POST', `/tasks/${row.id}/retry`, {
      revisionSeen: row.revision,
      args: [int32(50.5)],
    });
    expect(problem(answer.body)).toMatchObject({
      status: 400,
      field: 'args[0]',
      detail: expect.stringContaining('50.5 is not int32') as string,
    });
  });

  test('is grouped with its like', async () => {
    await failed('disk 1 of 8 is full');
    await failed('disk 7 of 8 is full');
    await world.caughtUp();
    const rows = z.object({ rows: z.array(ErrorRow) }).parse((await world.call('GET', '/errors')).body).rows;
    expect(rows.find(({ message }) => message.includes('is full'))).toMatchObject({
      count: 2,
      failing: 2,
      names: ['mail'],
    });
  });
});

describe('other acts', () => {
  test('cancel of a waiting task ends it; of an ended one is a wrong state', async () => {
    const { id, revision } = await world.submit('mail');
    const answer = await world.call('POST', `/tasks/${id}/cancel`, { revisionSeen: revision.toString() });
    expect(answer.status).toBe(200);
    const again = await world.call('POST', `/tasks/${id}/cancel`, { revisionSeen: answer.body['revision'] });
    expect(problem(again.body)).toMatchObject({ status: 409, code: 'wrong-state' });
  });

  test('reschedule', async () => {
    const { id, revision } = await world.submit('mail');
    const etaMs = Date.now() + 3_600_000;
    const answer = await world.call('POST', `/tasks/${id}/reschedule`, {
      revisionSeen: revision.toString(),
      etaMs,
      priority: 5,
    });
    expect(answer.status).toBe(200);
    const detail = TaskDetail.parse((await world.call('GET', `/tasks/${id}`)).body);
    expect(detail.row).toMatchObject({ state: 'SCHEDULED', priority: 5, scheduleMs: etaMs, why: { code: 'not-due' } });
  });

  test('pause and resume of a queue whose name needs encoding', async () => {
    const path = `/queues/${encodeURIComponent('a/b %한')}`;
    expect((await world.call('POST', `${path}/pause`, { reason: 'bad deploy' })).status).toBe(200);
    await world.caughtUp();
    const row = QueueRow.parse((await world.call('GET', path)).body);
    expect(row).toMatchObject({ id: 'a/b %한', paused: { reason: 'bad deploy', by: 'operator:local' } });
    expect((await world.call('POST', `${path}/resume`, { revisionSeen: row.revision })).status).toBe(200);
    await world.caughtUp();
    expect(QueueRow.parse((await world.call('GET', path)).body).paused).toBeUndefined();
  });

  test('purge ends as many as were seen, or none, and needs a reason', async () => {
    for (const n of [1, 2, 3]) {
      const body = { name: 'mail', args: [], queue: 'purged', tags: [`n${n}`] };
      expect((await world.call('POST', '/tasks', body)).status).toBe(200);
    }
    const purge = (body: object) => world.call('POST', '/queues/purged/purge', body);
    expect((await purge({ expectedCount: 3 })).status).toBe(400);
    const refused = await purge({ expectedCount: 2, reason: 'bad batch' });
    expect(refused.status).toBe(409);
    expect(problem(refused.body).detail).toContain('3 tasks wait in queue purged, not 2');
    const done = await purge({ expectedCount: 3, reason: 'bad batch' });
    expect(done.body).toMatchObject({ id: 'purged', purged: 3, left: 0 });
    expect((await purge({ expectedCount: 0, reason: 'again' })).body).toMatchObject({ purged: 0 });
  });

  test('what is submitted by name takes the defaults that a live worker advertises, under what it says itself', async () => {
    const defaults = { retry: { count: 4, backoff: 'fixed', delayMs: 250 }, timeoutMs: 9_000, priority: 2 } as const;
    await world.joinNode('defaulting', { names: ['refund'], queue: 'refunds', defaults });
    await world.caughtUp();
    const recordOf = async (answer: { body: Record<string, unknown> }) => {
      const [kv] = (await world.kv.range({ key: world.store.keys.task(String(answer.body['id'])) })).kvs;
      return decodeTask(kv?.value ?? '');
    };
    const bare = await world.call('POST', '/tasks', { name: 'refund', args: [] });
    expect(await recordOf(bare)).toMatchObject({
      queue: 'refunds',
      priority: 2,
      timeoutMs: 9_000,
      retry: defaults.retry,
    });
    const own = await world.call('POST', '/tasks', { name: 'refund', args: [], priority: 7, retry: { count: 1 } });
    expect(await recordOf(own)).toMatchObject({
      queue: 'refunds',
      priority: 7,
      retry: { count: 1, backoff: 'fixed', delayMs: 250 },
    });
    const chain = {
      kind: 'chain',
      steps: ['refund', 'unheard-of'].map((name) => ({ kind: 'task', signature: { name, args: [] } })),
    };
    const flow = await world.call('POST', '/workflows', { workflow: chain });
    const member = { body: { id: `${String(flow.body['id'])}.00000` } };
    expect(await recordOf(member)).toMatchObject({ queue: 'refunds', timeoutMs: 9_000 });
    const refused = await world.call('POST', '/tasks', { name: 'refund', args: [], retry: 5 });
    expect(refused.status).toBe(400);
    const { handlers } = HandlerList.parse((await world.call('GET', '/handlers')).body);
    expect(handlers.find(({ name }) => name === 'refund')?.defaults).toEqual({
      priority: 2,
      timeoutMs: 9_000,
      retries: 4,
      backoff: 'fixed',
    });
  });

  test('a used up rate, and a unique key that another holds, are reasons to wait, as of the board’s revision', async () => {
    const { keys } = world.store;
    const rate = { count: 2, intervalMs: 60_000 };
    await world.call('POST', '/queues/rated/limits', { rate });
    const takenMs = Date.now() - 10_000;
    const opener = { units: 2, lengthMs: 60_000, index: 0, openedMs: takenMs, rate };
    const put = (key: string, value: string) => ({ kind: 'put', key, value }) as const;
    const unit = (n: number) =>
      put(keys.rate('queue/rated', takenMs, n), encodeRecord({ task: `t${n}`, atMs: takenMs + n }));
    await world.kv.txn({
      compare: [],
      success: [put(keys.rate('queue/rated', takenMs, 0), encodeRecord(opener)), unit(1)],
    });
    const unique = { key: 'only-one', onConflict: 'reject' } as const;
    const { id } = await world.submit('mail', [], { queue: 'rated', unique });
    const reasons = async () => {
      await world.caughtUp();
      return TaskDetail.parse((await world.call('GET', `/tasks/${id}`)).body).why.map(({ code }) => code);
    };
    const before = await reasons();
    expect(before).not.toContain('rate-limit');
    expect(before).not.toContain('unique-held');
    await world.kv.txn({ compare: [], success: [unit(2), put(keys.unique('only-one'), 'another')] });
    await world.caughtUp();
    const { why } = TaskDetail.parse((await world.call('GET', `/tasks/${id}`)).body);
    const late = why.find(({ code }) => code === 'rate-limit');
    expect(late).toMatchObject({ params: { limit: 'queue/rated' } });
    // The first unit leaves the interval fifty seconds from now.
    const untilMs = late?.code === 'rate-limit' ? late.params.untilMs : 0;
    expect(Math.abs(untilMs - (takenMs + 60_000))).toBeLessThan(2_000);
    expect(why).toContainEqual({ code: 'unique-held', params: { key: 'only-one', holder: 'another' } });
    const gone = [keys.rate('queue/rated', takenMs, 1), keys.rate('queue/rated', takenMs, 2)];
    await world.kv.txn({ compare: [], success: gone.map((key) => ({ kind: 'delete', key })) });
    expect(await reasons()).not.toContain('rate-limit');
  });

  test('drain pauses, says how many still run, and waits as long as it is told', async () => {
    const holder = await world.joinNode('drains', { queue: 'drained' });
    const { id } = await world.submit('mail', [], { queue: 'drained' });
    const held = await world.start(holder, id);
    const drain = (body: object) => world.call('POST', '/queues/drained/drain', body);
    expect((await drain({})).status).toBe(400);
    expect((await drain({ reason: 'deploy', waitMs: 60_000 })).status).toBe(400);
    const begun = await drain({ reason: 'deploy' });
    expect(begun.body).toMatchObject({ id: 'drained', running: 1 });
    await world.caughtUp();
    const row = QueueRow.parse((await world.call('GET', '/queues/drained')).body);
    expect(row).toMatchObject({ running: 1, paused: { reason: 'deploy' } });
    const waiting = drain({ reason: 'deploy', waitMs: 20_000 });
    await world.succeed(holder, held);
    expect((await waiting).body).toMatchObject({ running: 0 });
  });

  test('a queue is made ordered, which its row says, and back', async () => {
    const set = (ordered: boolean) => world.call('POST', '/queues/lined-up/limits', { ordered });
    expect((await set(true)).status).toBe(200);
    await world.caughtUp();
    expect(QueueRow.parse((await world.call('GET', '/queues/lined-up')).body).ordered).toBe(true);
    expect((await set(false)).status).toBe(200);
    await world.caughtUp();
    expect(QueueRow.parse((await world.call('GET', '/queues/lined-up')).body).ordered).toBeUndefined();
  });

  test('limits of a queue are set, checked in the core’s own words, and taken away by null', async () => {
    const set = (body: object) => world.call('POST', '/queues/paced/limits', body);
    expect((await set({ concurrency: 2, rate: { count: 5, intervalMs: 1_000 } })).status).toBe(200);
    const [kv] = (await world.kv.range({ key: world.store.keys.queue('paced') })).kvs;
    expect(JSON.parse(kv?.value ?? '')).toMatchObject({ concurrency: 2, rate: { count: 5, interval_ms: 1_000 } });
    const refused = await set({ rate: { count: 0, intervalMs: 1_000 } });
    expect(refused.status).toBe(400);
    expect(problem(refused.body).detail).toContain('rate.count');
    expect((await set({ concurrency: null, rate: null })).status).toBe(200);
  });

  test('force-release needs a reason, and frees the task', async () => {
    const holder = await world.joinNode('held');
    const { id } = await world.submit('mail');
    const held = await world.start(holder, id);
    const revisionSeen = held.revision.toString();
    expect((await world.call('POST', `/locks/${id}/force-release`, { revisionSeen })).status).toBe(400);
    const answer = await world.call('POST', `/locks/${id}/force-release`, { revisionSeen, reason: 'hangs' });
    expect(answer.status).toBe(200);
    expect((await world.kv.range({ key: world.store.keys.lock(id) })).kvs).toEqual([]);
  });
});

describe('looking', () => {
  test('pages by cursor: every task once, in order', async () => {
    const tag = 'paged';
    for (let i = 0; i < 7; i++) await world.submit('mail', [], { tags: [tag] });
    await world.caughtUp();
    const ids: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const more = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = TaskPage.parse((await world.call('GET', `/tasks?tag=${tag}&limit=3&sort=created${more}`)).body);
      expect(page.total).toBe(7);
      ids.push(...page.rows.map(({ id }) => id));
      cursor = page.next;
    }
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(7);
  });

  test('handlers that live workers advertise', async () => {
    await world.joinNode('advertiser', { names: ['resize'], queue: 'media' });
    await world.caughtUp();
    const { handlers } = HandlerList.parse((await world.call('GET', '/handlers')).body);
    expect(handlers.find(({ name }) => name === 'resize')).toMatchObject({
      nodes: ['advertiser'],
      queues: ['media'],
      args: [{ name: 'to', type: 'string' }, { secret: true }],
    });
  });

  test('nodes with their lease as measured', async () => {
    await world.joinNode('counted', { ttlS: 30 });
    await world.caughtUp();
    const node = async () => NodeRow.parse((await world.call('GET', '/nodes/counted')).body);
    expect(await node()).toMatchObject({ capacity: 2, running: 0, lease: { ttlMs: 30_000 } });
    await expect.poll(async () => (await node()).lease.renewedMs).toBeDefined();
  });

  test('a name with every awkward character is found again', async () => {
    const name = 'a/b c%2F.한글?x=<script>';
    await world.submit(name);
    await world.caughtUp();
    const page = TaskPage.parse((await world.call('GET', `/tasks?name=${encodeURIComponent(name)}`)).body);
    expect(page.rows.map((row) => row.name)).toEqual([name]);
  });

  test.each([
    ['/tasks?sort=evil', 400, 'invalid'],
    ['/tasks?state=RUNNING', 400, 'invalid'],
    ['/tasks?limit=1e9', 400, 'invalid'],
    ['/tasks?cursor=zzz', 400, 'invalid'],
    ['/tasks/absent', 404, 'not-found'],
    ['/workflows/absent', 404, 'not-found'],
    ['/nowhere', 404, 'not-found'],
  ])('%s is %i', async (path, status, code) => {
    const answer = await world.call('GET', path);
    expect([answer.status, problem(answer.body).code]).toEqual([status, code]);
  });

  test('the cluster, and the API’s own description', async () => {
    const cluster = ClusterStatus.parse((await world.call('GET', '/cluster')).body);
    expect(cluster).toMatchObject({ feed: { state: 'live' }, version: '3.5.30' });
    // The twin tells no quota: etcd's default is assumed, and said to be.
    expect(cluster).toMatchObject({ quotaKnown: false, quotaBytes: 2 * 1024 ** 3, full: false, advice: 'none' });
    const { body } = await world.call('GET', '/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0' });
    expect(Object.keys(body['paths'] as object)).toContain('/api/v1/tasks/{id}/retry');
  });
});
