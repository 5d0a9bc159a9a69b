/** Handlers in threads, on real etcd: the lease is renewed by the very event loop that such a handler would block. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { defineTask } from '../../src/model/define.js';
import { isEnded } from '../../src/model/state.js';
import type { TaskRecord } from '../../src/model/task.js';
import { systemClock } from '../../src/runtime/index.js';
import { cancelTask, submitTask, type Store } from '../../src/store/index.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { handle, type Worker } from '../../src/worker/index.js';
import { etcdStore, until } from '../store/stores.js';
import { call, keysOf, taskOf, worker } from './rig.js';

const file = new URL('./isolated/compute.mjs', import.meta.url);
const results = ['int64', 'string'] as const;
const compute = defineTask('compute', { args: ['int64'], results });
const failing = defineTask('failing', { args: ['int64'], results });
const handlers = [
  handle(compute, { file, isolate: 'thread' }),
  handle(failing, { file, export: 'failing', isolate: 'thread' }),
];

let store: Store;
let close: () => Promise<void>;
let made: Worker;

beforeEach(async () => {
  const { store: opened, kv } = etcdStore(inject('etcd'));
  store = opened;
  // The renewer is the default one, in the worker's own event loop.
  made = worker(store, systemClock, { handlers, leaseTtlMs: 2_000, threads: 2 });
  await made.start();
  close = async () => {
    await made.stop({ deadlineMs: 100 });
    await kv.close();
  };
});
afterEach(() => close());

async function submit(task: typeof compute, n: number, timeoutMs = 30_000): Promise<string> {
  const signature = normalizeSignature(task.signature([n], { timeoutMs }), {}, store.now());
  return (await submitTask(store, { kind: 'client', name: 'test' }, signature)).id;
}

async function ended(id: string): Promise<TaskRecord> {
  await until(`${id} ends`, async () => isEnded((await taskOf(store, id)).state));
  return taskOf(store, id);
}

describe('isolate: thread', () => {
  it('a busy loop longer than the lease delays neither keepalive nor the event loop', async () => {
    const delay = monitorEventLoopDelay({ resolution: 10 });
    const id = await submit(compute, 3_500);
    await until('it runs', async () => (await taskOf(store, id)).state === 'STARTED');
    const { node } = made.status;
    delay.enable();
    const task = await ended(id);
    delay.disable();
    expect(task).toMatchObject({ state: 'SUCCESS', attempt: 1, losses: 0 });
    expect(task.results?.map(({ value }) => value)).toEqual(['1', 'token']);
    expect(made.status.node).toBe(node);
    expect(delay.max / 1e6).toBeLessThan(1_500);
    await until('its log is there', async () => (await keysOf(store, 'logs')).length > 0);
  });

  it('H2: a cancel ends a busy loop, and the thread is free for the next task', async () => {
    const id = await submit(compute, 600_000, 700_000);
    await until('it runs', async () => (await taskOf(store, id)).state === 'STARTED');
    await cancelTask(store, call('enough'), id);
    expect((await ended(id)).state).toBe('CANCELLED');
    expect((await ended(await submit(compute, 1))).state).toBe('SUCCESS');
  });

  it('H2: a timeout ends it too', async () => {
    const task = await ended(await submit(compute, 600_000, 1_000));
    expect(task).toMatchObject({ state: 'FAILURE', error: { type: 'TimeoutError' } });
    await until('no handler goes on', () => made.status.abandoned === 0);
  });

  it('H3: what it throws keeps its name, message and meaning', async () => {
    expect((await ended(await submit(failing, 1))).error).toMatchObject({ type: 'BadInput', message: 'not that' });
    expect((await ended(await submit(failing, 2))).error).toMatchObject({ message: 'never', final: true });
    const [snoozed, later] = [await submit(failing, 3), await submit(failing, 4)];
    await until('both wait', async () => (await taskOf(store, later)).state !== 'STARTED');
    await until('both wait', async () => (await taskOf(store, snoozed)).snoozes === 1);
  });

  it('H3: a thread that dies is a failure, and no end of the worker', async () => {
    expect((await ended(await submit(failing, 5))).state).toBe('FAILURE');
    expect((await ended(await submit(compute, 1))).state).toBe('SUCCESS');
  });

  it('a file that is not there is refused when the handler is registered', () => {
    expect(() => handle(compute, { file: '/nowhere/x.mjs', isolate: 'thread' })).toThrow(/does not exist/);
  });
});
