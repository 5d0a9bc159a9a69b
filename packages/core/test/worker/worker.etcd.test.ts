import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startProxy } from '@leasehold/etcd-local';
import { uuidv7 } from 'uuidv7';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { silentLogger, systemClock } from '../../src/runtime/index.js';
import { threadRenewer } from '../../src/store/keepalive.js';
import type { Store } from '../../src/store/index.js';
import { createWorker, type TaskContext, type Worker, type WorkerOptions } from '../../src/worker/index.js';
import { etcdStore, until } from '../store/stores.js';
import type { ProcessMessage } from './process.js';
import { handling, keysOf, submit, taskOf } from './rig.js';

const endpoint = inject('etcd');
const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function storeOf(namespace?: string, url = endpoint): Store {
  const { store, kv } = etcdStore(url, namespace);
  closing.push(() => kv.close());
  return store;
}

async function start(
  store: Store,
  run: (context: TaskContext) => unknown,
  options: Partial<WorkerOptions> = {},
): Promise<Worker> {
  const worker = createWorker(store, {
    handlers: [handling('t', run)],
    concurrency: 50,
    leaseTtlMs: 2_000,
    renewer: threadRenewer({ etcd: { endpoints: [endpoint] } }),
    clock: systemClock,
    logger: silentLogger,
    ...options,
  });
  closing.push(() => worker.abort());
  await worker.start();
  await until('it has a session', () => worker.status.node !== undefined);
  return worker;
}

interface Child {
  readonly process: ChildProcess;
  readonly messages: readonly ProcessMessage[];
  readonly exited: Promise<number | null>;
}

/** A worker in a process of its own. */
async function spawnWorker(namespace: string, env: Readonly<Record<string, string>> = {}): Promise<Child> {
  const messages: ProcessMessage[] = [];
  const child = fork(fileURLToPath(new URL('./process.ts', import.meta.url)), {
    execArgv: ['--conditions=leasehold-source', '--import', 'tsx'],
    env: { ...process.env, ENDPOINT: endpoint, NAMESPACE: namespace, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  closing.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  child.on('message', (message: ProcessMessage) => messages.push(message));
  await until('the other process is up', () => messages.some(({ kind }) => kind === 'up'), 30_000);
  return { process: child, messages, exited };
}

async function submitMany(store: Store, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => submit(store, 't')));
}

const ended = async (store: Store): Promise<number> => (await keysOf(store, 'ended')).length;

describe('workers on etcd', () => {
  it('two share 2000 tasks: none runs twice, none is lost, nothing is left behind', async () => {
    const namespace = `test-${uuidv7()}`;
    const runs = new Map<string, number>();
    const run = ({ id }: TaskContext): void => void runs.set(id, (runs.get(id) ?? 0) + 1);
    const workers = [await start(storeOf(namespace), run), await start(storeOf(namespace), run)];
    const store = storeOf(namespace);
    const ids = await submitMany(store, 2_000);
    await until('all have ended', async () => (await ended(store)) === ids.length);
    expect(runs.size).toBe(2_000);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    for (const worker of workers) expect(worker.status.counters.succeeded).toBeGreaterThan(200);
    await Promise.all(workers.map((worker) => worker.stop()));
    for (const kind of ['locks', 'ready', 'nodes', 'slots'] as const) expect(await keysOf(store, kind)).toEqual([]);
  });

  it('go on after their connections were cut, again and again (reports E20, E31)', async () => {
    const proxy = await startProxy(Number(new URL(endpoint).port));
    closing.push(() => proxy.close());
    const namespace = `test-${uuidv7()}`;
    const tokens = new Map<string, bigint[]>();
    const run = ({ id, tokenNumber }: TaskContext): void =>
      void tokens.set(id, [...(tokens.get(id) ?? []), tokenNumber]);
    await start(storeOf(namespace, proxy.url), run, { auditEveryMs: 500 });
    const store = storeOf(namespace);
    const timer = setInterval(() => proxy.killConnections(), 400);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(...(await submitMany(store, 50)));
    await until('most have ended', async () => (await ended(store)) > 900, 60_000);
    clearInterval(timer);
    await until('all have ended', async () => (await ended(store)) === ids.length);
    for (const id of ids) {
      const task = await taskOf(store, id);
      expect(task).toMatchObject({ state: 'SUCCESS', losses: 0 });
      expect(tokens.get(id)?.length).toBe(task.attempt - task.handBacks);
    }
  }, 90_000);

  it('a handler that blocks the event loop for longer than the TTL keeps its lease (report E23)', async () => {
    const store = storeOf();
    const worker = await start(store, () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000));
    const node = worker.status.node;
    const id = await submit(store, 't');
    await until('it has ended', async () => (await ended(store)) === 1);
    expect(await taskOf(store, id)).toMatchObject({ state: 'SUCCESS', attempt: 1, losses: 0 });
    expect(worker.status.node).toBe(node);
  });

  it('a handler that blocks the event loop without end loses its lease, and its outcome (report E23)', async () => {
    const store = storeOf();
    const renewer = threadRenewer({ etcd: { endpoints: [endpoint] }, stallMs: 1_000 });
    const attempts: number[] = [];
    const worker = await start(
      store,
      ({ attempt }) => {
        attempts.push(attempt);
        if (attempt === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7_000);
      },
      { renewer },
    );
    const id = await submit(store, 't');
    await until('it has ended', async () => (await ended(store)) === 1, 25_000);
    expect(attempts).toEqual([1, 2]);
    expect(await taskOf(store, id)).toMatchObject({ state: 'SUCCESS', attempt: 2, losses: 1 });
    expect(worker.status.counters.succeeded).toBe(1);
  });
});

