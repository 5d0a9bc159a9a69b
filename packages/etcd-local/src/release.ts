/**
 * Fetches the official release archive, for systems without Debian packages. A download is used only if its sha256 is known beforehand; a
 * checksum fetched from the same place proves nothing, and we ship none that we have not verified ourselves, so the user gives it.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CachedEtcd } from './cache.js';
import { messageOf } from './errors.js';
import { exists } from './machine.js';
import { run } from './run.js';
import { readVersion, versionMatches } from './version.js';
import type { FetchContext, WayResult } from './ways.js';

const DEFAULT_RELEASE = '3.5.30';
const RELEASES = 'https://github.com/etcd-io/etcd/releases/download';

export interface ReleaseAsset {
  readonly version: string;
  readonly name: string;
  readonly url: string;
}

/** The archive for this machine, or undefined where none is published. */
export function releaseAsset(
  version: string,
  platform: NodeJS.Platform = process.platform,
  arch: NodeJS.Architecture = process.arch,
): ReleaseAsset | undefined {
  const goArch: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64', s390x: 's390x' };
  const ending: Partial<Record<NodeJS.Platform, string>> = { linux: 'tar.gz', darwin: 'zip' };
  const goName = goArch[arch];
  const archive = ending[platform];
  if (goName === undefined || archive === undefined) return undefined;
  const name = `etcd-v${version}-${platform}-${goName}.${archive}`;
  return { version, name, url: `${RELEASES}/v${version}/${name}` };
}

export async function fetchRelease(context: FetchContext): Promise<WayResult> {
  const exact = /^\d+\.\d+\.\d+$/.test(context.prefer ?? '') ? context.prefer : undefined;
  const version = exact ?? DEFAULT_RELEASE;
  const way = `official release v${version}`;
  const refuse = (reason: string): WayResult => [{ way, reason }];

  if (!versionMatches(version, context.prefer)) {
    return refuse(`it is not ${context.prefer}; ask for an exact version to use a release`);
  }
  const asset = releaseAsset(version);
  if (asset === undefined) return refuse(`none is published for ${process.platform} ${process.arch}`);
  const sha256 = context.env['LEASEHOLD_ETCD_SHA256']?.toLowerCase() ?? '';
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    return refuse(
      `LEASEHOLD_ETCD_SHA256 is not set. Set it to the sha256 of ${asset.name}, as printed in the SHA256SUMS of ${RELEASES}/v${version}`,
    );
  }
  const result = await download(context, asset, sha256).catch(messageOf);
  return typeof result === 'string' ? refuse(result) : result;
}

async function download(context: FetchContext, asset: ReleaseAsset, sha256: string): Promise<CachedEtcd | string> {
  context.onProgress(`downloading ${asset.url}`);
  const response = await fetch(asset.url, { signal: AbortSignal.timeout(context.timeoutMs) });
  if (!response.ok) return `${asset.url} answered ${response.status}`;
  const archive = Buffer.from(await response.arrayBuffer());
  const actual = createHash('sha256').update(archive).digest('hex');
  if (actual !== sha256) return `sha256 of ${asset.name} is ${actual}, not LEASEHOLD_ETCD_SHA256 ${sha256}`;

  await mkdir(context.cache, { recursive: true });
  const work = await mkdtemp(path.join(context.cache, 'release-'));
  try {
    return await unpack(context, asset, archive, work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function unpack(
  context: FetchContext,
  asset: ReleaseAsset,
  archive: Buffer,
  work: string,
): Promise<CachedEtcd | string> {
  const file = path.join(work, asset.name);
  await writeFile(file, archive);
  const command = asset.name.endsWith('.zip')
    ? (['unzip', ['-q', file, '-d', work]] as const)
    : (['tar', ['-xzf', file, '-C', work]] as const);
  const unpacked = await run(command[0], command[1], { timeoutMs: 60_000 });
  if (unpacked.failure !== undefined) return unpacked.failure;
  const directory = path.join(work, asset.name.replace(/\.(tar\.gz|zip)$/, ''));
  const etcd = path.join(directory, 'etcd');
  const etcdctl = path.join(directory, 'etcdctl');
  const reading = await readVersion(etcd);
  if (!reading.ok) return `downloaded, but ${reading.reason}`;
  return context.keep(
    { version: reading.version, etcd, etcdctl: (await exists(etcdctl)) ? etcdctl : undefined },
    `official release v${asset.version}`,
  );
}
