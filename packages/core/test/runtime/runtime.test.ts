import { describe, expect, it, vi } from 'vitest';
import { Backoff, jsonLogger, FakeClock, Lifecycle, Loop, silentLogger, systemClock } from '../../src/runtime/index.js';

describe('the fake clock', () => {
  it('runs timers in the order of their times, with everything that is ready in between', async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    clock.setTimer(20, () => seen.push('c'));
    clock.setTimer(10, () => {
      seen.push('a');
      clock.setTimer(5, () => seen.push('b'));
      void Promise.resolve().then(() => seen.push('a, then'));
    });
    clock.setTimer(31, () => seen.push('too late'));
    await clock.advance(30);
    expect(seen).toEqual(['a', 'a, then', 'b', 'c']);
    expect(clock.monotonic()).toBe(30);
  });

  it('a sleep ends with its time or its signal; a wall step moves no timer', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const ends: string[] = [];
    void clock.sleep(100).then(() => ends.push('time'));
    void clock.sleep(1_000, controller.signal).then(() => ends.push('signal'));
    clock.stepWall(5_000);
    await clock.advance(50);
    expect(ends).toEqual([]);
    controller.abort();
    await clock.advance(50);
    expect(ends).toEqual(['signal', 'time']);
    expect(clock.pending).toBe(0);
  });
});

describe('the system clock', () => {
  it('does not fire a timer of more than 24.8 days at once', async () => {
    let fired = false;
    const timer = systemClock.setTimer(3_000_000_000, () => (fired = true));
    await systemClock.sleep(20);
    timer.cancel();
    expect(fired).toBe(false);
  });
});

describe('a lifecycle', () => {
  it('begins once and ends once, whoever asks and in whatever order', async () => {
    const calls: string[] = [];
    const lifecycle = new Lifecycle({
      name: 'x',
      begin: () => void calls.push('begin'),
      end: () => void calls.push('end'),
    });
    await Promise.all([lifecycle.start(), lifecycle.start()]);
    await Promise.all([lifecycle.stop(), lifecycle.stop(), lifecycle.stop()]);
    await lifecycle.start();
    expect(calls).toEqual(['begin', 'end']);
    expect(lifecycle.signal.aborted).toBe(true);
  });

  it('does not start after a stop', async () => {
    const lifecycle = new Lifecycle({ name: 'x', begin: () => undefined, end: () => undefined });
    await lifecycle.stop();
    await expect(lifecycle.start()).rejects.toMatchObject({ code: 'closed' });
  });

  it('a stop waits for a start that is under way, also for one that fails', async () => {
    let fail: (error: Error) => void = () => undefined;
    let ended = false;
    const lifecycle = new Lifecycle({
      name: 'x',
      begin: () => new Promise((_resolve, reject) => (fail = reject)),
      end: () => void (ended = true),
    });
    const failing = lifecycle.start().catch((error: unknown) => error);
    await Promise.resolve();
    const stopping = lifecycle.stop();
    await Promise.resolve();
    expect(ended).toBe(false);
    fail(new Error('no'));
    await stopping;
    expect(await failing).toMatchObject({ message: 'no' });
    expect(ended).toBe(true);
  });

  it('stops with the signal it was started with', async () => {
    const controller = new AbortController();
    let ended = false;
    const lifecycle = new Lifecycle({ name: 'x', begin: () => undefined, end: () => void (ended = true) });
    await lifecycle.start(controller.signal);
    controller.abort();
    await lifecycle.stop();
    expect(ended).toBe(true);
  });
});

