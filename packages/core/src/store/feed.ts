/**
 * The reflector: one consumer's exact view of some ranges of keys. List at R, `replace`, watch from R + 1, `change`; list
 * again when in doubt. Workers, leader and gateway use it alike.
 *
 * F1  Callbacks come one at a time and in order of revisions: first `replace`, then `change` batches, each of whole
 *     revisions (I10), also when the ranges are several. After `stop` none comes.
 * F2  No event is left out and none comes twice. It resumes behind what was handed on, never behind what a header said.
 * F3  It lists again (`replace`) when the wanted history was compacted, the cluster or the epoch is another one, or the
 *     revision went back; the consumer forgets everything it had.
 * F4  Silence is not trusted. A watch that says nothing is asked for progress; one that does not answer is opened anew.
 *     `status` tells until which revision and time the view was proven true.
 */
import { KvError, prefixEnd, type Kv, type KvEvent, type KeyValue, type Revision } from '../kv/kv.js';
import { LeaseholdError } from '../model/errors.js';
import { Backoff } from '../runtime/backoff.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Lifecycle, type Service } from '../runtime/service.js';
import { listRanges } from './feed-list.js';
import { Strands, type StrandEnd } from './feed-strands.js';
import { Watchdog, type WatchdogOptions } from './feed-watchdog.js';

export type { KeyValue, KvEvent, Revision } from '../kv/kv.js';

/** A prefix, one key, or [key, rangeEnd). */
export type FeedRange =
  { readonly prefix: string } | { readonly key: string } | { readonly key: string; readonly rangeEnd: string };

/** Keys as of one revision. */
export interface FeedSnapshot {
  readonly revision: Revision;
  /** In the order of the ranges, and by key within each. Empty when the feed does not list. */
  readonly kvs: readonly KeyValue[];
  readonly reason: RelistReason;
}

export type RelistReason = 'start' | 'compacted' | 'other-cluster' | 'other-epoch' | 'went-back' | 'consumer-failed';

export interface FeedBatch {
  /** Everything of the feed's ranges up to and including this revision has now been handed on. */
  readonly revision: Revision;
  /** In order of revisions. */
  readonly events: readonly KvEvent[];
}

export interface FeedSink {
  /**
   * Given: a list is handed on page by page as it is read, all pages of one revision, and `replace` afterwards has no
   * `kvs`. `first`: pages before it, of a list that failed, count for nothing. So a large list is never whole in memory,
   * and the process has its turns between pages.
   */
  page?(page: { readonly kvs: readonly KeyValue[]; readonly first: boolean; readonly reason: RelistReason }): void;
  /** What comes after waits until a promise is fulfilled. */
  replace(snapshot: FeedSnapshot): void | Promise<void>;
  change(batch: FeedBatch): void;
  /** When `phase` changes; progress within a phase is to be read from `feed.status`. */
  status?(status: FeedStatus): void;
}

/** For a "live" pill: `live` is what was received, never what is hoped for. */
export interface FeedStatus {
  readonly phase: 'starting' | 'live' | 'stale' | 'stopped';
  /** The view is complete up to here; 0n before the first list. */
  readonly revision: Revision;
  /** Wall clock at which that was last proven; absent before the first list. */
  readonly verifiedAtMs?: number;
  /** Wall clock since when nothing was proven any more. */
  readonly staleSinceMs?: number;
  /** Why it is stale. */
  readonly cause?: string;
}

export interface FeedOptions {
  readonly kv: Kv;
  readonly clock: Clock;
  readonly logger: Logger;
  /** For logs. */
  readonly name: string;
  readonly ranges: readonly FeedRange[];
  /** `keys.epoch()`: raised by a restore. Default: not looked at. */
  readonly epochKey?: string;
  /** False: no keys are read; the first `replace` is empty and says the revision from which on changes come. */
  readonly list?: boolean;
  readonly filter?: 'no-put' | 'no-delete';
  readonly prevKv?: boolean;
  /** Keys in one page of a list. Default 2000. */
  readonly pageSize?: number;
  /** Ask a silent watch for progress after so long. Default 2000 ms. */
  readonly quietMs?: number;
  /** Give up a watch that stays silent so long after that. Default 5000 ms. */
  readonly silentMs?: number;
  /** Look at cluster and epoch at least so often. Default 30000 ms. */
  readonly identityMs?: number;
  readonly random?: () => number;
}

interface Identity {
  readonly clusterId: string;
  readonly epoch: string;
  readonly revision: Revision;
}

