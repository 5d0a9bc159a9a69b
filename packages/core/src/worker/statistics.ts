/** `stats/<node>`: how the node does, for the board. Written every few seconds under the session's fence. */
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { encodeRecord } from '../model/codec.js';
import type { NodeStats } from '../model/records.js';
import { Loop } from '../runtime/loop.js';
import type { Session } from '../store/session.js';
import { put, type Store } from '../store/store.js';
import type { WorkerSettings } from './options.js';
import { ClockSkew } from './skew.js';
import type { WorkerStatus } from './worker.js';

export class Statistics {
  readonly #store: Store;
  readonly #settings: WorkerSettings;
  readonly #session: () => Session | undefined;
  readonly #status: () => WorkerStatus;
  readonly #loop: Loop | undefined;
  readonly #skew: ClockSkew;
  #delay: IntervalHistogram | undefined;

  constructor(store: Store, settings: WorkerSettings, session: () => Session | undefined, status: () => WorkerStatus) {
    this.#store = store;
    this.#settings = settings;
    this.#session = session;
    this.#status = status;
    const { clock, logger, statsEveryMs } = settings;
    this.#skew = new ClockSkew(store, clock, logger);
    if (statsEveryMs === 0) return;
    this.#loop = new Loop({ name: 'statistics', clock, logger, pass: () => this.#write(), intervalMs: statsEveryMs });
  }

  async start(): Promise<void> {
    if (this.#loop === undefined) return;
    this.#delay = monitorEventLoopDelay({ resolution: 20 });
    this.#delay.enable();
    await this.#skew.start();
    await this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#delay?.disable();
    await Promise.all([this.#loop?.stop(), this.#skew.stop()]);
  }

  async #write(): Promise<void> {
    const session = this.#session();
    if (session === undefined) return;
    const key = this.#store.keys.stats(session.id);
    await this.#store.committer.submit(session.fence, {
      compare: [],
      success: [put(key, encodeRecord(this.#stats()))],
    });
  }

  #stats(): NodeStats {
    const { running, claimed, counters } = this.#status();
    const delay = this.#delay;
    // The histogram counts from its own resolution on; an empty one says NaN.
    const p99 = delay === undefined ? 0 : delay.percentile(99) / 1e6 - 20;
    delay?.reset();
    const leaderHealth = this.#settings.leaderHealth();
    const clockSkewMs = this.#skew.ms;
    return {
      atMs: this.#store.now(),
      ...(clockSkewMs === undefined ? {} : { clockSkewMs }),
      eventLoopDelayMs: Number.isFinite(p99) ? Math.max(0, Math.round(p99)) : 0,
      running,
      capacity: this.#settings.concurrency,
      claimed,
      succeeded: counters.succeeded,
      failed: counters.failed,
      rssBytes: process.memoryUsage.rss(),
      ...(leaderHealth === undefined ? {} : { leaderHealth }),
    };
  }
}
