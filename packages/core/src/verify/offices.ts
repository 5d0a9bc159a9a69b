/** I8 and I11: what a leader writes, it writes while it holds the office; an instant of a schedule fires once. */
import type { AuditRecord, LeaderRecord, OrderRecord, ScheduleRecord } from '../model/records.js';
import { splitActor } from './edges.js';
import type { Scene } from './scene.js';
import type { ChangeOf } from './view.js';

interface FireValue {
  readonly by?: string;
  /** What it was submitted as; absent when it was passed over. */
  readonly id?: string;
}

export function checkOffices(scene: Scene): void {
  const { view } = scene;
  for (const { key, before, after } of view.changesOf('tasks')) {
    const [was, is] = [view.taskOf(before), view.taskOf(after)];
    if (is === undefined) continue;
    // A request to stop leaves the edge's author in place and names its own.
    const asked = is.cancelRequested !== undefined && was !== undefined && was.cancelRequested === undefined;
    checkLeader(scene, key, asked ? is.cancelRequested.by : is.by);
  }
  for (const { key, after } of view.changesOf('orders')) {
    if (after !== undefined) checkLeader(scene, key, view.recordOf<OrderRecord>(after)?.by ?? '');
  }
  for (const { key, after } of view.changesOf('audit')) {
    const actor = view.recordOf<AuditRecord>(after)?.actor;
    if (actor?.kind === 'leader') checkLeader(scene, key, `leader:${actor.name}`);
  }
  for (const change of view.changesOf('fires')) checkFire(scene, change);
  for (const change of view.changesOf('schedules')) checkSchedule(scene, change);
}

function checkLeader({ view, report }: Scene, key: string, by: string): void {
  const [kind, node = ''] = splitActor(by);
  if (kind !== 'leader') return;
  const office = view.was(view.keys.leader());
  const leader = view.recordOf<LeaderRecord>(office)?.node;
  if (leader === node) return;
  report('I8', [key, view.keys.leader()], `${by} wrote while ${leader ?? 'nobody'} held the office`);
}

/** I11: once, and in the revision that moves the schedule on. */
function checkFire(scene: Scene, { key, parsed, before, after }: ChangeOf<'fires'>): void {
  const { view, report, past } = scene;
  if (after === undefined) return;
  const fire = view.recordOf<FireValue>(after);
  checkLeader(scene, key, fire?.by ?? '');
  if (before !== undefined || past.fired.has(key))
    report('I11', [key], `instant ${parsed.timeMs} of ${parsed.id} fired again`);
  past.fired.add(key);
  const scheduleKey = view.keys.schedule(parsed.id);
  const schedule = view.recordOf<ScheduleRecord>(view.change(scheduleKey)?.after);
  if (schedule?.lastMs === undefined || schedule.lastMs < parsed.timeMs) {
    report(
      'I11',
      [key, scheduleKey],
      `instant ${parsed.timeMs} of ${parsed.id} fired and the schedule did not move on`,
    );
  }
  if (fire?.id === undefined) return;
  const submitted = [view.keys.task(fire.id), view.keys.workflow(fire.id)].some((one) => view.get(one) !== undefined);
  if (submitted || schedule?.submitting === fire.id) return;
  report('I11', [key], `instant ${parsed.timeMs} of ${parsed.id} fired and ${fire.id} was not submitted`);
}

/** The leader never goes back over instants that were decided; an operator may begin anew. */
function checkSchedule({ view, report }: Scene, { key, parsed, before, after }: ChangeOf<'schedules'>): void {
  const was = view.recordOf<ScheduleRecord>(before)?.lastMs;
  const is = view.recordOf<ScheduleRecord>(after)?.lastMs;
  if (was === undefined || after === undefined || view.changesOf('audit').length > 0) return;
  if (is !== undefined && is >= was) return;
  report('I11', [key], `schedule ${parsed.id} went back from instant ${was} to ${is ?? 'none'}`);
}
