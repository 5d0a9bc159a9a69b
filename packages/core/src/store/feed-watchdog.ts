import type { Clock, Timer } from '../runtime/clock.js';

export interface WatchdogOptions {
  readonly clock: Clock;
  /** Ask after so long without a word. */
  readonly quietMs: number;
  /** Give up so long after having asked. */
  readonly silentMs: number;
  readonly identityMs: number;
}

export interface WatchdogHooks {
  /** Somebody waits for progress: ask without waiting for silence. */
  readonly hurry: () => boolean;
  readonly ask: () => void;
  readonly lookAtIdentity: () => void;
  readonly silent: (ms: number) => void;
}

/** Does not trust a silent watch (F4). Begins with its construction. */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #hooks: WatchdogHooks;
  #timer: Timer;
  #heardAt: number;
  #lookedAt: number;
  #askedAt: number | undefined;

  constructor(options: WatchdogOptions, hooks: WatchdogHooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#heardAt = options.clock.monotonic();
    this.#lookedAt = this.#heardAt;
    this.#timer = this.#again();
  }

  heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
    this.#askedAt = undefined;
  }

  stop(): void {
    this.#timer.cancel();
  }

  #again(): Timer {
    return this.#options.clock.setTimer(Math.min(500, this.#options.quietMs / 2), () => this.#look());
  }

  #look(): void {
    const { clock, quietMs, silentMs, identityMs } = this.#options;
    const now = clock.monotonic();
    if (this.#askedAt !== undefined && now - this.#askedAt >= silentMs) {
      return this.#hooks.silent(Math.round(now - this.#heardAt));
    }
    if (this.#askedAt === undefined && (now - this.#heardAt >= quietMs || this.#hooks.hurry())) {
      this.#askedAt = now;
      this.#hooks.ask();
    }
    if (now - this.#lookedAt >= identityMs) {
      this.#lookedAt = now;
      this.#hooks.lookAtIdentity();
    }
    this.#timer = this.#again();
  }
}
