/** Growing waits between tries, with jitter, so that many that failed together do not come back together. */
export interface BackoffOptions {
  readonly minMs?: number;
  readonly maxMs?: number;
  /** 0 to 1. */
  readonly random?: () => number;
}

export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #tries = 0;

  constructor({ minMs = 100, maxMs = 10_000, random = Math.random }: BackoffOptions = {}) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#random = random;
  }

  /** Between half and the whole of a wait that doubles each time. */
  nextMs(): number {
    const whole = Math.min(this.#maxMs, this.#minMs * 2 ** Math.min(this.#tries, 30));
    this.#tries += 1;
    return Math.round(whole * (0.5 + this.#random() / 2));
  }

  reset(): void {
    this.#tries = 0;
  }

  get tries(): number {
    return this.#tries;
  }
}
