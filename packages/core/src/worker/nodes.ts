/** The live nodes, as their records tell; and word of each that is lost. */
import type { NodeRecord } from '../model/records.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Feed, type FeedBatch, type FeedSnapshot } from '../store/feed.js';
import { decodeNode } from '../store/session.js';
import type { Store } from '../store/store.js';

export interface NodesHooks {
  /** Some node came, went or says other things. */
  readonly changed: () => void;
  /** A node's lease ended: so did its locks, at the same revision. */
  readonly lost: () => void;
}

export class Nodes {
  readonly feed: Feed;
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #hooks: NodesHooks;
  #records = new Map<string, NodeRecord>();
  #listed = false;

  constructor(store: Store, clock: Clock, logger: Logger, hooks: NodesHooks) {
    this.#store = store;
    this.#logger = logger;
    this.#hooks = hooks;
    const { kv, keys } = store;
    const ranges = [{ prefix: keys.kind('nodes') }];
    this.feed = new Feed({ kv, clock, logger, name: 'nodes', ranges, epochKey: keys.epoch() }, this);
  }

  /** Whether the nodes are known at all. True already when `changed` first says so, while the feed is still at it. */
  get listed(): boolean {
    return this.#listed;
  }

  /** Ids of the nodes that take new tasks of this queue, those that are `capable`. */
  serving(queue: string, capable: (node: NodeRecord) => boolean): readonly string[] {
    const ids: string[] = [];
    for (const node of this.#records.values()) {
      if (!node.draining && node.queues.some(({ name }) => name === queue) && capable(node)) ids.push(node.id);
    }
    return ids;
  }

  replace({ kvs, reason }: FeedSnapshot): void {
    const before = this.#records;
    this.#records = new Map();
    this.#listed = true;
    for (const { key, value } of kvs) this.#put(key, value);
    // After a gap in what was heard, any number of nodes may have come and gone.
    if (reason !== 'start' || [...before.keys()].some((id) => !this.#records.has(id))) this.#hooks.lost();
    this.#hooks.changed();
  }

  change({ events }: FeedBatch): void {
    let lost = false;
    for (const { type, kv } of events) {
      if (type === 'put') this.#put(kv.key, kv.value);
      else lost = this.#records.delete(this.#idOf(kv.key)) || lost;
    }
    if (lost) this.#hooks.lost();
    this.#hooks.changed();
  }

  #put(key: string, value: string): void {
    try {
      this.#records.set(this.#idOf(key), whole(decodeNode(value)));
    } catch (error) {
      this.#logger.warn('a node record cannot be read', { key, error });
    }
  }

  #idOf(key: string): string {
    const parsed = this.#store.keys.parse(key);
    return parsed?.kind === 'nodes' ? parsed.id : key;
  }
}

/** What a foreign hand wrote must not stop every worker. @throws TypeError when a field that is used here is missing. */
function whole(record: NodeRecord): NodeRecord {
  const { queues, handlers, labels }: Partial<NodeRecord> = record;
  if (Array.isArray(queues) && Array.isArray(handlers) && typeof labels === 'object') return record;
  throw new TypeError('a node record without queues, handlers or labels');
}
