import type { StorageReport } from './storage.js';

/** How the leader's duties do, in the leader's own `stats/` record. Counts are of its present term. */
export interface LeaderHealth {
  /** When this term began. */
  readonly sinceMs: number;
  readonly promoted: number;
  /** How late the last ten thousand tasks were promoted; absent while there were none. */
  readonly lateP50Ms?: number;
  readonly lateP99Ms?: number;
  /** Lost attempts that no claimer took over. */
  readonly rescued: number;
  /** Workflows driven on for somebody else. */
  readonly repaired: number;
  /** Workflows that it could not drive on, and looks at again with every scan; its log says why. */
  readonly stuck?: number;
  readonly schedules?: {
    readonly total: number;
    readonly paused: number;
    /** Their next time has passed and they have not fired. */
    readonly overdue: number;
    readonly fired: number;
  };
  readonly retention?: { readonly deletedTasks: number; readonly lastPassMs: number };
  readonly storage?: StorageReport;
  /** This leader also compacts the history of the whole cluster. */
  readonly compacts?: boolean;
}
