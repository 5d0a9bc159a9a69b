import { run } from './run.js';

/** Nested transactions and the v3 API as we use them are tested from here on. */
const OLDEST_SUPPORTED = '3.4';

/** etcd refuses to run on some processors unless told that the user knows; arm64 was one of them until 3.5. */
export function etcdEnvironment(): NodeJS.ProcessEnv {
  const goArch: Record<string, string> = { arm64: 'arm64', arm: 'arm', ppc64: 'ppc64le', s390x: 's390x' };
  const arch = goArch[process.arch];
  return arch === undefined ? process.env : { ...process.env, ETCD_UNSUPPORTED_ARCH: arch };
}

export type VersionReading =
  { readonly ok: true; readonly version: string } | { readonly ok: false; readonly reason: string };

/** Asks a binary for its version: the proof that it is an etcd and that it runs on this machine. */
export async function readVersion(binary: string): Promise<VersionReading> {
  const result = await run(binary, ['--version'], { timeoutMs: 10_000, env: etcdEnvironment() });
  if (result.failure !== undefined) return { ok: false, reason: result.failure };
  const version = /etcd Version:\s*(\d+\.\d+\.\d+)/.exec(result.stdout)?.[1];
  if (version === undefined) return { ok: false, reason: `${binary} --version does not look like etcd` };
  if (compareVersions(version, OLDEST_SUPPORTED) < 0) {
    return { ok: false, reason: `version ${version} is older than ${OLDEST_SUPPORTED}` };
  }
  return { ok: true, version };
}

/** Negative when a is older than b. Missing parts count as zero. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let part = 0; part < Math.max(left.length, right.length); part++) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** '3.5' prefers any 3.5.x, '3.5.30' that one; a word such as 'sid' is a Debian suite, which no version matches. */
export function versionMatches(version: string, prefer: string | undefined): boolean {
  if (prefer === undefined) return true;
  return version === prefer || version.startsWith(`${prefer}.`);
}

/** The upstream part of a Debian version: 3.5.30 of 1:3.5.30-2+b1. */
export function upstreamVersion(debianVersion: string): string | undefined {
  return /^(?:\d+:)?(\d+\.\d+\.\d+)/.exec(debianVersion)?.[1];
}
