/**
 * Works on the bulks of its namespace while it holds the runner's office (core `store/bulk-run`). Every gateway has one; the
 * office is held by one at a time, and goes to another when its lease ends.
 *
 * It looks when the board shows a bulk that has not ended, and reads the record itself before each chunk: the board only
 * wakes it.
 */

import { isBulkEnded, isLeaseholdError } from '@leasehold/core/model';
import {
  advance,
  loopRenewer,
  readBulk,
  runChunk,
  sweepBulks,
  takeRunner,
  type Fence,
  type Renewer,
  type Store,
} from '@leasehold/core/store';
import { Loop, type Clock, type Logger } from '@leasehold/core';
import type { Board } from '../projection/board.js';

const LEASE_TTL_S = 10;
const LEASE_MARGIN_MS = 1_000;
/** How often it is tried whether the office has become free. */
const TRY_EVERY_MS = 1_000;
const CATCH_UP_MS = 250;
const SWEEP_EVERY_MS = 3_600_000;

export interface BulkRunnerOptions {
  readonly board: Board;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Rest between two chunks, ms. */
  readonly paceMs?: number;
}

interface Office {
  readonly lease: bigint;
  readonly fence: Fence;
  readonly renewer: Renewer;
}

export class BulkRunner {
  readonly #options: BulkRunnerOptions;
  readonly #loop: Loop;
  #office: Office | undefined;
  #sweptMs = -Infinity;
  #unfollow: (() => void) | undefined;

  constructor(options: BulkRunnerOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#loop = new Loop({ name: 'bulk-runner', clock, logger, pass: (signal) => this.#pass(signal) });
  }

  async start(): Promise<void> {
    this.#unfollow = this.#options.board.onChange(() => {
      if (this.#open().length > 0) this.#loop.wake();
    });
    await this.#loop.start();
  }

  /** Resolves when the chunk under way is over; gives the office up. Idempotent. */
  async stop(): Promise<void> {
    this.#unfollow?.();
    await this.#loop.stop();
    await this.#leave();
  }

  /** Ids of bulks that have not ended, the oldest first. */
  #open(): string[] {
    const open: string[] = [];
    for (const [id, { record }] of this.#options.board.state.bulks) if (!isBulkEnded(record)) open.push(id);
    return open.sort();
  }

  async #pass(signal: AbortSignal): Promise<number | void> {
    if (this.#open().length === 0) return this.#leave();
    const office = await this.#enter();
    if (office === undefined) return TRY_EVERY_MS;
    try {
      for (let open = this.#open(); open.length > 0 && !signal.aborted; open = this.#open()) {
        for (const id of open) if (!signal.aborted) await this.#chunk(office.fence, id, signal);
      }
      await this.#sweep(office.fence);
    } catch (error) {
      await this.#leave();
      if (!isLeaseholdError(error, 'session-lost')) throw error;
      return TRY_EVERY_MS;
    }
    return this.#open().length === 0 ? this.#leave() : TRY_EVERY_MS;
  }

  /** One chunk of each in turn, so that a long bulk holds up nobody's short one. */
  async #chunk(fence: Fence, id: string, signal: AbortSignal): Promise<void> {
    const { store, clock, logger, paceMs = 0 } = this.#options;
    const seen = await readBulk(store, id);
    if (seen === undefined || isBulkEnded(seen.record)) return this.#caughtUp(seen?.revision, signal);
    const { bulk, drives } = await runChunk(store, fence, seen);
    for (const drive of drives) {
      advance(store, seen.record.actor, drive).catch((error: unknown) => {
        logger.warn('bulk-runner: a workflow could not be driven on; the leader will', { id, error });
      });
    }
    await this.#caughtUp(bulk?.revision, signal);
    if (paceMs > 0) await clock.sleep(paceMs, signal);
  }

  /** A bulk does not run away from those who watch it: the board has a chunk, or a moment to get it, before the next. */
  async #caughtUp(revision: bigint | undefined, signal: AbortSignal): Promise<void> {
    if (revision === undefined) return;
    const { board, clock } = this.#options;
    await Promise.race([board.reached(revision), clock.sleep(CATCH_UP_MS, signal)]);
  }

  async #enter(): Promise<Office | undefined> {
    const { store, clock } = this.#options;
    if (this.#office?.renewer.gone === false) return this.#office;
    await this.#leave();
    const renewer = await loopRenewer(clock, store.kv);
    const sentAtMs = clock.monotonic();
    const { id: lease, ttlS } = await store.kv.leaseGrant(LEASE_TTL_S);
    const fence = await takeRunner(store, lease);
    if (fence === undefined) {
      await store.kv.leaseRevoke(lease, { timeoutMs: 1_000 });
      return undefined;
    }
    renewer.begin({ id: lease, window: { sentAtMs, ttlMs: ttlS * 1_000, marginMs: LEASE_MARGIN_MS } });
    this.#office = { lease, fence, renewer };
    return this.#office;
  }

  /** The lease takes the key with it; should that fail, its end will. */
  async #leave(): Promise<void> {
    const office = this.#office;
    if (office === undefined) return;
    this.#office = undefined;
    await office.renewer.close();
    await this.#options.store.kv.leaseRevoke(office.lease, { timeoutMs: 1_000 }).catch(() => undefined);
  }

  async #sweep(fence: Fence): Promise<void> {
    const nowMs = this.#options.clock.monotonic();
    if (nowMs - this.#sweptMs < SWEEP_EVERY_MS) return;
    this.#sweptMs = nowMs;
    await sweepBulks(this.#options.store, fence);
  }
}
