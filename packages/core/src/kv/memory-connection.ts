import { KvError } from './kv.js';
import type {
  CallOptions,
  Kv,
  KvAlarm,
  KvMember,
  KvStatus,
  LeaseId,
  LeaseStatus,
  RangeRequest,
  RangeResult,
  Revision,
  Txn,
  TxnResult,
  WatchHandle,
  WatchMessage,
  WatchRequest,
} from './kv.js';
import type { MemoryWatch, Schedule, WatchHooks } from './memory-watch.js';

/**
 * One process's handle on a `MemoryStore`, with a network that can fail.
 *
 * 1. A call takes effect when the scheduler runs it, not when it is made; its answer comes after that.
 * 2. A write whose fate the caller cannot know is `ambiguous`, whether it was applied or not.
 * 3. After `disconnect` no call takes effect, except those that `intercept` delayed before.
 */
export type MemoryCall = { readonly connection: string } & (
  | { readonly method: 'range'; readonly request: RangeRequest }
  | { readonly method: 'txn'; readonly request: Txn }
  | { readonly method: 'leaseGrant'; readonly request: number }
  | { readonly method: 'leaseKeepAlive' | 'leaseRevoke' | 'leaseStatus'; readonly request: LeaseId }
  | { readonly method: 'compact'; readonly request: Revision }
  | { readonly method: 'status' | 'members' | 'alarms'; readonly request?: undefined }
);

/**
 * What the network does to a call.
 * - `refuse`: never sent; `unavailable`, not ambiguous.
 * - `drop-before`: lost on the way; `unavailable`, ambiguous for a write, not applied.
 * - `drop-after`: applied, the answer is lost; `unavailable`, ambiguous for a write.
 * - `delayMs`: applied so much later. Beyond the call's timeout the caller gets `timeout` first, and it is applied all
 *   the same; with `givenUp` the caller gets `timeout` at once.
 */
export type Fate =
  'pass' | 'refuse' | 'drop-before' | 'drop-after' | { readonly delayMs: number; readonly givenUp?: boolean };

export interface ConnectOptions {
  /** Appears in `MemoryCall`. */
  readonly name?: string;
  readonly intercept?: (call: MemoryCall) => Fate;
  readonly defaultTimeoutMs?: number;
}

/** The store behind a connection; `MemoryStore` is the one there is. */
export interface SharedStore {
  readonly schedule: Schedule;
  range(request: RangeRequest): RangeResult;
  txn(txn: Txn): TxnResult;
  grant(ttlS: number): { id: LeaseId; ttlS: number };
  renew(id: LeaseId): { ttlS: number };
  revoke(id: LeaseId): void;
  leaseStatus(id: LeaseId): LeaseStatus;
  compact(revision: Revision): void;
  status(): KvStatus;
  members(): readonly KvMember[];
  alarms(): readonly KvAlarm[];
  openWatch(request: WatchRequest, hooks: WatchHooks, held: boolean): MemoryWatch;
}

/** `refuse`: calls fail and watches close at once. `blackhole`: calls time out and watches fall silent. */
export type Outage = 'refuse' | 'blackhole';

const DEFAULT_TIMEOUT_MS = 5000;
const READS: ReadonlySet<MemoryCall['method']> = new Set(['range', 'leaseStatus', 'status', 'members', 'alarms']);

type CallBody = MemoryCall extends infer C ? (C extends MemoryCall ? Omit<C, 'connection'> : never) : never;

export class MemoryConnection implements Kv {
  readonly #store: SharedStore;
  readonly #name: string;
  readonly #defaultTimeoutMs: number;
  readonly #watches = new Set<MemoryWatch>();
  readonly #pending = new Set<(error: (write: boolean) => KvError) => void>();
  /** May be replaced at any time; a simulator sets its faults here. */
  intercept: ((call: MemoryCall) => Fate) | undefined;
  #outage: Outage | undefined;
  #closed = false;

  constructor(store: SharedStore, options: ConnectOptions) {
    this.#store = store;
    this.#name = options.name ?? '';
    this.#defaultTimeoutMs = options.defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.intercept = options.intercept;
  }

