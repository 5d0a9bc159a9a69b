/**
 * Past boards, shared by whoever looks at the same revision.
 *
 * P1  At most `KEPT` are in memory, held or not; a further one waits for none, it is refused while all are held.
 * P2  One is read at a time: each is a read of the whole board.
 * P3  One that nobody holds is forgotten after `IDLE_MS`.
 */
import { LeaseholdError } from '@leasehold/core/model';
import { KvError } from '@leasehold/core/kv';
import type { Clock } from '@leasehold/core';
import type { FeedRange, Store } from '@leasehold/core/store';
import { ProblemError } from '../rest/problems.js';
import { compactionFloor } from './clock-samples.js';
import { readPastBoard, type PastBoard } from './past-board.js';

const KEPT = 4;
const IDLE_MS = 120_000;

export interface HeldPast {
  readonly board: PastBoard;
  /** Idempotent. */
  release(): void;
}

interface Entry {
  readonly board: Promise<PastBoard>;
  users: number;
  /** Grows with every use, so the least lately used is forgotten first. */
  usedAt: number;
  idle?: { cancel(): void };
}

export interface PastsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ranges: readonly FeedRange[];
}

export class Pasts {
  readonly #options: PastsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #stopping = new AbortController();
  #reading: Promise<unknown> = Promise.resolve();
  #uses = 0;

  constructor(options: PastsOptions) {
    this.#options = options;
  }

  /**
   * The board at a revision. Give it back with `release`.
   * @throws ProblemError `compacted` (with the floor) · LeaseholdError `invalid` (a revision still to come), `unavailable`
   *   (too many others are looked at)
   */
  async hold(revision: string): Promise<HeldPast> {
    const entry = this.#entries.get(revision) ?? this.#begin(revision);
    entry.users++;
    entry.usedAt = ++this.#uses;
    entry.idle?.cancel();
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      this.#release(revision, entry);
    };
    try {
      return { board: await entry.board, release };
    } catch (error) {
      release();
      throw await this.#explained(error, revision);
    }
  }

  /** Reads from a board and gives it back. */
  async with<T>(revision: string, read: (board: PastBoard) => T | Promise<T>): Promise<T> {
    const { board, release } = await this.hold(revision);
    try {
      return await read(board);
    } finally {
      release();
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  close(): void {
    this.#stopping.abort();
    for (const { idle } of this.#entries.values()) idle?.cancel();
    this.#entries.clear();
  }

  #begin(revision: string): Entry {
    this.#makeRoom();
    const { store, ranges } = this.#options;
    const { signal } = this.#stopping;
    const board = this.#reading.then(() => readPastBoard(store, ranges, BigInt(revision), signal));
    this.#reading = board.catch(() => undefined);
    const entry: Entry = { board, users: 0, usedAt: 0 };
    this.#entries.set(revision, entry);
    board.catch(() => this.#forget(revision, entry));
    return entry;
  }

  /** P1. */
  #makeRoom(): void {
    if (this.#entries.size < KEPT) return;
    const [oldest] = [...this.#entries]
      .filter(([, { users }]) => users === 0)
      .sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest === undefined) {
      throw new LeaseholdError(
        'unavailable',
        `${KEPT} other revisions are being looked at; try again when one of them is closed`,
        { limit: KEPT },
      );
    }
    this.#forget(...oldest);
  }

  #release(revision: string, entry: Entry): void {
    entry.users--;
    if (entry.users > 0 || this.#stopping.signal.aborted) return;
    entry.idle = this.#options.clock.setTimer(IDLE_MS, () => this.#forget(revision, entry));
  }

  #forget(revision: string, entry: Entry): void {
    entry.idle?.cancel();
    if (this.#entries.get(revision) === entry) this.#entries.delete(revision);
  }

  async #explained(error: unknown, revision: string): Promise<unknown> {
    if (!(error instanceof KvError)) return error;
    if (error.code === 'future-revision') {
      return new LeaseholdError('invalid', `rev: revision ${revision} is still to come`, { field: 'rev', revision });
    }
    if (error.code !== 'compacted') return error;
    const floor = await compactionFloor(this.#options.store);
    const since = floor === undefined ? '' : `; the oldest that is left is ${floor}`;
    return new ProblemError('compacted', `revision ${revision} was compacted away${since}`, {
      revision,
      ...(floor === undefined ? {} : { floor: floor.toString() }),
    });
  }
}
