/**
 * I4: what a task's end hands on is in the revision of the end: the next step of its chain, its leaving the barrier, or a
 * chore for the workflow's driver; its callbacks; its large results. Places and slots are I1's.
 */
import { callbackId } from '../model/ids.js';
import { isEnded } from '../model/state.js';
import type { TaskPayload, TaskRecord, WorkflowPlace } from '../model/task.js';
import type { Scene } from './scene.js';

export function checkEndings(scene: Scene): void {
  const { view } = scene;
  for (const change of view.changesOf('tasks')) {
    const before = view.taskOf(change.before);
    const after = view.taskOf(change.after);
    if (before === undefined || after === undefined || isEnded(before.state) || !isEnded(after.state)) continue;
    if (after.workflow !== undefined) checkHandOn(scene, before, after, after.workflow);
    checkCallbacks(scene, after);
    checkResults(scene, after);
  }
}

function checkHandOn(scene: Scene, before: TaskRecord, after: TaskRecord, place: WorkflowPlace): void {
  const { view, report } = scene;
  // Whoever stops the rest of a chain does so for the whole rest, and tells of it once (its own chore).
  if (before.state === 'WAITING' && after.cause === 'stopped') return;
  const record = view.keys.task(after.id);
  if (hasChore(scene, place, 'ended')) return;
  const goesOn = after.state === 'SUCCESS' || (place.cont.policy === 'ignore' && after.cause !== 'stopped');
  if (!goesOn) {
    const key = choreKey(scene, place, 'ended');
    report('I4', [record, key], `${after.id} ended as ${after.state} and nobody was told`);
    return;
  }
  const { next, up } = place.cont;
  if (next === undefined) {
    const slot = view.keys.barrier(place.id, up.join, up.slot);
    if (view.get(slot) !== undefined) report('I4', [record, slot], `${after.id} ended and did not leave its barrier`);
    return;
  }
  if (hasChore(scene, place, 'release')) return;
  for (const index of next.entries) {
    const successor = view.member(place.id, index);
    if (successor?.state !== 'WAITING') continue;
    report('I4', [record, view.keys.task(successor.id)], `${after.id} ended and ${successor.id} still waits for it`);
  }
}

function choreKey({ view }: Scene, place: WorkflowPlace, kind: 'ended' | 'release'): string {
  return view.keys.chore(place.id, `${kind}-${String(place.index).padStart(5, '0')}`);
}

/** Written in this very revision. */
function hasChore(scene: Scene, place: WorkflowPlace, kind: 'ended' | 'release'): boolean {
  return scene.view.change(choreKey(scene, place, kind))?.after !== undefined;
}

function checkCallbacks({ view, report }: Scene, task: TaskRecord): void {
  if (task.hasCallbacks !== true || task.state === 'CANCELLED') return;
  const payload = view.recordOf<TaskPayload>(view.was(view.keys.args(task.id)));
  const success = task.state === 'SUCCESS';
  const callbacks = (success ? payload?.onSuccess : payload?.onError) ?? [];
  callbacks.forEach((_, n) => {
    const id = callbackId(task.id, success ? 's' : 'e', task.attempt, n);
    const key = [view.keys.task(id), view.keys.workflow(id)].find((one) => view.change(one)?.after !== undefined);
    if (key === undefined) report('I4', [view.keys.task(task.id)], `${task.id} ended without its callback ${id}`);
  });
}

function checkResults({ view, report }: Scene, task: TaskRecord): void {
  if (task.resultRef === undefined || task.state !== 'SUCCESS') return;
  const key = view.keys.result(task.id, task.resultRef);
  if (view.change(key)?.after !== undefined) return;
  report('I4', [view.keys.task(task.id), key], `${task.id} refers to results that were not written with its end`);
}
