/** The last so many measurements, for percentiles. */
export class Lateness {
  readonly #samples: number[] = [];
  readonly #size: number;
  #next = 0;

  constructor(size = 10_000) {
    this.#size = size;
  }

  add(ms: number): void {
    this.#samples[this.#next] = ms;
    this.#next = (this.#next + 1) % this.#size;
  }

  /** `share` from 0 to 1; undefined while nothing was measured. */
  percentile(share: number): number | undefined {
    const sorted = [...this.#samples].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  }
}
