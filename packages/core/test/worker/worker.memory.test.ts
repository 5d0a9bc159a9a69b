import { describe, expect, it } from 'vitest';
import type { Kv } from '../../src/kv/index.js';
import { defineTask } from '../../src/model/define.js';
import { cancelTask, drainNode, forceRelease, pause, resume } from '../../src/store/index.js';
import { decodeLogChunk, decodeProgress } from '../../src/store/notes.js';
import { FinalError, handle, RetryIn, Snooze, Stopped, type TaskContext } from '../../src/worker/index.js';
import { call, gate, handling, keysOf, lockOf, submit, taskOf, worker, workerRig } from './rig.js';

/** Waits until it is told to stop, and then throws that. */
async function untilStopped({ signal }: TaskContext): Promise<never> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw signal.reason;
}

describe('a worker', () => {
  it('runs a task under a lock, and frees all of it when it succeeds', async () => {
    const rig = workerRig();
    const { passed, open } = gate();
    const add = defineTask('add', { args: ['int64', 'int64'], results: ['int64'] });
    const handler = handle(add, async ([a, b]) => {
      await passed;
      return a + b;
    });
    const made = await rig.start({ handlers: [handler] });
    const id = await submit(rig.store, 'add', { args: add.signature([1n, 2n]).args });
    await rig.clock.settle();
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'STARTED', attempt: 1, node: made.status.node });
    expect(JSON.parse((await lockOf(rig.store, id)) ?? '{}')).toMatchObject({ node: made.status.node, attempt: 1 });
    open();
    await rig.clock.settle();
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'SUCCESS', results: [{ type: 'int64', value: '3' }] });
    expect(await keysOf(rig.store, 'locks')).toEqual([]);
    expect(await keysOf(rig.store, 'ready')).toEqual([]);
    await made.stop();
    expect(await keysOf(rig.store, 'nodes')).toEqual([]);
    expect(rig.clock.pending).toBe(0);
  });

  it('gives the handler its attempt number and a token that grows (reports E13, E43)', async () => {
    const rig = workerRig();
    const seen: { attempt: number; token: bigint; failures: number }[] = [];
    const made = await rig.start({
      handlers: [
        handling('flaky', (context) => {
          seen.push({ attempt: context.attempt, token: context.tokenNumber, failures: context.failures });
          if (seen.length < 3) context.retryIn(0);
        }),
      ],
    });
    const id = await submit(rig.store, 'flaky', { retry: { count: 5 } });
    await rig.clock.settle();
    // There is no leader here, so the test promotes by hand what is due.
    for (let i = 0; i < 2; i++) await promoteByHand(rig.store, id, rig);
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(seen.map(({ failures }) => failures)).toEqual([0, 1, 2]);
    expect(seen[0]?.token).toBeLessThan(seen[1]?.token ?? 0n);
    expect(seen[1]?.token).toBeLessThan(seen[2]?.token ?? 0n);
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'SUCCESS', failures: 2 });
    await made.stop();
  });

  it.each([
    [
      'an error',
      () => Promise.reject(new TypeError('no')),
      { state: 'FAILURE', error: { type: 'TypeError', message: 'no' } },
    ],
    ['undefined', () => thrown(undefined), { state: 'FAILURE', error: { type: 'NothingThrown' } }],
    ['a string', () => thrown('plain'), { state: 'FAILURE', error: { type: 'ThrownValue', message: 'plain' } }],
    ['RetryIn', () => Promise.reject(new RetryIn(5_000)), { state: 'RETRY', failures: 1, cause: 'failed-retry' }, 1],
    ['Snooze', () => Promise.reject(new Snooze(5_000)), { state: 'RETRY', failures: 0, snoozes: 1, cause: 'snoozed' }],
    ['FinalError', () => Promise.reject(new FinalError('useless')), { state: 'FAILURE', error: { final: true } }, 5],
    [
      'a result that is no JSON',
      () => ({ f: () => 1 }),
      { state: 'FAILURE', error: { type: 'BadResultError', final: true } },
      5,
    ],
    [
      'a result over the limit',
      () => 'x'.repeat(300_000),
      { state: 'FAILURE', error: { type: 'ResultTooLargeError' } },
    ],
  ])('a handler that throws or returns %s', async (_what, run, expected, retries = 0) => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('odd', run)] });
    const id = await submit(rig.store, 'odd', { retry: { count: retries } });
    await rig.clock.settle();
    expect(await taskOf(rig.store, id)).toMatchObject(expected);
    await made.stop();
  });

  it('says the limit when a result is too large', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('big', () => 'x'.repeat(300_000))] });
    const id = await submit(rig.store, 'big');
    await rig.clock.settle();
    expect((await taskOf(rig.store, id)).error?.message).toMatch(
      /300002 bytes; the limit is 262144|30\d{4} bytes.*262144/,
    );
    await made.stop();
  });

  it('fails at once when the arguments do not fit, whatever the retries', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handle(defineTask('one', { args: { n: 'int32' } }), () => undefined)] });
    const id = await submit(rig.store, 'one', { args: [{ type: 'string', value: 'no' }], retry: { count: 5 } });
    await rig.clock.settle();
    expect(await taskOf(rig.store, id)).toMatchObject({
      state: 'FAILURE',
      error: { type: 'BadArgumentError', final: true },
    });
    await made.stop();
  });

  it('claims only names it has, former names included (reports E7, E50)', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handle(defineTask('new', { aliases: ['old'] }), () => undefined)] });
    const ids = await Promise.all(['new', 'old', 'unknown'].map((name) => submit(rig.store, name)));
    const before = rig.memory.revision;
    await rig.advance(60_000);
    const states = await Promise.all(ids.map((id) => taskOf(rig.store, id)));
    expect(states.map(({ state }) => state)).toEqual(['SUCCESS', 'SUCCESS', 'PENDING']);
    // No spinning: the parked one costs nothing (only the two that ran, and their settling, wrote).
    expect(rig.memory.revision - before).toBeLessThan(10n);
    await made.stop();
  });

  it('runs tasks that ask for labels only where these are', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('t')], labels: { gpu: 'yes', zone: 'a' } });
    const fits = await submit(rig.store, 't', { labels: { gpu: 'yes' } });
    const not = await submit(rig.store, 't', { labels: { gpu: 'no' } });
    await rig.clock.settle();
    expect((await taskOf(rig.store, fits)).state).toBe('SUCCESS');
    expect((await taskOf(rig.store, not)).state).toBe('PENDING');
    await made.stop();
  });

  it('runs no more at once than a queue has room for, and goes on as soon as there is room', async () => {
    const rig = workerRig();
    let running = 0;
    let most = 0;
    const gates = Array.from({ length: 30 }, () => gate());
    let next = 0;
    const made = await rig.start({
      handlers: [
        handling('t', async () => {
          most = Math.max(most, ++running);
          await gates[next++]?.passed;
          running -= 1;
        }),
      ],
      queues: [{ name: 'default', concurrency: 4 }],
    });
    await Promise.all(gates.map(() => submit(rig.store, 't')));
    await rig.clock.settle();
    expect(running).toBe(4);
    for (const { open } of gates) {
      open();
      await rig.clock.settle();
    }
    expect(most).toBe(4);
    expect(made.status.counters.succeeded).toBe(30);
    await made.stop();
  });

  it('takes the higher priority first', async () => {
    const rig = workerRig();
    const order: string[] = [];
    for (const priority of [0, 5, 9, 2]) {
      await submit(rig.store, 't', { priority, headers: { priority: String(priority) } });
    }
    const made = await rig.start({
      handlers: [handling('t', ({ headers }) => void order.push(headers['priority'] ?? ''))],
      concurrency: 1,
    });
    await rig.advance(1_000);
    expect(order).toEqual(['9', '5', '2', '0']);
    await made.stop();
  });
});

