/**
 * Stealing: an idle lane looks into the shards of others, so that a busy or stuck owner starves nobody. Reads are bounded,
 * and come more and more seldom while there is nothing to steal.
 */
import { Backoff } from '../runtime/backoff.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Loop } from '../runtime/loop.js';
import { decodeReady, type ReadyEntry } from '../store/edge.js';
import type { KeyValue } from '../store/feed.js';
import { readReady, shardRange, whichLocked } from '../store/ready.js';
import type { Session } from '../store/session.js';
import type { Store } from '../store/store.js';
import type { Claimer, EntrySource, Lane } from './claimer.js';
import { othersOf } from './shards.js';
import { priorityOf, type Entry } from './window.js';

export interface StealingOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lane: Lane;
  readonly claimer: Claimer;
  readonly accepts: (entry: ReadyEntry) => boolean;
  readonly session: () => Session | undefined;
  /** Nodes that serve the queue, this one included. */
  readonly nodes: () => number;
  readonly minMs?: number;
  readonly maxMs?: number;
}

const PAGE = 64;
const PAGES = 4;

export class Stealing {
  readonly #options: StealingOptions;
  readonly #backoff: Backoff;
  readonly #loop: Loop;
  /** What was found to be held, by key and revision; bounded. */
  readonly #held = new Map<string, bigint>();
  /** How much was begun so far. */
  stolen = 0;

  constructor(options: StealingOptions) {
    this.#options = options;
    const { minMs = 200, maxMs = 5_000 } = options;
    this.#backoff = new Backoff({ minMs, maxMs, random: options.store.random });
    this.#loop = new Loop({
      name: `stealing for ${options.lane.queue}`,
      clock: options.clock,
      logger: options.logger,
      pass: () => this.#pass(),
      backoff: { minMs, maxMs, random: options.store.random },
    });
  }

  start(signal: AbortSignal): Promise<void> {
    return this.#loop.start(signal);
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #pass(): Promise<number> {
    const { lane, claimer, nodes, store } = this.#options;
    const session = this.#options.session();
    const shards = othersOf(lane.intake.span);
    const idle = lane.intake.dry && claimer.room(lane) > 0;
    if (session === undefined || !idle || nodes() < 2 || shards.length === 0) {
      this.#backoff.reset();
      return this.#backoff.nextMs();
    }
    const start = Math.floor(store.random() * shards.length);
    const begun = await this.#stealFrom(session, shards[start] ?? 0);
    if (begun > 0) {
      this.stolen += begun;
      this.#backoff.reset();
    }
    return this.#backoff.nextMs();
  }

  /** The head of a shard is mostly what its owner runs: reads on past what is locked, a few pages at most. */
  async #stealFrom(session: Session, shard: number): Promise<number> {
    const { store, lane } = this.#options;
    const range = shardRange(store, lane.queue, shard);
    let begun = 0;
    for (let page = 0, { from } = range; page < PAGES && begun === 0; page++) {
      const { kvs, done } = await readReady(store, { from, until: range.until }, PAGE);
      begun = await this.#claimOf(session, shard, kvs);
      const last = kvs[kvs.length - 1];
      if (done || last === undefined) break;
      from = `${last.key}\0`;
    }
    return begun;
  }

  async #claimOf(session: Session, shard: number, kvs: readonly KeyValue[]): Promise<number> {
    const { store, lane, claimer } = this.#options;
    const entries = kvs.flatMap((kv) => this.#entry(shard, kv));
    const locked = await whichLocked(
      store,
      entries.map(({ id }) => id),
    );
    let begun = 0;
    for (const entry of entries) {
      if (locked.has(entry.id)) this.#remember(entry);
      else if (claimer.room(lane) <= 0) break;
      else if (claimer.tryClaim(session, lane, entry, this.#source) === 'begun') begun += 1;
    }
    return begun;
  }

  #entry(shard: number, kv: KeyValue): readonly Entry[] {
    const parsed = this.#options.store.keys.parse(kv.key);
    if (parsed?.kind !== 'ready' || this.#held.get(kv.key) === kv.modRevision) return [];
    const ready = decodeReady(kv.value);
    if (!this.#options.accepts(ready)) return [];
    const { order, id } = parsed;
    const { key, modRevision: revision, createRevision: created } = kv;
    const priority = priorityOf(ready);
    return [{ key, shard, order, priority, created, id, revision, ready, place: 'taken', reason: '', renewed: false }];
  }

  /** A stolen entry belongs to no window. One that could not be had is found again, by its owner or the next time. */
  readonly #source: EntrySource = {
    held: (entry) => this.#remember(entry),
    again: () => undefined,
    park: () => undefined,
  };

  #remember({ key, revision }: Entry): void {
    this.#held.set(key, revision);
    if (this.#held.size <= MAX_HELD) return;
    const oldest = this.#held.keys().next();
    if (oldest.done !== true) this.#held.delete(oldest.value);
  }

  /** Nodes were lost, and their locks with them. */
  forget(): void {
    this.#held.clear();
  }
}

const MAX_HELD = 10_000;
