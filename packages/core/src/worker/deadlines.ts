import type { Clock, Timer } from '../runtime/clock.js';

/**
 * Timeouts of thousands of attempts on one timer. Times are rounded up to a grid, entries of one grid point share a
 * bucket, and only the next bucket has a timer; so setting and clearing one costs next to nothing.
 */
const GRID_MS = 20;

export interface Deadline {
  clear(): void;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #buckets = new Map<number, Set<() => void>>();
  #timer: Timer | undefined;
  #next = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs once after so many ms, a little later rather than earlier. */
  set(ms: number, run: () => void): Deadline {
    const at = Math.ceil((this.#clock.monotonic() + ms) / GRID_MS) * GRID_MS;
    let bucket = this.#buckets.get(at);
    if (bucket === undefined) this.#buckets.set(at, (bucket = new Set()));
    bucket.add(run);
    if (at < this.#next) this.#arm(at);
    const mine = bucket;
    return {
      clear: () => {
        mine.delete(run);
        if (mine.size === 0 && this.#buckets.get(at) === mine) this.#buckets.delete(at);
      },
    };
  }

  close(): void {
    this.#timer?.cancel();
    this.#buckets.clear();
    this.#next = Infinity;
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    this.#next = at;
    this.#timer = this.#clock.setTimer(at - this.#clock.monotonic(), () => this.#fire());
  }

  #fire(): void {
    const now = this.#clock.monotonic();
    this.#next = Infinity;
    let next = Infinity;
    for (const [at, bucket] of this.#buckets) {
      if (at > now) {
        next = Math.min(next, at);
        continue;
      }
      this.#buckets.delete(at);
      for (const run of bucket) run();
    }
    if (next < this.#next) this.#arm(next);
  }
}
