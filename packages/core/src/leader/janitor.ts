/**
 * Keeps the store small: retention by age, count and size; leftovers; samples of time and revision; the report on storage;
 * and, when this leader is the cluster's compactor, history. Nothing of it is urgent: it works by the clock, in small
 * requests, and less often where there is much to look through.
 */
import type { LeaderHealth } from '../model/leader-health.js';
import { RETENTION_DEFAULTS, type RetentionPolicy } from '../model/retention.js';
import type { Service } from '../runtime/service.js';
import { claimCompactor, compactHistory, registerWindow, resignCompactor, sampleClock } from '../store/compaction.js';
import { clearLeftovers, LEFTOVER_DEFAULTS, type LeftoverLimits } from '../store/leftovers.js';
import { deletePast, findCutoffs } from '../store/retention.js';
import { StorageMeter } from '../store/storage.js';
import { Duty } from './duty.js';
import type { Term } from './term.js';

export interface JanitorOptions {
  readonly retention?: RetentionPolicy;
  readonly leftovers?: LeftoverLimits;
  /** Shared with whoever admits new work. */
  readonly storage?: StorageMeter;
  /** Whether this leader may compact the history of the whole cluster. Default true. */
  readonly compact?: boolean;
  /** How often it samples the clock and deletes by age. Default 30000 ms. */
  readonly everyMs?: number;
  /** How often everything is counted. Default 300000 ms. */
  readonly countEveryMs?: number;
  readonly leftoversEveryMs?: number;
  readonly compactEveryMs?: number;
}

type Task = 'sample' | 'age' | 'count' | 'leftovers' | 'compact';

/** What takes long is done less often: at most a fiftieth of the time goes into it. */
const SHARE = 50;

export class Janitor implements Service {
  readonly #term: Term;
  readonly #options: Required<JanitorOptions>;
  readonly #duty: Duty;
  /** Monotonic time at which each is due. */
  readonly #dueAt: Record<Task, number>;
  #deletedTasks = 0;
  #lastPassMs = 0;
  #compacts = false;

  constructor(term: Term, options: JanitorOptions = {}) {
    this.#term = term;
    this.#options = {
      retention: RETENTION_DEFAULTS,
      leftovers: LEFTOVER_DEFAULTS,
      storage: options.storage ?? new StorageMeter(term.store.kv, { now: () => term.clock.monotonic() }),
      compact: true,
      everyMs: 30_000,
      countEveryMs: 300_000,
      leftoversEveryMs: 600_000,
      compactEveryMs: 300_000,
      ...options,
    };
    const now = term.clock.monotonic();
    const soon = now + this.#options.everyMs;
    this.#dueAt = { sample: now, age: soon, count: soon, leftovers: soon, compact: now };
    this.#duty = new Duty(term, {
      name: 'janitor',
      intervalMs: this.#options.everyMs,
      pass: (signal) => this.#pass(signal),
    });
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#duty.start(signal);
  }

  async stop(): Promise<void> {
    await this.#duty.stop();
    if (this.#compacts) await resignCompactor(this.#term.store, this.#term.leadership).catch(() => undefined);
    this.#compacts = false;
  }

  health(): Pick<LeaderHealth, 'retention' | 'storage' | 'compacts'> {
    const { last } = this.#options.storage;
    return {
      retention: { deletedTasks: this.#deletedTasks, lastPassMs: this.#lastPassMs },
      compacts: this.#compacts,
      ...(last === undefined ? {} : { storage: last }),
    };
  }

  async #pass(signal: AbortSignal): Promise<number> {
    const { store, leadership } = this.#term;
    const { everyMs, countEveryMs, leftoversEveryMs, compactEveryMs } = this.#options;
    await this.#when('sample', everyMs, signal, () => sampleClock(store, leadership));
    const counted = await this.#when('count', countEveryMs, signal, () => this.#retain(true, signal));
    if (!counted) await this.#when('age', everyMs, signal, () => this.#retain(false, signal));
    await this.#when('leftovers', leftoversEveryMs, signal, async () => {
      const cleared = await clearLeftovers(store, leadership, this.#options.leftovers);
      if (Object.values(cleared).some((n) => n > 0))
        this.#term.logger.info('janitor: cleared leftovers', { ...cleared });
    });
    await this.#when('compact', compactEveryMs, signal, () => this.#compact());
    return Math.max(0, Math.min(...Object.values(this.#dueAt)) - this.#term.clock.monotonic());
  }

  /** Does what is due, and says whether it was. */
  async #when(task: Task, everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<boolean> {
    const { clock } = this.#term;
    const beganAt = clock.monotonic();
    if (signal.aborted || beganAt < this.#dueAt[task]) return false;
    await work();
    const tookMs = clock.monotonic() - beganAt;
    this.#dueAt[task] = clock.monotonic() + Math.max(everyMs, tookMs * SHARE);
    return true;
  }

  async #retain(count: boolean, signal: AbortSignal): Promise<void> {
    const { store, leadership, clock, logger } = this.#term;
    const beganAt = clock.monotonic();
    const cutoffs = await findCutoffs(store, this.#options.retention, { count, signal });
    const { deletedTasks, deletedWorkflows, strays } = await deletePast(store, leadership, cutoffs, signal);
    this.#deletedTasks += deletedTasks;
    this.#lastPassMs = Math.round(clock.monotonic() - beganAt);
    if (deletedTasks + strays > 0)
      logger.debug('janitor: deleted what is past', { deletedTasks, deletedWorkflows, strays });
  }

  async #compact(): Promise<void> {
    const { store, leadership, logger } = this.#term;
    const { storage, compact } = this.#options;
    const report = await storage.report();
    if (report.full) logger.warn('janitor: the store has no room for new work', { ...report });
    await registerWindow(store, leadership, storage.limits.historyMs);
    if (!compact) return;
    this.#compacts = await claimCompactor(store, leadership);
    if (!this.#compacts) return;
    const compacted = await compactHistory(store, report, storage.limits);
    if (compacted !== undefined) logger.debug('janitor: forgot old history', { ...compacted });
  }
}
