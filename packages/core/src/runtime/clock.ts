/**
 * Time as a dependency. Durations and deadlines go by `monotonic`, which never steps; `now` is for what people and records
 * are told. Tests use `FakeClock`, whose time passes only when they say so.
 */
export interface Clock {
  /** Wall clock, epoch ms. May step either way. */
  now(): number;
  /** Milliseconds on a scale of its own that only grows. */
  monotonic(): number;
  /** Runs `run` once after so many ms (at least one turn of the event loop later). */
  setTimer(ms: number, run: () => void): Timer;
  /** Resolves after so many ms, or as soon as `signal` aborts: the caller looks at its signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Timer {
  /** No effect on one that ran. */
  cancel(): void;
}

/** Beyond this `setTimeout` fires at once. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

export function sleepOn(clock: Pick<Clock, 'setTimer'>, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimer(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  setTimer(ms: number, run: () => void): Timer {
    let handle: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      const now = Math.min(leftMs, LONGEST_TIMEOUT_MS);
      handle = setTimeout(() => (leftMs > now ? arm(leftMs - now) : run()), now);
    };
    arm(Math.max(0, ms));
    return { cancel: () => clearTimeout(handle) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }
}

export const systemClock: Clock = new SystemClock();
