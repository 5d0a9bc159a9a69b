/**
 * Named concurrency limits, and which of their slots are free as far as is known here.
 *
 * L1  A claim takes one numbered slot of each of its limits, chosen at random among the free ones, and its guards say that
 *     these are absent: no interleaving exceeds a limit, whatever is believed here.
 * L2  A slot that a claim under way has chosen is not chosen again until its fate is known.
 * L3  Each slot that becomes free is told of once (`takeFreed`), so that as many of those that wait are looked at again.
 *
 * The feed begins with the first limit that is met: a namespace without limits has none. Rate limits are in `rates.ts`.
 */
import type { LimitClaim } from '../model/task.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Feed, type FeedBatch, type FeedSnapshot } from '../store/feed.js';
import type { Store } from '../store/store.js';

export interface Slot {
  readonly limit: string;
  readonly n: number;
}

export type Reservation =
  | { readonly kind: 'reserved'; readonly slots: readonly Slot[] }
  /** This limit has no free slot (or the slots are not known yet). */
  | { readonly kind: 'full'; readonly limit: string };

const NOTHING_FREED: ReadonlyMap<string, number> = new Map();
const NO_SLOTS: Reservation = Object.freeze({ kind: 'reserved', slots: Object.freeze([]) });

export class Limits {
  readonly #store: Store;
  readonly #feed: Feed;
  readonly #wake: () => void;
  readonly #random: () => number;
  readonly #taken = new Map<string, Set<number>>();
  readonly #chosen = new Map<string, Set<number>>();
  readonly #freed = new Map<string, number>();
  #allFreed = false;
  #known = false;
  #wanted = false;

  constructor(store: Store, clock: Clock, logger: Logger, wake: () => void) {
    this.#store = store;
    this.#wake = wake;
    this.#random = store.random;
    const { kv, keys } = store;
    const ranges = [{ prefix: keys.kind('slots') }];
    this.#feed = new Feed({ kv, clock, logger, name: 'slots', ranges, epochKey: keys.epoch() }, this);
  }

  /** One slot of each, or none of any. */
  reserve(limits: readonly LimitClaim[]): Reservation {
    if (limits.length === 0) return NO_SLOTS;
    if (!this.#known) {
      this.#start();
      return { kind: 'full', limit: limits[0]?.limit ?? '' };
    }
    const slots: Slot[] = [];
    for (const { limit, max } of limits) {
      const n = this.#pick(limit, max);
      if (n === undefined) {
        this.#unchoose(slots);
        return { kind: 'full', limit };
      }
      this.#setOf(this.#chosen, limit).add(n);
      slots.push({ limit, n });
    }
    return { kind: 'reserved', slots };
  }

  /** The claim is over. If it took the slots, the feed says so sooner or later; until then they count as taken. */
  release(slots: readonly Slot[], claimed: boolean): void {
    if (claimed) for (const { limit, n } of slots) this.#setOf(this.#taken, limit).add(n);
    this.#unchoose(slots);
    if (claimed || slots.length === 0) return;
    for (const { limit } of slots) this.#free(limit);
    this.#wake();
  }

  /** How many slots became free since the last call, by limit (L3); 'all': everything may have changed. */
  takeFreed(): ReadonlyMap<string, number> | 'all' {
    if (this.#allFreed) {
      this.#allFreed = false;
      this.#freed.clear();
      return 'all';
    }
    if (this.#freed.size === 0) return NOTHING_FREED;
    const freed = new Map(this.#freed);
    this.#freed.clear();
    return freed;
  }

  stop(): Promise<void> {
    return this.#feed.stop();
  }

  /** Waits for the news of this moment; there is none as long as nothing was asked. */
  catchUp(): Promise<void> {
    return this.#wanted ? this.#feed.catchUp() : Promise.resolve();
  }

  replace({ kvs }: FeedSnapshot): void {
    this.#taken.clear();
    for (const { key } of kvs) this.#see(key, true);
    this.#known = true;
    this.#allFreed = true;
    this.#wake();
  }

  change({ events }: FeedBatch): void {
    let freed = false;
    for (const { type, kv } of events) {
      this.#see(kv.key, type === 'put');
      freed ||= type === 'delete';
    }
    if (freed) this.#wake();
  }

  #start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    void this.#feed.start().catch(() => undefined);
  }

  #see(key: string, taken: boolean): void {
    const parsed = this.#store.keys.parse(key);
    if (parsed?.kind !== 'slots') return;
    const { limit, n } = parsed;
    if (taken) {
      this.#setOf(this.#taken, limit).add(n);
      return;
    }
    this.#discard(this.#taken, limit, n);
    this.#free(limit);
  }

  #free(limit: string): void {
    this.#freed.set(limit, (this.#freed.get(limit) ?? 0) + 1);
  }

  /** Slots beyond a limit that was lowered still count: their tasks still run. */
  #used(limit: string): number {
    const taken = this.#taken.get(limit);
    let used = taken?.size ?? 0;
    for (const n of this.#chosen.get(limit) ?? []) if (taken?.has(n) !== true) used += 1;
    return used;
  }

  #pick(limit: string, max: number): number | undefined {
    if (this.#used(limit) >= max) return undefined;
    const taken = this.#taken.get(limit);
    const chosen = this.#chosen.get(limit);
    const isFree = (n: number): boolean => taken?.has(n) !== true && chosen?.has(n) !== true;
    const start = Math.floor(this.#random() * max);
    for (let i = 0; i < max; i++) {
      const n = (start + i) % max;
      if (isFree(n)) return n;
    }
    return undefined;
  }

  #unchoose(slots: readonly Slot[]): void {
    for (const { limit, n } of slots) this.#discard(this.#chosen, limit, n);
  }

  #setOf(map: Map<string, Set<number>>, limit: string): Set<number> {
    let set = map.get(limit);
    if (set === undefined) map.set(limit, (set = new Set()));
    return set;
  }

  #discard(map: Map<string, Set<number>>, limit: string, n: number): void {
    const set = map.get(limit);
    set?.delete(n);
    if (set?.size === 0) map.delete(limit);
  }
}
