/** Starts a real etcd on this machine, one member or three, on loopback only. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EtcdLocalError } from './errors.js';
import { ensureEtcd } from './fetch.js';
import { besideBinary, type EtcdBinary } from './find.js';
import { Member, type EtcdMember } from './member.js';
import { memberDirectory, readNote, takeOver, writeNote, type Note } from './note.js';
import { choosePorts } from './choose-ports.js';
import type { MemberPorts } from './ports.js';
import { compareVersions, readVersion } from './version.js';

export interface StartOptions {
  /** Kept when given. Default: a temporary directory, removed by `stop`. */
  readonly dataDir?: string;
  /** Default: as many as the data directory already has, else 1. */
  readonly members?: 1 | 3;
  /** Default: found, else fetched. */
  readonly binary?: string;
  readonly prefer?: string;
  readonly cacheDir?: string;
  /** Default 8 GiB, the largest that etcd recommends. */
  readonly quotaBackendBytes?: number;
  /** Appended last, so they win. */
  readonly extraArgs?: readonly string[];
  /** One pair a member. Default: those the data directory had before, else free ones. */
  readonly ports?: readonly MemberPorts[];
  /**
   * Where the members reach each other, a port each: the way through a proxy, for tests that cut it. Called once, when the ports are chosen.
   * Default: each member's own peer port.
   */
  readonly peerDoors?: (ports: readonly MemberPorts[]) => Promise<readonly number[]>;
  /** Loses acknowledged writes at a power cut. For tests that measure no durability. */
  readonly unsafeNoFsync?: boolean;
  /** Until every member is healthy. Default 60 s. */
  readonly startTimeoutMs?: number;
  /** From the signal to SIGKILL. Default 8 s, 2 s in a cluster. */
  readonly stopTimeoutMs?: number;
  readonly onProgress?: (message: string) => void;
  /** A member ended without `stop` or `restart`. */
  readonly onUnexpectedExit?: (message: string) => void;
}

export interface RunningEtcd {
  /** Client URLs, one a member. */
  readonly endpoints: readonly string[];
  readonly members: readonly EtcdMember[];
  readonly version: string;
  readonly binary: string;
  readonly etcdctl: string | undefined;
  readonly dataDir: string;
  /** Stops every member and waits for it. Idempotent. */
  stop(): Promise<void>;
}

interface Plan {
  readonly options: StartOptions;
  readonly etcd: EtcdBinary;
  readonly dataDir: string;
  readonly temporary: boolean;
  readonly note: Note | undefined;
  readonly count: number;
}

