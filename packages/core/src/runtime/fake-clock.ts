import { sleepOn, type Clock, type Timer } from './clock.js';

/**
 * A clock whose time passes only in `advance`.
 *
 * 1. Timers run in the order of their times; those of one time in the order in which they were set.
 * 2. Before the first timer and after each one, everything that is ready to run has run: promises settle as far as they
 *    can without time passing.
 * 3. A timer set by a timer runs in the same `advance` if its time falls within it.
 */
interface FakeTimer {
  readonly atMs: number;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;
  readonly #timers = new Set<FakeTimer>();

  constructor(startMs: number = Date.UTC(2030, 0, 1)) {
    this.#wallMs = startMs;
  }

  now(): number {
    // Whole, as Date.now is.
    return Math.floor(this.#wallMs + this.#monotonicMs);
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  setTimer(ms: number, run: () => void): Timer {
    const timer: FakeTimer = { atMs: this.#monotonicMs + Math.max(0, ms), run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** For `MemoryStore`: what has no delay comes in the next microtask, the rest by this clock. */
  readonly schedule = (run: () => void, delayMs: number): void => {
    if (delayMs <= 0) queueMicrotask(run);
    else this.setTimer(delayMs, run);
  };

  async advance(ms: number): Promise<void> {
    const endMs = this.#monotonicMs + ms;
    await this.settle();
    for (let next = this.#nextBy(endMs); next !== undefined; next = this.#nextBy(endMs)) {
      this.#timers.delete(next);
      this.#monotonicMs = Math.max(this.#monotonicMs, next.atMs);
      next.run();
      await this.settle();
    }
    this.#monotonicMs = endMs;
    await this.settle();
  }

  /** Everything that is ready runs; no time passes. */
  settle(): Promise<void> {
    // An immediate comes after all microtasks, also those that microtasks queue.
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Advances in steps until `done`; fails after `limitMs` of fake time. */
  async advanceUntil(done: () => boolean, limitMs: number, stepMs = 50): Promise<void> {
    await this.settle();
    for (let passed = 0; !done(); passed += stepMs) {
      if (passed >= limitMs) throw new Error(`not reached within ${limitMs} ms of fake time`);
      await this.advance(stepMs);
    }
  }

  /** The wall clock steps, as when somebody sets it; no timer is affected. */
  stepWall(ms: number): void {
    this.#wallMs += ms;
  }

  /** Timers that wait: 0 when nothing was left behind. */
  get pending(): number {
    return this.#timers.size;
  }

  #nextBy(endMs: number): FakeTimer | undefined {
    let first: FakeTimer | undefined;
    for (const timer of this.#timers)
      if (timer.atMs <= endMs && (first === undefined || timer.atMs < first.atMs)) first = timer;
    return first;
  }
}
