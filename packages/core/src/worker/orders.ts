/**
 * What others tell this node (`orders/<node>/…`): the worker watches its own prefix only. An order stays until it was
 * carried out, so none is lost with a connection; carrying one out twice does no harm.
 */
import { decodeRecord } from '../model/codec.js';
import type { OrderRecord } from '../model/records.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Feed, type FeedBatch, type FeedSnapshot, type KeyValue } from '../store/feed.js';
import { finishOrder } from '../store/ready.js';
import type { Session } from '../store/session.js';
import type { Store } from '../store/store.js';

export interface OrderHooks {
  /** Also called for a task that is not running (any more); then it does nothing. */
  readonly cancel: (id: string, reason: string) => void;
  readonly released: (id: string) => void;
  readonly drain: (reason: string) => void;
}

export class Orders {
  readonly session: Session;
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #hooks: OrderHooks;
  readonly #feed: Feed;
  /** Orders that concern a task, by its id. */
  readonly #open = new Map<string, { readonly kv: KeyValue; readonly what: string; readonly reason: string }>();

  constructor(store: Store, session: Session, clock: Clock, logger: Logger, hooks: OrderHooks) {
    this.#store = store;
    this.session = session;
    this.#logger = logger;
    this.#hooks = hooks;
    const { kv, keys } = store;
    const ranges = [{ prefix: keys.ordersOf(session.id) }];
    this.#feed = new Feed({ kv, clock, logger, name: 'orders', ranges, epochKey: keys.epoch() }, this);
    void this.#feed.start().catch(() => undefined);
  }

  /** An order may come before the answer to the claim of its task does. */
  claimed(id: string): void {
    const order = this.#open.get(id);
    if (order !== undefined) this.#obey(id, order.what, order.reason);
  }

  /** The attempt is over: what was ordered for it is done. */
  over(id: string): void {
    const order = this.#open.get(id);
    if (order === undefined) return;
    this.#open.delete(id);
    this.#finish(order.kv);
  }

  /** Orders for tasks that nobody here has to do with. */
  sweep(owns: (id: string) => boolean): void {
    for (const id of this.#open.keys()) if (!owns(id)) this.over(id);
  }

  stop(): Promise<void> {
    return this.#feed.stop();
  }

  replace({ kvs }: FeedSnapshot): void {
    this.#open.clear();
    for (const kv of kvs) this.#see(kv);
  }

  change({ events }: FeedBatch): void {
    for (const { type, kv } of events) {
      if (type === 'put') this.#see(kv);
      else this.#forget(kv.key);
    }
  }

  #see(kv: KeyValue): void {
    const parsed = this.#store.keys.parse(kv.key);
    if (parsed?.kind !== 'orders') return;
    const reason = this.#reason(kv);
    if (parsed.what === 'drain') {
      this.#hooks.drain(reason);
      return this.#finish(kv);
    }
    this.#open.set(parsed.id, { kv, what: parsed.what, reason });
    this.#obey(parsed.id, parsed.what, reason);
  }

  #obey(id: string, what: string, reason: string): void {
    if (what === 'cancel') this.#hooks.cancel(id, reason);
    else if (what === 'released') this.#hooks.released(id);
    else this.#logger.warn('an order of an unknown kind', { what, id });
  }

  #forget(key: string): void {
    const parsed = this.#store.keys.parse(key);
    if (parsed?.kind === 'orders' && this.#open.get(parsed.id)?.kv.key === key) this.#open.delete(parsed.id);
  }

  #reason({ key, value }: KeyValue): string {
    try {
      return decodeRecord<OrderRecord>(value, 'order').reason ?? '';
    } catch (error) {
      this.#logger.warn('an order cannot be read; it is obeyed all the same', { key, error });
      return '';
    }
  }

  #finish(kv: KeyValue): void {
    finishOrder(this.#store, this.session.fence, kv).catch((error: unknown) => {
      this.#logger.debug('an order that was carried out could not be removed', { key: kv.key, error });
    });
  }
}