export async function startEtcd(options: StartOptions = {}): Promise<RunningEtcd> {
  const plan = await prepare(options);
  try {
    return await startWithFreePorts(plan);
  } catch (error) {
    if (plan.temporary) await rm(plan.dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function prepare(options: StartOptions): Promise<Plan> {
  const etcd = options.binary === undefined ? await ensureEtcd(options) : await givenBinary(options.binary);
  const temporary = options.dataDir === undefined;
  const dataDir =
    options.dataDir === undefined
      ? await mkdtemp(path.join(tmpdir(), 'leasehold-etcd-'))
      : path.resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true });
  const note = await readNote(dataDir);
  if (note !== undefined) {
    await takeOver(dataDir, note, options.onProgress ?? (() => undefined));
    refuseNewerData(dataDir, note, etcd.version);
  }
  const count = options.members ?? note?.members.length ?? 1;
  refuseBadCounts(options, dataDir, note, count);
  return { options, etcd, dataDir, temporary, note, count };
}

async function givenBinary(binary: string): Promise<EtcdBinary> {
  const reading = await readVersion(binary);
  if (!reading.ok) throw new EtcdLocalError('ETCD_BAD_OPTION', `binary ${binary} cannot be used: ${reading.reason}`);
  const etcdctl = await besideBinary(binary, process.env);
  return { binary, etcdctl, version: reading.version, from: 'environment', asBest: true };
}

/** etcd cannot open the data of a later minor version, and says so in a way that few understand. */
function refuseNewerData(dataDir: string, note: Note, version: string): void {
  const minor = (full: string): string => full.split('.').slice(0, 2).join('.');
  if (compareVersions(minor(note.etcd), minor(version)) <= 0) return;
  const message = `${dataDir} was written by etcd ${note.etcd}, which ${version} cannot read. Use the newer one, or another data directory.`;
  throw new EtcdLocalError('ETCD_DATA_NEWER', message);
}

function refuseBadCounts(options: StartOptions, dataDir: string, note: Note | undefined, count: number): void {
  if (note !== undefined && note.members.length !== count) {
    const message = `${dataDir} holds a cluster of ${note.members.length}, not of ${count}. Leave \`members\` out, or give another data directory.`;
    throw new EtcdLocalError('ETCD_BAD_OPTION', message);
  }
  if (options.ports !== undefined && options.ports.length !== count) {
    throw new EtcdLocalError('ETCD_BAD_OPTION', `ports has ${options.ports.length} pairs for ${count} members`);
  }
}

/** Between choosing a free port and listening on it, another may take it; then choose again, unless the caller chose. */
async function startWithFreePorts(plan: Plan): Promise<RunningEtcd> {
  for (let attempt = 1; ; attempt++) {
    const ports = await choosePorts(plan.count, plan.options.ports, plan.note);
    try {
      return await startOn(plan, ports);
    } catch (error) {
      const taken = error instanceof EtcdLocalError && /address already in use/.test(error.message);
      if (!taken || plan.options.ports !== undefined || attempt === 3) throw error;
      plan.options.onProgress?.('a port was taken by another process meanwhile; choosing others');
    }
  }
}

async function startOn(plan: Plan, ports: readonly MemberPorts[]): Promise<RunningEtcd> {
  const doors = (await plan.options.peerDoors?.(ports)) ?? ports.map(({ peer }) => peer);
  const members = makeMembers(plan, ports, doors);
  const stopAll = async (): Promise<void> => {
    // Nobody will read temporary data again, so there is nothing to end in good order.
    await Promise.all(members.map((member) => member.stop(plan.temporary ? 'SIGKILL' : 'SIGTERM')));
    if (plan.temporary) await rm(plan.dataDir, { recursive: true, force: true });
  };
  try {
    for (const member of members) await member.launch();
    await Promise.all(members.map((member) => member.untilHealthy()));
  } catch (error) {
    await Promise.all(members.map((member) => member.stop('SIGKILL')));
    throw error;
  }
  let stopped: Promise<void> | undefined;
  return {
    endpoints: members.map(({ clientUrl }) => clientUrl),
    members,
    version: plan.etcd.version,
    binary: plan.etcd.binary,
    etcdctl: plan.etcd.etcdctl,
    dataDir: plan.dataDir,
    stop: () => (stopped ??= stopAll()),
  };
}

function makeMembers(plan: Plan, ports: readonly MemberPorts[], doors: readonly number[]): Member[] {
  const { options, etcd, dataDir } = plan;
  const named = ports.map((pair, index) => ({ name: `m${index + 1}`, ports: pair, door: doors[index] ?? pair.peer }));
  const cluster = named.map(({ name, door }) => `${name}=${url(door)}`).join(',');
  const members: Member[] = [];
  const onPid = inTurn(() =>
    writeNote(
      dataDir,
      etcd.version,
      named.map(({ name, ports: pair }, index) => ({ name, ports: pair, pid: members[index]?.pid ?? 0 })),
    ),
  );
  for (const { name, ports: pair, door } of named) {
    members.push(
      new Member({
        name,
        binary: etcd.binary,
        args: memberArguments(plan, name, pair, door, cluster),
        ports: pair,
        directory: memberDirectory(dataDir, name),
        logFile: path.join(dataDir, `${name}.log`),
        startTimeoutMs: options.startTimeoutMs ?? 60_000,
        stopTimeoutMs: options.stopTimeoutMs ?? (ports.length === 1 ? 8000 : CLUSTER_GRACE_MS),
        temporary: plan.temporary ? dataDir : undefined,
        onPid,
        onUnexpectedExit: options.onUnexpectedExit ?? (() => undefined),
      }),
    );
  }
  return members;
}

/**
 * When all members stop together, the leader waits 7 s for a successor that can't come. What was acknowledged is in the log of each member
 * already, so killing it costs nothing.
 */
const CLUSTER_GRACE_MS = 2000;

/** Members start and stop at the same time, and all of them write one note: the last write must have the last pids. */
function inTurn(write: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  return () => (last = last.catch(() => undefined).then(write));
}

const DEFAULT_QUOTA_BYTES = 8 * 1024 ** 3;

function memberArguments(
  { options, dataDir }: Plan,
  name: string,
  ports: MemberPorts,
  door: number,
  cluster: string,
): string[] {
  const flags: Record<string, string> = {
    '--name': name,
    // note.ts recognises a left-behind process by this one.
    '--data-dir': memberDirectory(dataDir, name),
    '--listen-client-urls': url(ports.client),
    '--advertise-client-urls': url(ports.client),
    '--listen-peer-urls': url(ports.peer),
    '--initial-advertise-peer-urls': url(door),
    '--initial-cluster': cluster,
    '--initial-cluster-state': 'new',
    '--quota-backend-bytes': String(options.quotaBackendBytes ?? DEFAULT_QUOTA_BYTES),
    // 3.4 would log in another format and place by default.
    '--logger': 'zap',
    '--log-outputs': 'stderr',
    '--log-level': 'warn',
  };
  return [
    ...Object.entries(flags).flat(),
    ...(options.unsafeNoFsync === true ? ['--unsafe-no-fsync'] : []),
    ...(options.extraArgs ?? []),
  ];
}

function url(port: number): string {
  return `http://127.0.0.1:${port}`;
}
