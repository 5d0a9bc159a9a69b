/**
 * I2, I3, I7, I9: every change of a task record is a legal edge (or a request to stop), decided on what was there, and made by
 * who was entitled to it at that moment.
 */
import type { KeyValue } from '../kv/kv.js';
import type { AuditRecord, Settings } from '../model/records.js';
import { isEnded } from '../model/state.js';
import type { TaskRecord } from '../model/task.js';
import { isEdge } from '../model/transition.js';
import type { Scene } from './scene.js';
import type { ChangeOf, View } from './view.js';

export function checkEdges(scene: Scene): void {
  for (const change of scene.view.changesOf('tasks')) checkRecord(scene, change);
  for (const change of scene.view.changesOf('locks')) checkLockPut(scene, change);
}

function checkRecord(scene: Scene, change: ChangeOf<'tasks'>): void {
  const { view, report } = scene;
  const before = view.taskOf(change.before);
  const after = view.taskOf(change.after);
  const keys = [change.key];
  if (after === undefined) {
    if (before !== undefined && !isEnded(before.state)) {
      report('I5', keys, `${before.id} was deleted while it was ${before.state}`);
    }
    return;
  }
  if (before === undefined) {
    if (!isEdge('NONE', after.cause, after.state)) {
      report('I2', keys, `${after.id} appeared as ${after.state} by "${after.cause}"`);
    }
    return;
  }
  if (isEnded(before.state)) return checkRetry(scene, change, before, after);
  if (isRequestToStop(before, after)) {
    if (before.state !== 'STARTED') report('I2', keys, `${after.id} was asked to stop while ${before.state}`);
    return;
  }
  if (!isEdge(before.state, after.cause, after.state)) {
    report('I2', keys, `no edge "${after.cause}" leads from ${before.state} to ${after.state}`);
    return;
  }
  checkAttempt(scene, keys, before, after);
  if (after.cause === 'claimed') checkClaim(scene, before, after);
  else if (before.state === 'STARTED') checkLeaving(scene, before, after);
}

/** An edit in place: somebody asked a running task to stop, or asked again. Nothing else may differ. */
function isRequestToStop(before: TaskRecord, after: TaskRecord): boolean {
  if (after.cancelRequested === undefined) return false;
  if (before.cancelRequested !== undefined) return JSON.stringify(before) === JSON.stringify(after);
  const { cancelRequested: _asked, updatedMs: _at, ...now } = after;
  const { updatedMs: _then, ...then } = before;
  return JSON.stringify(now) === JSON.stringify(then);
}

function checkAttempt({ report }: Scene, keys: readonly string[], before: TaskRecord, after: TaskRecord): void {
  const wanted = before.attempt + (after.cause === 'claimed' ? 1 : 0);
  if (after.attempt !== wanted) {
    report('I3', keys, `attempt ${after.attempt} follows ${before.attempt} by "${after.cause}"`);
  }
  const again = after.cause === 'retried-by-operator';
  if (!again && (after.failures < before.failures || after.losses < before.losses)) {
    report('I2', keys, `${after.id} forgot failures or losses by "${after.cause}"`);
  }
}

/** I7: an ended task changes only by a retry that is on record. */
function checkRetry(scene: Scene, change: ChangeOf<'tasks'>, before: TaskRecord, after: TaskRecord): void {
  const { view, report } = scene;
  const keys = [change.key];
  if (after.cause !== 'retried-by-operator' || !isEdge(before.state, after.cause, after.state)) {
    report('I7', keys, `${after.id} had ended as ${before.state} and became ${after.state} by "${after.cause}"`);
    return;
  }
  checkAttempt(scene, keys, before, after);
  const place = after.workflow;
  if (place === undefined) {
    if (!isAudited(view, [after.id])) report('I7', keys, `${after.id} was retried without a record of who did it`);
    return;
  }
  // A member is put back by its workflow's driver; the act was recorded together with the chore (see workflows.ts).
  if (view.was(view.keys.chore(place.id, 'reopen')) === undefined) {
    report('I7', keys, `member ${after.id} was put back although its workflow was not reopened`);
  }
}

/** An audit record of this very revision speaks of one of these. */
export function isAudited(view: View, ids: readonly string[]): boolean {
  return view.changesOf('audit').some(({ after }) => {
    const record = view.recordOf<AuditRecord>(after);
    return record?.targets.some((target) => ids.includes(target)) === true;
  });
}

/** A session's writes count while its node record is there under the lease, and the epoch is the one it began in. */
function isAlive(view: View, node: string, lease: bigint): boolean {
  const record = view.was(view.keys.node(node));
  if (record === undefined || record.lease !== lease) return false;
  const epoch = view.was(view.keys.epoch());
  return epoch === undefined || epoch.modRevision < record.createRevision;
}