describe('the time of an attempt', () => {
  it('a handler that does not stop at its timeout is abandoned, and its result ignored (report E43)', async () => {
    const rig = workerRig();
    const { passed, open } = gate();
    let reason: unknown;
    const made = await rig.start({
      handlers: [
        handling('slow', async ({ signal }) => {
          signal.addEventListener('abort', () => (reason = signal.reason));
          await passed;
        }),
      ],
    });
    const id = await submit(rig.store, 'slow', {
      timeoutMs: 1_000,
      retry: { count: 1, backoff: 'fixed', delayMs: 60_000 },
    });
    await rig.advance(1_100);
    expect(reason).toBeInstanceOf(Stopped);
    expect((reason as Stopped).reason).toBe('timeout');
    expect((await taskOf(rig.store, id)).state).toBe('STARTED');
    await rig.advance(2_500);
    const after = await taskOf(rig.store, id);
    expect(after).toMatchObject({ state: 'RETRY', cause: 'timed-out', error: { type: 'TimeoutError' } });
    expect(made.status).toMatchObject({ running: 0, abandoned: 1 });
    open();
    await rig.clock.settle();
    expect(made.status.abandoned).toBe(0);
    expect(await taskOf(rig.store, id)).toEqual(after);
    await made.stop();
  });

  it('a handler that returns after its timeout has timed out all the same', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('slow', () => rig.clock.sleep(1_500))] });
    const id = await submit(rig.store, 'slow', { timeoutMs: 1_000 });
    await rig.advance(2_000);
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'FAILURE', cause: 'timed-out' });
    expect(made.status.abandoned).toBe(0);
    await made.stop();
  });

  it('a handler that stops at its timeout is settled at once', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('slow', untilStopped)] });
    const id = await submit(rig.store, 'slow', { timeoutMs: 1_000 });
    await rig.advance(1_250);
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'FAILURE', cause: 'timed-out' });
    await made.stop();
  });
});

