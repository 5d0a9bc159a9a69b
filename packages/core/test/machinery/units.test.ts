/** Machinery's unit tests that no test of the model or the store replays by name; the others are there. */
import { describe, expect, it } from 'vitest';
import {
  connect,
  createWorker,
  defineTask,
  handle,
  isEnded,
  jsonLogger,
  Snooze,
  type TaskContext,
} from '../../src/index.js';
import { TASK_STATES } from '../../src/model/state.js';
import { Keys } from '../../src/model/keys.js';
import { createTestScheduler } from '../../src/testing/index.js';
import { Handlers } from '../../src/worker/handlers.js';
import { outcomeOfThrown } from '../../src/worker/verdicts.js';
import { claim } from '../../src/store/claim.js';
import { claimable, claimOne, CLIENT, memoryWorld as plainWorld, openHolder, sig } from '../store/plain-worker.js';
import { submitWorkflow } from '../../src/store/submit.js';
import { add, handleAdd, handleMultiply } from './tasks.js';

const at = { attempt: 1, node: 'n', nowMs: 0 };

describe('tasks', () => {
  it('TestTaskCallErrorTest: retry-later survives the call, also through a subclass', () => {
    class Later extends Snooze {}
    expect(outcomeOfThrown(new Snooze(1_000), at)).toEqual({ kind: 'snooze', delayMs: 1_000 });
    expect(outcomeOfThrown(new Later(1_000), at)).toEqual({ kind: 'snooze', delayMs: 1_000 });
    expect(outcomeOfThrown(new Error('x'), at)).toMatchObject({ kind: 'failure', error: { message: 'x' } });
  });

  it('TestTaskCallWithContext, TestTaskCallWithSignatureInContext: a handler is told what it runs', async () => {
    let seen: TaskContext | undefined;
    const foo = defineTask('foo', { headers: { trace: 'abc' } });
    const scheduler = await createTestScheduler({ handlers: [handle(foo, (_args, context) => void (seen = context))] });
    await scheduler.run(foo.signature([], { id: 'f' }));
    expect(seen).toMatchObject({ id: 'f', name: 'foo', queue: 'default', attempt: 1, headers: { trace: 'abc' } });
    expect(seen?.signal.aborted).toBe(false);
    await scheduler.stop();
  });

  it('TestTaskStateIsCompleted: three states are', () => {
    expect(TASK_STATES.filter(isEnded)).toEqual(['SUCCESS', 'FAILURE', 'CANCELLED']);
  });

  it('DeepCopy: what is changed after sending does not change what was sent', async () => {
    const scheduler = await createTestScheduler({ handlers: [handleAdd] });
    const signature = { name: 'add', args: [{ type: 'int64' as const, value: '1' }] };
    const sending = scheduler.client.submit(signature);
    signature.args.push({ type: 'int64', value: '100' });
    const { id } = await sending;
    await scheduler.settle();
    expect((await scheduler.client.get(id))?.results).toEqual([{ type: 'int64', value: '1' }]);
    await scheduler.stop();
  });
});

describe('registration', () => {
  it('IsTaskRegistered, GetRegisteredTaskNames, GetRegisteredTask: an unknown one is none', () => {
    const handlers = new Handlers([handleAdd, handleMultiply]);
    expect(handlers.infos.map(({ name }) => name)).toEqual(['add', 'multiply']);
    expect(handlers.has('add')).toBe(true);
    expect(handlers.find('add')?.definition).toBe(add);
    expect(handlers.has('unknown')).toBe(false);
    expect(handlers.find('unknown')).toBeUndefined();
  });

  it('RegisterTask(s): two of one name are refused; RegisterTaskInRaceCondition cannot be, for a worker’s are fixed', () => {
    expect(() => new Handlers([handleAdd, handleAdd])).toThrow(/two of them take the name add/);
    const handlers = new Handlers([handleAdd]);
    expect('register' in handlers).toBe(false);
  });

  it('TestValidateTask: what is no function is refused at once, not when it is called', () => {
    const notAFunction = { definition: add, run: 5 } as unknown as typeof handleAdd;
    expect(() => new Handlers([notAFunction])).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
    expect(() => new Handlers([handleAdd])).not.toThrow();
  });

  it('StopConsuming: twice, and before it has started, is harmless', async () => {
    const { store } = plainWorld();
    const worker = createWorker(store, { handlers: [handleAdd] });
    await worker.stop();
    await worker.stop();
  });
});

