import { isNeverSent, isStaleToken, toKvError } from './etcd-errors.js';
import { KvError, type CallOptions } from './kv.js';

/**
 * Several endpoints of one cluster: calls stick to one, and move to the next when it fails.
 *
 * 1. Nothing is sent twice that may have been executed, except a read, once.
 * 2. A call that never left this process, or that was refused for a stale token, was not executed: it is sent again.
 * 3. A call ends: with its answer, at its deadline, when its caller aborts it, or when the client is closed.
 */
export type Service = 'KV' | 'Lease' | 'Watch' | 'Maintenance' | 'Cluster';

export interface Duplex {
  write(message: object): void;
  cancel(): void;
  end(): void;
  on(event: 'data', listener: (message: never) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}

/** One endpoint, as `etcd-kv.ts` makes it. Rejections carry gRPC's code. */
export interface Endpoint {
  readonly address: string;
  /** A request that is bytes already is answered with bytes; an object with an object. */
  unary(
    service: Service,
    method: string,
    request: object,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown>;
  duplex(service: Service, method: string, requireLeader: boolean): Promise<Duplex>;
  /** Makes a call that renews the auth token. */
  refreshToken(): Promise<void>;
  close(): void;
}

export interface Call {
  readonly service: Service;
  readonly method: string;
  readonly request: object;
  readonly write: boolean;
}

export class Endpoints {
  readonly #endpoints: readonly Endpoint[];
  readonly #defaultTimeoutMs: number;
  readonly #versions = new Map<Endpoint, Promise<string | undefined>>();
  #closed = false;
  #current = 0;

  constructor(endpoints: readonly Endpoint[], defaultTimeoutMs: number) {
    this.#endpoints = endpoints;
    this.#defaultTimeoutMs = defaultTimeoutMs;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get current(): Endpoint {
    return this.#endpoints[this.#current] as Endpoint;
  }

  async call<T>(call: Call, options: CallOptions = {}): Promise<T> {
    const deadlineMs = Date.now() + (options.timeoutMs ?? this.#defaultTimeoutMs);
    let readsLeft = 1;
    let unsentLeft = this.#endpoints.length - 1;
    let tokensLeft = 1;
    for (;;) {
      if (this.closed) throw closedError(false);
      if (options.signal?.aborted === true) throw abortedError(options.signal, false);
      const endpoint = this.current;
      try {
        return (await endpoint.unary(call.service, call.method, call.request, deadlineMs, options.signal)) as T;
      } catch (raw) {
        const error = this.#explain(raw, call, options.signal);
        if (isStaleToken(raw) && tokensLeft > 0) {
          tokensLeft -= 1;
          await this.refreshToken(endpoint);
          continue;
        }
        this.failed(endpoint, error);
        if (error.code !== 'unavailable' || this.#endpoints.length === 1) throw error;
        if (isNeverSent(error) && unsentLeft > 0) unsentLeft -= 1;
        else if (!call.write && readsLeft > 0) readsLeft -= 1;
        else throw error;
      }
    }
  }

  /** Opens a stream on the current endpoint; failures while opening are reported as the stream's own. */
  duplex(service: Service, method: string, requireLeader: boolean): { endpoint: Endpoint; stream: Promise<Duplex> } {
    const endpoint = this.current;
    return { endpoint, stream: endpoint.duplex(service, method, requireLeader) };
  }

  /** What is known of an endpoint now that `error` came from it: the next call goes elsewhere if it is unwell. */
  failed(endpoint: Endpoint, error: KvError): void {
    if (error.code !== 'unavailable' && error.code !== 'timeout') return;
    this.#versions.delete(endpoint);
    if (this.current === endpoint) this.#current = (this.#current + 1) % this.#endpoints.length;
  }

  /** The release that runs at an endpoint; undefined when it cannot be told. */
  version(endpoint: Endpoint): Promise<string | undefined> {
    const known = this.#versions.get(endpoint);
    if (known !== undefined) return known;
    const asked = endpoint
      .unary('Maintenance', 'status', {}, Date.now() + this.#defaultTimeoutMs, undefined)
      .then((status) => (status as { readonly version: string }).version)
      .catch(() => {
        this.#versions.delete(endpoint);
        return undefined;
      });
    this.#versions.set(endpoint, asked);
    return asked;
  }

  async refreshToken(endpoint: Endpoint): Promise<void> {
    try {
      await endpoint.refreshToken();
    } catch {
      // The call that wanted the token fails with its own error next.
    }
  }

  /** From here on calls fail with `closed`, also those in flight. */
  beginClose(): void {
    this.#closed = true;
  }

  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  #explain(raw: unknown, call: Call, signal: AbortSignal | undefined): KvError {
    if (raw instanceof KvError) return raw;
    if (this.closed) return closedError(call.write);
    if (signal?.aborted === true) return abortedError(signal, call.write);
    return toKvError(raw, call.write);
  }
}

export function closedError(ambiguous: boolean): KvError {
  return new KvError('closed', 'this client was closed', { ambiguous });
}

export function abortedError(signal: AbortSignal, ambiguous: boolean): KvError {
  return new KvError('timeout', 'the caller gave up waiting', { ambiguous, cause: signal.reason });
}
