import type { Figure, Progress } from './figures.js';

export interface BenchOptions {
  /** Smaller and one round: to see that it runs, not to quote. */
  readonly quick: boolean;
  readonly progress: Progress;
}

export interface Bench {
  readonly name: string;
  readonly about: string;
  readonly run: (options: BenchOptions) => Promise<readonly Figure[]>;
}