describe('cancelling a running task (reports E14, E35)', () => {
  it('stops its handler, and the task is CANCELLED when it has stopped', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('t', untilStopped)] });
    const id = await submit(rig.store, 't', { retry: { count: 5 } });
    await rig.clock.settle();
    await cancelTask(rig.store, call('not wanted'), id);
    await rig.clock.settle();
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'CANCELLED', error: { message: 'not wanted' } });
    expect(await keysOf(rig.store, 'orders')).toEqual([]);
    expect(await keysOf(rig.store, 'locks')).toEqual([]);
    await made.stop();
  });

  it('a handler that finishes all the same has succeeded', async () => {
    const rig = workerRig();
    const { passed, open } = gate();
    const made = await rig.start({ handlers: [handling('t', () => passed)] });
    const id = await submit(rig.store, 't');
    await rig.clock.settle();
    await cancelTask(rig.store, call(), id);
    await rig.clock.settle();
    open();
    await rig.clock.settle();
    expect((await taskOf(rig.store, id)).state).toBe('SUCCESS');
    await made.stop();
  });

  it('a force-released task is run again at once, and the first handler is told and ignored', async () => {
    const rig = workerRig();
    const reasons: unknown[] = [];
    const made = await rig.start({
      handlers: [
        handling('t', async (context) => {
          if (context.attempt > 1) return;
          await untilStopped(context).catch((error: unknown) => reasons.push((error as Stopped).reason));
        }),
      ],
    });
    const id = await submit(rig.store, 't');
    await rig.clock.settle();
    await forceRelease(rig.store, call(), id);
    await rig.clock.settle();
    expect(reasons).toEqual(['released']);
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'SUCCESS', attempt: 2, losses: 1 });
    expect(made.status.counters).toMatchObject({ succeeded: 1, superseded: 0 });
    await made.stop();
  });
});

describe('pausing (I9)', () => {
  it.each([
    ['a queue', { queue: 'default' }],
    ['a name', { name: 't' }],
    ['everything', 'all'],
  ] as const)('%s: nothing is claimed until it is resumed', async (_what, target) => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('t'), handling('other')] });
    await pause(rig.store, call(), target);
    const id = await submit(rig.store, 't');
    await rig.advance(5_000);
    expect((await taskOf(rig.store, id)).state).toBe('PENDING');
    if (typeof target === 'object' && 'name' in target) {
      const other = await submit(rig.store, 'other');
      await rig.clock.settle();
      expect((await taskOf(rig.store, other)).state).toBe('SUCCESS');
    }
    await resume(rig.store, call(), target);
    await rig.clock.settle();
    expect((await taskOf(rig.store, id)).state).toBe('SUCCESS');
    await made.stop();
  });

  it('holds also against a worker that has not heard of it', async () => {
    const rig = workerRig();
    const { store } = rig.process();
    const settings = store.keys.queue('');
    const watch: Kv['watch'] = (request, onMessage) =>
      store.kv.watch(request, (message) => {
        if (request.key === settings) rig.clock.setTimer(3_000, () => onMessage(message));
        else onMessage(message);
      });
    const late = withCalls(store.kv, { watch });
    const deaf = worker({ ...store, kv: late }, rig.clock, { handlers: [handling('t')] });
    await deaf.start();
    await rig.advance(250);
    await pause(rig.store, call(), { queue: 'default' });
    const id = await submit(rig.store, 't');
    await rig.advance(2_500);
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'PENDING', attempt: 0 });
    expect(await lockOf(rig.store, id)).toBeUndefined();
    await resume(rig.store, call(), { queue: 'default' });
    await rig.advance(10_000);
    expect((await taskOf(rig.store, id)).state).toBe('SUCCESS');
    await deaf.stop();
  });
});

