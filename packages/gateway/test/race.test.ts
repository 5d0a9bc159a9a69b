/** Two clients, one sight: of every route that changes something, one of two at once wins and the other is told. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Problem } from '@leasehold/wire';
import { z } from 'zod';
import { cancelTask, createBulk, takeRunner, upsertSchedule } from '@leasehold/core/store';
import { ROUTES } from '../src/index.js';
import { ACTOR, openWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

interface Race {
  readonly path: string;
  readonly body: object;
}

let made = 0;
const fresh = (): string => `race-${++made}`;
const revisionAt = async (key: string): Promise<string> =>
  String((await world.kv.range({ key })).kvs[0]?.modRevision ?? 0n);

async function ended(): Promise<{ id: string; revisionSeen: string }> {
  const { id } = await world.submit('mail');
  const { revision } = await cancelTask(world.store, { actor: ACTOR, operationId: fresh() }, id);
  return { id, revisionSeen: revision.toString() };
}

async function waiting(): Promise<{ id: string; revisionSeen: string }> {
  const { id, revision } = await world.submit('mail');
  return { id, revisionSeen: revision.toString() };
}

const WORKFLOW = {
  kind: 'group',
  members: [1, 2].map(() => ({ kind: 'task', signature: { name: 'mail', args: [] } })),
};

async function workflow(): Promise<{ id: string; revisionSeen: string }> {
  const { body } = await world.call('POST', '/workflows', { workflow: WORKFLOW });
  const id = String(body['id']);
  return { id, revisionSeen: await revisionAt(world.store.keys.workflow(id)) };
}

async function endedWorkflow(): Promise<{ id: string; revisionSeen: string }> {
  const { id, revisionSeen } = await workflow();
  await world.call('POST', `/workflows/${id}/cancel`, { revisionSeen });
  await expect
    .poll(async () => (await world.call('GET', `/workflows/${id}`)).body)
    .toMatchObject({ row: { state: 'CANCELLED' } });
  return { id, revisionSeen: await revisionAt(world.store.keys.workflow(id)) };
}

async function held(): Promise<{ id: string; revisionSeen: string }> {
  const holder = await world.joinNode(fresh());
  const { id } = await world.submit('mail');
  const { revision } = await world.start(holder, id);
  return { id, revisionSeen: revision.toString() };
}

async function schedule(): Promise<{ id: string; revisionSeen: string }> {
  const id = fresh();
  const call = { actor: ACTOR, operationId: fresh() };
  const task = { kind: 'task', signature: { name: 'mail', args: [] } } as const;
  const { revision } = await upsertSchedule(world.store, call, { id, spec: '@daily', workflow: task });
  return { id, revisionSeen: revision.toString() };
}

/** How a race for each route is set up. A route without an entry fails the first test. */
const RACES: Readonly<Record<string, () => Promise<Race>>> = {
  '/tasks/:id/retry': async () => {
    const { id, revisionSeen } = await ended();
    return { path: `/tasks/${id}/retry`, body: { revisionSeen } };
  },
  '/tasks/:id/cancel': async () => {
    const { id, revisionSeen } = await waiting();
    return { path: `/tasks/${id}/cancel`, body: { revisionSeen } };
  },
  '/tasks/:id/reschedule': async () => {
    const { id, revisionSeen } = await waiting();
    return { path: `/tasks/${id}/reschedule`, body: { revisionSeen, priority: 4 } };
  },
  '/tasks/:id/delete': async () => {
    const { id } = await ended();
    const key = world.store.keys.task(id);
    const [kv] = (await world.kv.range({ key })).kvs;
    const record = JSON.parse(kv?.value ?? '{}') as Record<string, unknown>;
    const old = JSON.stringify({ ...record, ended_ms: Date.now() - 3_600_000 });
    const { revision } = await world.kv.txn({ compare: [], success: [{ kind: 'put', key, value: old }] });
    return { path: `/tasks/${id}/delete`, body: { revisionSeen: revision.toString() } };
  },
  '/workflows/:id/cancel': async () => {
    const { id, revisionSeen } = await workflow();
    return { path: `/workflows/${id}/cancel`, body: { revisionSeen } };
  },
  '/workflows/:id/retry': async () => {
    const { id, revisionSeen } = await endedWorkflow();
    return { path: `/workflows/${id}/retry`, body: { revisionSeen } };
  },
  '/locks/:id/force-release': async () => {
    const { id, revisionSeen } = await held();
    return { path: `/locks/${id}/force-release`, body: { revisionSeen, reason: 'hangs' } };
  },
  '/nodes/:id/drain': async () => {
    const id = fresh();
    await world.joinNode(id);
    return { path: `/nodes/${id}/drain`, body: { revisionSeen: '0' } };
  },
  ...Object.fromEntries(
    ['/queues/:name', '/names/:name', '/all'].flatMap((url) => [
      [`${url}/pause`, () => Promise.resolve(settingsRace(url, 'pause'))],
      [`${url}/resume`, () => Promise.resolve(settingsRace(url, 'resume'))],
    ]),
  ),
  '/queues/:name/drain': () =>
    Promise.resolve({ path: `/queues/${fresh()}/drain`, body: { reason: 'race', revisionSeen: '0' } }),
  '/queues/:name/limits': () =>
    Promise.resolve({ path: `/queues/${fresh()}/limits`, body: { concurrency: 3, revisionSeen: '0' } }),
  '/schedules/:id': async () => {
    const { id, revisionSeen } = await schedule();
    return { path: `/schedules/${id}`, body: { revisionSeen, spec: '@hourly' } };
  },
  ...Object.fromEntries(
    ['pause', 'resume', 'delete', 'run'].map((verb) => [
      `/schedules/:id/${verb}`,
      async (): Promise<Race> => {
        const { id, revisionSeen } = await schedule();
        return { path: `/schedules/${id}/${verb}`, body: { revisionSeen } };
      },
    ]),
  ),
  '/templates/:id': async () => {
    const task = { kind: 'task', signature: { name: 'mail', args: [] } };
    return { path: `/templates/${fresh()}`, body: { revisionSeen: '0', title: 'Mail', workflow: task } };
  },
  '/templates/:id/delete': async () => {
    const id = fresh();
    const task = { kind: 'task', signature: { name: 'mail', args: [] } };
    const body = { revisionSeen: '0', title: 'Mail', workflow: task };
    const made = await world.call('POST', `/templates/${id}`, body);
    return { path: `/templates/${id}/delete`, body: { revisionSeen: made.body['revision'] } };
  },
  '/bulk': async () => {
    const { id, revisionSeen } = await ended();
    const tasks = [{ id, revision: revisionSeen }];
    return { path: '/bulk', body: { action: 'retry', tasks, count: 1, asOf: revisionSeen } };
  },
  '/bulk/:id/abort': async () => {
    // The office is taken, so that nobody works on it before the race.
    const { id: lease } = await world.kv.leaseGrant(60);
    await expect.poll(async () => (await takeRunner(world.store, lease)) !== undefined).toBe(true);
    const id = fresh();
    const call = { actor: ACTOR, operationId: id };
    await createBulk(world.store, call, { action: 'retry', filter: {}, targets: [['a', '1']], snapshot: 1n });
    return { path: `/bulk/${id}/abort`, body: {} };
  },
};

