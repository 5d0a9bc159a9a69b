/** What is done to the processes and to the network. Each fault ends what it began, whatever happens between. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Proxy } from '@leasehold/etcd-local';
import type { Random } from '../simulation/random.js';
import type { Cluster } from './cluster.js';
import type { Crew, CrewMember } from './crew.js';
import type { Measures } from './measures.js';
import type { Recorder } from './recorder.js';

export interface Stage {
  readonly cluster: Cluster;
  readonly crew: Crew;
  readonly submitter: { readonly all: (act: (proxy: Proxy) => void) => void };
  readonly recorder: Recorder;
  readonly measures: Measures;
  readonly ttlMs: number;
}

/**
 * - `nodes`: some worker's; etcd is well, so what it held must go on within the lease.
 * - `store`: etcd's leader may change, and leases may begin anew.
 * - `path`: between the two.
 */
export type FaultArea = 'nodes' | 'path' | 'store';

export interface Fault {
  readonly area: FaultArea;
  readonly weight: number;
  readonly run: (stage: Stage, random: Random) => Promise<void>;
}

export const FAULTS = {
  'worker-kill': { area: 'nodes', weight: 5, run: (stage, random) => killWorker(stage, random, anyWorker) },
  'leader-kill': { area: 'nodes', weight: 3, run: (stage, random) => killWorker(stage, random, leaderOr) },
  'worker-stop': {
    area: 'nodes',
    weight: 1,
    run: async ({ crew }, random) => {
      const worker = random.pick(crew.members);
      await worker.stop(10_000);
      worker.restart();
    },
  },
  // Longer than its lease, so that it wakes up as a ghost whose tasks others have.
  'worker-freeze': {
    area: 'nodes',
    weight: 4,
    run: async (stage, random) => {
      const worker = leaderOr(stage, random);
      await freeze(worker, stage.ttlMs + random.int(1_000, 2 * stage.ttlMs));
    },
  },
  'worker-cut': { area: 'path', weight: 3, run: (stage, random) => cut(stage, random, 'both') },
  'worker-deaf': { area: 'path', weight: 2, run: (stage, random) => cut(stage, random, 'to-client') },
  'worker-mute': { area: 'path', weight: 2, run: (stage, random) => cut(stage, random, 'to-server') },
  'worker-reset': {
    area: 'path',
    weight: 2,
    run: async ({ crew }, random) => {
      for (let i = random.int(1, 5); i > 0; i--) {
        random.pick(crew.members).door.all((proxy) => proxy.killConnections());
        await delay(random.int(50, 400));
      }
    },
  },
  // Requests arrive, answers don't: what was submitted is unknown to who submitted it.
  'submitter-deaf': {
    area: 'path',
    weight: 3,
    run: async ({ submitter }, random) => {
      submitter.all((proxy) => proxy.blackhole('to-client'));
      await delay(random.int(500, 4_000));
      submitter.all((proxy) => proxy.resume());
    },
  },
  clock: {
    area: 'nodes',
    weight: 2,
    run: async (stage, random) => {
      const worker = random.chance(0.5) ? leaderOr(stage, random) : anyWorker(stage, random);
      worker.send({ offMs: random.int(-60_000, 60_000) });
      await delay(random.int(1_000, 6_000));
      worker.send({ offMs: 0 });
    },
  },
  'member-kill': { area: 'store', weight: 2, run: (stage, random) => killMember(stage, random, anyMember) },
  'etcd-leader-kill': { area: 'store', weight: 3, run: (stage, random) => killMember(stage, random, leadingMember) },
  'member-freeze': {
    area: 'store',
    weight: 2,
    run: async (stage, random) => {
      const member = stage.cluster.members[await leadingMember(stage, random)];
      member?.pause();
      await delay(random.int(1_000, 6_000));
      member?.resume();
    },
  },
  // Stops and goes on many times a second, as a member on a slow disk does.
  'member-slow': {
    area: 'store',
    weight: 2,
    run: async (stage, random) => {
      const member = stage.cluster.members[random.int(0, 2)];
      for (let i = random.int(10, 30); i > 0; i--) {
        member?.pause();
        await delay(random.int(20, 250));
        member?.resume();
        await delay(random.int(20, 100));
      }
    },
  },
  // What others send it and what it sends over connections that others opened is lost; what it fetches itself arrives.
  'member-half-cut': {
    area: 'store',
    weight: 2,
    run: async ({ cluster }, random) => cutPeers([random.pick(cluster.peers)], random.int(1_000, 8_000)),
  },
  'members-apart': {
    area: 'store',
    weight: 1,
    run: async ({ cluster }, random) => cutPeers(cluster.peers, random.int(1_000, 5_000)),
  },
  'cluster-restart': {
    area: 'store',
    weight: 1,
    run: async ({ cluster }) => {
      await Promise.all(cluster.members.map((member) => member.stop('SIGKILL')));
      await Promise.all(cluster.members.map((member) => member.restart()));
    },
  },
  compaction: {
    area: 'path',
    weight: 3,
    run: async ({ cluster, recorder }, random) => {
      for (let i = random.int(3, 12); i > 0; i--) {
        await cluster.kv.compact(recorder.seen).catch(() => undefined);
        await delay(random.int(50, 300));
      }
    },
  },
  'no-space': { area: 'store', weight: 0.5, run: fill },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

function anyWorker({ crew }: Stage, random: Random): CrewMember {
  return random.pick(crew.members);
}

/** The one whose process leads, if it is known; the leader has most to lose. */
function leaderOr(stage: Stage, random: Random): CrewMember {
  const { recorder, crew } = stage;
  const pid = recorder.leader === undefined ? undefined : recorder.pids.get(recorder.leader);
  return crew.members.find((worker) => worker.pid === pid) ?? random.pick(crew.members);
}

async function killWorker(stage: Stage, random: Random, which: typeof anyWorker): Promise<void> {
  const worker = which(stage, random);
  const { pid } = worker;
  await worker.kill();
  stage.measures.killed(pid);
  await delay(random.int(500, 2 * stage.ttlMs));
  worker.restart();
}

async function freeze(worker: CrewMember, ms: number): Promise<void> {
  worker.signal('SIGSTOP');
  await delay(ms);
  worker.signal('SIGCONT');
}

async function cut(stage: Stage, random: Random, way: 'both' | 'to-client' | 'to-server'): Promise<void> {
  const { door } = random.pick(stage.crew.members);
  door.all((proxy) => proxy.blackhole(way));
  await delay(random.int(500, 2 * stage.ttlMs));
  door.all((proxy) => proxy.resume());
}

async function cutPeers(peers: readonly Proxy[], ms: number): Promise<void> {
  for (const peer of peers) peer.blackhole('both');
  await delay(ms);
  for (const peer of peers) peer.resume();
}

function anyMember(_stage: Stage, random: Random): Promise<number> {
  return Promise.resolve(random.int(0, 2));
}

async function leadingMember({ cluster }: Stage, random: Random): Promise<number> {
  return (await cluster.leader()) ?? random.int(0, 2);
}

async function killMember(stage: Stage, random: Random, which: typeof anyMember): Promise<void> {
  const index = await which(stage, random);
  const member = stage.cluster.members[index];
  const led = (await stage.cluster.leader()) === index;
  if (led) stage.measures.leaderLost();
  await member?.stop('SIGKILL');
  await delay(random.int(200, 4_000));
  await member?.restart();
}

const JUNK = 'chaos-junk/';
const JUNK_BYTES = 1024 * 1024;
const MOST_JUNK = 400;

/** Writes junk outside the namespace until etcd refuses, waits, and makes room as an operator would. */
async function fill({ cluster, recorder }: Stage, random: Random): Promise<void> {
  if (!cluster.canFill) return;
  const value = 'x'.repeat(JUNK_BYTES);
  for (let i = 0; i < MOST_JUNK; i++) {
    const put = { kind: 'put', key: `${JUNK}${i}`, value } as const;
    const refused = await cluster.kv.txn({ compare: [], success: [put] }, { timeoutMs: 5_000 }).then(
      () => false,
      (error: unknown) => error instanceof Error && 'code' in error && error.code === 'no-space',
    );
    if (refused) break;
  }
  await delay(random.int(1_000, 4_000));
  let emptied = 0n;
  await insist(async () => {
    const all = { kind: 'delete', key: JUNK, rangeEnd: 'chaos-junk0' } as const;
    ({ revision: emptied } = await cluster.kv.txn({ compare: [], success: [all] }));
  });
  await insist(() => makeRoom(cluster, recorder, emptied));
}

/** As etcd's documentation says: compact, defragment each member, take the alarm off. Then a write must be taken. */
async function makeRoom(cluster: Cluster, recorder: Recorder, emptied: bigint): Promise<void> {
  // Nothing of the namespace is written now, so only progress takes the recorder past the junk.
  recorder.ask();
  if (recorder.seen < emptied) throw new Error(`the recorder is at ${recorder.seen}, the junk went at ${emptied}`);
  // Physical: what is only marked as deleted leaves the file as large as it is. Refused when it is compacted already.
  await cluster.ctl(['compaction', '--physical', String(recorder.seen)], 0).catch(() => undefined);
  for (const index of cluster.members.keys()) await cluster.ctl(['defrag'], index);
  await cluster.ctl(['alarm', 'disarm']);
  await cluster.kv.txn({ compare: [], success: [{ kind: 'put', key: `${JUNK}room`, value: '' }] });
  const alarms = await cluster.kv.alarms();
  if (alarms.length > 0) throw new Error(`etcd raised its alarm again: ${JSON.stringify(alarms)}`);
}

/** Making room must not be given up half-way: everything else waits for it. */
async function insist(act: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await act();
      return;
    } catch (error) {
      if (tries === 20) throw error;
      await delay(500);
    }
  }
}
