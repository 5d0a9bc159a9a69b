/** The program of a worker process; see `crew.ts`. */
import type { CrewJob, FromCrew, ToCrew, Usage } from './crew.js';
import { bullmqMember } from './peers/bullmq.js';
import { naiveMember } from './naive.js';
import { leaseholdMember } from './leasehold.js';

/** A worker that is connected and waits for `go`. `ended` is called for each task whose end is recorded. */
export interface Member {
  go(): Promise<void> | void;
  stop(): Promise<void>;
  /** What was sent to the store so far; systems that do not count it leave it out. */
  sent?(): Pick<Usage, 'requests' | 'transitions' | 'sentBytes'>;
}
export type MakeMember = (settings: CrewJob['settings'], ended: () => void) => Promise<Member>;

const MEMBERS: Readonly<Record<CrewJob['kind'], MakeMember>> = {
  leasehold: leaseholdMember,
  naive: naiveMember,
  bullmq: bullmqMember,
};
const REPORT_MS = 10;

const tell = (message: FromCrew): void => void process.send?.(message);
let member: Member | undefined;
let count = 0;

setInterval(() => {
  if (count > 0) tell({ kind: 'ended', count });
  count = 0;
}, REPORT_MS);

async function obey(order: ToCrew): Promise<void> {
  if (order.kind === 'job') {
    member = await MEMBERS[order.job.kind](order.job.settings, () => void (count += 1));
    tell({ kind: 'ready' });
  } else if (order.kind === 'go') await member?.go();
  else if (order.kind === 'usage') tell({ kind: 'usage', usage: usage(member) });
  else {
    await member?.stop();
    process.exit(0);
  }
}

let collectingUs = 0;

/** What is garbage counts for nothing; to collect it is no work of the system under test either. */
function usage(of: Member | undefined): Usage {
  const { user, system } = process.cpuUsage();
  const spentUs = user + system - collectingUs;
  globalThis.gc?.();
  const collected = process.cpuUsage({ user, system });
  collectingUs += collected.user + collected.system;
  const { heapUsed, rss } = process.memoryUsage();
  const sent = of?.sent?.() ?? { requests: 0, transitions: 0, sentBytes: 0 };
  return { cpuMs: spentUs / 1_000, heapBytes: heapUsed, residentBytes: rss, ...sent };
}

process.on('message', (order: ToCrew) => {
  obey(order).catch((error: unknown) => {
    tell({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  });
});
process.on('disconnect', () => process.exit(1));
