import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { exists } from './machine.js';
import { processExists } from './process.js';
import { compareVersions } from './version.js';

/**
 * Where fetched binaries live: `<cache>/bin/<version>/{etcd,etcdctl,origin.json}`.
 * A version directory appears by one rename, so what is listed is always complete.
 */
export interface CachedEtcd {
  readonly version: string;
  readonly binary: string;
  readonly etcdctl: string | undefined;
  readonly origin: Origin;
}

export interface Origin {
  /** For example the Debian suite that it came from. */
  readonly from: string;
  /** Was it fetched as the best to be had, or because a caller asked for just this version? */
  readonly asBest: boolean;
}

const UNKNOWN_ORIGIN: Origin = { from: 'unknown', asBest: false };

/** The given directory, LEASEHOLD_ETCD_CACHE, or `.leasehold/etcd` at the root of the workspace that holds `cwd`. */
export function cacheDirectory(given?: string, cwd: string = process.cwd()): string {
  const chosen = given ?? process.env['LEASEHOLD_ETCD_CACHE'];
  if (chosen !== undefined && chosen !== '') return path.resolve(cwd, chosen);
  return path.join(workspaceRoot(cwd), '.leasehold', 'etcd');
}

/** Tests run in a package's directory and `npm start` at the root; both must share one cache. */
function workspaceRoot(cwd: string): string {
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    if (existsSync(path.join(at, 'pnpm-workspace.yaml'))) return at;
    if (path.dirname(at) === at) return path.resolve(cwd);
  }
}

/** Everything in the cache, newest first. */
export async function listCache(cache: string): Promise<CachedEtcd[]> {
  const versions = await readdir(path.join(cache, 'bin')).catch(() => []);
  const found = await Promise.all(
    versions.filter((name) => /^\d+\.\d+\.\d+$/.test(name)).map((version) => readEntry(cache, version)),
  );
  return found.filter((entry) => entry !== undefined).toSorted((a, b) => compareVersions(b.version, a.version));
}

async function readEntry(cache: string, version: string): Promise<CachedEtcd | undefined> {
  const directory = path.join(cache, 'bin', version);
  const binary = path.join(directory, 'etcd');
  if (!(await exists(binary))) return undefined;
  const etcdctl = path.join(directory, 'etcdctl');
  return {
    version,
    binary,
    etcdctl: (await exists(etcdctl)) ? etcdctl : undefined,
    origin: await readOrigin(directory),
  };
}

async function readOrigin(directory: string): Promise<Origin> {
  const text = await readFile(path.join(directory, 'origin.json'), 'utf8').catch(() => '');
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return UNKNOWN_ORIGIN;
    const { from, asBest } = parsed as Partial<Record<keyof Origin, unknown>>;
    return { from: typeof from === 'string' ? from : 'unknown', asBest: asBest === true };
  } catch {
    return UNKNOWN_ORIGIN;
  }
}

export interface Unpacked {
  readonly version: string;
  readonly etcd: string;
  readonly etcdctl: string | undefined;
}

/** Copies unpacked binaries into the cache. A version that is there already only gets its origin updated. */
export async function store(cache: string, unpacked: Unpacked, origin: Origin): Promise<CachedEtcd> {
  const target = path.join(cache, 'bin', unpacked.version);
  const staging = path.join(cache, 'bin', `.incoming-${process.pid}-${unpacked.version}`);
  if (!(await exists(path.join(target, 'etcd')))) {
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging, { recursive: true });
    await place(unpacked.etcd, path.join(staging, 'etcd'));
    if (unpacked.etcdctl !== undefined) await place(unpacked.etcdctl, path.join(staging, 'etcdctl'));
    await rm(target, { recursive: true, force: true });
    await rename(staging, target);
  }
  // Once the best, it stays so, even if somebody asks for it by number later.
  const asBest = origin.asBest || (await readOrigin(target)).asBest;
  await writeFile(path.join(target, 'origin.json'), `${JSON.stringify({ ...origin, asBest }, undefined, 2)}\n`);
  const entry = await readEntry(cache, unpacked.version);
  if (entry === undefined) throw new Error(`the cache at ${target} vanished while it was written`);
  return entry;
}

async function place(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await chmod(to, 0o755);
}

/** A lock older than this belongs to a crash on another machine sharing the directory. */
const STALE_LOCK_MS = 15 * 60_000;

/**
 * Runs `work` while no other process fetches into the same cache: test files start in parallel, and each of them would
 * otherwise download the same 18 MB.
 */
export async function withCacheLock<T>(cache: string, work: () => Promise<T>): Promise<T> {
  await mkdir(cache, { recursive: true });
  const lock = path.join(cache, 'fetch.lock');
  while (!(await tryLock(lock))) await delay(200);
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function tryLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
  const ageMs =
    Date.now() -
    (await stat(lock).then(
      (at) => at.mtimeMs,
      () => Date.now(),
    ));
  // An empty file is a holder between create and write; only its age can condemn it.
  const dead = holder > 0 && !processExists(holder);
  if (dead || ageMs > STALE_LOCK_MS) await rm(lock, { force: true });
  return false;
}
