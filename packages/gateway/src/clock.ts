/** The gateway's time and log, as core's feed takes them. */
import type { FeedOptions } from '@leasehold/core/store';

export type Clock = FeedOptions['clock'];
export type Logger = FeedOptions['logger'];

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (ms, run) => {
    const handle = setTimeout(run, ms);
    return { cancel: () => clearTimeout(handle) };
  },
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        clearTimeout(handle);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const handle = setTimeout(end, ms);
      signal?.addEventListener('abort', end, { once: true });
    }),
};

const nothing = (): void => undefined;
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};
