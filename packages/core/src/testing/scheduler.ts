/**
 * A whole scheduler in one process, without etcd and without waiting: worker, leader and client on the memory twin, under
 * a clock that the test moves. The code is the one that runs on etcd.
 */
import { Client, type ClientOptions } from '../client/client.js';
import type { Handle } from '../client/handle.js';
import { MemoryStore } from '../kv/memory-kv.js';
import { prefixEnd } from '../kv/kv.js';
import { decodeTask } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import type { Part } from '../model/build.js';
import { isEnded } from '../model/state.js';
import type { TaskRecord } from '../model/task.js';
import { FakeClock } from '../runtime/fake-clock.js';
import { silentLogger, type Logger } from '../runtime/logger.js';
import { SchedulerNode, type NodeOptions } from '../node/node.js';
import type { Handling } from '../worker/handlers.js';

export interface TestSchedulerOptions extends Pick<
  NodeOptions,
  'queues' | 'concurrency' | 'labels' | 'hooks' | 'retention'
> {
  readonly handlers: readonly Handling[];
  /** Where the clock starts, epoch ms. Default 2030-01-01T00:00Z. */
  readonly startMs?: number;
  readonly logger?: Logger;
  readonly client?: Pick<ClientOptions, 'defaults' | 'beforePublish'>;
}

export interface TestScheduler {
  readonly client: Client;
  readonly clock: FakeClock;
  readonly node: SchedulerNode;
  /** Submits and lets everything run that can run without time passing. */
  submit: Client['submit'];
  /** Submits, lets time pass as far as needed, and returns the results (or throws as `handle.result` does). */
  run(part: Part): Promise<readonly unknown[]>;
  /** Time passes: timers run, due tasks are promoted, leases are renewed. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until every task has ended. @throws LeaseholdError `timeout` after `limitMs` of fake time. */
  settle(limitMs?: number): Promise<void>;
  /** All tasks there are, oldest first. */
  tasks(): Promise<readonly TaskRecord[]>;
  stop(): Promise<void>;
}

const STEP_MS = 250;
/** Long stretches go in longer steps: leases end a little later than on the second, which they may in etcd too. */
const LONG_MS = 60_000;
const LONG_STEP_MS = 1_000;
const DAY_MS = 86_400_000;
/** Turns of the real event loop to let handlers do real I/O before fake time moves on. */
const REAL_TURNS = 20;

export async function createTestScheduler(options: TestSchedulerOptions): Promise<TestScheduler> {
  const clock = new FakeClock(options.startMs);
  const memory = new MemoryStore({ now: () => clock.monotonic(), schedule: clock.schedule });
  const kv = memory.connect();
  const node = new SchedulerNode({
    concurrency: 100,
    statsEveryMs: 0,
    ...options,
    kv,
    clock,
    logger: options.logger ?? silentLogger,
    namespace: 'test',
    host: 'test',
  });
  const advance = async (ms: number): Promise<void> => {
    const stepMs = ms > LONG_MS ? LONG_STEP_MS : STEP_MS;
    for (let left = ms; left > 0; left -= stepMs) {
      await clock.advance(Math.min(left, stepMs));
      memory.tick();
    }
    await clock.settle();
  };
  const tasks = async (): Promise<readonly TaskRecord[]> => {
    const prefix = node.store.keys.kind('tasks');
    const { kvs } = await kv.range({ key: prefix, rangeEnd: prefixEnd(prefix) });
    return kvs.map(({ value }) => decodeTask(value));
  };
  const settle = async (limitMs = DAY_MS): Promise<void> => {
    for (let passed = 0; ;) {
      for (let turn = 0; turn < REAL_TURNS; turn++) await clock.settle();
      const open = (await tasks()).filter(({ state }) => !isEnded(state));
      if (open.length === 0) return;
      if (passed >= limitMs) throw unsettled(open, limitMs);
      // Nothing to run now: jump to where the next task is due instead of walking there.
      const waitMs = nextDueMs(open, clock.now());
      await advance(waitMs);
      passed += waitMs;
    }
  };
  await node.start();
  await advance(500);
  const submit: Client['submit'] = async (part, call): Promise<Handle<readonly unknown[]>> => {
    const handle = await node.client.submit(part, call);
    await clock.settle();
    return handle;
  };
  return {
    client: node.client,
    clock,
    node,
    submit,
    run: async (part) => {
      const handle = await submit(part);
      await settle();
      return handle.result();
    },
    advance,
    settle,
    tasks,
    stop: async () => {
      const stopped = node.stop({ deadlineMs: 0 });
      await advance(5_000);
      await stopped;
      await kv.close();
    },
  };
}

function nextDueMs(open: readonly TaskRecord[], nowMs: number): number {
  const runnable = open.some(({ state }) => state === 'PENDING' || state === 'STARTED');
  if (runnable) return STEP_MS;
  const next = Math.min(...open.map(({ dueMs }) => dueMs ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(next) ? Math.max(STEP_MS, next - nowMs) : STEP_MS;
}

function unsettled(open: readonly TaskRecord[], limitMs: number): LeaseholdError {
  const names = open.slice(0, 5).map(({ id, name, state }) => `${name} ${id} is ${state}`);
  return new LeaseholdError('timeout', `${open.length} tasks have not ended after ${limitMs} ms: ${names.join('; ')}`, {
    open: open.length,
  });
}