export class Feed implements Service {
  readonly #options: FeedOptions;
  readonly #sink: FeedSink;
  readonly #backoff: Backoff;
  readonly #lifecycle: Lifecycle;
  readonly #waiting = new Set<{ readonly revision: Revision; readonly resolve: () => void }>();
  #strands: Strands | undefined;
  #identity: Identity | undefined;
  /** Set: the next attempt begins with a list. */
  #relist: RelistReason | undefined = 'start';
  #looking = false;
  #status: FeedStatus = { phase: 'starting', revision: 0n };
  #running: Promise<void> | undefined;
  #verifiedAt = 0;

  constructor(options: FeedOptions, sink: FeedSink) {
    if (options.ranges.length === 0)
      throw new LeaseholdError('invalid', 'a feed has at least one range', { field: 'ranges' });
    this.#options = options;
    this.#sink = sink;
    this.#backoff = new Backoff({
      minMs: 50,
      maxMs: 3_000,
      ...(options.random === undefined ? {} : { random: options.random }),
    });
    this.#lifecycle = new Lifecycle({
      name: `feed ${options.name}`,
      begin: (signal) => void (this.#running = this.#run(signal)),
      end: async () => {
        this.#strands?.close();
        await this.#running;
        this.#setStatus({ phase: 'stopped', revision: this.#status.revision });
        for (const { resolve } of this.#waiting) resolve();
        this.#waiting.clear();
      },
    });
  }

  /** Resolves at once; `ready` tells when the first list has arrived. A store that is away is tried again for ever. */
  start(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.start(signal);
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  get status(): FeedStatus {
    if (this.#status.phase !== 'live') return this.#status;
    return {
      ...this.#status,
      verifiedAtMs: this.#options.clock.now() - (this.#options.clock.monotonic() - this.#verifiedAt),
    };
  }

  /** Resolves after the first `replace`; also, without one, when it is stopped. */
  ready(): Promise<void> {
    return this.reached(1n);
  }

  /** Resolves when everything up to this revision was handed on; also when the feed is stopped. */
  reached(revision: Revision): Promise<void> {
    if (this.#status.revision >= revision || this.#status.phase === 'stopped') return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add({ revision, resolve });
      this.#strands?.requestProgress();
    });
  }

  /** Resolves when everything that is in the store at this moment was handed on; also when the feed is stopped. */
  async catchUp(): Promise<void> {
    const { kv, ranges } = this.#options;
    const { revision } = await kv.range({ ...toRange(ranges[0] as FeedRange), limit: 1, keysOnly: true });
    await this.reached(revision);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const cause = await this.#attempt(signal).catch((error: unknown) => this.#afterError(error));
      if (signal.aborted) return;
      this.#stale(cause);
      await this.#options.clock.sleep(this.#backoff.nextMs(), signal);
    }
  }

  /** Lists if it has to, then watches until the watch ends. Resolves with why it ended. */
  async #attempt(signal: AbortSignal): Promise<string> {
    const identity = await this.#readIdentity(signal);
    this.#relist ??= this.#doubt(identity);
    this.#identity = identity;
    if (this.#relist !== undefined) await this.#list(this.#relist, identity, signal);
    return signal.aborted ? 'stopping' : this.#watch(signal);
  }

  #afterError(error: unknown): string {
    if (error instanceof KvError && error.code === 'compacted') this.#relist = 'compacted';
    this.#options.logger.debug(`feed ${this.#options.name}: the store does not answer`, { error });
    return error instanceof Error ? error.message : String(error);
  }

  /** Why what was handed on may not be the past of what is there now (F3). */
  #doubt(now: Identity): RelistReason | undefined {
    const before = this.#identity;
    if (before === undefined) return undefined;
    if (before.clusterId !== now.clusterId) return 'other-cluster';
    if (before.epoch !== now.epoch) return 'other-epoch';
    return now.revision < this.#status.revision ? 'went-back' : undefined;
  }

  async #readIdentity(signal: AbortSignal): Promise<Identity> {
    const { kv, epochKey } = this.#options;
    // A quorum read: its revision is at least that of anything acknowledged before, whichever member answers.
    const [{ clusterId }, epoch] = await Promise.all([
      kv.status({ signal }),
      kv.range({ key: epochKey ?? '/leasehold', limit: 1, keysOnly: epochKey === undefined }, { signal }),
    ]);
    return { clusterId, epoch: epoch.kvs[0]?.value ?? '', revision: epoch.revision };
  }

  async #list(reason: RelistReason, identity: Identity, signal: AbortSignal): Promise<void> {
    const { kv, name, logger, pageSize = 2_000 } = this.#options;
    if (reason !== 'start') logger.warn(`feed ${name}: listing again`, { reason });
    const ranges = this.#options.ranges.map(toRange);
    let first = true;
    const take = (page: readonly KeyValue[]): void => {
      this.#hand(() => this.#sink.page?.({ kvs: page, first, reason }));
      first = false;
    };
    const wanted = this.#options.list === false ? [] : ranges;
    const listed = await listRanges(kv, wanted, pageSize, signal, this.#sink.page === undefined ? undefined : take);
    if (signal.aborted) return;
    if (first && this.#sink.page !== undefined) take([]);
    const { revision = identity.revision, kvs } = listed;
    await this.#replace({ revision, kvs, reason });
    if (signal.aborted) return;
    this.#strands = new Strands(ranges, revision);
    this.#relist = undefined;
    this.#verified(revision, true);
  }

  /** One life of the watch. */
  #watch(signal: AbortSignal): Promise<string> {
    const strands = this.#strands;
    if (strands === undefined) return Promise.resolve('nothing was listed yet');
    return new Promise((resolve) => {
      let finished = false;
      const finish = (cause: string, relist?: RelistReason): void => {
        if (finished) return;
        finished = true;
        this.#relist ??= relist;
        watchdog.stop();
        signal.removeEventListener('abort', onAbort);
        strands.close();
        resolve(cause);
      };
      const lookAtIdentity = (): void => void this.#lookAtIdentity(finish);
      const onAbort = (): void => finish('stopping');
      const watchdog = new Watchdog(this.#watchdogOptions(), {
        hurry: () => this.#waiting.size > 0,
        ask: () => strands.requestProgress(),
        lookAtIdentity,
        silent: (ms) => finish(`the watch was silent for ${ms} ms`),
      });
      signal.addEventListener('abort', onAbort, { once: true });
      strands.open(this.#options.kv, this.#options, {
        batch: (batch) => this.#hand(() => this.#sink.change(batch)),
        heard: () => {
          watchdog.heard();
          this.#verified(strands.position);
          this.#backoff.reset();
        },
        lags: lookAtIdentity,
        end: (end) => finish(...afterEnd(end)),
      });
      if (this.#waiting.size > 0) strands.requestProgress();
    });
  }

  #watchdogOptions(): WatchdogOptions {
    const { clock, quietMs = 2_000, silentMs = 5_000, identityMs = 30_000 } = this.#options;
    return { clock, quietMs, silentMs, identityMs };
  }

  async #lookAtIdentity(finish: (cause: string, relist?: RelistReason) => void): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const reason = this.#doubt(await this.#readIdentity(this.#lifecycle.signal));
      if (reason !== undefined) finish('the store is another one', reason);
    } catch {
      // The watchdog is there for a store that does not answer.
    } finally {
      this.#looking = false;
    }
  }

  /** A consumer that throws has an unknown state: it gets a new list. */
  #hand(call: () => void): void {
    if (this.#lifecycle.signal.aborted) return;
    try {
      call();
    } catch (error) {
      this.#consumerFailed(error);
    }
  }

  async #replace(snapshot: FeedSnapshot): Promise<void> {
    if (this.#lifecycle.signal.aborted) return;
    try {
      // Without a promise there is no wait: what follows a list follows it at once.
      const applied = this.#sink.replace(snapshot);
      if (applied !== undefined) await applied;
    } catch (error) {
      this.#consumerFailed(error);
    }
  }

  #consumerFailed(error: unknown): never {
    this.#options.logger.error(`feed ${this.#options.name}: its consumer failed`, { error });
    throw error;
  }

  #verified(revision: Revision, listed = false): void {
    const { clock } = this.#options;
    this.#verifiedAt = clock.monotonic();
    const went = listed ? revision : revision > this.#status.revision ? revision : this.#status.revision;
    if (this.#status.phase === 'live') this.#status = { ...this.#status, revision: went };
    else this.#setStatus({ phase: 'live', revision: went, verifiedAtMs: clock.now() });
    for (const waiter of this.#waiting) {
      if (waiter.revision > went) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }

  #stale(cause: string): void {
    if (this.#status.phase === 'stopped') return;
    const { revision, verifiedAtMs, staleSinceMs } = this.status;
    this.#setStatus({
      phase: revision === 0n ? 'starting' : 'stale',
      revision,
      ...(verifiedAtMs === undefined ? {} : { verifiedAtMs }),
      staleSinceMs: staleSinceMs ?? verifiedAtMs ?? this.#options.clock.now(),
      cause,
    });
  }

  #setStatus(status: FeedStatus): void {
    const changed = status.phase !== this.#status.phase || status.cause !== this.#status.cause;
    this.#status = status;
    if (changed) this.#sink.status?.(status);
  }
}

function afterEnd(end: StrandEnd): [cause: string, relist?: RelistReason] {
  if (end.kind === 'closed') return [end.cause.message];
  return end.kind === 'compacted' ? ['history was compacted', 'compacted'] : ['the consumer failed', 'consumer-failed'];
}

function toRange(range: FeedRange): { readonly key: string; readonly rangeEnd?: string } {
  return 'prefix' in range ? { key: range.prefix, rangeEnd: prefixEnd(range.prefix) } : range;
}