function checkClaim(scene: Scene, before: TaskRecord, after: TaskRecord): void {
  const { view, report } = scene;
  const { keys } = view;
  const lockKey = keys.lock(after.id);
  const both = [keys.task(after.id), lockKey];
  const lock = view.get(lockKey);
  if (view.was(lockKey) !== undefined) report('I3', both, `${after.id} was claimed while it was locked`);
  if (lock === undefined || lock.createRevision !== view.revision || lock.modRevision !== view.revision) {
    report('I2', both, `${after.id} was claimed without taking its lock`);
  } else if (after.node === undefined || !isAlive(view, after.node, lock.lease)) {
    report('I3', both, `${after.id} was claimed by ${after.node ?? '?'}, whose session was over`);
  }
  if (before.cancelRequested !== undefined) {
    report('I2', both, `${after.id} was claimed although it had been asked to stop`);
  }
  checkPauses(scene, after);
  checkWorkflowOf(scene, after);
}

/** I9: nothing is claimed after a pause. */
function checkPauses({ view, report }: Scene, task: TaskRecord): void {
  for (const key of [view.keys.queue(task.queue), view.keys.name(task.name), view.keys.all()]) {
    const settings = view.recordOf<Settings>(view.was(key));
    if (settings?.paused !== undefined)
      report('I9', [view.keys.task(task.id), key], `${task.id} was claimed while paused`);
  }
}

/** A member starts only under the version of its workflow under which it was released. */
function checkWorkflowOf({ view, report }: Scene, task: TaskRecord): void {
  if (task.workflow === undefined) return;
  const key = view.keys.workflow(task.workflow.id);
  const kv = view.was(key);
  const state = view.workflowOf(kv)?.state;
  if (state !== 'RUNNING') report('I2', [key], `${task.id} was claimed although its workflow is ${state ?? 'gone'}`);
  if (kv === undefined || kv.version === BigInt(task.workflow.version)) return;
  report(
    'I2',
    [view.keys.task(task.id), key],
    `${task.id} was claimed under a version of its workflow that has passed`,
  );
}

/** Causes that give the task back without its end: who was asked to stop is not given back. */
const GOES_ON: readonly string[] = ['failed-retry', 'snoozed', 'handed-back', 'lost', 'force-released'];

function checkLeaving(scene: Scene, before: TaskRecord, after: TaskRecord): void {
  const { view, report } = scene;
  const lockKey = view.keys.lock(after.id);
  const lock = view.was(lockKey);
  const both = [view.keys.task(after.id), lockKey];
  const [kind, name = ''] = splitActor(after.by);
  if (before.cancelRequested !== undefined && (GOES_ON.includes(after.cause) || after.state === 'RETRY')) {
    report('I2', both, `"${after.cause}" was decided on a record that had not been asked to stop`);
  }
  if (kind === 'node') return checkSettle(scene, before, after, lock, name);
  // Nobody but its holder, and an operator who takes the lock away, ends a running attempt.
  if (kind === 'leader' && lock !== undefined) {
    report('I2', both, `${after.by} took "${after.cause}" while ${view.lockOf(lock)?.node ?? '?'} held the lock`);
  }
}

function checkSettle(
  { view, report }: Scene,
  before: TaskRecord,
  after: TaskRecord,
  lock: KeyValue | undefined,
  node: string,
): void {
  const both = [view.keys.task(after.id), view.keys.lock(after.id)];
  const held = view.lockOf(lock);
  if (lock === undefined || held === undefined) {
    report('I2', both, `${after.by} settled attempt ${before.attempt} without holding its lock`);
  } else if (held.node !== node || held.attempt !== before.attempt) {
    report('I2', both, `${after.by} settled attempt ${before.attempt}; the lock is of ${held.attempt} on ${held.node}`);
  } else if (!isAlive(view, node, lock.lease)) {
    report('I2', both, `${after.by} settled attempt ${before.attempt} when its session was over`);
  }
}

export function splitActor(by: string): readonly [kind: string, name?: string] {
  const at = by.indexOf(':');
  return at < 0 ? [by] : [by.slice(0, at), by.slice(at + 1)];
}

/** I3: a lock is created, never overwritten, and only together with the claim that it stands for. */
function checkLockPut({ view, report }: Scene, { key, parsed, before, after }: ChangeOf<'locks'>): void {
  if (after === undefined) return;
  if (before !== undefined) report('I3', [key], `the lock of ${parsed.id} was written over another`);
  const record = view.change(view.keys.task(parsed.id));
  if (view.taskOf(record?.after)?.cause !== 'claimed') {
    report('I3', [key], `a lock of ${parsed.id} without a claim in the same revision`);
  }
}
