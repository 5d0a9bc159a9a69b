import { decodeRecord, type LeaderRecord } from '@leasehold/core';
import { KvError, type Kv } from '@leasehold/core/kv';
import type { Command } from 'commander';
import { run, type CommonOptions, type Session } from '../command.js';
import { EXIT } from '../exit.js';

interface Check {
  readonly check: string;
  readonly verdict: 'ok' | 'warning' | 'bad';
  readonly found: string;
}

const LOOK = { ok: 'green', warning: 'yellow', bad: 'red' } as const;
const PINGS = 10;
const SLOW_MS = 50;
const LARGE_BYTES = 4 * 1024 ** 3;

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('looks at etcd and at the scheduler; exit 1 when something is bad')
    .action((_flags: object, command: Command) => run(command.optsWithGlobals<CommonOptions>(), examine));
}

async function examine(session: Session): Promise<number> {
  const { kv, out, place } = session;
  const status = await kv.status();
  const size = `${megabytes(status.dbSizeBytes)}, ${megabytes(status.dbSizeInUseBytes)} in use`;
  const checks: readonly Check[] = [
    { check: 'node', verdict: 'ok', found: process.version },
    { check: 'etcd', verdict: 'ok', found: `${place.endpoints.join(', ')} (from ${place.from})` },
    versionCheck(status.version),
    {
      check: 'etcd leader',
      verdict: status.leaderId === '0' ? 'bad' : 'ok',
      found: status.leaderId === '0' ? 'none' : status.leaderId,
    },
    await membersCheck(kv),
    { check: 'database', verdict: status.dbSizeBytes > LARGE_BYTES ? 'warning' : 'ok', found: size },
    await alarmCheck(kv),
    await pingCheck(kv),
    ...(await schedulerChecks(session)),
  ];
  out.table(
    checks,
    [
      { title: '', text: ({ verdict }) => verdict, style: ({ verdict }) => LOOK[verdict] },
      { title: 'check', text: ({ check }) => check },
      { title: 'found', text: ({ found }) => found },
    ],
    '',
  );
  return checks.some(({ verdict }) => verdict === 'bad') ? EXIT.failed : EXIT.ok;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

function versionCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const known = major === 3 && minor >= 4;
  return {
    check: 'etcd version',
    verdict: known ? 'ok' : 'warning',
    found: known ? version : `${version}; tried are 3.4 and later`,
  };
}

async function membersCheck(kv: Kv): Promise<Check> {
  const members = await kv.members();
  const names = members.map(({ name, isLearner }) => (isLearner ? `${name} (learner)` : name || '(not started)'));
  const single = members.length === 1 ? '; one member survives no lost disk' : '';
  return { check: 'etcd members', verdict: 'ok', found: `${members.length}: ${names.join(', ')}${single}` };
}

async function alarmCheck(kv: Kv): Promise<Check> {
  try {
    const alarms = await kv.alarms();
    const found = alarms.map(({ alarm, memberId }) => `${alarm} at ${memberId}`).join(', ');
    return { check: 'etcd alarms', verdict: alarms.length === 0 ? 'ok' : 'bad', found: found || 'none' };
  } catch (error) {
    if (!(error instanceof KvError) || error.code !== 'denied') throw error;
    return { check: 'etcd alarms', verdict: 'warning', found: 'these credentials may not ask' };
  }
}

/** Reads that ask the quorum; nothing is written. */
async function pingCheck(kv: Kv): Promise<Check> {
  const times: number[] = [];
  for (let n = 0; n < PINGS; n++) {
    const began = performance.now();
    await kv.range({ key: '/leasehold/', limit: 1, keysOnly: true });
    times.push(performance.now() - began);
  }
  const [best = 0, middle = 0] = [times.toSorted((a, b) => a - b)[0], times.toSorted((a, b) => a - b)[PINGS >> 1]];
  const found = `${middle.toFixed(1)} ms a read (best of ${PINGS}: ${best.toFixed(1)} ms)`;
  return { check: 'round trip', verdict: middle > SLOW_MS ? 'warning' : 'ok', found };
}

async function schedulerChecks({ client, place, kv }: Session): Promise<readonly Check[]> {
  const nodes = await client.nodes();
  const [leader] = (await kv.range({ key: client.store.keys.leader() })).kvs;
  const leading = leader === undefined ? undefined : decodeRecord<LeaderRecord>(leader.value, 'leader');
  const candidates = nodes.filter(({ candidate }) => candidate).length;
  return [
    { check: 'namespace', verdict: 'ok', found: place.namespace },
    {
      check: 'workers',
      verdict: nodes.length === 0 ? 'warning' : 'ok',
      found: `${nodes.length} live, ${candidates} may lead`,
    },
    leading === undefined
      ? {
          check: 'leader',
          verdict: nodes.length === 0 ? 'warning' : 'bad',
          found: 'none: nothing scheduled or retried becomes ready',
        }
      : { check: 'leader', verdict: 'ok', found: `${leading.node} since ${new Date(leading.sinceMs).toISOString()}` },
  ];
}
