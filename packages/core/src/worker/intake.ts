/**
 * What one queue offers this node: a watch over the owned shards, bounded reads of their heads, and the window that both
 * feed. When the owned shards change it begins anew with the new ones.
 *
 * T1  An ordered queue offers nothing before all its entries are known up to one revision; what is committed later stands
 *     behind them (L1), and the watch tells of it in that order.
 */
import { Loop } from '../runtime/loop.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { ReadyEntry } from '../store/edge.js';
import { Feed, type FeedBatch } from '../store/feed.js';
import { readLocks, readReady, shardRange } from '../store/ready.js';
import type { Store } from '../store/store.js';
import { sameSpan, type ShardSpan } from './shards.js';
import { Window, type Entry } from './window.js';

export interface IntakeOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly queue: string;
  readonly accepts: (entry: ReadyEntry) => boolean;
  /** Something may be claimable now. */
  readonly wake: () => void;
  readonly pageSize?: number;
}

/** How dense a shard was where it was read last: bounds the next read, so that etcd looks at no more than it must. */
interface Density {
  order: number;
  spanMs: number;
}

export class Intake {
  readonly window: Window;
  readonly #options: IntakeOptions;
  readonly #pageSize: number;
  readonly #reads: Loop;
  readonly #density = new Map<number, Density>();
  #span: ShardSpan = { from: 0, to: 0 };
  #ordered = false;
  /** T1 */
  #complete = false;
  #feed: Feed | undefined;
  #changing: Promise<void> = Promise.resolve();
  /** The feed has said from which revision on it tells of changes. */
  #listed = false;
  /** The window stands for the shards that are owned now. */
  #fresh = false;
  #closed = false;

  constructor(options: IntakeOptions) {
    const { store, clock, logger, queue, accepts } = options;
    this.#options = options;
    this.#pageSize = options.pageSize ?? 256;
    this.window = new Window({ keys: store.keys, accepts, shardCapacity: this.#pageSize * 2 });
    this.#reads = new Loop({
      name: `reads of queue ${queue}`,
      clock,
      logger,
      pass: (signal) => this.#read(signal),
      backoff: { minMs: 50, maxMs: 3_000, random: store.random },
    });
    void this.#reads.start();
  }

  get span(): ShardSpan {
    return this.#span;
  }

  /** The queue is served in the order of commits. */
  get ordered(): boolean {
    return this.#ordered;
  }

