/** Ends what must have started, or must have ended, by now. Sleeps until the next deadline. */
import type { Service } from '../runtime/service.js';
import { expireDue, nextDeadlineMs } from '../store/expire.js';
import type { FeedBatch } from '../store/feed.js';
import { Duty } from './duty.js';
import type { Term } from './term.js';

const HORIZON_MS = 15_000;
/** While something past its time cannot be ended yet (a waiting member, a handler that does not stop). */
const LEFT_MS = 5_000;

export class Expirer implements Service {
  readonly #term: Term;
  readonly #duty: Duty;
  #nextMs = Infinity;
  #passing = false;

  constructor(term: Term) {
    this.#term = term;
    this.#duty = new Duty(term, {
      name: 'expirer',
      intervalMs: HORIZON_MS,
      pass: (signal) => this.#pass(signal),
      watch: {
        ranges: [{ prefix: term.store.keys.kind('deadlines') }],
        filter: 'no-delete',
        replace: () => this.#duty.wake(),
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

  async #pass(signal: AbortSignal): Promise<number> {
    const { store, leadership } = this.#term;
    this.#passing = true;
    this.#nextMs = Infinity;
    try {
      const beganMs = store.now();
      const { left, drives } = await expireDue(store, leadership, signal);
      for (const drive of drives) this.#term.drive(drive);
      const read = await nextDeadlineMs(store, beganMs, HORIZON_MS);
      this.#nextMs = Math.min(this.#nextMs, read ?? Infinity);
      const waitMs = Math.max(0, this.#nextMs - store.now());
      return left > 0 ? Math.min(waitMs, LEFT_MS) : waitMs;
    } finally {
      this.#passing = false;
    }
  }

  #heard({ events }: FeedBatch): void {
    let earliest = Infinity;
    for (const { kv } of events) {
      const entry = this.#term.store.keys.parse(kv.key);
      if (entry?.kind === 'deadlines') earliest = Math.min(earliest, entry.timeMs);
    }
    if (earliest >= this.#nextMs) return;
    this.#nextMs = earliest;
    if (!this.#passing) this.#duty.wake();
  }
}
