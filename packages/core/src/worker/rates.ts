/**
 * Rate limits, and which units of their open windows are free as far as is known here. The rules of windows (R1-R4) are in
 * store/rates.ts: whatever is believed here, a claim takes a unit of the open window that nobody has taken, or fails.
 *
 * The feed begins with the first rate that is met: a namespace without rates has none.
 */
import { decodeRecord } from '../model/codec.js';
import { sameRate, type WindowRecord } from '../model/rate.js';
import type { RateLimit } from '../model/records.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { RateUnit } from '../store/claim.js';
import { Feed, type FeedBatch, type FeedSnapshot, type KeyValue } from '../store/feed.js';
import type { Store } from '../store/store.js';

/** One unit of this limit, under the setting that holds now. */
export interface RateClaim {
  readonly limit: string;
  readonly rate: RateLimit;
}

interface Window {
  readonly window: number;
  readonly opener: bigint;
  readonly units: number;
  readonly rate: RateLimit;
  readonly taken: Set<number>;
  /** By claims under way here. */
  readonly chosen: Set<number>;
}

const NOTHING_FREED: ReadonlyMap<string, number> = new Map();
const NO_UNITS: readonly RateUnit[] = Object.freeze([]);

export class Rates {
  readonly #store: Store;
  readonly #feed: Feed;
  readonly #wake: () => void;
  readonly #windows = new Map<string, Window>();
  readonly #freed = new Map<string, number>();
  #allFreed = false;
  #wanted = false;

  constructor(store: Store, clock: Clock, logger: Logger, wake: () => void) {
    this.#store = store;
    this.#wake = wake;
    const { kv, keys } = store;
    const ranges = [{ prefix: keys.kind('rates') }];
    this.#feed = new Feed({ kv, clock, logger, name: 'rates', ranges, epochKey: keys.epoch() }, this);
  }

  /** The first limit of which no unit is free now (or whose window is not known yet). */
  usedUp(claims: readonly RateClaim[]): string | undefined {
    if (claims.length > 0) this.#start();
    return claims.find((claim) => this.#free(claim) <= 0)?.limit;
  }

  /** One unit of each; none of them may be used up. */
  take(claims: readonly RateClaim[]): readonly RateUnit[] {
    if (claims.length === 0) return NO_UNITS;
    return claims.flatMap(({ limit }) => {
      const open = this.#windows.get(limit);
      if (open === undefined) return [];
      const n = this.#pick(open);
      open.chosen.add(n);
      return [{ limit, window: open.window, n, opener: open.opener }];
    });
  }

  /** The claim is over. A unit that it did not take may be taken again, if its window is still open. */
  release(units: readonly RateUnit[], claimed: boolean): void {
    for (const { limit, window, n } of units) {
      const open = this.#windows.get(limit);
      if (open?.window !== window) continue;
      open.chosen.delete(n);
      if (claimed) open.taken.add(n);
      else if (!open.taken.has(n)) this.#tell(limit, 1);
    }
    if (!claimed && units.length > 0) this.#wake();
  }

  /** How many units became free since the last call, by limit; 'all': everything may have changed. */
  takeFreed(): ReadonlyMap<string, number> | 'all' {
    if (!this.#allFreed && this.#freed.size === 0) return NOTHING_FREED;
    const freed = this.#allFreed ? 'all' : new Map(this.#freed);
    this.#allFreed = false;
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
    this.#windows.clear();
    for (const kv of kvs) this.#see(kv);
    this.#allFreed = true;
    this.#wake();
  }

  change({ events }: FeedBatch): void {
    let opened = false;
    for (const { type, kv } of events) opened = (type === 'put' ? this.#see(kv) : this.#forget(kv)) || opened;
    if (opened) this.#wake();
  }

  /** True when a window was opened. */
  #see(kv: KeyValue): boolean {
    const parsed = this.#store.keys.parse(kv.key);
    if (parsed?.kind !== 'rates') return false;
    const { limit, window, n } = parsed;
    const open = this.#windows.get(limit);
    if (n > 0) {
      if (open?.window === window) open.taken.add(n);
      return false;
    }
    if (open !== undefined && open.window >= window) return false;
    const { units, rate } = decodeRecord<WindowRecord>(kv.value, 'rate window');
    this.#windows.set(limit, { window, opener: kv.createRevision, units, rate, taken: new Set(), chosen: new Set() });
    this.#tell(limit, units);
    return true;
  }

  /** Units of closed windows are cleared away: that is no news. */
  #forget({ key }: KeyValue): boolean {
    const parsed = this.#store.keys.parse(key);
    if (parsed?.kind === 'rates' && parsed.n === 0 && this.#windows.get(parsed.limit)?.window === parsed.window)
      this.#windows.delete(parsed.limit);
    return false;
  }

  #start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    void this.#feed.start().catch(() => undefined);
  }

  #tell(limit: string, count: number): void {
    this.#freed.set(limit, (this.#freed.get(limit) ?? 0) + count);
  }

  /** R4: of a window for another setting nothing is free. */
  #free({ limit, rate }: RateClaim): number {
    const open = this.#windows.get(limit);
    if (open === undefined || !sameRate(open.rate, rate)) return 0;
    let used = open.taken.size;
    for (const n of open.chosen) if (!open.taken.has(n)) used += 1;
    return open.units - used;
  }

  #pick({ units, taken, chosen }: Window): number {
    const start = Math.floor(this.#store.random() * units);
    for (let i = 0; i < units; i++) {
      const n = 1 + ((start + i) % units);
      if (!taken.has(n) && !chosen.has(n)) return n;
    }
    throw new Error('unreachable: the window is used up');
  }
}
