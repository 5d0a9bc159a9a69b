/**
 * A scheduler process for chaos. Handlers do what their names say; each run is told to the parent with its fencing token.
 * The parent may set this process's clock off by some milliseconds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { defineTask, handle, MIN_KEPT_MS, silentLogger, startNode, systemClock } from '../../src/index.js';
import type { Clock } from '../../src/runtime/clock.js';

const [endpoints = '', namespace = '', ttlMs = '', mode = 'chaos'] = process.argv.slice(2);
let offMs = 0;
const told: string[] = [];

/** Wall time is wrong here when the parent says so; durations never are. */
const clock: Clock = {
  now: () => systemClock.now() + offMs,
  monotonic: () => systemClock.monotonic(),
  setTimer: (ms, run) => systemClock.setTimer(ms, run),
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
};

function task(name: string, fails: () => boolean, more: { readonly final: number }) {
  const definition = defineTask(name, { args: ['int64'], variadic: 'int64', results: ['int64'] });
  return handle(definition, async ([n], { id, attempt, token, signal, fail }) => {
    told.push(`${id} ${attempt} ${token.epoch} ${token.revision} ${process.pid} ${Math.round(performance.now())}`);
    await delay(Math.random() ** 2 * 1_500, undefined, { signal }).catch(() => undefined);
    if (!fails()) return n;
    if (Math.random() < more.final) fail('broken for good');
    throw new Error('broken this time');
  });
}

const node = await startNode({
  etcd: { endpoints: endpoints.split(',') },
  namespace,
  handlers: [
    task('good', () => false, { final: 0 }),
    task('flaky', () => Math.random() < 0.35, { final: 0.2 }),
    task('bad', () => true, { final: 0.1 }),
  ],
  queues: ['default', 'slow'],
  concurrency: 20,
  leaseTtlMs: Number(ttlMs),
  clock,
  // A soak wants to see that nothing grows, so what has ended goes as soon as it may.
  ...(mode === 'soak'
    ? {
        retention: {
          SUCCESS: { ageMs: MIN_KEPT_MS },
          FAILURE: { ageMs: MIN_KEPT_MS },
          CANCELLED: { ageMs: MIN_KEPT_MS },
        },
        client: { storage: { historyMs: 60_000, minHistoryMs: 60_000 } },
      }
    : {}),
  logger: silentLogger,
});

const flush = (): void => {
  if (told.length > 0) process.send?.({ ran: told.splice(0) });
};
const timer = setInterval(flush, 20);
process.send?.({ ready: true });
process.on('message', (message: { readonly offMs?: number; readonly stop?: boolean; readonly sample?: boolean }) => {
  if (message.sample === true) {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    process.send?.({ sample: { rss, heapUsed, handles: process.getActiveResourcesInfo().length } });
  }
  if (message.offMs !== undefined) offMs = message.offMs;
  if (message.stop !== true) return;
  void node.stop({ deadlineMs: 2_000 }).then(() => {
    clearInterval(timer);
    flush();
    process.send?.({ stopped: true }, () => process.exit(0));
  });
});
process.on('disconnect', () => process.exit(1));