describe('progress and logs', () => {
  it('are coalesced, bounded, and complete when the task is settled', async () => {
    const rig = workerRig();
    const made = await rig.start({
      handlers: [
        handling('t', async (context) => {
          for (let i = 1; i <= 100; i++) {
            context.progress(i / 100, `step ${i}`);
            context.log(`line ${i}`);
          }
          await Promise.resolve();
        }),
      ],
    });
    const before = rig.memory.revision;
    const id = await submit(rig.store, 't');
    await rig.clock.settle();
    expect((await taskOf(rig.store, id)).state).toBe('SUCCESS');
    expect(rig.memory.revision - before).toBeLessThan(8n);
    const [progress] = (await rig.store.kv.range({ key: rig.store.keys.progress(id) })).kvs;
    expect(decodeProgress(progress?.value ?? '')).toMatchObject({ attempt: 1, fraction: 1, message: 'step 100' });
    const { kvs } = await rig.store.kv.range({ key: rig.store.keys.logs(id), rangeEnd: `${rig.store.keys.logs(id)}~` });
    const lines = kvs.flatMap(({ value }) => decodeLogChunk(value).lines.map(({ message }) => message));
    expect(lines).toEqual(Array.from({ length: 100 }, (_, i) => `line ${i + 1}`));
    await made.stop();
  });

  it('a handler that logs without end fills nobody’s store', async () => {
    const rig = workerRig();
    const made = await rig.start({
      handlers: [
        handling('t', (context) => Array.from({ length: 5_000 }, () => context.log('x'.repeat(3_000))).length),
      ],
    });
    const id = await submit(rig.store, 't');
    await rig.advance(1_000);
    const { kvs } = await rig.store.kv.range({ key: rig.store.keys.logs(id), rangeEnd: `${rig.store.keys.logs(id)}~` });
    expect(kvs.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(80_000);
    expect(kvs.at(-1)?.value).toMatch(/the log of this attempt ends here/);
    await made.stop();
  });
});

describe('stopping (report E8)', () => {
  it('waits for what runs, and claims nothing more', async () => {
    const rig = workerRig();
    const { passed, open } = gate();
    const made = await rig.start({ handlers: [handling('t', () => passed)], concurrency: 1 });
    const running = await submit(rig.store, 't');
    const waiting = await submit(rig.store, 't');
    await rig.clock.settle();
    const stopping = made.stop({ deadlineMs: 10_000 });
    await rig.advance(5_000);
    open();
    await rig.clock.settle();
    await stopping;
    expect((await taskOf(rig.store, running)).state).toBe('SUCCESS');
    expect(await taskOf(rig.store, waiting)).toMatchObject({ state: 'PENDING', attempt: 0 });
    expect(await keysOf(rig.store, 'nodes')).toEqual([]);
  });

  it('hands back what stops when it is told to, which uses no retry and no loss', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('t', untilStopped)] });
    const id = await submit(rig.store, 't');
    await rig.clock.settle();
    const stopping = made.stop({ deadlineMs: 1_000 });
    await rig.advance(1_500);
    await stopping;
    expect(await taskOf(rig.store, id)).toMatchObject({
      state: 'PENDING',
      cause: 'handed-back',
      failures: 0,
      losses: 0,
      handBacks: 1,
    });
    const next = await rig.start({ handlers: [handling('t')] });
    await rig.advance(500);
    expect((await taskOf(rig.store, id)).state).toBe('SUCCESS');
    await next.stop();
  });

  it('does not hand back what may still run: that goes with the lease, and counts as lost', async () => {
    const rig = workerRig();
    const { passed, open } = gate();
    const made = await rig.start({ handlers: [handling('t', () => passed)], graceMs: 500 });
    const id = await submit(rig.store, 't');
    await rig.clock.settle();
    const stopping = made.stop({ deadlineMs: 1_000 });
    await rig.advance(2_000);
    await stopping;
    expect((await taskOf(rig.store, id)).state).toBe('STARTED');
    expect(await lockOf(rig.store, id)).toBeUndefined();
    open();
    await rig.clock.settle();
    expect((await taskOf(rig.store, id)).state).toBe('STARTED');
    const next = await rig.start({ handlers: [handling('t')] });
    await rig.advance(500);
    expect(await taskOf(rig.store, id)).toMatchObject({ state: 'SUCCESS', attempt: 2, losses: 1 });
    await next.stop();
  });

  it('may be asked for any number of times; a second, shorter one does not wait so long', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('t', untilStopped)] });
    const id = await submit(rig.store, 't');
    await rig.clock.settle();
    const first = made.stop({ deadlineMs: 600_000 });
    await rig.advance(1_000);
    expect((await taskOf(rig.store, id)).state).toBe('STARTED');
    const second = made.abort();
    await rig.advance(500);
    await Promise.all([first, second, made.stop(), made.abort()]);
    expect((await taskOf(rig.store, id)).state).toBe('PENDING');
  });

  it('an abort of the signal it was started with stops it', async () => {
    const rig = workerRig();
    const controller = new AbortController();
    const made = worker(rig.store, rig.clock, { handlers: [handling('t')] });
    await made.start(controller.signal);
    await rig.advance(250);
    controller.abort();
    await rig.advance(250);
    await made.stop();
    expect(await keysOf(rig.store, 'nodes')).toEqual([]);
    expect(rig.clock.pending).toBe(0);
  });

  it('drains when it is ordered to: finishes what it runs, takes nothing, stays up', async () => {
    const rig = workerRig();
    const { passed, open } = gate();
    const made = await rig.start({ handlers: [handling('t', () => passed)] });
    const running = await submit(rig.store, 't');
    await rig.clock.settle();
    await drainNode(rig.store, call(), made.status.node ?? '');
    await rig.clock.settle();
    const later = await submit(rig.store, 't');
    await rig.clock.settle();
    expect(made.status.draining).toBe(true);
    open();
    await rig.advance(1_000);
    expect((await taskOf(rig.store, running)).state).toBe('SUCCESS');
    expect((await taskOf(rig.store, later)).state).toBe('PENDING');
    const [node] = (await rig.store.kv.range({ key: rig.store.keys.node(made.status.node ?? '') })).kvs;
    expect(JSON.parse(node?.value ?? '{}')).toMatchObject({ draining: true });
    expect(await keysOf(rig.store, 'orders')).toEqual([]);
    await made.stop();
  });

  it('takes of its queues by their weights while both have work, and all there is of one when the other has none', async () => {
    const rig = workerRig();
    const began: string[] = [];
    const made = await rig.start({
      handlers: [
        handling('t', async ({ id }) => {
          began.push(id.slice(0, 1));
          await rig.clock.sleep(100);
        }),
      ],
      queues: [
        { name: 'a', weight: 3 },
        { name: 'b', weight: 1 },
      ],
      concurrency: 2,
    });
    for (const queue of ['a', 'b'])
      for (let n = 0; n < 60; n++) await submit(rig.store, 't', { queue, id: `${queue}${n}` });
    await rig.advance(10_000);
    expect(began).toHaveLength(120);
    // The first few begin as they come.
    const share = began.slice(4, 60).filter((queue) => queue === 'a').length / 56;
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.8);
    const late = began.slice(90);
    expect(new Set(late)).toEqual(new Set(['b']));
    await Promise.all([made.stop(), rig.advance(1_000)]);
  });

  it('several workers in one process stop independently', async () => {
    const rig = workerRig();
    const one = await rig.start({ handlers: [handling('a')] });
    const two = await rig.start({ handlers: [handling('b')] });
    await Promise.all([one.stop(), one.stop()]);
    const id = await submit(rig.store, 'b');
    await rig.clock.settle();
    expect((await taskOf(rig.store, id)).state).toBe('SUCCESS');
    await Promise.all([two.stop(), two.stop()]);
  });
});

/** Makes a task that waits for its retry time ready, as the leader does. */
async function promoteByHand(
  store: Parameters<typeof taskOf>[0],
  id: string,
  rig: ReturnType<typeof workerRig>,
): Promise<void> {
  const { due } = await import('../../src/model/transition.js');
  const { edgeOps } = await import('../../src/store/edge.js');
  const task = await taskOf(store, id);
  const next = due(task, { by: 'leader:test', nowMs: rig.clock.now() });
  await store.kv.txn({ compare: [], success: edgeOps(store.keys, task, next) });
  await rig.clock.settle();
}

/** The same store, with some of its calls replaced. */
function withCalls(kv: Kv, calls: Partial<Kv>): Kv {
  return new Proxy(kv, {
    get: (target, name: keyof Kv) => calls[name] ?? (target[name] as (...args: unknown[]) => unknown).bind(target),
  });
}

/** What JavaScript lets a handler throw. */
function thrown(value: unknown): never {
  throw value;
}