  /** Watches these shards from now on. */
  own(span: ShardSpan, ordered = false): void {
    if (this.#closed) return;
    if (this.#feed !== undefined && sameSpan(span, this.#span) && ordered === this.#ordered) return;
    this.#span = span;
    this.#ordered = ordered;
    this.#listed = false;
    this.#fresh = false;
    const old = this.#feed;
    const feed = this.#makeFeed(span);
    this.#feed = feed;
    this.#changing = this.#changing
      .then(() => old?.stop())
      .then(() => {
        if (this.#feed === feed && !this.#closed) return feed.start();
        return undefined;
      });
  }

  take(): Entry | undefined {
    return this.#fresh && (this.#complete || !this.#ordered) ? this.window.take() : undefined;
  }

  /** Entries were taken: reads on if the window runs low. */
  replenish(): void {
    if (this.#fresh && !this.window.exhausted && this.window.wanting().length > 0) this.#reads.wake();
  }

  /** Nothing claimable is left in the owned shards, as far as is known. */
  get dry(): boolean {
    return this.#fresh && this.window.ready === 0 && this.window.exhausted;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#reads.stop();
    await this.#changing;
    await this.#feed?.stop();
  }

  #makeFeed(span: ShardSpan): Feed {
    const { store, clock, logger, queue, wake } = this.#options;
    const { kv, keys } = store;
    const key = keys.readyShard(queue, span.from);
    const rangeEnd = shardRange(store, queue, span.to - 1).until;
    const feed: Feed = new Feed(
      { kv, clock, logger, name: `ready ${queue}`, ranges: [{ key, rangeEnd }], list: false, epochKey: keys.epoch() },
      {
        replace: () => {
          if (this.#feed !== feed) return;
          this.#listed = true;
          this.#fresh = false;
          this.#reads.wake();
        },
        change: (batch: FeedBatch) => {
          if (this.#feed !== feed || !this.#fresh) return;
          for (const event of batch.events) this.window.change(event);
          wake();
        },
      },
    );
    return feed;
  }

  async #read(signal: AbortSignal): Promise<void> {
    if (!this.#fresh) await this.#begin();
    for (let round = 0; round < MAX_ROUNDS && this.#fresh && !signal.aborted; round++) {
      const wanting = this.window.wanting();
      if (wanting.length === 0) break;
      await Promise.all(wanting.map(({ shard, from }) => this.#readShard(shard, from)));
      this.#options.wake();
    }
    if (this.#ordered && this.#fresh && !this.#complete && this.window.exhausted) await this.#completed(signal);
    // With other shards owned meanwhile the window is an old one: the new feed's list wakes this loop, not the loop itself.
    if (this.#fresh && this.window.wanting().length > 0) this.#reads.wake();
  }

  /**
   * News that comes before the reset is dropped: every read that follows is of a later revision. Locks are read first, so
   * an entry that is rewritten afterwards has a revision after theirs.
   */
  async #begin(): Promise<void> {
    const feed = this.#feed;
    if (feed === undefined || !this.#listed) return;
    const locks = await readLocks(this.#options.store);
    if (this.#feed !== feed) return;
    this.#density.clear();
    this.window.reset(this.#span, locks, this.#ordered);
    this.#complete = false;
    this.#fresh = true;
  }

  /**
   * T1: the pages were read at different revisions, each later than the watch's beginning. When the watch has told of
   * everything up to now, nothing older than what is known can be missing.
   */
  async #completed(signal: AbortSignal): Promise<void> {
    const feed = this.#feed;
    if (feed === undefined) return;
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([feed.catchUp(), stopped]);
    if (this.#feed !== feed || signal.aborted || !this.#fresh) return;
    this.#complete = true;
    this.#options.wake();
  }

  async #readShard(shard: number, from: string | undefined): Promise<void> {
    const { store, queue } = this.#options;
    const range = shardRange(store, queue, shard);
    const start = from === undefined ? range.from : `${from}\0`;
    const near = this.#bound(shard, range.until);
    const until = near > start ? near : range.until;
    const finish = this.window.reading(shard);
    try {
      const page = await readReady(store, { from: start, until }, this.#pageSize);
      if (page.done && until === range.until) this.window.reachedEnd(shard);
      this.#learn(
        shard,
        page.kvs.map(({ key }) => key),
        page.done,
        until,
      );
      finish({ kvs: page.kvs, done: page.done, until });
    } catch (error) {
      finish(undefined);
      throw error;
    }
  }

  /** Where the next read of a shard ends: near, while the backlog is dense; at the end of the shard near the present. */
  #bound(shard: number, end: string): string {
    const { store, queue } = this.#options;
    const density = this.#density.get(shard);
    if (density === undefined) return end;
    const order = density.order + density.spanMs;
    if (order >= store.now()) return end;
    return store.keys.readyFrom(queue, shard, order);
  }

  #learn(shard: number, keys: readonly string[], done: boolean, until: string): void {
    const parse = (key: string | undefined): number | undefined => {
      const parsed = key === undefined ? undefined : this.#options.store.keys.parse(key);
      return parsed?.kind === 'ready' ? parsed.order : undefined;
    };
    const before = this.#density.get(shard);
    const [first, last] = [parse(keys[0]), parse(keys[keys.length - 1])];
    if (!done && first !== undefined && last !== undefined) {
      this.#density.set(shard, { order: last, spanMs: Math.max(1, Math.ceil((last - first) * 1.5)) });
    } else if (before !== undefined && until !== shardRange(this.#options.store, this.#options.queue, shard).until) {
      this.#density.set(shard, { order: before.order + before.spanMs, spanMs: before.spanMs * 4 });
    }
  }
}

const MAX_ROUNDS = 20;
