import path from 'node:path';
import { cacheDirectory, listCache, type CachedEtcd } from './cache.js';
import { EtcdLocalError, type Attempt } from './errors.js';
import { exists } from './machine.js';
import { readVersion, versionMatches } from './version.js';

export interface FindOptions {
  /** A version or its beginning ('3.4', '3.5.30'), or the Debian suite that a cached one came from ('sid'). */
  readonly prefer?: string;
  readonly cacheDir?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface EtcdBinary {
  readonly binary: string;
  /** Beside the server, or on PATH. Only people need it; we never do. */
  readonly etcdctl: string | undefined;
  readonly version: string;
  readonly from: 'environment' | 'path' | 'cache' | 'fetched';
  /** False for a cached one that was fetched for a caller who asked for just that version. */
  readonly asBest: boolean;
}

export type FindResult =
  | { readonly found: EtcdBinary; readonly attempts: readonly Attempt[] }
  | { readonly found: undefined; readonly attempts: readonly Attempt[] };

/** Looks for a real etcd without any download: LEASEHOLD_ETCD, PATH, our cache, in that order. */
export async function findEtcd(options: FindOptions = {}): Promise<FindResult> {
  const env = options.env ?? process.env;
  const attempts: Attempt[] = [];
  const searches = [
    () => fromEnvironment(env, options.prefer),
    () => fromPath(env, options.prefer),
    () => fromCache(cacheDirectory(options.cacheDir), options.prefer),
  ];
  for (const search of searches) {
    const result = await search();
    if ('binary' in result) return { found: result, attempts };
    attempts.push(result);
  }
  return { found: undefined, attempts };
}

async function fromEnvironment(env: NodeJS.ProcessEnv, prefer: string | undefined): Promise<EtcdBinary | Attempt> {
  const way = 'LEASEHOLD_ETCD';
  const binary = env['LEASEHOLD_ETCD'] ?? '';
  if (binary === '') return { way, reason: 'not set' };
  const reading = await readVersion(binary);
  if (!reading.ok) {
    // Who sets it means it: to go on with another etcd would hide the mistake.
    const message = `LEASEHOLD_ETCD is set to ${binary}, which cannot be used: ${reading.reason}. Correct it or unset it.`;
    throw new EtcdLocalError('ETCD_OVERRIDE_UNUSABLE', message);
  }
  if (!versionMatches(reading.version, prefer)) return { way, reason: other(binary, reading.version, prefer) };
  const etcdctl = await besideBinary(binary, env);
  return { binary, etcdctl, version: reading.version, from: 'environment', asBest: true };
}

async function fromPath(env: NodeJS.ProcessEnv, prefer: string | undefined): Promise<EtcdBinary | Attempt> {
  const way = 'PATH';
  const binary = await onPath('etcd', env);
  if (binary === undefined) return { way, reason: 'no etcd in any of its directories' };
  const reading = await readVersion(binary);
  if (!reading.ok) return { way, reason: `${binary}: ${reading.reason}` };
  if (!versionMatches(reading.version, prefer)) return { way, reason: other(binary, reading.version, prefer) };
  const etcdctl = await besideBinary(binary, env);
  return { binary, etcdctl, version: reading.version, from: 'path', asBest: true };
}

async function fromCache(cache: string, prefer: string | undefined): Promise<EtcdBinary | Attempt> {
  const way = `cache ${cache}`;
  const entries = await listCache(cache);
  if (entries.length === 0) return { way, reason: 'empty' };
  const wanted = entries.filter((entry) => cachedMatches(entry, prefer));
  const unusable: string[] = [];
  for (const entry of wanted) {
    const reading = await readVersion(entry.binary);
    if (reading.ok) {
      const { binary, etcdctl, version, origin } = entry;
      return { binary, etcdctl, version, from: 'cache', asBest: origin.asBest };
    }
    unusable.push(`${entry.binary}: ${reading.reason}`);
  }
  const has = entries.map(({ version }) => version).join(', ');
  return { way, reason: unusable.length > 0 ? unusable.join('; ') : `has only ${has}` };
}

function cachedMatches(entry: CachedEtcd, prefer: string | undefined): boolean {
  return versionMatches(entry.version, prefer) || entry.origin.from === `Debian suite ${prefer}`;
}

function other(binary: string, version: string, prefer: string | undefined): string {
  return `${binary} is ${version}, not ${prefer ?? 'any'}`;
}

/** The etcdctl that belongs to a server binary. */
export async function besideBinary(binary: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const beside = path.join(path.dirname(binary), 'etcdctl');
  return (await exists(beside)) ? beside : onPath('etcdctl', env);
}

/** The first file of that name in PATH. */
async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const directories = (env['PATH'] ?? '').split(path.delimiter).filter((directory) => directory !== '');
  for (const directory of directories) {
    const file = path.join(directory, name);
    if (await exists(file)) return file;
  }
  return undefined;
}
