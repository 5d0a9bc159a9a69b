import type { Attempt } from './errors.js';
import type { CachedEtcd, Unpacked } from './cache.js';

/** What every way of fetching gets. */
export interface FetchContext {
  readonly cache: string;
  readonly prefer: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly onProgress: (message: string) => void;
  /** Takes unpacked binaries over into the cache. */
  readonly keep: (unpacked: Unpacked, from: string) => Promise<CachedEtcd>;
}

/** A way either fetches one or says, for each thing it tried, why not. */
export type WayResult = CachedEtcd | readonly Attempt[];

export function gaveUp(result: WayResult): result is readonly Attempt[] {
  return Array.isArray(result);
}
