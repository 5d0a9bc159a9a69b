/**
 * The election: at any time at most one node of a namespace leads, and soon after a leader is gone another one does.
 *
 * E1  The office is the `leader` key under the node's session lease (L1). It is watched; when it is gone, every candidate
 *     asks for it, and the store decides.
 * E2  Nothing of a term runs before the key is ours, or goes on after it is known to be another's, or after the session's
 *     trust has ended. That the end is known late does no harm: the fence refuses (I8).
 * E3  One term at a time: the next one begins only when everything of the last one has stopped.
 */
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Loop } from '../runtime/loop.js';
import { Lifecycle, type Service } from '../runtime/service.js';
import type { Holder } from '../store/claim.js';
import { Feed, type FeedBatch, type KeyValue, type Revision } from '../store/feed.js';
import { campaign, decodeLeader, readLeader, resign, type Leadership, type SeenLeader } from '../store/leadership.js';
import type { Store } from '../store/store.js';

/** The node's session as the election needs it. */
export interface ElectionSession {
  readonly holder: Holder;
  /** Aborts when the session may not be trusted any more. */
  readonly signal: AbortSignal;
}

export interface ElectionOptions {
  readonly store: Store;
  readonly session: ElectionSession;
  readonly clock: Clock;
  readonly logger: Logger;
  /** False: asks for no office now (a draining node). Asked before each try. */
  readonly candidate?: () => boolean;
  /** Begins the work of a term; all of it heeds `signal`, and has ended when `endTerm` resolves. */
  readonly beginTerm: (leadership: Leadership, signal: AbortSignal) => Promise<void> | void;
  /** Resolves when nothing of the term runs any more. */
  readonly endTerm: (leadership: Leadership) => Promise<void> | void;
}

/** How long a candidate that does not stand now waits before it thinks again. */
const THINK_AGAIN_MS = 5_000;

export class Election implements Service {
  readonly #options: ElectionOptions;
  readonly #feed: Feed;
  readonly #loop: Loop;
  readonly #lifecycle: Lifecycle;
  /** As last seen; `known` is false before the first look. */
  #seen: { readonly known: boolean; readonly leader?: SeenLeader } = { known: false };
  #mine: Leadership | undefined;
  #term = new AbortController();
  #doubted = false;

  constructor(options: ElectionOptions) {
    this.#options = options;
    const { store, clock, logger } = options;
    this.#loop = new Loop({ name: 'election', clock, logger, pass: () => this.#pass(), backoff: { maxMs: 2_000 } });
    this.#feed = new Feed(
      {
        kv: store.kv,
        clock,
        logger,
        name: 'leader/election',
        ranges: [{ key: store.keys.leader() }],
        epochKey: store.keys.epoch(),
      },
      { replace: ({ kvs, revision }) => this.#saw(kvs[0], revision), change: (batch) => this.#heard(batch) },
    );
    this.#lifecycle = new Lifecycle({
      name: 'election',
      begin: (signal) => this.#begin(signal),
      end: () => this.#end(),
    });
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.start(signal);
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /** The term of this node, while it leads. */
  get leadership(): Leadership | undefined {
    return this.#mine;
  }

  /** Whoever leads, as last seen; undefined when nobody does, or it is not known yet. */
  get leader(): SeenLeader | undefined {
    return this.#seen.leader;
  }

  /** A write was refused by the fence: look whose office it is. */
  doubt(): void {
    this.#doubted = true;
    this.#loop.wake();
  }

  async #begin(signal: AbortSignal): Promise<void> {
    this.#options.session.signal.addEventListener('abort', this.#onSessionEnd, { once: true });
    await this.#loop.start(signal);
    await this.#feed.start(signal);
  }

  readonly #onSessionEnd = (): void => void this.stop();

  async #end(): Promise<void> {
    const { session, store } = this.#options;
    session.signal.removeEventListener('abort', this.#onSessionEnd);
    await Promise.all([this.#feed.stop(), this.#loop.stop()]);
    const mine = this.#mine;
    if (mine === undefined) return;
    await this.#endTerm(mine);
    // With the session the office ends by itself.
    if (!session.signal.aborted) await resign(store, mine).catch(() => false);
  }

  #heard({ events }: FeedBatch): void {
    const last = events.at(-1);
    if (last !== undefined) this.#saw(last.type === 'put' ? last.kv : undefined, last.kv.modRevision);
  }

  #saw(kv: KeyValue | undefined, revision: Revision): void {
    // What was before our own election is no news.
    if (this.#mine !== undefined && revision < this.#mine.term) return;
    this.#seen = { known: true, ...(kv === undefined ? {} : { leader: decodeLeader(kv) }) };
    this.#loop.wake();
  }

  async #pass(): Promise<number | void> {
    const { store, session } = this.#options;
    if (session.signal.aborted || !this.#seen.known) return;
    if (this.#doubted) {
      const { leader } = await readLeader(store);
      this.#doubted = false;
      this.#seen = { known: true, ...(leader === undefined ? {} : { leader }) };
    }
    const mine = this.#mine;
    if (mine !== undefined) {
      if (this.#seen.leader?.term === mine.term) return;
      await this.#endTerm(mine);
    }
    if (this.#seen.leader === undefined) return this.#campaign();
  }

  async #campaign(): Promise<number | void> {
    const { store, session, candidate } = this.#options;
    if (candidate?.() === false) return THINK_AGAIN_MS;
    const outcome = await campaign(store, session.holder);
    switch (outcome.kind) {
      case 'fenced':
        return;
      case 'open':
        return 0;
      case 'taken':
        this.#seen = { known: true, leader: outcome.leader };
        return;
      case 'elected':
        return this.#take(outcome.leadership);
    }
  }

  async #take(leadership: Leadership): Promise<void> {
    const { store, session, logger, beginTerm } = this.#options;
    const { node, term } = leadership;
    this.#seen = {
      known: true,
      leader: { record: { node, sinceMs: leadership.sinceMs }, term, lease: session.holder.lease },
    };
    if (session.signal.aborted || this.#lifecycle.signal.aborted) return void (await resign(store, leadership));
    this.#mine = leadership;
    this.#term = new AbortController();
    logger.info('elected leader', { node, term });
    try {
      await beginTerm(leadership, AbortSignal.any([this.#term.signal, this.#lifecycle.signal]));
    } catch (error) {
      // Half a leader is none: somebody else may do better.
      await this.#endTerm(leadership);
      await resign(store, leadership);
      throw error;
    }
  }

  async #endTerm(mine: Leadership): Promise<void> {
    this.#mine = undefined;
    this.#term.abort();
    this.#options.logger.info('the term is over', { node: mine.node, term: mine.term });
    await this.#options.endTerm(mine);
  }
}
