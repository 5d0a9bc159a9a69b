/**
 * Fetches etcd from Debian packages without root and without touching the machine's apt state: a private apt directory with its own lists,
 * cache and sources, asking the mirrors that the machine already uses, verified against the distribution's keyring.
 * The packages need nothing but libc, so a newer suite's binaries run on an older system; each is run once before it is kept.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { distributionSources, sourceLine, type AptSource } from './apt-sources.js';
import type { CachedEtcd } from './cache.js';
import type { Attempt } from './errors.js';
import { exists, readDebianMachine, type DebianMachine } from './machine.js';
import { lastLines, run, type RunResult } from './run.js';
import { readVersion, upstreamVersion, versionMatches } from './version.js';
import { gaveUp, type FetchContext, type WayResult } from './ways.js';

const PACKAGES = ['etcd-server', 'etcd-client'];

interface Candidate {
  readonly source: AptSource;
  readonly suite: string;
  readonly components: readonly string[];
  readonly keyring: string | undefined;
}

export async function fetchFromDebian(context: FetchContext, root = '/'): Promise<WayResult> {
  const way = 'Debian packages';
  const machine = await readDebianMachine(root);
  if (machine === undefined) return [{ way, reason: 'this is not a Debian-like system' }];
  const candidates = debianCandidates(machine, context.prefer);
  if (candidates.length === 0) {
    return [{ way, reason: `no apt source of this machine offers ${machine.codename} main` }];
  }
  const attempts: Attempt[] = [];
  for (const candidate of candidates) {
    const result = await tryCandidate(context, candidate);
    if (!gaveUp(result)) return result;
    attempts.push(...result);
  }
  return attempts;
}

/** Every suite of every mirror worth asking, best first. */
export function debianCandidates(machine: DebianMachine, prefer: string | undefined): Candidate[] {
  const components = machine.id === 'ubuntu' ? ['main', 'universe'] : ['main'];
  const sources = distributionSources(machine.sources, machine.codename).slice(0, 2);
  return suitesOf(machine, prefer).flatMap((suite) =>
    sources.map((source) => ({
      source,
      suite,
      components,
      keyring: source.signedBy ?? machine.keyring,
    })),
  );
}

function suitesOf(machine: DebianMachine, prefer: string | undefined): string[] {
  const own = machine.codename === '' ? 'stable' : machine.codename;
  const newestFirst =
    machine.id === 'debian' ? ['sid', 'testing', 'trixie', own] : machine.id === 'ubuntu' ? ['devel', own] : [own];
  const suites = [...new Set(newestFirst)];
  if (prefer === undefined) return suites;
  if (/^[a-z]/.test(prefer)) return [prefer];
  // Who asks for 3.4 wants what an old release has; look there first and spare the large lists of sid.
  return prefer.startsWith('3.4') ? suites.toReversed() : suites;
}

async function tryCandidate(context: FetchContext, candidate: Candidate): Promise<WayResult> {
  const way = `Debian suite ${candidate.suite}`;
  context.onProgress(`looking for etcd in ${way}`);
  await mkdir(context.cache, { recursive: true });
  const work = await mkdtemp(path.join(context.cache, 'apt-'));
  try {
    const result = await download(context, candidate, work);
    return typeof result === 'string' ? [{ way, reason: result }] : result;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Gives the fetched etcd, or the reason why there is none. */
async function download(context: FetchContext, candidate: Candidate, work: string): Promise<CachedEtcd | string> {
  const until = performance.now() + context.timeoutMs;
  const config = await writePrivateApt(work, candidate);
  const apt = (command: string, args: readonly string[]): Promise<RunResult> =>
    run(command, ['-c', config, ...args], {
      cwd: work,
      env: { ...context.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
      timeoutMs: Math.max(1, until - performance.now()),
    });

  const updated = await apt('apt-get', ['update', '-q']);
  if (updated.failure !== undefined) return updated.failure;
  const shown = await apt('apt-cache', ['madison', 'etcd-server']);
  const offered = upstreamVersion(shown.stdout.split('|')[1]?.trim() ?? '');
  // apt-get update ends well even when a list could not be fetched; what it said then is the reason.
  if (offered === undefined) return `offers no etcd-server. ${lastLines(updated.stderr, 2)}`.trim();
  if (!/^[a-z]/.test(context.prefer ?? '') && !versionMatches(offered, context.prefer)) {
    return `has ${offered}, not ${context.prefer}`;
  }
  context.onProgress(`downloading etcd ${offered} from Debian suite ${candidate.suite}`);
  const downloaded = await apt('apt-get', ['download', '-q', ...PACKAGES]);
  if (downloaded.failure !== undefined) return downloaded.failure;
  return unpack(context, candidate, work);
}

async function unpack(context: FetchContext, candidate: Candidate, work: string): Promise<CachedEtcd | string> {
  const root = path.join(work, 'root');
  const script = 'for package in ./*.deb; do dpkg -x "$package" "$1" || exit 1; done';
  const unpacked = await run('sh', ['-c', script, 'sh', root], { cwd: work, timeoutMs: 60_000 });
  if (unpacked.failure !== undefined) return unpacked.failure;
  const etcd = path.join(root, 'usr/bin/etcd');
  const etcdctl = path.join(root, 'usr/bin/etcdctl');
  const reading = await readVersion(etcd);
  if (!reading.ok) return `downloaded, but ${reading.reason}`;
  return context.keep(
    { version: reading.version, etcd, etcdctl: (await exists(etcdctl)) ? etcdctl : undefined },
    `Debian suite ${candidate.suite}`,
  );
}

/** The machine's apt.conf stays in force (proxies are set there); all that names a place is replaced. */
async function writePrivateApt(work: string, candidate: Candidate): Promise<string> {
  await mkdir(path.join(work, 'lists/partial'), { recursive: true });
  await mkdir(path.join(work, 'cache/archives/partial'), { recursive: true });
  const { source, suite, components, keyring } = candidate;
  const list = path.join(work, 'sources.list');
  await writeFile(list, sourceLine(source, suite, components, keyring));
  const settings: Record<string, string> = {
    'Dir::Etc::sourcelist': list,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State': work,
    'Dir::State::lists': path.join(work, 'lists'),
    'Dir::State::status': '/dev/null',
    'Dir::State::extended_states': path.join(work, 'extended_states'),
    'Dir::Cache': path.join(work, 'cache'),
    'Dir::Log': work,
    // As root, apt would drop to a user who cannot enter a private directory.
    'APT::Sandbox::User': 'root',
    'APT::Update::Error-Mode': 'any',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '20',
    'Acquire::https::Timeout': '20',
    'Acquire::Languages': 'none',
  };
  const config = path.join(work, 'apt.conf');
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
  // Hooks of the machine write to its own state, which we must not and, without root, cannot do.
  const hooks = ['APT::Update::Pre-Invoke', 'APT::Update::Post-Invoke', 'APT::Update::Post-Invoke-Success'];
  await writeFile(config, [...hooks.map((hook) => `#clear ${hook};\n`), ...lines].join(''));
  return config;
}
