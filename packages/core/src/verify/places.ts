/** I1: a record's state says where its task is; lock and slots go with STARTED and with nothing else. */
import { placesOf, uniqueUntilMs } from '../model/places.js';
import type { TaskRecord } from '../model/task.js';
import { limitsOf } from '../store/edge.js';
import type { Scene } from './scene.js';
import type { Change, View } from './view.js';

/** Ids of the tasks of which this revision touched anything that I1 speaks of. */
export function touchedTasks(changes: readonly Change[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parsed, before, after } of changes) {
    switch (parsed.kind) {
      case 'tasks':
      case 'locks':
      case 'ready':
      case 'due':
      case 'deadlines':
      case 'ended':
        ids.add(parsed.id);
        break;
      case 'unique':
      case 'slots':
        if (before !== undefined) ids.add(before.value);
        if (after !== undefined) ids.add(after.value);
        break;
      default:
    }
  }
  return ids;
}

export function checkPlaces(scene: Scene, ids: Iterable<string>): void {
  for (const id of ids) {
    const task = scene.view.task(id);
    checkIndexes(scene, id, task);
    checkLock(scene, id, task);
    checkSlots(scene, id, task);
  }
}

function checkIndexes({ view, report }: Scene, id: string, task: TaskRecord | undefined): void {
  const there = view.group(`places:${id}`);
  const implied = task === undefined ? new Map<string, string>() : placesOf(view.keys, task, () => '');
  const freed = task === undefined ? [] : windowPlaces(view, task).filter((key) => !there.has(key));
  for (const key of implied.keys()) {
    // Both or neither: the expirer frees the key of an ended task together with its entry.
    if (there.has(key) || (freed.length === 2 && freed.includes(key))) continue;
    // A retry has to take its unique key again, or to conflict.
    const unique = view.keys.parse(key)?.kind === 'unique';
    const invariant = unique && task?.cause === 'retried-by-operator' ? 'I7' : 'I1';
    const holder = view.get(key)?.value;
    report(
      invariant,
      [view.keys.task(id), key],
      `${id} is ${task?.state} without its entry${holder === undefined ? '' : ` (held by ${holder})`}`,
    );
  }
  for (const key of there) {
    if (implied.has(key) || mayStay(view, key, task)) continue;
    report('I1', [key], `an entry of ${id}, which is ${task?.state ?? 'not there'}, that its record does not imply`);
  }
  if (task?.state === 'PENDING') checkReady(view, report, task);
}

/** An entry with a reason of its own. */
function mayStay(view: View, key: string, task: TaskRecord | undefined): boolean {
  if (view.keys.parse(key)?.kind !== 'deadlines') return false;
  return task?.ignoreWhenNotRegistered === true && view.get(key)?.value === 'unregistered';
}

/** Where an ended task holds its unique key for a window. */
function windowPlaces({ keys }: View, task: TaskRecord): readonly string[] {
  const untilMs = uniqueUntilMs(task);
  if (untilMs === undefined || task.unique === undefined) return [];
  return [keys.unique(task.unique.key), keys.deadline(untilMs, task.id)];
}

/** Watchers wake, and a claimer may decide on the carried record, because the entry is written whenever the record is. */
function checkReady(view: View, report: Scene['report'], task: TaskRecord): void {
  const record = view.get(view.keys.task(task.id));
  const entry = view.get(view.keys.ready(task.queue, task.shard, task.order ?? 0, task.id));
  if (record === undefined || entry === undefined) return;
  const keys = [record.key, entry.key];
  if (entry.modRevision !== record.modRevision) {
    report('I1', keys, `${task.id} became claimable, and its ready entry was not written anew`);
  } else if (entry.value.includes('"task":') && !entry.value.endsWith(`"task":${record.value}}`)) {
    report('I1', keys, `the ready entry of ${task.id} carries another record than the stored one`);
  }
}

function checkLock({ view, report }: Scene, id: string, task: TaskRecord | undefined): void {
  const key = view.keys.lock(id);
  const lock = view.lockOf(view.get(key));
  const keys = [view.keys.task(id), key];
  if (lock === undefined) {
    if (task?.state !== 'STARTED' || task.node === undefined) return;
    if (view.get(view.keys.node(task.node)) === undefined) return;
    report('I1', keys, `${id} is STARTED on ${task.node}, which lives, and is not locked`);
  } else if (task?.state !== 'STARTED') {
    report('I1', keys, `${id} is ${task?.state ?? 'not there'} and locked by ${lock.node}`);
  } else if (lock.node !== task.node || lock.attempt !== task.attempt) {
    const says = `attempt ${task.attempt} on ${task.node ?? '?'}`;
    report('I3', keys, `the lock is of attempt ${lock.attempt} on ${lock.node}, the record of ${says}`);
  }
}

function checkSlots({ view, report }: Scene, id: string, task: TaskRecord | undefined): void {
  const held = view.group(`slots:${id}`);
  const locked = view.get(view.keys.lock(id)) !== undefined;
  const named = task?.state === 'STARTED' && locked ? (task.slots ?? []).map((slot) => slotKey(view, slot)) : [];
  for (const key of named) {
    if (!held.has(key)) report('I1', [view.keys.task(id), key], `${id} names a slot that it does not hold`);
  }
  for (const key of held) {
    if (!named.includes(key)) report('I1', [key], `a slot of ${id} that its record does not name while it runs`);
  }
  if (task === undefined || held.size === 0) return;
  const most = new Map(limitsOf(task).map(({ limit, max }) => [limit, max]));
  for (const key of held) {
    const slot = view.keys.parse(key);
    const max = slot?.kind === 'slots' ? most.get(slot.limit) : undefined;
    if (slot?.kind === 'slots' && max !== undefined && slot.n >= max) {
      report('I1', [key], `${id} holds slot ${slot.n} of "${slot.limit}", which has ${max}`);
    }
  }
}

function slotKey(view: View, slot: string): string {
  const at = slot.lastIndexOf('/');
  return view.keys.slot(slot.slice(0, at), Number(slot.slice(at + 1)));
}
