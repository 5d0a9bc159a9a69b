/**
 * Opens the windows of rate limits (R1-R3 in store/rates.ts), and clears away what was taken of closed ones. It sleeps until
 * the next window is to be opened, and is woken by new settings and by the first unit taken of a window.
 */
import type { RateLimit } from '../model/records.js';
import { sameRate } from '../model/rate.js';
import type { Service } from '../runtime/service.js';
import type { FeedBatch } from '../store/feed.js';
import {
  clearLimit,
  clearWindows,
  findWindow,
  isUsed,
  knownRates,
  openWindow,
  readRateLimits,
  SKEW_MS,
  type OpenWindow,
} from '../store/rates.js';
import { Duty } from './duty.js';
import type { Term } from './term.js';

interface Pace {
  open: OpenWindow;
  /** Monotonic time at which its first unit was seen (R2); undefined while none was taken. */
  usedAt: number | undefined;
}

const INTERVAL_MS = 30_000;

export class Pacer implements Service {
  readonly #term: Term;
  readonly #duty: Duty;
  readonly #paces = new Map<string, Pace>();
  #limits: ReadonlyMap<string, RateLimit> = new Map();
  #settingsAreOld = true;
  #begun = false;

  constructor(term: Term) {
    this.#term = term;
    const { keys } = term.store;
    const ranges = ['queues', 'names', 'rates'] as const;
    this.#duty = new Duty(term, {
      name: 'pacer',
      intervalMs: INTERVAL_MS,
      pass: (signal) => this.#pass(signal),
      watch: {
        ranges: [...ranges.map((kind) => ({ prefix: keys.kind(kind) })), { key: keys.all() }],
        filter: 'no-delete',
        replace: () => {
          this.#settingsAreOld = true;
          this.#duty.wake();
        },
        change: (batch) => this.#heard(batch),
      },
    });
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#duty.start(signal);
  }

  stop(): Promise<void> {
    return this.#duty.stop();
  }

  #heard({ events }: FeedBatch): void {
    let wakes = false;
    for (const { kv } of events) {
      const parsed = this.#term.store.keys.parse(kv.key);
      if (parsed?.kind !== 'rates') wakes = this.#settingsAreOld = true;
      else if (parsed.n > 0) wakes = this.#seeUnit(parsed.limit, parsed.window) || wakes;
    }
    if (wakes) this.#duty.wake();
  }

  /** R2: the interval begins now. True when that is news. */
  #seeUnit(limit: string, window: number): boolean {
    const pace = this.#paces.get(limit);
    if (pace === undefined || pace.open.window !== window || pace.usedAt !== undefined) return false;
    pace.usedAt = this.#term.clock.monotonic();
    return true;
  }

  async #pass(signal: AbortSignal): Promise<number> {
    await this.#readSettings();
    let nextMs = INTERVAL_MS;
    const opened: OpenWindow[] = [];
    for (const [limit, rate] of this.#limits) {
      if (signal.aborted) return nextMs;
      const before = this.#paces.get(limit)?.open;
      nextMs = Math.min(nextMs, await this.#keepPace(limit, rate));
      const open = this.#paces.get(limit)?.open;
      if (open !== undefined && open !== before) opened.push(open);
    }
    const { store, leadership } = this.#term;
    for (const open of opened) await clearWindows(store, leadership, open);
    return nextMs;
  }

  async #readSettings(): Promise<void> {
    const { store, leadership } = this.#term;
    if (!this.#settingsAreOld) return;
    this.#settingsAreOld = false;
    try {
      this.#limits = await readRateLimits(store);
      const known = this.#begun ? this.#paces.keys() : await knownRates(store);
      for (const limit of known) {
        if (this.#limits.has(limit)) continue;
        this.#paces.delete(limit);
        await clearLimit(store, leadership, limit);
      }
      this.#begun = true;
    } catch (error) {
      this.#settingsAreOld = true;
      throw error;
    }
  }

  /** Opens the next window of one limit if it is time. Gives how long until it is, ms. */
  async #keepPace(limit: string, rate: RateLimit): Promise<number> {
    const { store, clock } = this.#term;
    const pace = this.#paces.get(limit) ?? (await this.#find(limit));
    if (pace === undefined) return this.#open(limit, rate, undefined);
    if (pace.usedAt === undefined && (await isUsed(store, pace.open))) pace.usedAt = clock.monotonic();
    if (pace.usedAt === undefined) {
      // Nobody has taken of it: a window for the new setting may take its place at once.
      return sameRate(pace.open.record.rate, rate) ? INTERVAL_MS : this.#open(limit, rate, pace.open, true);
    }
    const leftMs = pace.usedAt + pace.open.record.lengthMs - clock.monotonic();
    if (leftMs > 0) return leftMs;
    return this.#open(limit, rate, pace.open);
  }

  async #open(limit: string, rate: RateLimit, before: OpenWindow | undefined, ifUnused = false): Promise<number> {
    const { store, leadership } = this.#term;
    const open = await openWindow(store, leadership, limit, rate, before, ifUnused);
    if (open === undefined) {
      // Lost answers included: what there is now is found by the next pass.
      this.#paces.delete(limit);
      return 0;
    }
    this.#paces.set(limit, { open, usedAt: undefined });
    return INTERVAL_MS;
  }

  /** What the leader before left (R3). */
  async #find(limit: string): Promise<Pace | undefined> {
    const { store, clock } = this.#term;
    const { open, usedMs } = await findWindow(store, limit);
    if (open === undefined) return undefined;
    const agoMs = usedMs === undefined ? 0 : Math.max(0, store.now() - usedMs - SKEW_MS);
    const pace: Pace = { open, usedAt: usedMs === undefined ? undefined : clock.monotonic() - agoMs };
    this.#paces.set(limit, pace);
    return pace;
  }
}
