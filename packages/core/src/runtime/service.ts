/**
 * The one lifecycle.
 *
 * 1. `start` and `stop` may be called any number of times, in any order; each does its work once, and every caller waits
 *    for it. Nothing starts after a stop.
 * 2. `stop` waits until everything that was begun is over, also a start that is under way.
 * 3. The service's signal aborts at the beginning of a stop, or with the signal that was given to `start`.
 */
import { LeaseholdError } from '../model/errors.js';

export interface Service {
  /** Resolves when it works. An abort of `signal` stops it. */
  start(signal?: AbortSignal): Promise<void>;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

export interface Phases {
  readonly name: string;
  /** Begins its work; whatever goes on afterwards heeds `signal`. */
  begin(signal: AbortSignal): Promise<void> | void;
  /** Ends what `begin` made, also when `begin` failed half-way. The signal is aborted already. */
  end(): Promise<void> | void;
}

/** The bookkeeping of one service. */
export class Lifecycle implements Service {
  readonly #phases: Phases;
  readonly #controller = new AbortController();
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(phases: Phases) {
    this.#phases = phases;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get started(): boolean {
    return this.#starting !== undefined && this.#stopping === undefined;
  }

  start(signal?: AbortSignal): Promise<void> {
    if (this.#stopping !== undefined && this.#starting === undefined) {
      return Promise.reject(new LeaseholdError('closed', `${this.#phases.name} was stopped before it was started`));
    }
    if (signal !== undefined) this.#follow(signal);
    this.#starting ??= Promise.resolve().then(() => this.#phases.begin(this.signal));
    return this.#starting;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  #follow(signal: AbortSignal): void {
    const stop = (): void => void this.stop().catch(() => undefined);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    this.signal.addEventListener('abort', () => signal.removeEventListener('abort', stop), { once: true });
  }

  async #stop(): Promise<void> {
    this.#controller.abort(new LeaseholdError('closed', `${this.#phases.name} is stopping`));
    if (this.#starting === undefined) return;
    // Who started it is told of a failure; here it only matters that it is over.
    await this.#starting.catch(() => undefined);
    await this.#phases.end();
  }
}