describe('locks', () => {
  it('GetLockName: the proof of a fire is named by schedule and instant, not by program', () => {
    const keys = new Keys('prod');
    expect(keys.fire('utils.test', 60_000)).toBe('/leasehold/prod/fires/utils.test/000000000060000');
  });

  it('TestLock, TestLockWithRetries: a second lock fails while the first lives, and not after its lease', async () => {
    const { store, clock, memory } = plainWorld();
    const [first, second] = [await openHolder(store, 'n1', 10), await openHolder(store, 'n2', 60)];
    await submitWorkflow(store, CLIENT, { kind: 'task', signature: sig('add') });
    const [candidate] = await claimable(store);
    if (candidate === undefined) throw new Error('nothing to claim');
    await claimOne(store, first);
    const again = async () =>
      claim(store, second, {
        task: candidate.record,
        revision: candidate.revision,
        settings: { queue: 0n, name: 0n, all: 0n },
        slots: [],
      });
    for (let i = 0; i < 3; i++) expect(await again()).toMatchObject({ kind: 'held', lock: { node: 'n1' } });
    clock.nowMs += 11_000;
    memory.tick();
    const [freed] = await claimable(store);
    expect(freed?.record).toMatchObject({ state: 'STARTED', attempt: 1 });
    expect((await claimOne(store, second)).task).toMatchObject({ attempt: 2, losses: 1 });
    await store.kv.close();
  });

  it('TestRedactURL: a password is in no error and in no line of the log', async () => {
    const client = connect({
      etcd: { endpoints: ['127.0.0.1:1'], auth: { username: 'app', password: 'hunter2' }, defaultTimeoutMs: 300 },
    });
    const error: unknown = await client.get('x').catch((reason: unknown) => reason);
    const lines: string[] = [];
    jsonLogger({ write: (line) => void lines.push(line) }).error('no connection', { error });
    expect(error).toBeInstanceOf(Error);
    expect(`${String(error)} ${JSON.stringify(error)} ${(error as Error).stack ?? ''}`).not.toContain('hunter2');
    expect(lines.join('\n')).toContain('no connection');
    expect(lines.join('\n')).not.toContain('hunter2');
    await client.close();
  });
});

describe('backends', () => {
  it('GroupCompleted: unknown is an error, a running member says no, one success and one failure say yes', async () => {
    const fails = defineTask('fails');
    const scheduler = await createTestScheduler({
      handlers: [
        handleAdd,
        handle(fails, () => {
          throw new Error('no');
        }),
      ],
    });
    const { client } = scheduler;
    await expect(client.waitWorkflow('unknown')).rejects.toMatchObject({ code: 'not-found' });
    const later = add.signature([1n], { etaMs: scheduler.clock.now() + 60_000 });
    const { id } = await scheduler.submit({
      kind: 'group',
      onFailure: 'wait-all',
      members: [fails.signature([]), later].map((signature) => ({ kind: 'task', signature })),
    });
    expect(await client.getWorkflow(id)).toMatchObject({ state: 'RUNNING' });
    await scheduler.settle();
    expect(await client.getWorkflow(id)).toMatchObject({ state: 'FAILURE' });
    // GroupTaskStates: each member with its error text.
    const states = [];
    for await (const { state, error } of client.members(id)) states.push([state, error?.message]);
    expect(states).toEqual([
      ['FAILURE', 'no'],
      ['SUCCESS', undefined],
    ]);
    await scheduler.stop();
  });

  it('GetState keeps TaskName and CreatedAt through every state', async () => {
    const scheduler = await createTestScheduler({
      handlers: [handle(add, () => scheduler.clock.sleep(1_000).then(() => 1n))],
    });
    const { client, clock } = scheduler;
    const { id } = await scheduler.submit(add.signature([1n], { etaMs: clock.now() + 1_000 }));
    const states = [];
    for (let i = 0; i < 3; i++) {
      const task = await client.get(id);
      states.push([task?.state, task?.name, task?.createdMs]);
      await scheduler.advance(1_250);
    }
    const createdMs = states[0]?.[2];
    expect(states).toEqual(['SCHEDULED', 'STARTED', 'SUCCESS'].map((state) => [state, 'add', createdMs]));
    await scheduler.stop();
  });

  it('SetStatePending can move back from RECEIVED: a worker that stops hands back what it had taken', async () => {
    const scheduler = await createTestScheduler({
      handlers: [
        handle(add, (_args, { signal }) =>
          scheduler.clock
            .sleep(60_000, signal)
            .then(() => signal.throwIfAborted())
            .then(() => 1n),
        ),
      ],
    });
    const { client } = scheduler;
    const { id } = await scheduler.submit(add.signature([1n]));
    expect((await client.get(id))?.state).toBe('STARTED');
    const stopping = scheduler.node.worker.stop({ deadlineMs: 0 });
    await scheduler.advance(3_000);
    await stopping;
    expect(await client.get(id)).toMatchObject({ state: 'PENDING', handBacks: 1, failures: 0, losses: 0 });
    await scheduler.stop();
  });
});
