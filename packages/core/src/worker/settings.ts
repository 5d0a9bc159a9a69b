/**
 * The settings of queues, names and everything, with their revisions: what a claim is decided on and guarded by (I9). What
 * is seen here may be old; then the claim fails and is decided again when the news arrives.
 */
import { decodeRecord } from '../model/codec.js';
import type { Settings } from '../model/records.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { SettingsSeen } from '../store/claim.js';
import { Feed, type FeedBatch, type FeedSnapshot, type KeyValue } from '../store/feed.js';
import type { Store } from '../store/store.js';

export interface Setting {
  readonly settings: Settings;
  /** Mod revision of the record, 0n where there is none. */
  readonly revision: bigint;
}

const NONE: Setting = Object.freeze({ settings: Object.freeze({}), revision: 0n });
/** A record that cannot be read stops what it governs: it may be a pause. */
const UNREADABLE: Settings = Object.freeze({
  paused: { by: 'system', sinceMs: 0, reason: 'its settings cannot be read' },
});

export class SettingsView {
  readonly feed: Feed;
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #changed: () => void;
  readonly #byKey = new Map<string, Setting>();

  constructor(store: Store, clock: Clock, logger: Logger, changed: () => void) {
    this.#store = store;
    this.#logger = logger;
    this.#changed = changed;
    const { kv, keys } = store;
    const ranges = [{ prefix: keys.kind('queues') }, { prefix: keys.kind('names') }, { key: keys.all() }];
    this.feed = new Feed({ kv, clock, logger, name: 'settings', ranges, epochKey: keys.epoch() }, this);
  }

  queue(name: string): Setting {
    return this.#byKey.get(this.#store.keys.queue(name)) ?? NONE;
  }

  name(name: string): Setting {
    return this.#byKey.get(this.#store.keys.name(name)) ?? NONE;
  }

  all(): Setting {
    return this.#byKey.get(this.#store.keys.all()) ?? NONE;
  }

  seen(queue: string, name: string): SettingsSeen {
    return { queue: this.queue(queue).revision, name: this.name(name).revision, all: this.all().revision };
  }

  /** Waits for the news of this moment. */
  catchUp(): Promise<void> {
    return this.feed.catchUp();
  }

  replace({ kvs }: FeedSnapshot): void {
    this.#byKey.clear();
    for (const kv of kvs) this.#put(kv);
    this.#changed();
  }

  change({ events }: FeedBatch): void {
    for (const { type, kv } of events) {
      if (type === 'put') this.#put(kv);
      else this.#byKey.delete(kv.key);
    }
    this.#changed();
  }

  #put({ key, value, modRevision }: KeyValue): void {
    this.#byKey.set(key, { settings: this.#decode(key, value), revision: modRevision });
  }

  #decode(key: string, value: string): Settings {
    try {
      return decodeRecord<Settings>(value, 'settings');
    } catch (error) {
      this.#logger.error('settings cannot be read; treated as paused', { key, error });
      return UNREADABLE;
    }
  }
}
