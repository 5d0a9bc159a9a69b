/** The graph of a compiled workflow, before there is any task: what waits for what. Pure. */
import type { CompiledWorkflow } from '@leasehold/core/model';

export interface PlannedTask {
  readonly index: number;
  readonly name: string;
  readonly queue: string | undefined;
  readonly after: readonly number[];
}

export function plannedTasks(compiled: CompiledWorkflow): readonly PlannedTask[] {
  const after = new Map<number, number[]>();
  const follow = (entries: readonly number[] | undefined, from: readonly number[]): void => {
    for (const entry of entries ?? []) after.set(entry, [...(after.get(entry) ?? []), ...from]);
  };
  for (const task of compiled.tasks) follow(task.cont.next?.entries, [task.index]);
  for (const join of compiled.joins) follow(join.cont?.next?.entries, lastOf(compiled, join.join));
  return compiled.tasks.map(({ index, signature }) => ({
    index,
    name: signature.name,
    queue: signature.queue,
    after: after.get(index) ?? [],
  }));
}

/** The tasks that report to a join themselves, or through a join inside it. */
function lastOf(compiled: CompiledWorkflow, join: number): readonly number[] {
  const tasks = compiled.tasks
    .filter(({ cont }) => cont.next === undefined && cont.up.join === join)
    .map(({ index }) => index);
  const inner = compiled.joins.filter(
    ({ cont }) => cont !== undefined && cont.next === undefined && cont.up.join === join,
  );
  return [...tasks, ...inner.flatMap((each) => lastOf(compiled, each.join))];
}
