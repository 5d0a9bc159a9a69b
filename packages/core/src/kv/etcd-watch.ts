import { isStaleToken, toKvError } from './etcd-errors.js';
import { closedError, type Duplex, type Endpoint, type Endpoints } from './etcd-endpoints.js';
import type { WatchResponse } from './etcd-decode.js';
import { encodeWatch } from './etcd-wire.js';
import { KvError, type KvEvent, type Revision, type WatchHandle, type WatchMessage, type WatchRequest } from './kv.js';

/**
 * One watch on a stream of its own. (One slow reader on a shared stream holds up its neighbours, and a progress reply
 * there speaks of all of them or of none.)
 *
 * 1. The position moves only by events and by progress that names this watch's place; never by the header of
 *    `created`, which is the store's revision, not the watch's.
 * 2. Fragments are joined: the consumer sees whole revisions. What does not get its last fragment is not handed on.
 * 3. `compacted` or `closed` is the last message, exactly once, unless the consumer closed the watch.
 * 4. Events that were handed on before are dropped (3.4.23 sends some twice).
 * 5. Before 3.4.25 and 3.5.8 the reply to a progress request can overtake events. It proves life, not the revision:
 *    there it is reported with the last revision that is certain.
 */
const WATCH_ID = 1;

export class EtcdWatch implements WatchHandle {
  readonly #endpoints: Endpoints;
  readonly #endpoint: Endpoint;
  readonly #request: WatchRequest;
  readonly #onMessage: (message: WatchMessage) => void;
  readonly #onEnd: (watch: EtcdWatch) => void;
  #stream: Duplex | undefined;
  #fragments: KvEvent[] = [];
  /** The last revision of which everything was handed on. */
  #seen: Revision;
  #lastKeys: ReadonlySet<string> | undefined;
  #lastEvents: readonly KvEvent[] = [];
  #progressWanted = false;
  /** Undefined until the server's release is known. */
  #trustsProgress: boolean | undefined;
  #ended = false;

  constructor(
    endpoints: Endpoints,
    request: WatchRequest,
    hooks: {
      readonly onMessage: (message: WatchMessage) => void;
      readonly onEnd: (watch: EtcdWatch) => void;
    },
  ) {
    this.#endpoints = endpoints;
    this.#request = request;
    this.#onMessage = hooks.onMessage;
    this.#onEnd = hooks.onEnd;
    this.#seen = request.startRevision - 1n;
    const { endpoint, stream } = endpoints.duplex('Watch', 'watch', true);
    this.#endpoint = endpoint;
    stream.then(
      (opened) => this.#begin(opened),
      (error: unknown) => this.#fail(error),
    );
  }

  requestProgress(): void {
    if (this.#ended) return;
    this.#progressWanted = true;
    this.#askProgress();
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#fragments = [];
    this.#stream?.cancel();
    this.#onEnd(this);
  }

  /** The client closes: the consumer is told. */
  clientClosed(): void {
    this.#finish({ kind: 'closed', cause: closedError(false) });
  }

  #begin(stream: Duplex): void {
    stream.on('error', (error) => this.#fail(error));
    // The status, which says why, comes with or after the end.
    stream.on('end', () =>
      setImmediate(() => this.#fail(new KvError('unavailable', 'the server ended the watch stream'))),
    );
    if (this.#ended) return stream.cancel();
    this.#stream = stream;
    stream.on('data', (message: WatchResponse) => this.#receive(message));
    stream.write(encodeWatch(this.#request, WATCH_ID));
    void this.#endpoints.version(this.#endpoint).then((version) => {
      this.#trustsProgress = version !== undefined && ordersProgress(version);
      this.#askProgress();
    });
  }

  #askProgress(): void {
    if (this.#ended || !this.#progressWanted || this.#stream === undefined || this.#trustsProgress === undefined)
      return;
    this.#progressWanted = false;
    this.#stream.write({ progress_request: {} });
  }

  #receive(message: WatchResponse): void {
    if (this.#ended) return;
    if (message.canceled) return this.#canceled(message);
    if (message.created) {
      if (this.#request.startRevision > 0n) return;
      this.#seen = message.revision;
      this.#onMessage({ kind: 'progress', revision: this.#seen });
      return;
    }
    if (message.fragment) {
      for (const event of message.events) this.#fragments.push(event);
      return;
    }
    if (message.events.length === 0) {
      if (this.#fragments.length === 0) this.#progress(message);
      return;
    }
    const whole = this.#fragments.length === 0 ? message.events : [...this.#fragments, ...message.events];
    this.#fragments = [];
    this.#handOn(whole);
  }

  #handOn(decoded: readonly KvEvent[]): void {
    const first = decoded[0] as KvEvent;
    const events = first.kv.modRevision > this.#seen ? decoded : decoded.filter((event) => this.#isNew(event));
    const last = events[events.length - 1];
    if (last === undefined) return;
    if (last.kv.modRevision > this.#seen) {
      this.#seen = last.kv.modRevision;
      this.#lastEvents = events;
      this.#lastKeys = undefined;
    }
    this.#onMessage({ kind: 'events', revision: last.kv.modRevision, events });
  }

  /** Invariant 4, the rare path. A key not seen at the newest revision is the rest of a split one: late, but not lost. */
  #isNew(event: KvEvent): boolean {
    if (event.kv.modRevision !== this.#seen || this.#lastEvents.length === 0) return event.kv.modRevision > this.#seen;
    this.#lastKeys ??= new Set(
      this.#lastEvents.filter(({ kv }) => kv.modRevision === this.#seen).map(({ kv }) => kv.key),
    );
    return !this.#lastKeys.has(event.kv.key);
  }

  #progress(message: WatchResponse): void {
    let { revision } = message;
    const certain = message.watchId === WATCH_ID || this.#trustsProgress === true;
    if (!certain && revision > this.#seen) revision = this.#seen;
    else if (revision > this.#seen) {
      this.#seen = revision;
      this.#lastEvents = [];
      this.#lastKeys = undefined;
    }
    this.#onMessage({ kind: 'progress', revision });
  }

  #canceled({ compactRevision, cancelReason }: WatchResponse): void {
    if (compactRevision > 0n) return this.#finish({ kind: 'compacted', compactRevision });
    this.#fail(new Error(cancelReason === '' ? 'the server canceled the watch' : cancelReason));
  }

  #fail(raw: unknown): void {
    if (this.#ended) return;
    const stale = isStaleToken(raw);
    const cause = stale
      ? new KvError('unavailable', 'the auth token was stale and was renewed', { cause: raw })
      : toKvError(raw, false);
    if (stale || cause.code === 'denied') {
      // Only a unary call renews the token; the consumer that opens anew then has a good one.
      void this.#endpoints.refreshToken(this.#endpoint).then(() => this.#finish({ kind: 'closed', cause }));
      return;
    }
    this.#endpoints.failed(this.#endpoint, cause);
    this.#finish({ kind: 'closed', cause });
  }

  #finish(message: WatchMessage): void {
    if (this.#ended) return;
    this.close();
    this.#onMessage(message);
  }
}

/** Whether this release sends the reply to a progress request only after the events before it. */
export function ordersProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  if (major !== 3 || minor > 5) return major >= 3;
  return minor === 5 ? patch >= 8 : minor === 4 && patch >= 25;
}
