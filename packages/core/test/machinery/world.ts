/** The two worlds in which every scenario is played: the memory twin under a fake clock, and a real etcd. */
import { inject } from 'vitest';
import { uuidv7 } from 'uuidv7';
import type {} from '../../../tooling/vitest/provided.d.ts';
import { Client, connectEtcd, silentLogger, type Kv, type NodeOptions, type Part } from '../../src/index.js';
import { MemoryConnection, MemoryStore, prefixEnd } from '../../src/kv/index.js';
import { decodeTask } from '../../src/model/codec.js';
import type { TaskRecord } from '../../src/model/task.js';
import { SchedulerNode } from '../../src/node/index.js';
import { FakeClock, systemClock, type Clock } from '../../src/runtime/index.js';
import { counted, type Counts } from './counted.js';

export type ProcessOptions = Omit<NodeOptions, 'etcd' | 'kv' | 'namespace' | 'clock' | 'logger'>;

/** One scheduler process. */
export interface Process {
  readonly node: SchedulerNode;
  /** Its own connection; on the twin its network can be cut. */
  readonly kv: Kv;
  /** Requests that it has sent. */
  readonly counts: Counts;
  stop(): Promise<void>;
}

export interface World {
  readonly client: Client;
  readonly clock: Clock;
  /** On the twin only. */
  readonly memory: MemoryStore | undefined;
  /** A process that works when this resolves. Ends with the world. */
  start(options: ProcessOptions): Promise<Process>;
  /** Lets time pass until it settles. */
  wait<T>(promise: Promise<T>): Promise<T>;
  /** Time passes: at once on the twin. */
  pass(ms: number): Promise<void>;
  /** Submits, waits, and returns the results. */
  run(part: Part): Promise<readonly unknown[]>;
  /** A handler's own way to take time. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  tasks(): Promise<readonly TaskRecord[]>;
  close(): Promise<void>;
}

const STEP_MS = 100;
/** How much fake time a wait may take; a test that hangs fails instead. */
const LIMIT_MS = 600_000;

export interface WorldKind {
  readonly on: string;
  readonly real: boolean;
  readonly open: () => World;
}

export const memoryOnly: WorldKind = { on: 'the memory twin', real: false, open: memoryWorld };
export const etcdOnly: WorldKind = { on: 'a real etcd', real: true, open: etcdWorld };
export const worlds: readonly WorldKind[] = [memoryOnly, etcdOnly];

export function memoryWorld(): World & { readonly clock: FakeClock; readonly memory: MemoryStore } {
  const clock = new FakeClock();
  const memory = new MemoryStore({ now: () => clock.monotonic(), schedule: clock.schedule });
  const pass = async (ms: number, stepMs = STEP_MS): Promise<void> => {
    for (let left = ms; left > 0; left -= stepMs) {
      await clock.advance(Math.min(left, stepMs));
      memory.tick();
    }
    await clock.settle();
  };
  const wait = async <T>(promise: Promise<T>): Promise<T> => {
    const state = { settled: false };
    const settling = Promise.allSettled([promise]).then(() => (state.settled = true));
    await clock.settle();
    for (let passed = 0; !state.settled && passed < LIMIT_MS; passed += STEP_MS) await pass(STEP_MS);
    if (!state.settled) throw new Error(`not within ${LIMIT_MS} ms of fake time`);
    await settling;
    return promise;
  };
  const shared = world({ connect: () => memory.connect(), clock, wait, namespace: 'test' });
  // Long stretches go in long steps; a lease is renewed within each.
  return { ...shared, clock, memory, pass: (ms) => pass(ms, ms > 60_000 ? 1_000 : STEP_MS) };
}

export function etcdWorld(): World {
  const endpoints = [inject('etcd')];
  return {
    ...world({
      connect: () => connectEtcd({ endpoints }),
      clock: systemClock,
      wait: (promise) => promise,
      namespace: `machinery-${uuidv7()}`,
    }),
    memory: undefined,
    pass: (ms) => systemClock.sleep(ms),
  };
}

interface Setting {
  readonly connect: () => Kv | MemoryConnection;
  readonly clock: Clock;
  readonly wait: <T>(promise: Promise<T>) => Promise<T>;
  readonly namespace: string;
}

function world({ connect, clock, wait, namespace }: Setting): Omit<World, 'memory' | 'pass'> {
  const processes: Process[] = [];
  const kv = connect();
  const client = new Client({
    kv,
    namespace,
    name: 'test',
    now: () => clock.now(),
    commit: { sleep: (ms) => clock.sleep(ms), now: () => clock.monotonic() },
  });
  const start = async (options: ProcessOptions): Promise<Process> => {
    const connection = connect();
    const counting = counted(connection);
    const node = new SchedulerNode({
      statsEveryMs: 0,
      ...options,
      kv: counting.kv,
      clock,
      logger: silentLogger,
      namespace,
    });
    const stop = (): Promise<void> => wait(node.stop({ deadlineMs: 0 }));
    const made: Process = { node, kv: connection, counts: counting.counts, stop };
    processes.push(made);
    await wait(node.start());
    await wait(client.store.kv.range({ key: 'x' }));
    return made;
  };
  return {
    client,
    clock,
    start,
    wait,
    run: async (part) => {
      const handle = await wait(client.submit(part));
      return wait(handle.result());
    },
    sleep: (ms, signal) => clock.sleep(ms, signal),
    tasks: async () => {
      const prefix = client.store.keys.kind('tasks');
      const { kvs } = await client.store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix) });
      return kvs.map(({ value }) => decodeTask(value));
    },
    close: async () => {
      for (const { node, kv: connection } of processes) {
        if (connection instanceof MemoryConnection) connection.heal();
        await wait(node.stop({ deadlineMs: 0 }));
        await connection.close();
      }
      await client.close();
      await kv.close();
    },
  };
}
