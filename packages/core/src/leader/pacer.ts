/**
 * Opens the windows of rate limits (R1-R4 in store/rates.ts), and clears away what was taken longer than an interval ago. It
 * sleeps until the next window may be opened, and is woken by new settings and by units that are taken.
 */
import type { RateLimit } from '../model/records.js';
import { sameRate, unitsNow, windowOf, SHORTEST_WINDOW_MS } from '../model/rate.js';
import type { Service } from '../runtime/service.js';
import type { FeedBatch } from '../store/feed.js';
import {
  clearLimit,
  clearWindows,
  closeWindow,
  findWindow,
  knownRates,
  openWindow,
  readRateLimits,
  SKEW_MS,
  unitsTaken,
  type OpenWindow,
} from '../store/rates.js';
import { Duty } from './duty.js';
import type { Term } from './term.js';

/** What is known of one limit. Times are monotonic. */
interface Pace {
  open: OpenWindow | undefined;
  openedAt: number;
  /** When the first unit of the open window was seen; undefined while none was taken. */
  usedAt: number | undefined;
  /** Units of the open window that were taken. */
  readonly taken: Set<number>;
  /** When the units of the last interval were seen (R2), with their windows. */
  seen: { readonly window: number; readonly at: number }[];
  index: number;
  lastWindow: number;
  /** The units before this window are cleared away. */
  cleared: number;
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
      else if (parsed.n > 0) {
        const pace = this.#paces.get(parsed.limit);
        if (pace?.open?.window === parsed.window) wakes = this.#seeUnit(pace, parsed.n) || wakes;
      }
    }
    if (wakes) this.#duty.wake();
  }

  /** R2: it was taken at this moment at the latest. True when the pacer should look: the first of a window, and the last. */
  #seeUnit(pace: Pace, n: number): boolean {
    const { open, taken } = pace;
    if (open === undefined || taken.has(n)) return false;
    const at = this.#term.clock.monotonic();
    taken.add(n);
    pace.seen.push({ window: open.window, at });
    pace.usedAt ??= at;
    return taken.size === 1 || taken.size >= open.record.units;
  }

  async #pass(signal: AbortSignal): Promise<number> {
    await this.#readSettings();
    let nextMs = INTERVAL_MS;
    for (const [limit, rate] of this.#limits) {
      if (signal.aborted) return nextMs;
      nextMs = Math.min(nextMs, await this.#keepPace(limit, rate));
      await this.#clear(limit);
    }
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
    const pace = this.#paces.get(limit) ?? (await this.#find(limit));
    await this.#missed(limit, pace);
    const now = this.#term.clock.monotonic();
    pace.seen = pace.seen.filter(({ at }) => now - at <= rate.intervalMs);
    const leftMs = waitOf(pace, rate, now);
    if (leftMs > 0) return leftMs;
    return this.#next(limit, rate, pace);
  }

  /** What the watch did not tell of, as when it had to be opened anew: it counts from now on. */
  async #missed(limit: string, pace: Pace): Promise<void> {
    if (pace.open === undefined || pace.taken.size >= pace.open.record.units) return;
    for (const n of await unitsTaken(this.#term.store, limit, pace.open.window)) this.#seeUnit(pace, n);
  }

  /** R1: closes the open window, sees what was taken of it, and opens the next with what that leaves. */
  async #next(limit: string, rate: RateLimit, pace: Pace): Promise<number> {
    const { store, leadership, clock } = this.#term;
    if (pace.open !== undefined) {
      if (!(await closeWindow(store, leadership, pace.open))) return this.#forget(limit);
      for (const n of await unitsTaken(store, limit, pace.open.window)) this.#seeUnit(pace, n);
      pace.open = undefined;
    }
    const now = clock.monotonic();
    const { units, waitMs } = unitsNow(rate, pace.index + 1, agesOf(pace, now));
    if (units === 0) return waitMs;
    const opening = { rate, units, index: pace.index + 1, after: pace.lastWindow };
    const open = await openWindow(store, leadership, limit, opening);
    if (open === undefined) return this.#forget(limit);
    Object.assign(pace, { open, openedAt: now, usedAt: undefined, index: open.record.index, lastWindow: open.window });
    pace.taken.clear();
    return Math.max(1, waitOf(pace, rate, now));
  }

  /** Lost answers included: what there is now is found by the next pass. */
  #forget(limit: string): number {
    this.#paces.delete(limit);
    return 0;
  }

  async #clear(limit: string): Promise<void> {
    const pace = this.#paces.get(limit);
    if (pace === undefined) return;
    const last = pace.open?.window ?? pace.lastWindow + 1;
    const needed = pace.seen.reduce((least, { window }) => Math.min(least, window), last);
    if (needed <= pace.cleared) return;
    await clearWindows(this.#term.store, this.#term.leadership, limit, needed);
    pace.cleared = needed;
  }

  /** What the leader before left (R3). */
  async #find(limit: string): Promise<Pace> {
    const { store, clock } = this.#term;
    const { open, taken } = await findWindow(store, limit);
    const [now, nowMs] = [clock.monotonic(), store.now()];
    const seen = taken.map(({ window, atMs }) => ({ window, at: now - Math.max(0, nowMs - atMs - SKEW_MS) }));
    const own = seen.filter(({ window }) => window === open?.window);
    const pace: Pace = {
      open,
      openedAt: now,
      usedAt: own.reduce<number | undefined>((least, { at }) => Math.min(least ?? at, at), undefined),
      taken: new Set(taken.filter(({ window }) => window === open?.window).map(({ n }) => n)),
      seen,
      index: open?.record.index ?? -1,
      lastWindow: taken.reduce((last, { window }) => Math.max(last, window), open?.window ?? 0),
      cleared: 0,
    };
    this.#paces.set(limit, pace);
    return pace;
  }
}

function* agesOf(pace: Pace, now: number): Iterable<number> {
  for (const { at } of pace.seen) yield now - at;
}

/** How long the open window stays; 0: the next may be opened. Pure. */
function waitOf(pace: Pace, rate: RateLimit, now: number): number {
  const { open, taken, usedAt } = pace;
  const { units, waitMs } = unitsNow(rate, pace.index + 1, agesOf(pace, now));
  if (open === undefined || !sameRate(open.record.rate, rate)) return units > 0 ? 0 : waitMs;
  const full = windowOf(rate, open.record.index).units;
  if (taken.size < open.record.units) {
    // Claims find units in it. It is replaced when nothing counts any more, so that a pause gives the whole count back.
    if (taken.size === 0 && open.record.units >= full) return INTERVAL_MS;
    const newest = pace.seen.reduce((latest, { at }) => Math.max(latest, at), 0);
    return pace.seen.length === 0 ? 0 : Math.max(1, newest + rate.intervalMs + 1 - now);
  }
  // Units leave the interval one by one; windows of one unit each would cost a write for each.
  const spacedAt = rate.even === true ? (usedAt ?? now) + open.record.lengthMs : pace.openedAt + spacingMs(rate);
  return Math.max(units > 0 ? 0 : waitMs, Math.ceil(spacedAt - now), 0);
}

/** At most ten windows an interval: a unit that is free again waits for a tenth of one at most. */
function spacingMs({ intervalMs }: RateLimit): number {
  return Math.min(SHORTEST_WINDOW_MS, Math.ceil(intervalMs / 10));
}
