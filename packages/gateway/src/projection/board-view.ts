/** The board at one revision, whether that is now or long ago: what lists, details and subscriptions are read from. */
import type { Facts } from './facts.js';
import type { LoadedGraphs } from './graphs.js';
import type { Histograms } from './histogram.js';
import type { Leases } from './leases.js';
import type { BoardState } from './state.js';
import type { Views } from './views.js';

export interface BoardView {
  readonly state: BoardState;
  readonly views: Views;
  readonly leases: Leases;
  readonly facts: Facts;
  readonly graphs: LoadedGraphs;
  readonly histograms: Histograms;
  /** Every row is as of this revision. */
  readonly revision: string;
  /** Rows of an older generation say nothing about this one. */
  readonly generation: number;
  /** A list is being applied: nothing is to be read now. */
  readonly applying: boolean;
  /** Brings every view up to what the state is. */
  refresh(): void;
}
