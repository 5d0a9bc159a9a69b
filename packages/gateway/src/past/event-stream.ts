/**
 * The ordered change stream of the namespace, raw, for `/events`.
 *
 * V1  Whole transactions in the order of revisions; a break or an overflow is told (`missed`), never papered over.
 * V2  Watched only while somebody reads: the watch closes `IDLE_MS` after the last request, and is one for all readers.
 * V3  At most `EVENTS` changes are held, values already redacted and cut.
 */
import { prefixEnd, type KvEvent } from '@leasehold/core/kv';
import { Feed, type Store } from '@leasehold/core/store';
import type { EventPage, EventsQuery, StreamEvent, StreamGroup } from '@leasehold/wire';
import type { Clock, Logger } from '@leasehold/core';
import type { Board } from '../projection/board.js';
import { streamEvent } from './event-view.js';

const EVENTS = 5_000;
const IDLE_MS = 60_000;
/** Revisions before the opening that are read from history. */
const BACK = 300n;
const BACK_MS = 2_000;

interface Group {
  readonly revision: bigint;
  /** Absent for what was read from history. */
  readonly seenMs?: number;
  readonly events: readonly StreamEvent[];
}

export interface EventStreamOptions {
  readonly store: Store;
  readonly board: Board;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly quietMs?: number;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #groups: Group[] = [];
  readonly #waiting = new Set<() => void>();
  #events = 0;
  /** Everything above it, up to `#revision`, is held. */
  #heldFrom = 0n;
  #revision = 0n;
  #open: { readonly feed: Feed; readonly ready: Promise<void> } | undefined;
  #idle: { cancel(): void } | undefined;
  #closed = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Answers what is there; waits up to `waitMs` for something that matches when there is nothing. */
  async read(query: EventsQuery, payload: boolean, signal?: AbortSignal): Promise<EventPage> {
    await this.#opened(query.after === undefined ? undefined : BigInt(query.after));
    const page = this.#page(query, payload);
    if (page.groups.length > 0 || page.missed || query.waitMs === 0) return page;
    const { clock } = this.#options;
    const untilMs = clock.monotonic() + query.waitMs;
    for (;;) {
      const leftMs = untilMs - clock.monotonic();
      if (leftMs <= 0 || this.#closed || signal?.aborted === true) return this.#page(query, payload);
      await this.#somethingNew(leftMs);
      const next = this.#page(query, payload);
      if (next.groups.length > 0 || next.missed) return next;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  #somethingNew(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#waiting.delete(done);
        resolve();
      };
      const { cancel } = this.#options.clock.setTimer(withinMs, done);
      this.#waiting.add(done);
    });
  }

  async #opened(after: bigint | undefined): Promise<void> {
    this.#idle?.cancel();
    if (!this.#closed) this.#idle = this.#options.clock.setTimer(IDLE_MS, () => void this.#end());
    this.#open ??= this.#begin(after);
    await this.#open.ready;
  }

  #begin(after: bigint | undefined): { readonly feed: Feed; readonly ready: Promise<void> } {
    const { store, clock, logger, quietMs } = this.#options;
    let first: Promise<void> | undefined;
    const feed = new Feed(
      {
        kv: store.kv,
        clock,
        logger,
        name: 'events',
        ranges: [{ prefix: store.keys.prefix }],
        epochKey: store.keys.epoch(),
        list: false,
        ...(quietMs === undefined ? {} : { quietMs }),
      },
      {
        replace: ({ revision }) => {
          this.#forget(revision);
          first ??= this.#readBack(revision, after);
        },
        change: ({ revision, events }) => {
          this.#take(events, clock.now());
          this.#revision = revision;
          for (const wake of this.#waiting) wake();
        },
      },
    );
    const ready = feed
      .start()
      .then(() => feed.ready())
      .then(() => first);
    return { feed, ready };
  }

  async #end(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    this.#idle?.cancel();
    for (const wake of this.#waiting) wake();
    await open?.feed.stop();
    this.#forget(0n);
  }

  #forget(revision: bigint): void {
    this.#groups.length = 0;
    this.#events = 0;
    this.#heldFrom = revision;
    this.#revision = revision;
  }

  /** What came shortly before the opening, or since the revision that was asked for, as far as etcd has it. */
  async #readBack(now: bigint, after: bigint | undefined): Promise<void> {
    const { store } = this.#options;
    const key = store.keys.prefix;
    const wanted = after === undefined || after > now ? now - BACK : after;
    const from = wanted > 0n ? wanted : 0n;
    const found: KvEvent[] = [];
    const whole = await new Promise<boolean>((resolve) => {
      const finish = (yes: boolean): void => {
        cancel();
        queueMicrotask(() => watch.close());
        resolve(yes);
      };
      const { cancel } = this.#options.clock.setTimer(BACK_MS, () => finish(false));
      const watch = store.kv.watch({ key, rangeEnd: prefixEnd(key), startRevision: from + 1n }, (message) => {
        if (message.kind === 'compacted' || message.kind === 'closed') return finish(false);
        if (message.kind === 'events') found.push(...message.events.filter(({ kv }) => kv.modRevision <= now));
        if (message.revision >= now || found.length > EVENTS) finish(message.revision >= now);
        else if (message.kind === 'events') watch.requestProgress();
      });
      watch.requestProgress();
    });
    // A gap between what was read and what is watched would be a lie: all or nothing.
    if (!whole) return;
    const later = this.#groups.splice(0);
    this.#events = 0;
    this.#heldFrom = from;
    this.#take(found, undefined);
    for (const group of later) this.#hold(group);
  }

  /** V1: grouped by revision. */
  #take(events: readonly KvEvent[], seenMs: number | undefined): void {
    const { store, board } = this.#options;
    for (let at = 0; at < events.length;) {
      const revision = events[at]?.kv.modRevision ?? 0n;
      let end = at;
      while (events[end]?.kv.modRevision === revision) end++;
      const shown = events.slice(at, end).map((event) => streamEvent(store.keys, board.state.secrets, event));
      this.#hold({ revision, events: shown, ...(seenMs === undefined ? {} : { seenMs }) });
      at = end;
    }
  }

  #hold(group: Group): void {
    this.#groups.push(group);
    this.#events += group.events.length;
    while (this.#events > EVENTS && this.#groups.length > 1) {
      const oldest = this.#groups.shift();
      this.#events -= oldest?.events.length ?? 0;
      this.#heldFrom = oldest?.revision ?? this.#heldFrom;
    }
  }

  #page(query: EventsQuery, payload: boolean): EventPage {
    const after = query.after === undefined ? undefined : BigInt(query.after);
    const matches = matcherOf(query);
    const groups: StreamGroup[] = [];
    const candidates = this.#groups.filter(({ revision }) => revision > (after ?? 0n));
    const ordered = after === undefined ? candidates.toReversed() : candidates;
    let revision = this.#revision;
    for (const group of ordered) {
      const events = group.events.filter(matches);
      if (events.length === 0) continue;
      groups.push(shownGroup(group, events, payload));
      if (groups.length < query.limit) continue;
      if (after !== undefined) revision = group.revision;
      break;
    }
    return {
      revision: revision.toString(),
      heldFrom: this.#heldFrom.toString(),
      groups: after === undefined ? groups.toReversed() : groups,
      missed: after !== undefined && after < this.#heldFrom,
    };
  }
}

function matcherOf({ kind, prefix, task }: EventsQuery): (event: StreamEvent) => boolean {
  const kinds = kind === undefined || kind.length === 0 ? undefined : new Set(kind);
  return (event) =>
    (kinds === undefined || kinds.has(event.kind)) &&
    (prefix === undefined || event.key.startsWith(prefix)) &&
    (task === undefined || event.task === task);
}

function shownGroup({ revision, seenMs, events: all }: Group, events: StreamEvent[], payload: boolean): StreamGroup {
  return {
    revision: revision.toString(),
    events: payload ? events : events.map(({ value: _value, cut: _cut, ...rest }) => rest),
    hidden: all.length - events.length,
    ...(seenMs === undefined ? {} : { seenMs }),
  };
}
