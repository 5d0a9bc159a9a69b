import { isStaleToken, toKvError } from './etcd-errors.js';
import { abortedError, closedError, type Duplex, type Endpoint, type Endpoints } from './etcd-endpoints.js';
import { KvError, type LeaseId } from './kv.js';

/**
 * Renewals over one long-lived stream.
 *
 * 1. etcd answers every request of a stream in order. Requests wait in that order, and one that its caller gave up
 *    KEEPS ITS PLACE: a late answer must never count for a later request, or a lease would be trusted for too long.
 * 2. A stream that was silent for the whole of a request's time is given up, and with it all that wait on it.
 * 3. Nothing is sent twice.
 */
interface Waiting {
  readonly id: string;
  readonly sentAt: number;
  readonly settle: (outcome: { readonly ttlS: number } | KvError) => void;
}

interface WireKeepAlive {
  readonly ID: string;
  readonly TTL: string;
}

interface Lane {
  readonly endpoint: Endpoint;
  readonly queue: Waiting[];
  stream: Duplex | undefined;
  lastAnswerAt: number;
}

export class KeepAlives {
  readonly #endpoints: Endpoints;
  #lane: Lane | undefined;
  #closed = false;

  constructor(endpoints: Endpoints) {
    this.#endpoints = endpoints;
  }

  async renew(id: LeaseId, timeoutMs: number, signal: AbortSignal | undefined): Promise<{ ttlS: number }> {
    if (this.#closed) throw closedError(false);
    if (signal?.aborted === true) throw abortedError(signal, false);
    const lane = this.#lane ?? this.#open();
    return new Promise((resolve, reject) => {
      const settle = (outcome: { readonly ttlS: number } | KvError): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        if (outcome instanceof KvError) reject(outcome);
        else resolve(outcome);
      };
      const waiting: Waiting = { id: id.toString(), sentAt: performance.now(), settle };
      const onAbort = (): void => settle(abortedError(signal as AbortSignal, true));
      const timer = setTimeout(() => {
        settle(new KvError('timeout', `no answer to a keepalive in ${timeoutMs} ms`, { ambiguous: true }));
        if (lane.lastAnswerAt < waiting.sentAt)
          this.#drop(lane, new KvError('timeout', 'the keepalive stream fell silent', { ambiguous: true }));
      }, timeoutMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      lane.queue.push(waiting);
      if (lane.stream !== undefined) lane.stream.write({ ID: waiting.id });
    });
  }

  close(): void {
    this.#closed = true;
    if (this.#lane !== undefined) this.#drop(this.#lane, closedError(true));
  }

  #open(): Lane {
    const { endpoint, stream } = this.#endpoints.duplex('Lease', 'leaseKeepAlive', true);
    const lane: Lane = { endpoint, queue: [], stream: undefined, lastAnswerAt: -Infinity };
    this.#lane = lane;
    stream.then(
      (opened) => this.#begin(lane, opened),
      (error: unknown) => this.#fail(lane, error),
    );
    return lane;
  }

  #begin(lane: Lane, stream: Duplex): void {
    stream.on('error', (error) => this.#fail(lane, error));
    stream.on('end', () =>
      setImmediate(() =>
        this.#fail(lane, new KvError('unavailable', 'the server ended the stream', { ambiguous: true })),
      ),
    );
    if (this.#lane !== lane) return stream.cancel();
    lane.stream = stream;
    stream.on('data', (answer: WireKeepAlive) => this.#receive(lane, answer));
    for (const { id } of lane.queue) stream.write({ ID: id });
  }

  #receive(lane: Lane, answer: WireKeepAlive): void {
    lane.lastAnswerAt = performance.now();
    const waiting = lane.queue.shift();
    if (waiting === undefined || waiting.id !== answer.ID) {
      const cause = new KvError('internal', `a keepalive answer for lease ${answer.ID} out of order`, {
        ambiguous: true,
      });
      waiting?.settle(cause);
      return this.#drop(lane, cause);
    }
    waiting.settle({ ttlS: Math.max(0, Number(answer.TTL)) });
  }

  #fail(lane: Lane, raw: unknown): void {
    if (this.#lane !== lane) return;
    const error = toKvError(raw, true);
    if (isStaleToken(raw)) {
      this.#lane = undefined;
      const cause = new KvError('unavailable', 'the auth token was stale and was renewed', { cause: raw });
      void this.#endpoints.refreshToken(lane.endpoint).then(() => settleAll(lane, cause));
      return;
    }
    this.#drop(lane, error);
  }

  #drop(lane: Lane, error: KvError): void {
    if (this.#lane === lane) {
      this.#lane = undefined;
      this.#endpoints.failed(lane.endpoint, error);
    }
    lane.stream?.cancel();
    settleAll(lane, error);
  }
}

function settleAll(lane: Lane, error: KvError): void {
  for (const waiting of lane.queue.splice(0)) waiting.settle(error);
}
