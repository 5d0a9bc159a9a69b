import type { Percentiles } from '@leasehold/wire';

/** Samples kept of each kind: enough for a p95, small enough to have one per queue and name. */
const KEPT = 256;

/** The last durations of one kind, ms. Bounded; percentiles are computed when asked for. */
export class Durations {
  readonly #samples: number[] = [];
  #next = 0;
  #count = 0;

  add(ms: number): void {
    this.#samples[this.#next] = Math.max(0, ms);
    this.#next = (this.#next + 1) % KEPT;
    this.#count++;
  }

  /** `count` is of all ever added. */
  percentiles(): Percentiles {
    if (this.#samples.length === 0) return { count: 0, p50Ms: 0, p95Ms: 0 };
    const sorted = Float64Array.from(this.#samples).sort();
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { count: this.#count, p50Ms: at(0.5), p95Ms: at(0.95) };
  }
}

/** Durations by name, for at most so many names; further ones are not measured. */
export class DurationsByName {
  readonly #byName = new Map<string, Durations>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(name: string, ms: number): void {
    let durations = this.#byName.get(name);
    if (durations === undefined) {
      if (this.#byName.size >= this.#limit) return;
      this.#byName.set(name, (durations = new Durations()));
    }
    durations.add(ms);
  }

  percentiles(name: string): Percentiles | undefined {
    return this.#byName.get(name)?.percentiles();
  }
}

/** Events per second over the last minute. */
export class PerSecond {
  readonly #buckets = Array.from({ length: SECONDS }, () => 0);
  #second = 0;

  add(nowMs: number, count = 1): void {
    this.#advance(nowMs);
    const at = this.#second % SECONDS;
    this.#buckets[at] = (this.#buckets[at] ?? 0) + count;
  }

  /** Oldest first; the last one is the running second. */
  series(nowMs: number): number[] {
    this.#advance(nowMs);
    return Array.from({ length: SECONDS }, (_, i) => this.#buckets[(this.#second + 1 + i) % SECONDS] ?? 0);
  }

  #advance(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    for (let i = 1; i <= Math.min(SECONDS, second - this.#second); i++) this.#buckets[(this.#second + i) % SECONDS] = 0;
    this.#second = Math.max(this.#second, second);
  }
}

/** Events per second by name, for at most so many names. */
export class PerSecondByName {
  readonly #byName = new Map<string, PerSecond>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(name: string, nowMs: number): void {
    let series = this.#byName.get(name);
    if (series === undefined) {
      if (this.#byName.size >= this.#limit) return;
      this.#byName.set(name, (series = new PerSecond()));
    }
    series.add(nowMs);
  }

  series(name: string, nowMs: number): number[] {
    return this.#byName.get(name)?.series(nowMs) ?? Array.from({ length: SECONDS }, () => 0);
  }
}

const SECONDS = 60;
