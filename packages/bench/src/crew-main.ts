/** The program of a worker process; see `crew.ts`. */
import type { CrewJob, FromCrew, ToCrew } from './crew.js';
import { bullmqMember } from './peers/bullmq.js';
import { naiveMember } from './naive.js';
import { leaseholdMember } from './leasehold.js';

/** A worker that is connected and waits for `go`. `ended` is called for each task whose end is recorded. */
export interface Member {
  go(): Promise<void> | void;
  stop(): Promise<void>;
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
  else {
    await member?.stop();
    process.exit(0);
  }
}

process.on('message', (order: ToCrew) => {
  obey(order).catch((error: unknown) => {
    tell({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  });
});
process.on('disconnect', () => process.exit(1));