function settingsRace(url: string, verb: 'pause' | 'resume'): Race {
  const path = url.replace(':name', fresh());
  // `all` was written by the race before this one.
  return { path: `${path}/${verb}`, body: { reason: 'race' } };
}

/** Routes that are guarded by what the client saw. Submissions go by their id, and a purge by what waits: see below. */
const GUARDED = ROUTES.filter(({ method, body }) => method === 'POST' && takesSight(body)).map(({ url }) => url);

function takesSight(body: z.ZodType): boolean {
  return body instanceof z.ZodObject && 'revisionSeen' in body.shape;
}

describe('two clients at once', () => {
  test('every route that takes what was seen has a race', () => {
    expect(GUARDED.filter((url) => RACES[url] === undefined)).toEqual([]);
  });

  test.each(Object.keys(RACES))('%s: one wins, one is told', async (url) => {
    const race = await RACES[url]?.();
    if (race === undefined) throw new Error('no race');
    await world.caughtUp();
    const guarded = await withSight(url, race);
    const answers = await Promise.all([1, 2].map(() => world.call('POST', race.path, guarded)));
    expect(answers.map(({ status, body }) => [status, status === 200 ? '' : body['code']]).sort()).toMatchObject([
      [200, ''],
      [409, expect.stringMatching(/conflict|wrong-state/) as string],
    ]);
    const refused = answers.find(({ status }) => status === 409);
    expect(Problem.parse(refused?.body).detail.length).toBeGreaterThan(10);
  });

  test.each(['/tasks', '/workflows'])('%s: the same Idempotency-Key at once makes one', async (url) => {
    const body = url === '/tasks' ? { name: 'mail', args: [] } : { workflow: WORKFLOW };
    const key = { 'idempotency-key': fresh() };
    const answers = await Promise.all([1, 2].map(() => world.call('POST', url, body, key)));
    expect(answers.map(({ body: done }) => done['created']).sort()).toEqual([false, true]);
  });
});

test('two purges at once end every task once', async () => {
  const queue = fresh();
  for (let i = 0; i < 20; i++) await world.submit('mail', [], { queue });
  const body = { expectedCount: 20, reason: 'race' };
  const answers = await Promise.all([1, 2].map(() => world.call('POST', `/queues/${queue}/purge`, body)));
  const purged = answers.map(({ body: done }) => Number(done['purged'] ?? 0));
  expect(purged.reduce((sum, n) => sum + n, 0)).toBe(20);
  for (const { status } of answers) expect([200, 409]).toContain(status);
});

async function withSight(url: string, { path, body }: Race): Promise<object> {
  if (!/\/(pause|resume)$/.test(url) || url.startsWith('/schedules')) return body;
  const { keys } = world.store;
  const [, kind, name = ''] = path.split('/');
  const key = kind === 'queues' ? keys.queue(name) : kind === 'names' ? keys.name(name) : keys.all();
  return { ...body, revisionSeen: await revisionAt(key) };
}
