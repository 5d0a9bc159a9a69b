/**
 * Moves due tasks to the ready index, at the moment they are due: it sleeps until the next due time, and is woken when
 * an earlier one is written.
 */
import type { Service } from '../runtime/service.js';
import type { FeedBatch } from '../store/feed.js';
import { nextDueMs, promoteDue } from '../store/promote.js';
import { Duty } from './duty.js';
import { Lateness } from './lateness.js';
import type { Term } from './term.js';

/** How far ahead it looks for the next due time; also the longest it sleeps. */
const HORIZON_MS = 15_000;

export class Promoter implements Service {
  readonly #term: Term;
  readonly #duty: Duty;
  readonly #lateness = new Lateness();
  #promoted = 0;
  /** The time it sleeps until. While a pass runs: the earliest that was written meanwhile. */
  #nextMs = Infinity;
  #passing = false;

  constructor(term: Term) {
    this.#term = term;
    const { store } = term;
    this.#duty = new Duty(term, {
      name: 'promoter',
      intervalMs: HORIZON_MS,
      pass: (signal) => this.#pass(signal),
      watch: {
        ranges: [{ prefix: store.keys.kind('due') }],
        filter: 'no-delete',
        replace: () => this.#duty.wake(),
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

  health(): { promoted: number; lateP50Ms?: number; lateP99Ms?: number } {
    const [p50, p99] = [this.#lateness.percentile(0.5), this.#lateness.percentile(0.99)];
    return {
      promoted: this.#promoted,
      ...(p50 === undefined ? {} : { lateP50Ms: p50 }),
      ...(p99 === undefined ? {} : { lateP99Ms: p99 }),
    };
  }

  async #pass(signal: AbortSignal): Promise<number> {
    const { store, leadership, logger } = this.#term;
    this.#passing = true;
    this.#nextMs = Infinity;
    try {
      const beganMs = store.now();
      const { strays, unreadable } = await promoteDue(store, leadership, {
        signal,
        onPromoted: (ms) => {
          this.#promoted++;
          this.#lateness.add(ms);
        },
      });
      if (strays > 0) logger.info('promoter: removed due entries without a record', { strays });
      if (unreadable.length > 0)
        logger.warn('promoter: records of a newer layout are left', { ids: unreadable.slice(0, 10) });
      // From the moment the pass began: what became due while it ran must not be looked past.
      const read = await nextDueMs(store, beganMs, HORIZON_MS);
      this.#nextMs = Math.min(this.#nextMs, read ?? Infinity);
      const waitMs = Math.max(0, this.#nextMs - store.now());
      return unreadable.length > 0 ? Math.max(waitMs, 1_000) : waitMs;
    } finally {
      this.#passing = false;
    }
  }

  #heard({ events }: FeedBatch): void {
    const { keys } = this.#term.store;
    let earliest = Infinity;
    for (const { kv } of events) {
      const entry = keys.parse(kv.key);
      if (entry?.kind === 'due') earliest = Math.min(earliest, entry.timeMs);
    }
    if (earliest >= this.#nextMs) return;
    this.#nextMs = earliest;
    if (!this.#passing) this.#duty.wake();
  }
}
