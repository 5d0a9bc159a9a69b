import { cacheDirectory, store, withCacheLock, type CachedEtcd } from './cache.js';
import { fetchFromDebian } from './debian.js';
import { fetchFromDocker } from './docker.js';
import { notFound, type Attempt } from './errors.js';
import { findEtcd, type EtcdBinary, type FindOptions } from './find.js';
import { fetchRelease } from './release.js';
import { gaveUp, type FetchContext, type WayResult } from './ways.js';

export interface EnsureOptions extends FindOptions {
  /** For each suite, archive or image that is tried. */
  readonly fetchTimeoutMs?: number;
  readonly onProgress?: (message: string) => void;
  /** The ways to fetch, in order; tests give their own. */
  readonly ways?: readonly ((context: FetchContext) => Promise<WayResult>)[];
}

const WAYS = [fetchFromDebian, fetchRelease, fetchFromDocker];

/** An etcd to run: the one found, else fetched. Throws ETCD_NOT_FOUND with every way tried. */
export async function ensureEtcd(options: EnsureOptions = {}): Promise<EtcdBinary> {
  const first = await findEtcd(options);
  if (isGoodEnough(first.found, options)) return first.found;
  const cache = cacheDirectory(options.cacheDir);
  return withCacheLock(cache, async () => {
    // Another process may have fetched while we waited for the lock.
    const { found, attempts } = await findEtcd(options);
    if (isGoodEnough(found, options)) return found;
    const fetched = await fetchEtcd(options, cache);
    if (!gaveUp(fetched)) return toBinary(fetched);
    // What was fetched for a test that asked for 3.4 is still better than nothing.
    if (found !== undefined) return found;
    throw notFound(options.prefer, [...attempts, ...fetched]);
  });
}

/**
 * A cached version that somebody asked for by number must not become everybody's default for ever: tests fetch 3.4 on purpose. So it counts only
 * when asked for, or when nothing newer can be fetched.
 */
function isGoodEnough(found: EtcdBinary | undefined, options: EnsureOptions): found is EtcdBinary {
  return found !== undefined && (found.asBest || options.prefer !== undefined);
}

async function fetchEtcd(options: EnsureOptions, cache: string): Promise<CachedEtcd | Attempt[]> {
  const context: FetchContext = {
    cache,
    prefer: options.prefer,
    env: options.env ?? process.env,
    timeoutMs: options.fetchTimeoutMs ?? 120_000,
    onProgress: options.onProgress ?? (() => undefined),
    keep: (unpacked, from) => store(cache, unpacked, { from, asBest: options.prefer === undefined }),
  };
  const attempts: Attempt[] = [];
  for (const way of options.ways ?? WAYS) {
    const result = await way(context);
    if (!gaveUp(result)) return result;
    attempts.push(...result);
  }
  return attempts;
}

function toBinary({ binary, etcdctl, version, origin }: CachedEtcd): EtcdBinary {
  return { binary, etcdctl, version, from: 'fetched', asBest: origin.asBest };
}
