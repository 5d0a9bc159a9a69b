/**
 * Last of the ways: takes the binaries out of a container image. They are then run like any other, so faults can be injected by pid. Only on
 * Linux, where an image's binaries run natively.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { CachedEtcd } from './cache.js';
import { exists } from './machine.js';
import { run, type RunResult } from './run.js';
import { readVersion, versionMatches } from './version.js';
import type { FetchContext, WayResult } from './ways.js';

export async function fetchFromDocker(context: FetchContext): Promise<WayResult> {
  const way = 'Docker image';
  const refuse = (reason: string): WayResult => [{ way, reason }];
  if (process.platform !== 'linux') return refuse(`binaries of an image do not run on ${process.platform}`);
  const info = await docker(context, ['info'], 10_000);
  if (info.failure !== undefined) return refuse(`docker info fails: ${firstLine(info.failure)}`);
  const image = await chooseImage(context);
  if (image === undefined) {
    return refuse('no image with etcd in its name is present; set LEASEHOLD_ETCD_IMAGE to one that may be pulled');
  }
  await mkdir(context.cache, { recursive: true });
  const work = await mkdtemp(path.join(context.cache, 'docker-'));
  try {
    const result = await extract(context, image, work);
    return typeof result === 'string' ? refuse(`${image}: ${result}`) : result;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** We name no registry: the user's image, else one that is on the machine. */
async function chooseImage(context: FetchContext): Promise<string | undefined> {
  const given = context.env['LEASEHOLD_ETCD_IMAGE'] ?? '';
  if (given !== '') return given;
  const listed = await docker(context, ['image', 'ls', '--format', '{{.Repository}}:{{.Tag}}'], 10_000);
  return listed.stdout.split('\n').find((name) => /(^|[/-])etcd:/.test(name));
}

async function extract(context: FetchContext, image: string, work: string): Promise<CachedEtcd | string> {
  context.onProgress(`taking etcd out of the image ${image}`);
  const created = await docker(context, ['create', image], context.timeoutMs);
  if (created.failure !== undefined) return firstLine(created.failure);
  const container = created.stdout.trim();
  try {
    const etcd = await copyOut(context, container, 'etcd', work);
    if (etcd === undefined) return 'has no etcd where images put it';
    const etcdctl = await copyOut(context, container, 'etcdctl', work);
    const reading = await readVersion(etcd);
    if (!reading.ok) return reading.reason;
    if (!versionMatches(reading.version, context.prefer)) return `has ${reading.version}`;
    return await context.keep({ version: reading.version, etcd, etcdctl }, `image ${image}`);
  } finally {
    await docker(context, ['rm', '-f', container], 30_000);
  }
}

async function copyOut(
  context: FetchContext,
  container: string,
  name: string,
  work: string,
): Promise<string | undefined> {
  const target = path.join(work, name);
  for (const directory of ['/usr/local/bin', '/usr/bin', '/opt/bitnami/etcd/bin', '/']) {
    await docker(context, ['cp', '-L', `${container}:${path.posix.join(directory, name)}`, target], 60_000);
    if (await exists(target)) return target;
  }
  return undefined;
}

function docker(context: FetchContext, args: readonly string[], timeoutMs: number): Promise<RunResult> {
  return run('docker', args, { timeoutMs, env: context.env });
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? text;
}
