/**
 * Settles attempts whose node is gone, when no claimer takes them over.
 *
 * 1. A node's end is seen by the watch; the locks that went with it are read from the revision before.
 * 2. Claimers come first: a lost attempt is left to them for a grace period.
 * 3. At the beginning of a term, after a gap in the watch, and once in a while everything is looked at (R1).
 */
import type { Service } from '../runtime/service.js';
import type { FeedBatch, Revision } from '../store/feed.js';
import { findUnlocked, locksLostAt, rescueTask } from '../store/rescue.js';
import { Duty } from './duty.js';
import type { Term } from './term.js';

export interface RescuerOptions {
  /** How long a lost attempt is left to claimers. Default 1000 ms. */
  readonly graceMs?: number;
  /** How often everything is looked at without a reason. Default 60000 ms. */
  readonly scanEveryMs?: number;
  /** Told of each node that is gone. */
  readonly onNodeLost?: (node: string) => void;
}

const AT_ONCE = 128;

export class Rescuer implements Service {
  readonly #term: Term;
  readonly #duty: Duty;
  readonly #options: Required<RescuerOptions>;
  #lostNodes: { readonly node: string; readonly revision: Revision }[] = [];
  /** Task id to the monotonic time from which on it is rescued. */
  readonly #lost = new Map<string, number>();
  #scanAt = 0;
  #rescued = 0;

  constructor(term: Term, options: RescuerOptions = {}) {
    this.#term = term;
    this.#options = { graceMs: 1_000, scanEveryMs: 60_000, onNodeLost: () => undefined, ...options };
    this.#duty = new Duty(term, {
      name: 'rescuer',
      intervalMs: this.#options.scanEveryMs,
      pass: (signal) => this.#pass(signal),
      watch: {
        ranges: [{ prefix: term.store.keys.kind('nodes') }],
        filter: 'no-put',
        replace: () => this.#scanSoon(),
        change: (batch) => this.#heard(batch),
      },
    });
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#duty.start(signal);
  }

  stop(): Promise<void> {
    return this.#duty.stop();
  }

  health(): { rescued: number } {
    return { rescued: this.#rescued };
  }

  #scanSoon(): void {
    this.#scanAt = 0;
    this.#duty.wake();
  }

  #heard({ events }: FeedBatch): void {
    for (const { kv } of events) {
      const entry = this.#term.store.keys.parse(kv.key);
      if (entry?.kind !== 'nodes') continue;
      this.#lostNodes.push({ node: entry.id, revision: kv.modRevision });
      this.#options.onNodeLost(entry.id);
    }
    this.#duty.wake();
  }

  async #pass(signal: AbortSignal): Promise<number> {
    const { clock } = this.#term;
    await this.#readLostNodes();
    if (clock.monotonic() >= this.#scanAt) await this.#scan(signal);
    await this.#rescueDue(signal);
    const next = Math.min(this.#scanAt, ...this.#lost.values());
    return Math.max(0, next - clock.monotonic());
  }

  async #readLostNodes(): Promise<void> {
    while (this.#lostNodes.length > 0) {
      const [lost] = this.#lostNodes;
      if (lost === undefined) return;
      const ids = await locksLostAt(this.#term.store, lost.node, lost.revision);
      this.#lostNodes = this.#lostNodes.slice(1);
      if (ids === undefined) this.#scanAt = 0;
      else for (const id of ids) this.#note(id);
    }
  }

  #note(id: string): void {
    if (!this.#lost.has(id)) this.#lost.set(id, this.#term.clock.monotonic() + this.#options.graceMs);
  }

  async #scan(signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#term;
    const beganAt = clock.monotonic();
    for await (const ids of findUnlocked(store)) {
      for (const id of ids) this.#note(id);
      if (signal.aborted) return;
    }
    // A large store is looked through less often.
    const tookMs = clock.monotonic() - beganAt;
    this.#scanAt = clock.monotonic() + Math.max(this.#options.scanEveryMs, tookMs * 50);
  }

  async #rescueDue(signal: AbortSignal): Promise<void> {
    const { store, leadership, clock, logger } = this.#term;
    const now = clock.monotonic();
    const due = [...this.#lost].filter(([, fromMs]) => fromMs <= now).map(([id]) => id);
    for (let at = 0; at < due.length && !signal.aborted; at += AT_ONCE) {
      const batch = due.slice(at, at + AT_ONCE);
      const results = await Promise.all(batch.map((id) => rescueTask(store, leadership, id)));
      for (const id of batch) this.#lost.delete(id);
      for (const { outcome, drive } of results) {
        if (outcome !== 'left') this.#rescued++;
        if (drive !== undefined) this.#term.drive(drive);
      }
    }
    if (due.length > 0)
      logger.debug('rescuer: looked at lost attempts', { looked: due.length, rescued: this.#rescued });
  }
}
