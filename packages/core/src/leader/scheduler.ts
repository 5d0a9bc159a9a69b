/**
 * Fires schedules. It holds the schedules as the feed shows them, sleeps until the next one is due, and decides each on
 * its record alone (I11): a scheduler that sees an old one is refused by the guard and looks again.
 *
 * A queued instant waits for the end of the run before it; that run's record is watched meanwhile.
 */
import { isLeaseholdError } from '../model/errors.js';
import type { LeaderHealth } from '../model/leader-health.js';
import type { Service } from '../runtime/service.js';
import { Feed, type FeedBatch, type FeedSnapshot, type KeyValue } from '../store/feed.js';
import { fireSchedule, type Fired, type SeenSchedule } from '../store/fire.js';
import { decodeSchedule } from '../store/schedules.js';
import { Duty } from './duty.js';
import { Lateness } from './lateness.js';
import type { Term } from './term.js';

export interface SchedulerOptions {
  /** False: nothing is fired now (the store has no room for new work); asked at every pass. */
  readonly admits?: () => boolean | Promise<boolean>;
}

const SAFETY_MS = 30_000;
const AT_ONCE = 16;
/** A schedule that could not be decided is tried again after so long. */
const TROUBLED_MS = 5_000;
/** Due for longer than this and not fired: the board calls it overdue. */
const OVERDUE_MS = 5_000;
/** While nothing is admitted. */
const CLOSED_MS = 10_000;

interface Entry {
  seen: SeenSchedule;
  /** Wall clock at which it is to be decided; Infinity: when it changes. */
  atMs: number;
  wait?: { readonly run: string; readonly feed: Feed };
}

export class Scheduler implements Service {
  readonly #term: Term;
  readonly #options: SchedulerOptions;
  readonly #duty: Duty;
  readonly #entries = new Map<string, Entry>();
  readonly #lateness = new Lateness();
  #fired = 0;

  constructor(term: Term, options: SchedulerOptions = {}) {
    this.#term = term;
    this.#options = options;
    this.#duty = new Duty(term, {
      name: 'scheduler',
      intervalMs: SAFETY_MS,
      pass: (signal) => this.#pass(signal),
      watch: {
        ranges: [{ prefix: term.store.keys.kind('schedules') }],
        list: true,
        replace: (snapshot) => this.#replace(snapshot),
        change: (batch) => this.#change(batch),
      },
    });
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#duty.start(signal);
  }

  async stop(): Promise<void> {
    await this.#duty.stop();
    await Promise.all([...this.#entries.values()].map(async (entry) => entry.wait?.feed.stop()));
    this.#entries.clear();
  }

  health(): { readonly schedules: NonNullable<LeaderHealth['schedules']> } {
    const records = [...this.#entries.values()].map(({ seen }) => seen.record);
    const nowMs = this.#term.store.now();
    const overdue = records.filter(
      ({ paused, nextMs }) => paused === undefined && nextMs !== undefined && nextMs < nowMs - OVERDUE_MS,
    );
    return {
      schedules: {
        total: records.length,
        paused: records.filter(({ paused }) => paused !== undefined).length,
        overdue: overdue.length,
        fired: this.#fired,
      },
    };
  }

  #replace({ kvs }: FeedSnapshot): void {
    const there = new Set(kvs.map((kv) => this.#see(kv)));
    for (const id of this.#entries.keys()) if (!there.has(id)) this.#forget(id);
    this.#duty.wake();
  }

  #change({ events }: FeedBatch): void {
    for (const { type, kv } of events) {
      const parsed = this.#term.store.keys.parse(kv.key);
      if (parsed?.kind !== 'schedules') continue;
      if (type === 'put') this.#see(kv);
      else this.#forget(parsed.id);
    }
    this.#duty.wake();
  }

  #see(kv: KeyValue): string {
    const parsed = this.#term.store.keys.parse(kv.key);
    const id = parsed?.kind === 'schedules' ? parsed.id : '';
    const known = this.#entries.get(id);
    if (id === '' || (known !== undefined && known.seen.revision >= kv.modRevision)) return id;
    try {
      const seen = { record: decodeSchedule(kv), revision: kv.modRevision };
      if (known === undefined) this.#entries.set(id, { seen, atMs: 0 });
      else Object.assign(known, { seen, atMs: 0 });
    } catch (error) {
      this.#term.logger.error('scheduler: a schedule cannot be read', { id, error });
    }
    return id;
  }

  #forget(id: string): void {
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    void entry?.wait?.feed.stop();
  }

  async #pass(signal: AbortSignal): Promise<number> {
    const { store } = this.#term;
    const nowMs = store.now();
    const due = [...this.#entries].filter(([, { atMs }]) => atMs <= nowMs);
    if (due.length > 0 && (await this.#options.admits?.()) === false) return CLOSED_MS;
    for (let at = 0; at < due.length && !signal.aborted; at += AT_ONCE) {
      await Promise.all(due.slice(at, at + AT_ONCE).map(([id, entry]) => this.#decide(id, entry, signal)));
    }
    const nextMs = Math.min(...[...this.#entries.values()].map(({ atMs }) => atMs));
    return Math.min(SAFETY_MS, Math.max(0, nextMs - store.now()));
  }

  async #decide(id: string, entry: Entry, signal: AbortSignal): Promise<void> {
    const { store, leadership, logger } = this.#term;
    const { seen } = entry;
    try {
      this.#decided(id, await fireSchedule(store, leadership, seen), signal);
    } catch (error) {
      if (isLeaseholdError(error, 'session-lost') || signal.aborted) throw error;
      // One schedule in trouble must not hold up the others.
      logger.warn('scheduler: a schedule could not be decided', { id, error });
      const current = this.#entries.get(id);
      if (current !== undefined) current.atMs = store.now() + TROUBLED_MS;
    }
  }

  #decided(id: string, fired: Fired, signal: AbortSignal): void {
    for (const ms of fired.latenessMs) this.#lateness.add(ms);
    this.#fired += fired.latenessMs.length;
    if (fired.passedOver.length > 0)
      this.#term.logger.warn('scheduler: instants were passed over', { id, why: fired.passedOver });
    for (const workflow of fired.workflows) this.#term.drive({ workflow, joins: [] });
    const current = this.#entries.get(id);
    if (current === undefined) return;
    if (fired.schedule === undefined) return this.#forget(id);
    // The feed may have shown a newer one meanwhile: then that one is decided.
    if (current.seen.revision > fired.schedule.revision) return;
    current.seen = fired.schedule;
    current.atMs = fired.nextMs ?? Infinity;
    this.#waitFor(current, fired.waitsFor, signal);
  }

  #waitFor(entry: Entry, run: string | undefined, signal: AbortSignal): void {
    if (entry.wait?.run === run) return;
    void entry.wait?.feed.stop();
    delete entry.wait;
    if (run === undefined) return;
    const { store, clock, logger } = this.#term;
    const look = (): void => {
      entry.atMs = 0;
      this.#duty.wake();
    };
    const feed = new Feed(
      {
        kv: store.kv,
        clock,
        logger,
        name: `leader/scheduler/${run}`,
        ranges: [{ key: store.keys.task(run) }, { key: store.keys.workflow(run) }],
        epochKey: store.keys.epoch(),
        list: false,
      },
      { replace: look, change: look },
    );
    entry.wait = { run, feed };
    void feed.start(signal);
  }
}