describe('a worker process', () => {
  it('killed with SIGKILL: its tasks end elsewhere, soon after its lease (reports E1, E32, E37, E40)', async () => {
    const namespace = `test-${uuidv7()}`;
    const store = storeOf(namespace);
    const child = await spawnWorker(namespace, { WORK_MS: '600000', CONCURRENCY: '20' });
    const ids = await submitMany(store, 20);
    await until('all have begun', () => child.messages.filter(({ kind }) => kind === 'began').length === 20);
    const runs: string[] = [];
    await start(store, ({ id }) => void runs.push(id));
    child.process.kill('SIGKILL');
    await child.exited;
    const killedAt = performance.now();
    await until('all have ended', async () => (await ended(store)) === 20, 15_000);
    const recoveryMs = performance.now() - killedAt;
    for (const id of ids)
      expect(await taskOf(store, id)).toMatchObject({ state: 'SUCCESS', attempt: 2, losses: 1, failures: 0 });
    expect(new Set(runs).size).toBe(20);
    expect(runs.length).toBe(20);
    expect(recoveryMs).toBeLessThan(8_000);
  });

  it('stopped with SIGSTOP beyond its lease: what it does afterwards counts for nothing (report E23)', async () => {
    const namespace = `test-${uuidv7()}`;
    const store = storeOf(namespace);
    const child = await spawnWorker(namespace, { WORK_MS: '1500' });
    const id = await submit(store, 't');
    await until('it has begun', () => child.messages.some(({ kind }) => kind === 'began'));
    child.process.kill('SIGSTOP');
    const tokens: bigint[] = [];
    await start(store, ({ tokenNumber }) => void tokens.push(tokenNumber));
    await until('it has ended elsewhere', async () => (await ended(store)) === 1);
    const after = await taskOf(store, id);
    expect(after).toMatchObject({ state: 'SUCCESS', attempt: 2, losses: 1 });
    child.process.kill('SIGCONT');
    await until('the first handler has ended', () =>
      child.messages.some(({ kind, attempt }) => kind === 'ended' && attempt === 1),
    );
    const late = await submit(store, 't');
    await until('another task has ended', async () => (await taskOf(store, late)).state === 'SUCCESS');
    expect(await taskOf(store, id)).toEqual(after);
    expect(tokens.length).toBeGreaterThanOrEqual(1);
  });

  it('asked to end, leaves nothing that has to wait for its lease', async () => {
    const namespace = `test-${uuidv7()}`;
    const store = storeOf(namespace);
    const child = await spawnWorker(namespace);
    child.process.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    expect(await keysOf(store, 'nodes')).toEqual([]);
  });
});
