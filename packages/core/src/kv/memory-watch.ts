import { KvError, type KvEvent, type Revision, type WatchHandle, type WatchMessage, type WatchRequest } from './kv.js';
import type { LoggedRevision, Mvcc } from './memory-mvcc.js';
import { intervalOf, type Interval } from './txn-check.js';

/** Runs `run` later, never at once: after `delayMs`, or as soon as possible when 0. */
export type Schedule = (run: () => void, delayMs: number) => void;

export interface WatchHooks {
  readonly onMessage: (message: WatchMessage) => void;
  readonly schedule: Schedule;
  readonly onEnd: (watch: MemoryWatch) => void;
}

/** etcd catches a watcher up by so many revisions a message. */
const MAX_REVISIONS = 1000;

/**
 * One watch on the memory twin. It holds no queue, only a position in the store's log.
 *
 * 1. Messages come in order, one drain at a time, always from the scheduler.
 * 2. A message holds whole revisions.
 * 3. A compaction never costs a live watch an event: what it has not seen is taken out of the log first. A held one
 *    (its connection is a black hole) is told `compacted` instead, as etcd does with a watcher that cannot catch up.
 */
export class MemoryWatch implements WatchHandle {
  readonly #mvcc: Mvcc;
  readonly #request: WatchRequest;
  readonly #interval: Interval;
  readonly #onMessage: (message: WatchMessage) => void;
  readonly #schedule: Schedule;
  readonly #onEnd: (watch: MemoryWatch) => void;
  #next: Revision;
  #kept: KvEvent[] = [];
  #compactRevision: Revision | undefined;
  #cause: KvError | undefined;
  #progressWanted = false;
  #scheduled = false;
  #held: boolean;
  #ended = false;

  constructor(mvcc: Mvcc, request: WatchRequest, hooks: WatchHooks, held: boolean) {
    this.#mvcc = mvcc;
    this.#request = request;
    this.#interval = intervalOf(request.key, request.rangeEnd);
    this.#onMessage = hooks.onMessage;
    this.#schedule = hooks.schedule;
    this.#onEnd = hooks.onEnd;
    this.#held = held;
    this.#next = request.startRevision > 0n ? request.startRevision : mvcc.revision + 1n;
    this.#progressWanted = request.startRevision <= 0n;
    if (this.#next < mvcc.compacted) this.#compactRevision = mvcc.compacted;
    const { from, to } = this.#interval;
    if (to !== undefined && from >= to) this.#cause = new KvError('invalid', 'the range to watch is empty');
    this.notify();
  }

  /** The store has something new, or something was asked for. */
  notify(): void {
    if (this.#scheduled || this.#ended || this.#held) return;
    this.#scheduled = true;
    this.#schedule(() => this.#drain(), 0);
  }

  requestProgress(): void {
    this.#progressWanted = true;
    this.notify();
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#kept = [];
    this.#onEnd(this);
  }

  /** The connection broke: `closed` is the last message, and what was not handed on yet is not handed on. */
  fail(cause: KvError): void {
    this.#cause ??= cause;
    this.#held = false;
    this.notify();
  }

  hold(held: boolean): void {
    this.#held = held;
    if (!held) this.notify();
  }

  beforeCompaction(revision: Revision): void {
    if (this.#ended || this.#compactRevision !== undefined || this.#next > revision) return;
    if (this.#held) {
      if (this.#next < revision) this.#compactRevision = revision;
      return;
    }
    while (this.#next <= revision) this.#kept.push(...this.#take());
  }

  #drain(): void {
    this.#scheduled = false;
    if (this.#ended || this.#held) return;
    if (this.#cause !== undefined) return this.#last({ kind: 'closed', cause: this.#cause });
    if (this.#kept.length === 0 && this.#compactRevision !== undefined) {
      return this.#last({ kind: 'compacted', compactRevision: this.#compactRevision });
    }
    const kept = this.#kept;
    this.#kept = [];
    const events = kept.length > 0 ? kept : this.#take();
    const newest = events[events.length - 1];
    if (newest !== undefined) this.#onMessage({ kind: 'events', revision: newest.kv.modRevision, events });
    if (this.#ended) return;
    if (this.#next <= this.#mvcc.revision) return this.notify();
    if (this.#progressWanted) {
      this.#progressWanted = false;
      this.#onMessage({ kind: 'progress', revision: this.#mvcc.revision });
    }
  }

  /** Moves on through the log and returns the events of the range, up to `MAX_REVISIONS` revisions. */
  #take(): KvEvent[] {
    const events: KvEvent[] = [];
    if (this.#next > this.#mvcc.revision) return events;
    const revisions = this.#mvcc.revisionsFrom(this.#next, MAX_REVISIONS);
    for (const logged of revisions) this.#select(logged, events);
    const last = revisions.length < MAX_REVISIONS ? undefined : revisions[revisions.length - 1];
    this.#next = (last?.revision ?? this.#mvcc.revision) + 1n;
    return events;
  }

  #select({ revision, events }: LoggedRevision, into: KvEvent[]): void {
    const { from, to } = this.#interval;
    const { prevKv, filter } = this.#request;
    const withPrev = prevKv === true && revision - 1n >= this.#mvcc.compacted;
    for (const { at, event, prev } of events) {
      if (at < from || (to !== undefined && at >= to)) continue;
      if (filter !== undefined && filter === `no-${event.type}`) continue;
      into.push(withPrev && prev !== undefined ? { ...event, prev } : event);
    }
  }

  #last(message: WatchMessage): void {
    this.close();
    this.#onMessage(message);
  }
}
