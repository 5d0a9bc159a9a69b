/**
 * A level-triggered loop: a pass looks at how things are and does what is to be done; waking it says only that they may
 * have changed.
 *
 * 1. One pass at a time. A wake during a pass means another pass after it, however many wakes there were.
 * 2. After a failed pass it waits, longer each time; a wake does not shorten that wait.
 * 3. `stop` aborts the pass's signal and waits for the pass.
 * 4. A loop that wakes itself in every pass leaves the process its turns: timers and sockets run after a few passes, also
 *    when nothing in a pass waits for more than promises.
 */
import { Backoff, type BackoffOptions } from './backoff.js';
import type { Clock, Timer } from './clock.js';
import type { Logger } from './logger.js';
import { Lifecycle, type Service } from './service.js';

export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** One pass. A number: look again after so many ms at the latest. */
  readonly pass: (signal: AbortSignal) => Promise<number | void>;
  /** Look again at least so often, ms. */
  readonly intervalMs?: number;
  readonly backoff?: BackoffOptions;
}

export class Loop implements Service {
  readonly #options: LoopOptions;
  readonly #backoff: Backoff;
  readonly #lifecycle: Lifecycle;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  /** Set before `#running`: the first pass may wake this loop before it has a promise. */
  #busy = false;
  #woken = false;
  #failing = false;
  readonly #idle = new Set<() => void>();

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
    this.#lifecycle = new Lifecycle({
      name: options.name,
      begin: () => this.wake(),
      end: async () => {
        this.#timer?.cancel();
        await this.#running;
        this.#tellIdle();
      },
    });
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.start(signal);
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /** Something may have changed. */
  wake(): void {
    if (!this.#lifecycle.started) return;
    this.#woken = true;
    if (!this.#busy && !this.#failing) this.#run();
  }

  /** Resolves when no pass runs and none is due at once. */
  idle(): Promise<void> {
    if (this.#running === undefined && !this.#woken) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  #run(): void {
    this.#timer?.cancel();
    this.#busy = true;
    this.#running = this.#passes().finally(() => {
      this.#busy = false;
      this.#running = undefined;
      if (!this.#failing) this.#tellIdle();
    });
  }

  async #passes(): Promise<void> {
    const { signal } = this.#lifecycle;
    let againMs = this.#options.intervalMs;
    for (let pass = 1; this.#woken && !signal.aborted; pass++) {
      if (pass % PASSES_IN_A_ROW === 0) await this.#options.clock.sleep(0, signal);
      this.#woken = false;
      try {
        againMs = minOf(await this.#options.pass(signal), this.#options.intervalMs);
        this.#backoff.reset();
      } catch (error) {
        if (!signal.aborted) this.#fail(error);
        return;
      }
    }
    if (againMs !== undefined && !signal.aborted) this.#later(againMs, () => undefined);
  }

  #fail(error: unknown): void {
    const waitMs = this.#backoff.nextMs();
    const { name, logger } = this.#options;
    logger.warn(`${name}: a pass failed`, { error, tries: this.#backoff.tries, waitMs });
    this.#failing = true;
    this.#woken = true;
    this.#later(waitMs, () => (this.#failing = false));
  }

  #later(ms: number, before: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(ms, () => {
      before();
      this.wake();
    });
  }

  #tellIdle(): void {
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }
}

/** Rule 4. */
const PASSES_IN_A_ROW = 16;

function minOf(a: number | void, b: number | undefined): number | undefined {
  if (typeof a !== 'number') return b;
  return b === undefined ? a : Math.min(a, b);
}
