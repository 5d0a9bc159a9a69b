/**
 * Politeness: one request at a time to a host, and a pause between two. It holds within one process; the queue's
 * concurrency limit holds it across processes.
 */
import { setTimeout as delay } from 'node:timers/promises';

interface Turn {
  /** Settles when the one before has finished. */
  last: Promise<void>;
  freeAtMs: number;
  waiting: number;
}

export class Turns {
  readonly #hosts = new Map<string, Turn>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `action` when it is its turn. Giving up while waiting (by the signal) does not hold up those behind. */
  async take<T>(host: string, pauseMs: number, signal: AbortSignal, action: () => Promise<T>): Promise<T> {
    const turn = this.#turn(host);
    const before = turn.last;
    let done = (): void => undefined;
    const mine = new Promise<void>((resolve) => (done = resolve));
    turn.last = before.then(() => mine);
    turn.waiting += 1;
    try {
      await abortable(before, signal);
      const waitMs = turn.freeAtMs - this.#now();
      if (waitMs > 0) await delay(waitMs, undefined, { signal });
      signal.throwIfAborted();
      try {
        return await action();
      } finally {
        turn.freeAtMs = Math.max(turn.freeAtMs, this.#now() + pauseMs);
      }
    } finally {
      turn.waiting -= 1;
      done();
    }
  }

  /** The host asked for a longer pause from now on. */
  pause(host: string, pauseMs: number): void {
    const turn = this.#turn(host);
    turn.freeAtMs = Math.max(turn.freeAtMs, this.#now() + pauseMs);
  }

  #turn(host: string): Turn {
    // Hosts that nobody waits for and whose pause is over need not be remembered.
    for (const [name, { waiting, freeAtMs }] of this.#hosts) {
      if (waiting === 0 && freeAtMs <= this.#now()) this.#hosts.delete(name);
    }
    let turn = this.#hosts.get(host);
    if (turn === undefined) {
      turn = { last: Promise.resolve(), freeAtMs: 0, waiting: 0 };
      this.#hosts.set(host, turn);
    }
    return turn;
  }
}

async function abortable(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
