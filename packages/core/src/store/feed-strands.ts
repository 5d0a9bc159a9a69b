/**
 * The watches of one feed, one for each range, woven into one sequence of whole revisions.
 *
 * S1  With several ranges, an event is handed on when every strand is known to be past its revision; strands that lag are
 *     asked for progress. So a transaction that touches two ranges arrives as one (I10).
 * S2  Each strand remembers up to where its events were handed on, and resumes right behind that (F2).
 * S3  The first strand that ends ends them all. `end` comes once, and nothing after it.
 * S4  Releases of etcd whose progress proves nothing (before 3.4.25 and 3.5.8) would hold events back for ever: after a
 *     grace they are handed on without waiting for the lagging strands.
 */
import type { Kv, KvError, KvEvent, Revision, WatchHandle, WatchMessage } from '../kv/kv.js';
import type { Clock, Timer } from '../runtime/clock.js';
import type { FeedBatch } from './feed.js';

export type StrandEnd =
  { readonly kind: 'closed'; readonly cause: KvError } | { readonly kind: 'compacted' | 'consumer-failed' };

export interface StrandHooks {
  /** May throw: the feed then lists again. */
  batch(batch: FeedBatch): void;
  /** Something was heard; `position` may have moved. */
  heard(): void;
  /** Progress named a revision before what was handed on: a member that lags, or a store that went back. */
  lags(): void;
  end(end: StrandEnd): void;
}

interface Strand {
  readonly key: string;
  readonly rangeEnd?: string;
  handle: WatchHandle | undefined;
  /** Everything up to here was handed on. */
  delivered: Revision;
  /** Everything up to here was received. */
  received: Revision;
  waiting: KvEvent[];
}

interface OpenOptions {
  readonly clock: Clock;
  readonly filter?: 'no-put' | 'no-delete';
  readonly prevKv?: boolean;
}

const GRACE_MS = 250;

export class Strands {
  readonly #strands: readonly Strand[];
  #hooks: StrandHooks | undefined;
  #clock: Clock | undefined;
  #grace: Timer | undefined;

  constructor(ranges: readonly { readonly key: string; readonly rangeEnd?: string }[], revision: Revision) {
    this.#strands = ranges.map((range) => ({
      ...range,
      handle: undefined,
      delivered: revision,
      received: revision,
      waiting: [],
    }));
  }

  /** Everything up to here was handed on. */
  get position(): Revision {
    return least(this.#strands, (strand) => strand.delivered);
  }

  open(kv: Kv, options: OpenOptions, hooks: StrandHooks): void {
    this.#hooks = hooks;
    this.#clock = options.clock;
    for (const strand of this.#strands) {
      strand.waiting = [];
      strand.received = strand.delivered;
    }
    for (const strand of this.#strands) {
      const request = {
        key: strand.key,
        startRevision: strand.delivered + 1n,
        ...(strand.rangeEnd === undefined ? {} : { rangeEnd: strand.rangeEnd }),
        ...(options.filter === undefined ? {} : { filter: options.filter }),
        ...(options.prevKv === undefined ? {} : { prevKv: options.prevKv }),
      };
      strand.handle = kv.watch(request, (message) => {
        if (this.#hooks === hooks) this.#receive(strand, message);
      });
    }
  }

  requestProgress(): void {
    for (const { handle } of this.#strands) handle?.requestProgress();
  }

  close(): void {
    this.#hooks = undefined;
    this.#grace?.cancel();
    this.#grace = undefined;
    for (const strand of this.#strands) {
      strand.handle?.close();
      strand.handle = undefined;
    }
  }

  #receive(strand: Strand, message: WatchMessage): void {
    switch (message.kind) {
      case 'compacted':
        return this.#end({ kind: 'compacted' });
      case 'closed':
        return this.#end({ kind: 'closed', cause: message.cause });
      case 'progress':
        if (message.revision < strand.delivered) return this.#hooks?.lags();
        strand.received = message.revision > strand.received ? message.revision : strand.received;
        break;
      case 'events':
        strand.received = message.revision;
        strand.waiting = strand.waiting.length === 0 ? [...message.events] : [...strand.waiting, ...message.events];
    }
    this.#handOn();
  }

  #handOn(): void {
    const floor = least(this.#strands, (strand) => strand.received);
    if (this.#deliver(floor)) {
      this.#hooks?.heard();
      this.#askLaggards(floor);
    }
  }

  /** Hands on everything up to `floor`. False when the consumer failed. */
  #deliver(floor: Revision): boolean {
    const events = this.#take(floor);
    for (const strand of this.#strands) if (floor > strand.delivered) strand.delivered = floor;
    if (events.length === 0) return true;
    try {
      this.#hooks?.batch({ revision: floor, events });
      return this.#hooks !== undefined;
    } catch {
      this.#end({ kind: 'consumer-failed' });
      return false;
    }
  }

  #take(floor: Revision): readonly KvEvent[] {
    const [only] = this.#strands;
    if (this.#strands.length === 1 && only !== undefined) {
      const events = only.waiting;
      only.waiting = [];
      return events;
    }
    const taken: KvEvent[] = [];
    for (const strand of this.#strands) {
      const end = strand.waiting.findIndex(({ kv }) => kv.modRevision > floor);
      const part = end === -1 ? strand.waiting : strand.waiting.slice(0, end);
      strand.waiting = end === -1 ? [] : strand.waiting.slice(end);
      taken.push(...part);
    }
    // Stable, so that the order of one revision's events is that of the ranges.
    return taken.sort((a, b) =>
      a.kv.modRevision < b.kv.modRevision ? -1 : a.kv.modRevision > b.kv.modRevision ? 1 : 0,
    );
  }

  #askLaggards(floor: Revision): void {
    if (!this.#strands.some(({ waiting }) => waiting.length > 0)) {
      this.#grace?.cancel();
      this.#grace = undefined;
      return;
    }
    for (const strand of this.#strands) if (strand.received === floor) strand.handle?.requestProgress();
    this.#grace ??= this.#clock?.setTimer(GRACE_MS, () => this.#giveUpWaiting());
  }

  /** S4 */
  #giveUpWaiting(): void {
    this.#grace = undefined;
    const events = this.#strands.flatMap(({ waiting }) => waiting);
    if (events.length === 0) return;
    for (const strand of this.#strands) {
      if (strand.waiting.length > 0) strand.delivered = strand.received;
      strand.waiting = [];
    }
    events.sort((a, b) => (a.kv.modRevision < b.kv.modRevision ? -1 : a.kv.modRevision > b.kv.modRevision ? 1 : 0));
    try {
      this.#hooks?.batch({ revision: this.position, events });
      this.#hooks?.heard();
    } catch {
      this.#end({ kind: 'consumer-failed' });
    }
  }

  #end(end: StrandEnd): void {
    const hooks = this.#hooks;
    if (hooks === undefined) return;
    this.close();
    hooks.end(end);
  }
}

function least(strands: readonly Strand[], read: (strand: Strand) => Revision): Revision {
  let low: Revision | undefined;
  for (const strand of strands) {
    const value = read(strand);
    if (low === undefined || value < low) low = value;
  }
  return low ?? 0n;
}
