/**
 * How far this node's clock is from the leader's, by the samples that the leader writes every half minute
 * (`clock/<epochMs>`): the node's time when the sample arrives here, minus the time in it.
 *
 * The error is one-sided: the sample was on its way, so the figure is too high by as long as the quickest of the last
 * `SAMPLES` took from the leader through etcd to here (milliseconds, unless etcd or this event loop is busy), and never too
 * low. After a step of either clock it is right again when as many samples have come.
 */
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Feed, type FeedBatch } from '../store/feed.js';
import type { Store } from '../store/store.js';

const SAMPLES = 4;

export class ClockSkew {
  readonly #store: Store;
  readonly #feed: Feed;
  readonly #samples: number[] = [];

  constructor(store: Store, clock: Clock, logger: Logger) {
    this.#store = store;
    const { kv, keys } = store;
    const ranges = [{ prefix: keys.kind('clock') }];
    const options = { kv, clock, logger, name: 'clock', ranges, epochKey: keys.epoch() };
    // Old samples tell nothing: only when one arrives is known.
    this.#feed = new Feed({ ...options, list: false, filter: 'no-delete' }, this);
  }

  /** This node's clock minus the leader's, ms; undefined until a sample came. */
  get ms(): number | undefined {
    return this.#samples.length === 0 ? undefined : Math.round(Math.min(...this.#samples));
  }

  start(): Promise<void> {
    return this.#feed.start();
  }

  stop(): Promise<void> {
    return this.#feed.stop();
  }

  replace(): void {
    this.#samples.length = 0;
  }

  change({ events }: FeedBatch): void {
    const nowMs = this.#store.now();
    for (const { kv } of events) {
      const sample = this.#store.keys.parse(kv.key);
      if (sample?.kind === 'clock') this.#samples.push(nowMs - sample.timeMs);
    }
    this.#samples.splice(0, this.#samples.length - SAMPLES);
  }
}