  disconnect(outage: Outage = 'refuse'): void {
    this.#outage = outage;
    if (outage === 'blackhole') {
      for (const watch of this.#watches) watch.hold(true);
      return;
    }
    for (const fail of this.#pending) fail((write) => unavailable('the connection broke', write));
    for (const watch of this.#watches) watch.fail(unavailable('the connection broke', false));
  }

  heal(): void {
    this.#outage = undefined;
    for (const watch of this.#watches) watch.hold(false);
  }

  range(request: RangeRequest, options?: CallOptions): Promise<RangeResult> {
    return this.#call({ method: 'range', request }, options, () => this.#store.range(request));
  }

  txn(request: Txn, options?: CallOptions): Promise<TxnResult> {
    return this.#call({ method: 'txn', request }, options, () => this.#store.txn(request));
  }

  leaseGrant(ttlS: number, options?: CallOptions): Promise<{ id: LeaseId; ttlS: number }> {
    return this.#call({ method: 'leaseGrant', request: ttlS }, options, () => this.#store.grant(ttlS));
  }

  leaseKeepAlive(id: LeaseId, options?: CallOptions): Promise<{ ttlS: number }> {
    return this.#call({ method: 'leaseKeepAlive', request: id }, options, () => this.#store.renew(id));
  }

  leaseRevoke(id: LeaseId, options?: CallOptions): Promise<void> {
    return this.#call({ method: 'leaseRevoke', request: id }, options, () => this.#store.revoke(id));
  }

  leaseStatus(id: LeaseId, options?: CallOptions): Promise<LeaseStatus> {
    return this.#call({ method: 'leaseStatus', request: id }, options, () => this.#store.leaseStatus(id));
  }

  compact(revision: Revision, options?: CallOptions): Promise<void> {
    return this.#call({ method: 'compact', request: revision }, options, () => this.#store.compact(revision));
  }

  status(options?: CallOptions): Promise<KvStatus> {
    return this.#call({ method: 'status' }, options, () => this.#store.status());
  }

  members(options?: CallOptions): Promise<readonly KvMember[]> {
    return this.#call({ method: 'members' }, options, () => this.#store.members());
  }

  alarms(options?: CallOptions): Promise<readonly KvAlarm[]> {
    return this.#call({ method: 'alarms' }, options, () => this.#store.alarms());
  }

  watch(request: WatchRequest, onMessage: (message: WatchMessage) => void): WatchHandle {
    const hooks = {
      onMessage,
      schedule: this.#store.schedule,
      onEnd: (ended: MemoryWatch) => void this.#watches.delete(ended),
    };
    const watch = this.#store.openWatch(request, hooks, this.#outage === 'blackhole');
    this.#watches.add(watch);
    if (this.#closed) watch.fail(closedError(false));
    else if (this.#outage === 'refuse') watch.fail(unavailable('there is no connection', false));
    return watch;
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const fail of this.#pending) fail(closedError);
    for (const watch of this.#watches) watch.fail(closedError(false));
    return Promise.resolve();
  }

  #call<T>(body: CallBody, options: CallOptions | undefined, effect: () => T): Promise<T> {
    const write = !READS.has(body.method);
    if (this.#closed) return Promise.reject(closedError(false));
    if (options?.signal?.aborted === true) return Promise.reject(aborted(options.signal, false));
    if (this.#outage === 'refuse') return Promise.reject(unavailable('there is no connection', false));
    const fate = this.intercept?.({ ...body, connection: this.#name }) ?? 'pass';
    if (fate === 'refuse') return Promise.reject(unavailable('the call was refused', false));
    return new Promise<T>((resolve, reject) => {
      const { signal } = options ?? {};
      const onAbort = (): void => fail((wrote) => aborted(signal as AbortSignal, wrote));
      const settle = (): boolean => {
        signal?.removeEventListener('abort', onAbort);
        return this.#pending.delete(fail);
      };
      const fail = (error: (write: boolean) => KvError): void => void (settle() && reject(error(write)));
      this.#pending.add(fail);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#send(fate, options?.timeoutMs ?? this.#defaultTimeoutMs, fail, () => {
        try {
          const value = effect();
          if (settle()) resolve(value);
        } catch (error) {
          if (settle()) reject(error instanceof Error ? error : new KvError('internal', String(error)));
        }
      });
    });
  }

  #send(
    fate: Exclude<Fate, 'refuse'>,
    timeoutMs: number,
    fail: (error: (write: boolean) => KvError) => void,
    run: () => void,
  ): void {
    const { schedule } = this.#store;
    const timeOut = (): void => fail((write) => new KvError('timeout', 'no answer in time', { ambiguous: write }));
    if (this.#outage === 'blackhole') return schedule(timeOut, timeoutMs);
    if (typeof fate === 'object') {
      if (fate.givenUp === true) schedule(timeOut, 0);
      else if (fate.delayMs >= timeoutMs) schedule(timeOut, timeoutMs);
      return schedule(run, fate.delayMs);
    }
    const lose = (): void => fail((write) => unavailable('the connection broke', write));
    schedule(() => {
      if (this.#outage === 'blackhole') return schedule(timeOut, timeoutMs);
      if (fate === 'drop-before' || this.#outage !== undefined || this.#closed) return lose();
      if (fate === 'pass') return run();
      // The answer is given up first, so that the effect happens and its answer reaches nobody.
      lose();
      run();
    }, 0);
  }
}

function unavailable(message: string, ambiguous: boolean): KvError {
  return new KvError('unavailable', message, { ambiguous });
}

function closedError(ambiguous: boolean): KvError {
  return new KvError('closed', 'this client was closed', { ambiguous });
}

function aborted(signal: AbortSignal, ambiguous: boolean): KvError {
  return new KvError('timeout', 'the caller gave up waiting', { ambiguous, cause: signal.reason });
}
