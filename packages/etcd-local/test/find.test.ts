import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EtcdLocalError } from '../src/errors.js';
import { ensureEtcd } from '../src/fetch.js';
import { findEtcd } from '../src/find.js';
import { releaseAsset } from '../src/release.js';
import { compareVersions, upstreamVersion, versionMatches } from '../src/version.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'leasehold-find-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A script that answers --version as etcd does. */
async function fakeEtcd(place: string, version: string): Promise<string> {
  const file = path.join(directory, place);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\necho "etcd Version: ${version}"\n`);
  await chmod(file, 0o755);
  return file;
}

async function cached(version: string, origin?: { from: string; asBest: boolean }): Promise<string> {
  const file = await fakeEtcd(`cache/bin/${version}/etcd`, version);
  if (origin !== undefined) await writeFile(path.join(path.dirname(file), 'origin.json'), JSON.stringify(origin));
  return file;
}

const cacheDir = (): string => path.join(directory, 'cache');
const env = (more: Record<string, string> = {}): NodeJS.ProcessEnv => ({ PATH: path.join(directory, 'path'), ...more });

describe('finding an etcd', () => {
  it('takes LEASEHOLD_ETCD before PATH, and PATH before the cache', async () => {
    const named = await fakeEtcd('named/etcd', '3.5.1');
    const onPath = await fakeEtcd('path/etcd', '3.5.2');
    const inCache = await cached('3.5.3');
    const find = async (more: Record<string, string> = {}): Promise<string | undefined> =>
      (await findEtcd({ env: env(more), cacheDir: cacheDir() })).found?.binary;
    expect(await find({ LEASEHOLD_ETCD: named })).toBe(named);
    expect(await find()).toBe(onPath);
    await rm(onPath);
    expect(await find()).toBe(inCache);
  });

  it('takes the newest of the cache, by number and not by letter', async () => {
    await cached('3.5.9');
    const newest = await cached('3.5.30');
    expect((await findEtcd({ env: env(), cacheDir: cacheDir() })).found).toMatchObject({
      binary: newest,
      version: '3.5.30',
      from: 'cache',
    });
  });

  it('passes over versions that are not the wanted one, and says so', async () => {
    await fakeEtcd('path/etcd', '3.5.2');
    await cached('3.5.30');
    const wanted = await cached('3.4.23');
    const { found, attempts } = await findEtcd({ env: env(), cacheDir: cacheDir(), prefer: '3.4' });
    expect(found?.binary).toBe(wanted);
    expect(attempts.map(({ reason }) => reason)).toEqual(['not set', expect.stringContaining('is 3.5.2, not 3.4')]);
  });

  it('finds a cached one by the suite it came from', async () => {
    const wanted = await cached('3.4.23', { from: 'Debian suite bookworm', asBest: false });
    await cached('3.5.30');
    expect((await findEtcd({ env: env(), cacheDir: cacheDir(), prefer: 'bookworm' })).found?.binary).toBe(wanted);
  });

  it('passes over an etcd that is too old', async () => {
    await fakeEtcd('path/etcd', '3.3.25');
    const { found, attempts } = await findEtcd({ env: env(), cacheDir: cacheDir() });
    expect(found).toBeUndefined();
    expect(attempts[1]?.reason).toContain('older than 3.4');
  });

  it('does not go on past a LEASEHOLD_ETCD that cannot be used', async () => {
    await fakeEtcd('path/etcd', '3.5.2');
    const find = findEtcd({ env: env({ LEASEHOLD_ETCD: '/nowhere/etcd' }), cacheDir: cacheDir() });
    await expect(find).rejects.toMatchObject({ code: 'ETCD_OVERRIDE_UNUSABLE' });
  });
});

describe('having to fetch', () => {
  const failing = async (): Promise<{ way: string; reason: string }[]> => [
    { way: 'first way', reason: 'is closed' },
    { way: 'second way', reason: 'is steep' },
  ];

  it('names every way that was tried, each with its reason, and what to do', async () => {
    const error: unknown = await ensureEtcd({ env: env(), cacheDir: cacheDir(), ways: [failing] }).catch(
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof EtcdLocalError)) throw new Error('it should have failed');
    expect(error.code).toBe('ETCD_NOT_FOUND');
    expect(error.attempts.map(({ way }) => way)).toEqual([
      'LEASEHOLD_ETCD',
      'PATH',
      `cache ${cacheDir()}`,
      'first way',
      'second way',
    ]);
    for (const { way, reason } of error.attempts) expect(error.message).toContain(`${way}: ${reason}`);
    expect(error.message).toContain('What to do');
  });

  it('does not make a version that was fetched on request the default for all, unless there is no other', async () => {
    const old = await cached('3.4.23', { from: 'Debian suite bookworm', asBest: false });
    const newer = await fakeEtcd('new/etcd', '3.5.30');
    const without = await ensureEtcd({ env: env(), cacheDir: cacheDir(), ways: [failing] });
    expect(without.binary).toBe(old);
    const fetched = await ensureEtcd({
      env: env(),
      cacheDir: cacheDir(),
      ways: [({ keep }) => keep({ version: '3.5.30', etcd: newer, etcdctl: undefined }, 'a test')],
    });
    expect(fetched).toMatchObject({ version: '3.5.30', from: 'fetched', asBest: true });
  });

  it('fetches once when several ask at the same time', async () => {
    const etcd = await fakeEtcd('new/etcd', '3.5.30');
    let fetches = 0;
    const ensure = (): Promise<{ version: string }> =>
      ensureEtcd({
        env: env(),
        cacheDir: cacheDir(),
        ways: [
          ({ keep }) => {
            fetches += 1;
            return keep({ version: '3.5.30', etcd, etcdctl: undefined }, 'a test');
          },
        ],
      });
    await Promise.all([ensure(), ensure(), ensure()]);
    expect(fetches).toBe(1);
  });

  it('breaks the lock of a process that died while fetching', async () => {
    const etcd = await fakeEtcd('new/etcd', '3.5.30');
    // No pid is as large as this.
    await mkdir(cacheDir(), { recursive: true });
    await writeFile(path.join(cacheDir(), 'fetch.lock'), '2147483646');
    const fetched = await ensureEtcd({
      env: env(),
      cacheDir: cacheDir(),
      ways: [({ keep }) => keep({ version: '3.5.30', etcd, etcdctl: undefined }, 'a test')],
    });
    expect(fetched.version).toBe('3.5.30');
  });
});

describe('versions', () => {
  it('are compared by number', () => {
    expect(compareVersions('3.5.9', '3.5.30')).toBeLessThan(0);
    expect(compareVersions('3.6', '3.5.30')).toBeGreaterThan(0);
    expect(compareVersions('3.5', '3.5.0')).toBe(0);
  });

  it('match by whole parts', () => {
    expect(versionMatches('3.5.3', '3.5')).toBe(true);
    expect(versionMatches('3.5.30', '3.5.3')).toBe(false);
  });

  it('are read from what Debian calls them', () => {
    expect(upstreamVersion('3.5.30-2+b1')).toBe('3.5.30');
    expect(upstreamVersion('1:3.4.23+dfsg-4')).toBe('3.4.23');
    expect(upstreamVersion('')).toBeUndefined();
  });

  it('have a release archive on Linux and macOS only', () => {
    expect(releaseAsset('3.5.30', 'linux', 'x64')?.name).toBe('etcd-v3.5.30-linux-amd64.tar.gz');
    expect(releaseAsset('3.5.30', 'darwin', 'arm64')?.name).toBe('etcd-v3.5.30-darwin-arm64.zip');
    expect(releaseAsset('3.5.30', 'freebsd', 'x64')).toBeUndefined();
  });
});
