/**
 * One followed window, by state and not by events: what was sent last is remembered, and a flush sends the difference to
 * what is now. So there is no backlog: whoever is slow or hidden gets one change, from what he has to what is.
 *
 * S1  At most one message is unacknowledged. One that stays so is followed by a fresh snapshot.
 * S2  The first change after quiet goes at once, further ones at most every `everyMs`.
 * S3  Frozen: the list is the one that was there when it froze; arrivals are counted by the ids that entered since.
 */
import {
  diffViews,
  type AnyRow,
  type Change,
  type LiveQuery,
  type LiveView,
  type Snapshot,
  type Window,
} from '@leasehold/wire';
import type { BoardView } from '../projection/board-view.js';
import type { ListSnapshot } from '../projection/sorted-list.js';
import type { Followed } from '../projection/views.js';
import type { Clock } from '@leasehold/core';

export type Outgoing =
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot<AnyRow> }
  | { readonly kind: 'change'; readonly change: Change<AnyRow> };

export interface SubscriptionOptions {
  readonly sub: string;
  readonly query: LiveQuery;
  readonly frozen: boolean;
  /** Whether rows show what tasks carry. */
  readonly payload: boolean;
  readonly board: Pick<BoardView, 'views' | 'generation' | 'revision' | 'applying'>;
  readonly clock: Clock;
  readonly everyMs: number;
  /** Sends one message; `done(false)` when it was not acknowledged in time. */
  readonly send: (message: Outgoing, done: (acknowledged: boolean) => void) => void;
}

/** A frozen list, and what entered and left since. */
interface Held {
  readonly list: ListSnapshot;
  readonly arrived: Set<string>;
  readonly left: Set<string>;
  readonly stop: () => void;
}

export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #followed: Followed;
  #window: Window;
  #held: Held | undefined;
  #sent: LiveView<AnyRow> | undefined;
  #unacknowledged = false;
  #dirty = true;
  #hidden = false;
  #closed = false;
  #sentAt = -Infinity;
  #timer: { cancel(): void } | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#window = options.query.window;
    this.#followed = options.board.views.follow(options.query, options.payload);
    if (options.frozen) this.#held = this.#hold();
  }

  /** Rows may differ now. */
  changed(): void {
    this.#dirty = true;
    this.#schedule();
  }

  freeze(frozen: boolean): void {
    if (frozen === (this.#held !== undefined)) return;
    this.#letGo();
    if (frozen) this.#held = this.#hold();
    this.#atOnce();
  }

  release(): void {
    if (this.#held === undefined) return;
    this.#letGo();
    this.#held = this.#hold();
    this.#atOnce();
  }

  move(window: Window): void {
    this.#window = window;
    this.#atOnce();
  }

  hide(hidden: boolean): void {
    this.#hidden = hidden;
    if (!hidden) this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#letGo();
    this.#followed.release();
  }

  #hold(): Held {
    const arrived = new Set<string>();
    const left = new Set<string>();
    // At the moment of freezing the list is the held one, so the events alone say what is new (S3).
    const stop = this.#followed.list.onMembership((id, entered) => {
      const [undone, noted] = entered ? [left, arrived] : [arrived, left];
      if (!undone.delete(id)) noted.add(id);
    });
    return { list: this.#followed.list.snapshot(), arrived, left, stop };
  }

  #letGo(): void {
    this.#held?.stop();
    this.#held = undefined;
  }

  /** Somebody asked for it: not held back by the pace. */
  #atOnce(): void {
    this.#sentAt = -Infinity;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.changed();
  }

  #schedule(): void {
    if (!this.#dirty || this.#unacknowledged || this.#hidden || this.#closed || this.#timer !== undefined) return;
    const { clock, everyMs } = this.#options;
    const waitMs = this.#sentAt + everyMs - clock.monotonic();
    if (waitMs <= 0) return this.#flush();
    this.#timer = clock.setTimer(waitMs, () => {
      this.#timer = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    // While a list is applied: whoever applies it tells of the change afterwards.
    if (this.#closed || this.#hidden || this.#unacknowledged || this.#options.board.applying) return;
    const message = this.#next();
    this.#dirty = false;
    if (message === undefined) return;
    this.#sentAt = this.#options.clock.monotonic();
    this.#unacknowledged = true;
    this.#options.send(message, (acknowledged) => {
      this.#unacknowledged = false;
      if (!acknowledged) {
        this.#sent = undefined; // Nobody knows what he has: a snapshot next (S1).
        this.#dirty = true;
      }
      this.#schedule();
    });
  }

  #next(): Outgoing | undefined {
    const fresh = this.#fresh();
    const before = this.#sent;
    if (before === undefined || before.generation !== fresh.generation) {
      this.#sent = fresh;
      return { kind: 'snapshot', snapshot: fresh };
    }
    const change = diffViews(before, fresh);
    if (change === undefined) return undefined;
    this.#sent = { ...fresh, seq: change.seq };
    return { kind: 'change', change };
  }

  /** The window as it is now (wire L1 compares against this). */
  #fresh(): LiveView<AnyRow> {
    const { board, sub } = this.#options;
    const held = this.#held;
    const list = held?.list ?? this.#followed.list;
    const { offset, limit } = this.#window;
    const rows = list.slice(offset, limit).flatMap(({ id }) => this.#followed.row(id) ?? []);
    return {
      sub,
      seq: 0,
      generation: board.generation,
      revision: board.revision,
      rows,
      offset,
      total: list.size,
      newCount: held?.arrived.size ?? 0,
      frozen: held !== undefined,
      departed: held === undefined ? [] : rows.filter(({ id }) => !this.#followed.matches(id)).map(({ id }) => id),
    };
  }
}