describe('a loop', () => {
  function loopOf(pass: (signal: AbortSignal) => Promise<number | void>, intervalMs?: number) {
    const clock = new FakeClock();
    const loop = new Loop({
      name: 'x',
      clock,
      logger: silentLogger,
      pass,
      backoff: { minMs: 100, maxMs: 1_000, random: () => 1 },
      ...(intervalMs === undefined ? {} : { intervalMs }),
    });
    return { clock, loop };
  }

  it('makes one pass at a time, and one more after wakes that came during a pass', async () => {
    let open: () => void = () => undefined;
    let passes = 0;
    let atOnce = 0;
    const { loop } = loopOf(async () => {
      passes += 1;
      atOnce += 1;
      expect(atOnce).toBe(1);
      await new Promise<void>((resolve) => (open = resolve));
      atOnce -= 1;
    });
    await loop.start();
    expect(passes).toBe(1);
    for (let i = 0; i < 5; i++) loop.wake();
    open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(passes).toBe(2);
    open();
    await loop.idle();
    expect(passes).toBe(2);
    await loop.stop();
  });

  it('that wakes itself in every pass lets timers and sockets have their turn', async () => {
    let passes = 0;
    const loop: Loop = new Loop({
      name: 'x',
      clock: systemClock,
      logger: silentLogger,
      pass: () => {
        passes += 1;
        // Without a turn in between nothing else would run for ever; the test, too, is ended from here.
        if (passes > 100_000) throw new Error('nothing else had a turn');
        loop.wake();
        return Promise.resolve();
      },
    });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await loop.start();
    await vi.waitFor(() => expect(turns).toBeGreaterThan(5));
    clearInterval(timer);
    await loop.stop();
    expect(passes).toBeLessThan(100_000);
  });

  it('waits longer after each failure, and a wake does not shorten that', async () => {
    let passes = 0;
    let failing = true;
    const { clock, loop } = loopOf(() => {
      passes += 1;
      return failing ? Promise.reject(new Error('no')) : Promise.resolve();
    });
    await loop.start();
    await clock.settle();
    for (let i = 0; i < 10; i++) loop.wake();
    await clock.advance(99);
    expect(passes).toBe(1);
    await clock.advance(1);
    expect(passes).toBe(2);
    await clock.advance(199);
    expect(passes).toBe(2);
    await clock.advance(1);
    expect(passes).toBe(3);
    failing = false;
    await clock.advance(400);
    expect(passes).toBe(4);
    loop.wake();
    await clock.settle();
    expect(passes).toBe(5);
    await loop.stop();
    expect(clock.pending).toBe(0);
  });

  it('looks again after its interval, or sooner if a pass says so', async () => {
    let passes = 0;
    const { clock, loop } = loopOf(() => Promise.resolve(++passes === 1 ? 10 : undefined), 100);
    await loop.start();
    await clock.advance(10);
    expect(passes).toBe(2);
    await clock.advance(99);
    expect(passes).toBe(2);
    await clock.advance(1);
    expect(passes).toBe(3);
    await loop.stop();
  });

  it('a stop aborts the pass and waits for it', async () => {
    let over = false;
    const { loop } = loopOf(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await Promise.resolve();
      over = true;
    });
    await loop.start();
    await loop.stop();
    expect(over).toBe(true);
  });
});

describe('backoff', () => {
  it('doubles up to its limit, jitters downwards, begins anew after a reset', () => {
    const backoff = new Backoff({ minMs: 100, maxMs: 1_000, random: () => 0 });
    expect([1, 2, 3, 4, 5, 6].map(() => backoff.nextMs())).toEqual([50, 100, 200, 400, 500, 500]);
    backoff.reset();
    expect(backoff.nextMs()).toBe(50);
  });
});

describe('the JSON logger', () => {
  it('writes one JSON object a line, whatever the fields are', () => {
    const lines: string[] = [];
    const logger = jsonLogger({ now: () => 0, write: (line) => lines.push(line), fields: { app: 'x' } });
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    logger.debug('not shown');
    logger.info('one', { lease: 2n ** 63n, error: new TypeError('no', { cause: new Error('why') }) });
    logger.child({ task: 't' }).warn('two', { cyclic });
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      message: 'one',
      app: 'x',
      lease: '9223372036854775808',
      error: { name: 'TypeError', message: 'no', cause: { name: 'Error', message: 'why' } },
    });
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ level: 'warn', message: 'two' });
    expect(lines.length).toBe(2);
  });
});
