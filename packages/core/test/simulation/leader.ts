/** A candidate by hand: asks for the office, and while it believes to hold it does a leader's work on what it reads. */
import type { Leadership } from '../../src/store/leadership.js';
import { campaign } from '../../src/store/leadership.js';
import { advance } from '../../src/store/drive.js';
import { expireDue } from '../../src/store/expire.js';
import { fireSchedule } from '../../src/store/fire.js';
import { promoteDue } from '../../src/store/promote.js';
import { findUnlocked, rescueTask } from '../../src/store/rescue.js';
import { listSchedules, readSchedule } from '../../src/store/schedules.js';
import type { Session } from '../../src/store/session.js';
import type { Drive } from '../../src/store/settle.js';
import { findUndriven } from '../../src/store/undriven.js';
import type { Process } from './process.js';
import { sessionOf } from './sessions.js';
import { tolerate } from './world.js';

export async function leader(process: Process): Promise<void> {
  for (;;) {
    const session = await sessionOf(process, process.random.int(2, 5) * 1_000);
    while (session.end === undefined) {
      const outcome = await tolerate(() => campaign(process.store, session.holder));
      if (outcome?.kind === 'fenced') break;
      if (outcome?.kind === 'elected') await lead(process, session, outcome.leadership);
      await process.sleep(process.random.int(100, 1_500));
    }
    await session.revoke();
  }
}

/** Until a write is refused; a leader by hand does not look at its clock. */
async function lead(process: Process, session: Session, leadership: Leadership): Promise<void> {
  const { random } = process;
  while (session.end !== 'gone' && session.end !== 'fenced') {
    const duties = [promote, expire, rescue, repair, fire];
    const done = await Promise.all(duties.map((duty) => tolerate(() => duty(process, leadership))));
    // Something was refused, or did not get through: look whose office it is.
    if (done.includes(undefined)) {
      const again = await tolerate(() => campaign(process.store, session.holder));
      if (again?.kind !== 'elected' || again.leadership.term !== leadership.term) return;
    }
    await process.sleep(random.int(50, 1_000));
  }
}

async function promote({ store }: Process, leadership: Leadership): Promise<boolean> {
  await promoteDue(store, leadership);
  return true;
}

async function expire(process: Process, leadership: Leadership): Promise<boolean> {
  const { drives } = await expireDue(process.store, leadership);
  await driveAll(process, leadership, drives);
  return true;
}

async function rescue(process: Process, leadership: Leadership): Promise<boolean> {
  for await (const ids of findUnlocked(process.store)) {
    const chosen = ids.filter(() => process.random.chance(0.5));
    const rescued = await Promise.all(chosen.map((id) => rescueTask(process.store, leadership, id)));
    const drives = rescued.flatMap(({ drive }) => (drive === undefined ? [] : [drive]));
    await driveAll(process, leadership, drives);
  }
  return true;
}

async function repair(process: Process, leadership: Leadership): Promise<boolean> {
  for await (const ids of findUndriven(process.store)) await driveAll(process, leadership, ids);
  return true;
}

async function fire(process: Process, leadership: Leadership): Promise<boolean> {
  const { store } = process;
  for await (const { id } of listSchedules(store)) {
    const seen = await readSchedule(store, id);
    if (seen === undefined) continue;
    const fired = await fireSchedule(store, leadership, seen);
    await driveAll(process, leadership, fired.workflows);
  }
  return true;
}

async function driveAll(process: Process, leadership: Leadership, drives: readonly (Drive | string)[]): Promise<void> {
  await Promise.all(drives.map((drive) => advance(process.store, leadership.actor, drive, leadership.fence)));
}
