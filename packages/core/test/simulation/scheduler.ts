/**
 * The one source of order and time in a simulation. Requests, replies and timers are entries; which one is next is drawn
 * from the seed, and time passes only when nothing is ready (or when the seed lets it overtake what is).
 *
 * An entry may belong to a process. A frozen process keeps its entries until it goes on, a dead one loses them.
 */
import type { Random } from './random.js';

export interface Owner {
  frozen: boolean;
  dead: boolean;
}

export interface SimTimer {
  cancel(): void;
}

interface Entry {
  readonly owner: Owner | undefined;
  readonly run: () => void;
}

interface Timer extends Entry {
  readonly atMs: number;
  readonly n: number;
}

/** How often time overtakes what is ready: a slow network. */
const OVERTAKES = 0.03;

export class Scheduler {
  readonly #random: Random;
  #ready: Entry[] = [];
  readonly #held: Entry[] = [];
  /** Sorted, the next one last. */
  readonly #timers: Timer[] = [];
  #nowMs = 0;
  #count = 0;
  #steps = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get steps(): number {
    return this.#steps;
  }

  /** For the memory twin: what reaches the store belongs to nobody any more. */
  readonly schedule = (run: () => void, delayMs: number): void => {
    if (delayMs <= 0) this.#ready.push({ owner: undefined, run });
    else this.setTimer(undefined, delayMs, run);
  };

  /** The next thing that happens to a process. */
  enqueue(owner: Owner | undefined, run: () => void): void {
    this.#ready.push({ owner, run });
  }

  setTimer(owner: Owner | undefined, ms: number, run: () => void): SimTimer {
    const timer: Timer = { owner, run, atMs: this.#nowMs + Math.max(0, Math.ceil(ms)), n: this.#count++ };
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#timers[middle] as Timer;
      if (other.atMs > timer.atMs || (other.atMs === timer.atMs && other.n > timer.n)) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
    return {
      cancel: () => {
        const at = this.#timers.indexOf(timer);
        if (at >= 0) this.#timers.splice(at, 1);
      },
    };
  }

  thaw(owner: Owner): void {
    owner.frozen = false;
    for (let i = this.#held.length - 1; i >= 0; i--) {
      const [entry] = this.#held[i]?.owner === owner ? this.#held.splice(i, 1) : [];
      if (entry !== undefined) this.#ready.push(entry);
    }
  }

  /** One thing happens, and all that follows from it at once. False when nothing is left. */
  async step(): Promise<boolean> {
    const entry = this.#take();
    if (entry === undefined) return false;
    this.#steps++;
    entry.run();
    // An immediate comes after all microtasks; no time passes.
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  }

  #take(): Entry | undefined {
    for (;;) {
      const overtake = this.#timers.length > 0 && (this.#ready.length === 0 || this.#random.chance(OVERTAKES));
      const entry = overtake ? this.#nextTimer() : this.#nextReady();
      if (entry === undefined) return undefined;
      if (entry.owner?.dead === true) continue;
      if (entry.owner?.frozen !== true) return entry;
      this.#held.push(entry);
    }
  }

  #nextTimer(): Entry | undefined {
    const timer = this.#timers.pop();
    if (timer !== undefined) this.#nowMs = Math.max(this.#nowMs, timer.atMs);
    return timer;
  }

  #nextReady(): Entry | undefined {
    if (this.#ready.length === 0) return undefined;
    const at = this.#random.int(0, this.#ready.length - 1);
    const entry = this.#ready[at];
    const last = this.#ready.pop();
    if (last !== undefined && at < this.#ready.length) this.#ready[at] = last;
    return entry;
  }
}
