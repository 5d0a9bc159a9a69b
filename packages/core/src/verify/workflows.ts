/**
 * I5, I6 and the workflow part of I1: a workflow appears whole; a join completes once, when nobody is awaited; what waits is
 * awaited; a workflow ends last.
 */
import type { WorkflowRecord } from '../model/records.js';
import { isEnded, isWorkflowEnded } from '../model/state.js';
import { isAudited } from './edges.js';
import type { Graph } from './graphs.js';
import type { Scene } from './scene.js';
import type { ChangeOf, View } from './view.js';

export function checkWorkflows(scene: Scene): void {
  for (const change of scene.view.changesOf('workflows')) checkRecord(scene, change);
  for (const change of scene.view.changesOf('joins')) checkJoin(scene, change);
  for (const change of scene.view.changesOf('barriers')) checkBarrier(scene, change);
}

function checkRecord(scene: Scene, change: ChangeOf<'workflows'>): void {
  const { view, report, graphs } = scene;
  const before = view.workflowOf(change.before);
  const after = view.workflowOf(change.after);
  const keys = [change.key];
  if (after === undefined) {
    graphs.forget(change.parsed.id);
    if (before !== undefined && !isWorkflowEnded(before.state)) {
      report('I5', keys, `workflow ${before.id} was deleted while it was ${before.state}`);
    }
    return;
  }
  if (change.after !== undefined && BigInt(after.version) !== change.after.version) {
    report('I2', keys, `workflow ${after.id} says version ${after.version}; it is ${change.after.version}`);
  }
  if (before === undefined) return checkWhole(scene, after);
  if (isWorkflowEnded(after.state)) return checkEnd(scene, change, before, after);
  if (after.state === 'CANCELLING') {
    if (before.state !== 'RUNNING') report('I2', keys, `workflow ${after.id}: ${before.state} became CANCELLING`);
    return;
  }
  if (before.state === 'CANCELLING' || after.generation !== before.generation + 1) {
    report('I7', keys, `workflow ${after.id} was ${before.state} and is RUNNING in generation ${after.generation}`);
  } else if (!isReopenAudited(view, after)) {
    report('I7', keys, `workflow ${after.id} was reopened without a record of who did it`);
  }
}

/** Reopened by a retry of the workflow, or of one of its members. */
function isReopenAudited(view: View, { id }: WorkflowRecord): boolean {
  const members = [...view.group(`members:${id}`)].map((key) => view.taskOf(view.get(key))?.id ?? '');
  return isAudited(view, [id, ...members]);
}

/** I5: whole or not at all. A sealed one has its whole source and somebody who writes its members. */
function checkWhole({ view, graphs, report }: Scene, record: WorkflowRecord): void {
  const { keys } = view;
  const key = keys.workflow(record.id);
  const graph = graphs.of(record.id);
  if (graph === undefined) {
    report('I5', [key], `workflow ${record.id} appeared without its whole source`);
    return;
  }
  if (view.get(keys.chore(record.id, 'unfold')) !== undefined) return;
  for (const { id } of graph.compiled.tasks) {
    if (view.task(id) === undefined) report('I5', [key, keys.task(id)], `workflow ${record.id} appeared without ${id}`);
  }
  for (const { join } of graph.compiled.joins) {
    const marker = keys.join(record.id, join);
    if (view.get(marker) === undefined)
      report('I5', [key, marker], `workflow ${record.id} appeared without join ${join}`);
  }
}

/** I6: it ends once, when everybody else has. */
function checkEnd(scene: Scene, change: ChangeOf<'workflows'>, before: WorkflowRecord, after: WorkflowRecord): void {
  const { view, report } = scene;
  const { id } = after;
  const marker = view.keys.join(id, 0);
  if (isWorkflowEnded(before.state))
    report('I7', [change.key], `workflow ${id} ended as ${before.state}, then as ${after.state}`);
  const ended = view.change(marker);
  if (ended?.before === undefined || ended.after !== undefined) {
    report('I6', [change.key, marker], `workflow ${id} ended without completing its last join`);
  }
  for (const key of view.groupBefore(`chores:${id}`)) {
    report('I6', [change.key, key], `workflow ${id} ended while its driver had something to do`);
  }
  for (const key of view.group(`members:${id}`)) {
    const member = view.taskOf(view.get(key));
    if (member === undefined || isEnded(member.state)) continue;
    report('I6', [change.key, key], `workflow ${id} ended while ${member.id} was ${member.state}`);
  }
}

/** I6: nobody is awaited when a join completes. One that is closed takes its barrier with it. */
function checkJoin({ view, report }: Scene, { key, parsed, before, after }: ChangeOf<'joins'>): void {
  if (after !== undefined || before === undefined) return;
  const { id, join } = parsed;
  const [awaited] = view.group(`barrier:${id}/${join}`);
  if (awaited !== undefined) report('I6', [key, awaited], `join ${join} of ${id} is over while members are awaited`);
}

function checkBarrier(scene: Scene, change: ChangeOf<'barriers'>): void {
  const { view, report } = scene;
  const { id, join, slot } = change.parsed;
  if (change.after !== undefined) {
    const building = ['unfold', 'reopen'].some((chore) => view.was(view.keys.chore(id, chore)) !== undefined);
    if (building || view.was(view.keys.workflow(id)) === undefined) return;
    report('I6', [change.key], `slot ${slot} of join ${join} was written although nobody builds ${id}`);
    return;
  }
  const graph = scene.graphs.of(id);
  // A join that is closed forgets its members; they were ended before.
  if (slot === 'hold' || graph === undefined || view.change(view.keys.join(id, join)) !== undefined) return;
  const last = graph.lastOf(join, slot);
  if (last === undefined || isOver(view, id, last)) return;
  report('I6', [change.key], `slot ${slot} of join ${join} of ${id} left before its last part was over`);
}

function isOver(view: View, workflow: string, unit: ReturnType<Graph['lastOf']> & object): boolean {
  if ('join' in unit) return view.get(view.keys.join(workflow, unit.join.join)) === undefined;
  const task = view.member(workflow, unit.task.index);
  return task !== undefined && isEnded(task.state);
}
