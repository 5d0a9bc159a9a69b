import type { Graphs } from './graphs.js';
import type { Report } from './violation.js';
import type { View } from './view.js';

/** What every rule looks at: one revision. */
export interface Scene {
  readonly view: View;
  readonly graphs: Graphs;
  readonly report: Report;
  /** What only the past shows. */
  readonly past: Past;
}

/** What has to be remembered beyond the state itself. */
export class Past {
  /** Releases of waiting members, `<id>/<generation>`. */
  readonly released = new Set<string>();
  /** Instants that fired, by their key. */
  readonly fired = new Set<string>();
}
