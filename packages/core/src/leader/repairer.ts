/**
 * Drives workflows on when whoever had to do it is gone.
 *
 * A transaction that leaves something to do writes a chore, and its author sees to it at once; the last member of a join
 * sees that it was the last. So in peace there is nothing to do here. The repairer looks after a grace period whether it
 * was done, and drives what was not (level-triggered: `advance` reads what is there). One that gets nowhere is left alone
 * until the next scan, told in the health of the leader, and holds up no other.
 */
import { isLeaseholdError } from '../model/errors.js';
import type { Service } from '../runtime/service.js';
import { advance } from '../store/drive.js';
import type { FeedBatch } from '../store/feed.js';
import type { Drive } from '../store/settle.js';
import { findUndriven, hasChores } from '../store/undriven.js';
import { Duty } from './duty.js';
import type { Term } from './term.js';

export interface RepairerOptions {
  /** How long a chore is left to its author; ten times as long one that writes all members. Default 1500 ms. */
  readonly graceMs?: number;
  /** How often everything is looked at without a reason. Default 60000 ms. */
  readonly scanEveryMs?: number;
}

const AT_ONCE = 16;

/** Chores whose author may be at work for long. */
const LONG_CHORES: ReadonlySet<string> = new Set(['unfold', 'start', 'reopen']);
const LONG_FACTOR = 10;

interface Mark {
  readonly fromMs: number;
  /** Drive it without looking for chores first. */
  readonly drive: Drive | string | undefined;
}

export class Repairer implements Service {
  readonly #term: Term;
  readonly #duty: Duty;
  readonly #options: Required<RepairerOptions>;
  readonly #marks = new Map<string, Mark>();
  /** Workflows that could not be driven on the last time. */
  readonly #stuck = new Set<string>();
  #scanAt = 0;
  #repaired = 0;

  constructor(term: Term, options: RepairerOptions = {}) {
    this.#term = term;
    this.#options = { graceMs: 1_500, scanEveryMs: 60_000, ...options };
    this.#duty = new Duty(term, {
      name: 'repairer',
      intervalMs: this.#options.scanEveryMs,
      pass: (signal) => this.#pass(signal),
      watch: {
        ranges: [{ prefix: term.store.keys.kind('chores') }],
        filter: 'no-delete',
        replace: () => this.scanSoon(),
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

  health(): { repaired: number; stuck: number } {
    return { repaired: this.#repaired, stuck: this.#stuck.size };
  }

  /** Drives a workflow now: this leader itself left something to do there. */
  drive(drive: Drive): void {
    const before = this.#marks.get(drive.workflow);
    const joined = before?.drive === undefined ? drive : drive.workflow;
    this.#marks.set(drive.workflow, { fromMs: this.#term.clock.monotonic(), drive: joined });
    this.#duty.wake();
  }

  /** Somebody who may have had something to do is gone. */
  scanSoon(): void {
    this.#scanAt = this.#term.clock.monotonic();
    this.#duty.wake();
  }

  #heard({ events }: FeedBatch): void {
    const { store, clock } = this.#term;
    const now = clock.monotonic();
    for (const { kv } of events) {
      const entry = store.keys.parse(kv.key);
      if (entry?.kind !== 'chores' || this.#marks.has(entry.id)) continue;
      // Writing ten thousand members takes seconds: two who write the same would only be in each other's way.
      const graceMs = this.#options.graceMs * (LONG_CHORES.has(entry.chore) ? LONG_FACTOR : 1);
      this.#marks.set(entry.id, { fromMs: now + graceMs, drive: undefined });
    }
    this.#duty.wake();
  }

  async #pass(signal: AbortSignal): Promise<number> {
    const { clock, store } = this.#term;
    const beganAt = clock.monotonic();
    if (beganAt >= this.#scanAt) {
      this.#scanAt = beganAt + this.#options.scanEveryMs;
      for await (const ids of findUndriven(store)) {
        for (const id of ids) if (!this.#marks.has(id)) this.#marks.set(id, { fromMs: beganAt, drive: id });
        if (signal.aborted) return 0;
      }
    }
    await this.#driveDue(signal);
    const next = Math.min(this.#scanAt, ...[...this.#marks.values()].map(({ fromMs }) => fromMs));
    return Math.max(0, next - clock.monotonic());
  }

  async #driveDue(signal: AbortSignal): Promise<void> {
    const now = this.#term.clock.monotonic();
    const due = [...this.#marks].filter(([, { fromMs }]) => fromMs <= now);
    for (let at = 0; at < due.length && !signal.aborted; at += AT_ONCE) {
      const driving = Promise.all(due.slice(at, at + AT_ONCE).map(([id, mark]) => this.#driveOne(id, mark)));
      // A driver that the fence refuses gets nowhere: a term that is over does not wait for it.
      driving.catch(() => undefined);
      await orAborted(driving, signal);
    }
  }

  async #driveOne(id: string, mark: Mark): Promise<void> {
    const { store, leadership, clock, logger } = this.#term;
    const left = mark.drive ?? ((await hasChores(store, id)) ? id : undefined);
    let stuck = false;
    try {
      if (left !== undefined) {
        await advance(store, leadership.actor, left, leadership.fence);
        this.#repaired++;
      }
    } catch (error) {
      if (!isLeaseholdError(error, 'conflict') && !isLeaseholdError(error, 'unreadable')) throw error;
      logger.error('a workflow cannot be driven on', { workflow: id, error });
      stuck = true;
    }
    if (stuck) this.#stuck.add(id);
    else this.#stuck.delete(id);
    // A mark that was set meanwhile stays.
    if (this.#marks.get(id) !== mark) return;
    if (stuck) this.#marks.set(id, { fromMs: clock.monotonic() + this.#options.scanEveryMs, drive: id });
    else this.#marks.delete(id);
  }
}

/** As `work`, or at once when the signal aborts. The signal lives longer than any pass: nothing of one stays on it. */
function orAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = (then: () => void): void => {
      signal.removeEventListener('abort', stop);
      then();
    };
    const stop = (): void => end(resolve);
    signal.addEventListener('abort', stop, { once: true });
    work.then(stop, (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))));
  });
}
