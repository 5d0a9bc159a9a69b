/**
 * The graph of a workflow for the eye. A group of 500 like members is one node with 500 inside: what is alike is found
 * here, so that neither the wire nor the browser ever has the whole. Pure.
 *
 * Two tasks are alike when their names, what stands before them and what they report to are alike. What stands before a
 * task is part of its kind, so a kind has one depth and no two kinds wait for each other.
 */
import type { CompiledWorkflow, TaskState } from '@leasehold/core/model';
import type { WorkflowPicture, WorkflowPictureNode } from '@leasehold/wire';
import { lastOf, predecessorsOf, type Predecessor } from './facts.js';

/** Below so many tasks everything is drawn. */
const WHOLE = 60;
/** More than so many of a kind are one node. */
const OF_A_KIND = 6;
/** More nodes tell less than the list. */
const NODES = 500;

export type StateOf = (taskId: string) => TaskState | undefined;

export function pictureOf(graph: CompiledWorkflow, stateOf: StateOf): WorkflowPicture | undefined {
  const kinds = kindsOf(graph);
  const sizes = new Map<number, number>();
  for (const kind of kinds) sizes.set(kind, (sizes.get(kind) ?? 0) + 1);
  const whole = graph.tasks.length <= WHOLE;
  const nodeOf = (index: number): string => {
    const kind = kinds[index] ?? 0;
    return whole || (sizes.get(kind) ?? 0) <= OF_A_KIND ? `t${index}` : `k${kind}`;
  };
  const nodes = nodesOf(graph, nodeOf, stateOf);
  return nodes.length > NODES ? undefined : { nodes, edges: edgesOf(graph, nodeOf) };
}

function nodesOf(graph: CompiledWorkflow, nodeOf: (index: number) => string, stateOf: StateOf): WorkflowPictureNode[] {
  const nodes = new Map<string, { node: WorkflowPictureNode; states: Partial<Record<TaskState, number>> }>();
  for (const { index, id, signature } of graph.tasks) {
    const name = nodeOf(index);
    const known = nodes.get(name);
    const states = known?.states ?? {};
    const state = stateOf(id);
    if (state !== undefined) states[state] = (states[state] ?? 0) + 1;
    const count = (known?.node.count ?? 0) + 1;
    const first = known?.node ?? { id: name, index, name: signature.name, count, states, taskId: id };
    const { taskId, ...rest } = first;
    nodes.set(name, {
      states,
      node: { ...rest, count, states, ...(count === 1 && taskId !== undefined ? { taskId } : {}) },
    });
  }
  return [...nodes.values()].map(({ node }) => node);
}

function edgesOf(graph: CompiledWorkflow, nodeOf: (index: number) => string): [string, string][] {
  const before = predecessorsOf(graph);
  const ends = new Map<number, ReadonlySet<string>>();
  const endsOf = (part: Predecessor): ReadonlySet<string> => {
    if ('task' in part) return new Set([nodeOf(part.task)]);
    const known = ends.get(part.join);
    if (known !== undefined) return known;
    const found = new Set(lastOf(graph, part.join).flatMap((last) => [...endsOf(last)]));
    ends.set(part.join, found);
    return found;
  };
  const edges = new Map<string, [string, string]>();
  for (const { index } of graph.tasks) {
    const part = before.get(index);
    if (part === undefined) continue;
    const to = nodeOf(index);
    for (const from of endsOf(part)) if (from !== to) edges.set(`${from} ${to}`, [from, to]);
  }
  return [...edges.values()];
}

/** A number for each task; equal numbers are alike. */
function kindsOf(graph: CompiledWorkflow): readonly number[] {
  const before = predecessorsOf(graph);
  const numbers = new Map<string, number>();
  const numberOf = (kind: string): number => {
    const known = numbers.get(kind);
    if (known !== undefined) return known;
    numbers.set(kind, numbers.size);
    return numbers.size - 1;
  };
  const tasks: number[] = [];
  const joins: number[] = [];
  const joinKind = (join: number): number => {
    const known = joins[join];
    if (known !== undefined) return known;
    const { cont, slots, policy, range } = graph.joins[join] as CompiledWorkflow['joins'][number];
    const up = cont === undefined ? -1 : joinKind(cont.up.join);
    return (joins[join] = numberOf(`join ${up} ${slots} ${policy} ${partKind(before.get(range[0]))}`));
  };
  const partKind = (part: Predecessor | undefined): number =>
    part === undefined ? -1 : 'task' in part ? taskKind(part.task) : joinKind(part.join);
  const taskKind = (index: number): number => {
    // A chain may be 10 000 long: the ones before are numbered first, without recursion.
    const open = [index];
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const part = before.get(at);
      if (tasks[at] === undefined && part !== undefined && 'task' in part && tasks[part.task] === undefined) {
        open.push(part.task);
        continue;
      }
      open.pop();
      const task = graph.tasks[at] as CompiledWorkflow['tasks'][number];
      tasks[at] ??= numberOf(
        `task ${task.signature.name} ${partKind(part)} ${joinKind(task.cont.up.join)} ${task.cont.next === undefined}`,
      );
    }
    return tasks[index] ?? 0;
  };
  // In their order, an outer or earlier one first, so that none is deep when it is asked for.
  for (const { join } of graph.joins) joinKind(join);
  return graph.tasks.map(({ index }) => taskKind(index));
}
