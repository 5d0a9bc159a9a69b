/** I1 and I6 for members that wait: each is awaited by something that is not over, and released once, by what it waited for. */
import { isEnded } from '../model/state.js';
import type { TaskRecord, WorkflowPlace } from '../model/task.js';
import { splitActor } from './edges.js';
import { contOf, type Graph, type Unit } from './graphs.js';
import type { Scene } from './scene.js';
import type { View } from './view.js';

export function checkWaiting(scene: Scene): void {
  for (const { before, after } of scene.view.changesOf('tasks')) {
    const [was, is] = [scene.view.taskOf(before), scene.view.taskOf(after)];
    if (is?.workflow === undefined) continue;
    if (is.state === 'WAITING') checkAwaited(scene, is.workflow);
    if (is.cause === 'released' && was?.state === 'WAITING') checkRelease(scene, is, is.workflow);
    if (isEnded(is.state) && was !== undefined && !isEnded(was.state)) {
      checkFollowers(scene, is.workflow.id, { index: is.workflow.index });
    }
  }
  for (const { parsed, after } of scene.view.changesOf('joins')) {
    if (after === undefined) checkFollowers(scene, parsed.id, { join: parsed.join });
  }
  for (const { parsed, after } of scene.view.changesOf('chores')) {
    if (after === undefined) checkAfterChore(scene, parsed.id, parsed.chore);
  }
}

const FOR_ALL: readonly string[] = ['unfold', 'start', 'reopen'];

/** A chore is done: what it stood for must not wait for it any more. */
function checkAfterChore(scene: Scene, workflow: string, chore: string): void {
  const [, index] = /^(?:ended|release)-(\d+)$/.exec(chore) ?? [];
  if (index !== undefined) return checkFollowers(scene, workflow, { index: Number(index) });
  if (!FOR_ALL.includes(chore)) return;
  for (const key of scene.view.group(`members:${workflow}`)) {
    const member = scene.view.taskOf(scene.view.get(key));
    if (member?.state === 'WAITING' && member.workflow !== undefined) checkAwaited(scene, member.workflow);
  }
}

/** Whoever comes after something that is over now; what is over already is looked behind. */
function checkFollowers(
  scene: Scene,
  workflow: string,
  done: { readonly index: number } | { readonly join: number },
): void {
  const graph = scene.graphs.of(workflow);
  if (graph === undefined) return;
  const first = 'index' in done ? graph.compiled.tasks[done.index]?.cont : graph.join(done.join)?.cont;
  const open = [first];
  for (let cont = open.pop(); cont !== undefined; cont = open.pop()) {
    for (const index of cont.next?.entries ?? []) {
      const member = scene.view.member(workflow, index);
      if (member?.state === 'WAITING' && member.workflow !== undefined) checkAwaited(scene, member.workflow);
      else if (member !== undefined && isEnded(member.state)) open.push(graph.compiled.tasks[index]?.cont);
    }
  }
}

function checkAwaited(scene: Scene, place: WorkflowPlace): void {
  const { view, graphs, report } = scene;
  const graph = graphs.of(place.id);
  if (graph === undefined || isAwaited(view, graph, place)) return;
  const id = graph.compiled.tasks[place.index]?.id ?? '';
  report('I1', [view.keys.task(id)], `${id} is WAITING and nothing that it could wait for is left`);
}

/** Something before it is not over, or the driver still has to see to it. */
function isAwaited(view: View, graph: Graph, { id, index }: WorkflowPlace): boolean {
  const { keys } = view;
  const has = (chore: string): boolean => view.get(keys.chore(id, chore)) !== undefined;
  if (FOR_ALL.some(has)) return true;
  const seen = new Set<Unit>();
  for (let unit = graph.predecessor(index); unit !== undefined && !seen.has(unit); unit = graph.predecessorOf(unit)) {
    seen.add(unit);
    if ('join' in unit) {
      if (view.get(keys.join(id, unit.join.join)) !== undefined) return true;
      continue;
    }
    const number = String(unit.task.index).padStart(5, '0');
    const task = view.member(id, unit.task.index);
    if (task === undefined || !isEnded(task.state) || has(`ended-${number}`) || has(`release-${number}`)) return true;
  }
  return false;
}

/** I6: once per generation, under the current version, when what it waited for is over. */
function checkRelease(scene: Scene, task: TaskRecord, place: WorkflowPlace): void {
  const { view, graphs, report, past } = scene;
  const record = view.keys.task(task.id);
  const once = `${task.id}/${place.generation}`;
  if (past.released.has(once))
    report('I6', [record], `${task.id} was released twice in generation ${place.generation}`);
  past.released.add(once);
  const workflow = view.was(view.keys.workflow(place.id));
  const state = view.workflowOf(workflow)?.state;
  if (workflow?.version !== BigInt(place.version) || state !== 'RUNNING') {
    report(
      'I2',
      [record],
      `${task.id} was released under version ${place.version} of a workflow that is ${state ?? 'gone'}`,
    );
  }
  const graph = graphs.of(place.id);
  if (graph === undefined) return;
  const unit = graph.predecessor(place.index);
  if (view.was(view.keys.chore(place.id, 'start')) !== undefined && isPast(scene, unit, place)) return;
  if (unit === undefined) report('I6', [record], `${task.id} was released, and waits for nobody`);
  else if ('join' in unit) checkReleaseByJoin(scene, task, place, unit.join.join);
  else checkReleaseByTask(scene, task, place, unit);
}

/** At a start: what it waited for is nothing, or was over before (this generation of) the workflow began. */
function isPast({ view }: Scene, unit: Unit | undefined, { id, generation }: WorkflowPlace): boolean {
  if (unit === undefined) return true;
  if ('join' in unit) {
    const [from, to] = unit.join.range;
    return from === to || view.was(view.keys.join(id, unit.join.join)) === undefined;
  }
  const task = view.member(id, unit.task.index);
  return task !== undefined && isEnded(task.state) && (task.workflow?.generation ?? 0) < generation;
}

function checkReleaseByJoin({ view, report }: Scene, task: TaskRecord, place: WorkflowPlace, join: number): void {
  const [awaited] = view.groupBefore(`barrier:${place.id}/${join}`);
  const marker = view.keys.join(place.id, join);
  const record = view.keys.task(task.id);
  if (awaited !== undefined)
    report('I6', [record, awaited], `${task.id} was released while join ${join} awaited members`);
  if (view.was(marker) === undefined)
    report('I6', [record, marker], `${task.id} was released by join ${join}, which was over`);
}

function checkReleaseByTask(
  { view, report }: Scene,
  task: TaskRecord,
  place: WorkflowPlace,
  unit: Unit & object,
): void {
  if (!('task' in unit)) return;
  const before = view.member(place.id, unit.task.index);
  const keys = [view.keys.task(task.id), view.keys.task(unit.task.id)];
  const ignores = contOf(unit)?.policy === 'ignore' && before?.cause !== 'stopped';
  const well = before !== undefined && isEnded(before.state) && (before.state === 'SUCCESS' || ignores);
  if (!well) report('I4', keys, `${task.id} was released by ${unit.task.id}, which is ${before?.state ?? 'not there'}`);
  const [kind] = splitActor(task.by);
  if (kind !== 'task') return;
  const change = view.change(view.keys.task(unit.task.id));
  if (change === undefined) report('I4', keys, `${task.id} was released by ${unit.task.id} apart from its end`);
}
