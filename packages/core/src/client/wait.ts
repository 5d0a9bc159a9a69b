/** Waiting for one key by a narrow watch: watch from now on, then read; nothing is polled. */
import { KvError, type Kv, type KeyValue, type Revision } from '../kv/kv.js';
import { LeaseholdError } from '../model/errors.js';

export interface WaitOptions {
  /** Give up after so many ms with code `timeout`. The task goes on. Default: wait for ever. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Resolves with the first value of the key that `wanted` accepts, the present one included. Survives connection loss and
 * compaction by watching and reading again.
 * @throws LeaseholdError `timeout`, `closed`; the signal's reason when aborted.
 */
export function waitForKey<T>(
  kv: Kv,
  key: string,
  wanted: (kv: KeyValue | undefined, revision: Revision) => T | undefined,
  options: WaitOptions = {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let ended = false;
    let close: () => void = () => undefined;
    const finish = (act: () => void): void => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      close();
      act();
    };
    const onAbort = (): void => finish(() => reject(options.signal?.reason as Error));
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => finish(() => reject(timedOut(key, options.timeoutMs ?? 0))), options.timeoutMs);
    if (options.signal?.aborted === true) return onAbort();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const offer = (found: KeyValue | undefined, revision: Revision): boolean => {
      try {
        const value = wanted(found, revision);
        if (value !== undefined) finish(() => resolve(value));
      } catch (error) {
        const reason = error instanceof Error ? error : new Error(String(error));
        finish(() => reject(reason));
      }
      return ended;
    };
    let failures = 0;
    // The store is away: asking again at once would only make it worse.
    const later = (act: () => void): void => void setTimeout(act, Math.min(2_000, 50 * 2 ** failures++));
    const read = async (): Promise<void> => {
      if (ended) return;
      try {
        const answer = await kv.range({ key });
        failures = 0;
        if (!ended) offer(answer.kvs[0], answer.revision);
      } catch (error) {
        if (error instanceof KvError && error.code === 'closed') finish(() => reject(closed(key, error)));
        else later(() => void read());
      }
    };
    // From now on, and only then what is there: in the other order the watch would be behind, and hear late.
    const watch = (): void => {
      if (ended) return;
      let heard = false;
      const handle = kv.watch({ key, startRevision: 0n }, (message) => {
        if (message.kind === 'events') {
          const last = message.events.at(-1);
          if (last !== undefined) offer(last.type === 'put' ? last.kv : undefined, message.revision);
        } else if (message.kind === 'progress') {
          if (!heard) void read();
          heard = true;
        } else if (message.kind === 'closed' && message.cause.code === 'closed') {
          finish(() => reject(closed(key, message.cause)));
        } else later(watch);
      });
      close = () => handle.close();
    };
    watch();
  });
}

function timedOut(key: string, timeoutMs: number): LeaseholdError {
  return new LeaseholdError('timeout', `no result within ${timeoutMs} ms; the task goes on`, { key, timeoutMs });
}

/** A closed connection never answers again: waiting on would be waiting for ever. */
function closed(key: string, cause: KvError): LeaseholdError {
  return new LeaseholdError('closed', 'the client was closed while it waited; the task goes on', { key }, { cause });
}
