/** Machinery's named integration tests, in our terms. */
import { afterEach, describe, expect, it } from 'vitest';
import { defineTask, group, handle, type TaskRecord } from '../../src/index.js';
import { createTestScheduler } from '../../src/testing/index.js';
import { add, handleAdd, handleMultiply, multiply, testHandlers } from './tasks.js';
import { worlds, type World } from './world.js';

async function listed(source: AsyncIterable<TaskRecord>): Promise<TaskRecord[]> {
  const out: TaskRecord[] = [];
  for await (const task of source) out.push(task);
  return out;
}

describe.each(worlds)('integration on $on', ({ open }) => {
  let world: World;
  afterEach(() => world.close());

  it('TestAmqpGetPendingTasks: what waits is listed in order, and gone when it has run', async () => {
    world = open();
    const { client } = world;
    const handles = [];
    for (const n of [1n, 2n, 3n]) {
      handles.push(await world.wait(client.submit(add.signature([n, n]))));
      // Orders are milliseconds: what is submitted within one is not ordered.
      await world.pass(5);
    }
    const pending = await listed(client.pending('default'));
    expect(pending.map(({ id, name, args }) => [id, name, args?.length])).toEqual(
      handles.map(({ id }) => [id, 'add', 2]),
    );
    await world.start({ handlers: [handleAdd] });
    expect(await Promise.all(handles.map((one) => world.wait(one.result())))).toEqual([[2n], [4n], [6n]]);
    expect(await listed(client.pending('default'))).toEqual([]);
  });

  it('TestRedisGetPendingTasks: a queue where nothing waits is empty, not an error', async () => {
    world = open();
    expect(await listed(world.client.pending('nobody-knows-it'))).toEqual([]);
    expect(await listed(world.client.scheduled())).toEqual([]);
  });

  it('TestRedisRedisNormalTaskPollPeriodLessThan1SecondShouldNotFailNextTask: looking around often harms nothing', async () => {
    world = open();
    await world.start({ handlers: [handleAdd], stealEveryMs: 200, auditEveryMs: 100 });
    for (let i = 0; i < 5; i++) expect(await world.run(add.signature([1n, 1n]))).toEqual([2n]);
  });

  it('TestRedisRedisWorkerQuitRaceCondition: a worker that is told to quit while it starts ends cleanly', async () => {
    world = open();
    for (let i = 0; i < 3; i++) {
      const { node } = await world.start({ handlers: [handleAdd], leader: false });
      const again = node.start();
      await world.wait(Promise.all([again, node.stop(), node.stop()]));
    }
    expect(await world.client.nodes()).toEqual([]);
  });

  it('TestRedisRedisWorkerQuickQuit: an idle worker quits without waiting for anything', async () => {
    world = open();
    const { node } = await world.start({ handlers: [handleAdd], stopDeadlineMs: 86_400_000, graceMs: 600_000 });
    await world.run(add.signature([1n]));
    const before = world.clock.monotonic();
    await world.wait(node.stop());
    // Far below its deadline of a day: the bound only says that nothing of that was waited for.
    expect(world.clock.monotonic() - before).toBeLessThan(10_000);
    expect(await world.client.nodes()).toEqual([]);
  });

  it('TestRedisRedisWorkerPreConsumeHandler: the hook before a task is called; a pause is how consuming is held back', async () => {
    world = open();
    const asked: string[] = [];
    await world.start({ handlers: [handleAdd], hooks: { before: ({ name }) => void asked.push(name) } });
    await world.wait(world.client.pause({ queue: 'default' }));
    const held = await world.wait(world.client.submit(add.signature([1n])));
    await world.pass(300);
    expect(asked).toEqual([]);
    await world.wait(world.client.resume({ queue: 'default' }));
    expect(await world.wait(held.result())).toEqual([1n]);
    expect(asked).toEqual(['add']);
  });

  it.each(['AMQP', 'Redis'])(
    'TestWorkerOnlyConsumesRegisteredTask%s: two workers of one queue, each runs what it knows',
    async () => {
      world = open();
      const ran: Record<string, string[]> = { adds: [], multiplies: [] };
      const note = (who: 'adds' | 'multiplies') => ({
        before: ({ name }: { name: string }) => void ran[who]?.push(name),
      });
      await world.start({ handlers: [handleAdd], hooks: note('adds') });
      await world.start({ handlers: [handleMultiply], hooks: note('multiplies') });
      const results = await world.run(group([multiply.signature([4n, 5n]), add.signature([2n, 3n])]));
      expect(results).toEqual([[20n], [5n]]);
      expect(ran).toEqual({ adds: ['add'], multiplies: ['multiply'] });
    },
  );

  it('CustomQueueName: a worker serves the queues that it names', async () => {
    world = open();
    await world.start({ handlers: [handleAdd], queues: ['custom'] });
    const elsewhere = await world.wait(world.client.submit(add.signature([1n])));
    expect(await world.run(add.signature([2n], { queue: 'custom' }))).toEqual([2n]);
    expect(await world.client.get(elsewhere.id)).toMatchObject({ state: 'PENDING', queue: 'default' });
  });

  it('TestConsume (AMQP): more tasks than places, all failing, and none is stuck', async () => {
    world = open();
    const failing = defineTask('failing');
    const handler = handle(failing, () => {
      throw new Error('no');
    });
    await world.start({ handlers: [handler, ...testHandlers(() => 0)], concurrency: 2 });
    const handles = await world.wait(
      Promise.all(Array.from({ length: 10 }, () => world.client.submit(failing.signature([])))),
    );
    const ended = await world.wait(Promise.all(handles.map(({ id }) => world.client.wait(id))));
    expect(ended.map(({ state }) => state)).toEqual(Array.from({ length: 10 }, () => 'FAILURE'));
    expect(await world.run(add.signature([1n, 1n]))).toEqual([2n]);
  });

  it('TestConsumeOne (SQS): an empty or garbage entry stops nobody', async () => {
    world = open();
    const { keys, kv } = world.client.store;
    await world.start({ handlers: [handleAdd] });
    const garbage = ['', 'not json', '{"name":"add","task":{"id":7}}', '{"name":"add"}', 'null'];
    for (const [n, value] of garbage.entries()) {
      const put = { kind: 'put', key: keys.ready('default', n % 8, n, `garbage-${n}`), value } as const;
      await world.wait(kv.txn({ compare: [], success: [put] }));
    }
    const record = { kind: 'put', key: keys.task('garbage-3'), value: '' } as const;
    await world.wait(kv.txn({ compare: [], success: [record] }));
    const many = await world.run(group(Array.from({ length: 16 }, () => add.signature([1n]))));
    expect(many).toHaveLength(16);
  });
});

describe('EagerIntegrationTestSuite', () => {
  const float = defineTask('float_called', { args: ['float64'], results: ['float64'] });
  const int = defineTask('int_called', { args: ['int64'], results: ['int64'] });

  it('TestCalled: a float64 of 100.0 reaches the function, in this process', async () => {
    const seen: unknown[] = [];
    const handler = handle(float, ([value]) => {
      seen.push(value);
      return value;
    });
    const scheduler = await createTestScheduler({ handlers: [handler] });
    await scheduler.submit(float.signature([100]));
    expect(seen).toEqual([100]);
    await scheduler.stop();
  });

  it('TestSuccessResult: right after sending it is completed, with the result in its own kind', async () => {
    const handlers = [handle(float, ([value]) => value * 2), handle(int, ([value]) => value * 2n)];
    const scheduler = await createTestScheduler({ handlers });
    for (const [signature, result] of [
      [float.signature([100]), { type: 'float64', value: 200 }],
      [int.signature([100n]), { type: 'int64', value: '200' }],
    ] as const) {
      const { id } = await scheduler.submit(signature);
      expect(await scheduler.client.get(id)).toMatchObject({ state: 'SUCCESS', results: [result] });
    }
    await scheduler.stop();
  });
});
