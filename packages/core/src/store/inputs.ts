/** What a task gets appended to its own arguments: the results of what it waited for, by reference, read by page. */
import type { Op } from '../kv/kv.js';
import { LeaseholdError } from '../model/errors.js';
import { memberId } from '../model/ids.js';
import type { TypedValue } from '../model/signature.js';
import type { TaskRecord } from '../model/task.js';
import { exitTasks } from '../model/workflow.js';
import { found, get, type Store } from './store.js';
import { seen } from './claim.js';
import { decodeResults } from './settle.js';
import { readGraph } from './graph.js';

/** Ids of the tasks whose results are appended, in order. */
export async function inputTasks(store: Store, task: TaskRecord): Promise<readonly string[]> {
  const place = task.workflow;
  if (place?.inputs === undefined) return [];
  if ('task' in place.inputs) return [memberId(place.id, place.inputs.task)];
  const graph = await readGraph(store, place.id);
  if (graph === undefined) {
    throw new LeaseholdError('not-found', `the source of workflow ${place.id} is gone`, { id: place.id });
  }
  return exitTasks(graph, place.inputs).map((index) => memberId(place.id, index));
}

const PAGE = 100;

/**
 * Results of the predecessors, in member order; one that did not succeed (under `ignore`) contributes nothing. `known`
 * holds what this process settled itself a moment ago.
 */
export async function resolveInputs(
  store: Store,
  task: TaskRecord,
  known?: { get(id: string): readonly TypedValue[] | undefined },
): Promise<readonly TypedValue[]> {
  const ids = await inputTasks(store, task);
  const byId = new Map<string, readonly TypedValue[]>();
  const missing = ids.filter((id) => {
    const results = known?.get(id);
    if (results !== undefined) byId.set(id, results);
    return results === undefined;
  });
  for (let at = 0; at < missing.length; at += PAGE) {
    await readResults(store, missing.slice(at, at + PAGE), byId);
  }
  return ids.flatMap((id) => byId.get(id) ?? []);
}

async function readResults(
  store: Store,
  ids: readonly string[],
  into: Map<string, readonly TypedValue[]>,
): Promise<void> {
  const answer = await store.kv.txn({ compare: [], success: ids.map((id) => get(store.keys.task(id))) });
  const tasks = ids.flatMap((_, i) => seen(found(answer.results, i)).map((member) => member.task));
  for (const task of tasks) if (task.results !== undefined) into.set(task.id, task.results);
  const large = tasks.filter((task) => task.resultRef !== undefined);
  // Large results one by one: fifty of 256 KiB would be more than one answer should hold.
  for (const task of large) {
    const ops: Op[] = [get(store.keys.result(task.id, task.resultRef ?? 0))];
    const read = await store.kv.txn({ compare: [], success: ops });
    const kv = found(read.results, 0);
    if (kv !== undefined) into.set(task.id, decodeResults(kv.value));
  }
}

/** All results of one task, wherever they are stored. */
export async function readTaskResults(store: Store, task: TaskRecord): Promise<readonly TypedValue[]> {
  if (task.resultRef === undefined) return task.results ?? [];
  const answer = await store.kv.range({ key: store.keys.result(task.id, task.resultRef) });
  const [kv] = answer.kvs;
  return kv === undefined ? [] : decodeResults(kv.value);
}
