/** What a submission returns: ask for the state, wait for the result. */
import { decodeValue } from '../model/args.js';
import { decodeRecord, decodeTask } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { memberId } from '../model/ids.js';
import type { WorkflowRecord } from '../model/records.js';
import { isEnded, isWorkflowEnded } from '../model/state.js';
import type { TaskRecord } from '../model/task.js';
import { exitTasks, isSingleExit } from '../model/workflow.js';
import { seen } from '../store/claim.js';
import { readGraph } from '../store/graph.js';
import { readTaskResults } from '../store/inputs.js';
import { found, get, type Store } from '../store/store.js';
import { waitForKey, type WaitOptions } from './wait.js';

export interface Handle<R = unknown> {
  readonly id: string;
  /** Revision of the acknowledgement. */
  readonly revision: bigint;
  /** False when the id, or the unique key, was there already. */
  readonly created: boolean;
  /**
   * Waits for the end by a watch.
   * @throws LeaseholdError `task-failed`, `task-cancelled`, `timeout`, `not-found`.
   */
  result(options?: WaitOptions): Promise<R>;
}

/** Waits until a task has ended, whatever it ended as. @throws LeaseholdError `timeout`, `not-found`. */
export function waitForTask(store: Store, id: string, options: WaitOptions = {}): Promise<TaskRecord> {
  return waitForKey(
    store.kv,
    store.keys.task(id),
    (kv) => {
      if (kv === undefined) throw new LeaseholdError('not-found', `there is no task ${id}`, { id });
      const task = decodeTask(kv.value);
      return isEnded(task.state) ? task : undefined;
    },
    options,
  );
}

export function waitForWorkflow(store: Store, id: string, options: WaitOptions = {}): Promise<WorkflowRecord> {
  return waitForKey(
    store.kv,
    store.keys.workflow(id),
    (kv) => {
      if (kv === undefined) throw new LeaseholdError('not-found', `there is no workflow ${id}`, { id });
      const workflow = decodeRecord<WorkflowRecord>(kv.value, 'workflow');
      return isWorkflowEnded(workflow.state) ? workflow : undefined;
    },
    options,
  );
}

/** The decoded results of an ended task. @throws LeaseholdError `task-failed`, `task-cancelled`. */
export async function taskResults(store: Store, task: TaskRecord): Promise<readonly unknown[]> {
  if (task.state !== 'SUCCESS') throw notSuccessful(task);
  const results = await readTaskResults(store, task);
  return results.map((typed) => decodeValue(typed));
}

function notSuccessful(task: TaskRecord): LeaseholdError {
  const { id, name, state, attempt, error } = task;
  const code = state === 'CANCELLED' ? 'task-cancelled' : 'task-failed';
  const why = error === undefined ? '' : `: ${error.type}: ${error.message}`;
  return new LeaseholdError(code, `${name} ${id} is ${state} after attempt ${attempt}${why}`, {
    id,
    name,
    state,
    attempt,
    error: error ?? null,
  });
}

const PAGE = 100;

/**
 * What a workflow yields: for one last task its values, for several (a group) a list of values per task, in order. A
 * member that failed under `ignore` is left out.
 */
export async function workflowResults(store: Store, workflow: WorkflowRecord): Promise<readonly unknown[]> {
  if (workflow.state !== 'SUCCESS') {
    const [failure] = workflow.failures ?? [];
    const why = failure === undefined ? (workflow.reason ?? '') : `${failure.name}: ${failure.error}`;
    const code = workflow.state === 'CANCELLED' ? 'task-cancelled' : 'task-failed';
    throw new LeaseholdError(code, `workflow ${workflow.id} is ${workflow.state}: ${why}`, {
      id: workflow.id,
      state: workflow.state,
      failures: workflow.failures ?? [],
    });
  }
  const graph = await readGraph(store, workflow.id);
  const root = graph?.joins[0];
  if (graph === undefined || root === undefined) {
    throw new LeaseholdError('not-found', `the source of workflow ${workflow.id} is gone`, { id: workflow.id });
  }
  const exits = root.exits.flatMap((exit) => (exit === undefined ? [] : exitTasks(graph, exit)));
  const single = root.exits[0] !== undefined && isSingleExit(graph, root.exits[0]);
  const values: (readonly unknown[])[] = [];
  for (let at = 0; at < exits.length; at += PAGE) {
    const keys = exits.slice(at, at + PAGE).map((index) => store.keys.task(memberId(graph.id, index)));
    const { results } = await store.kv.txn({ compare: [], success: keys.map(get) });
    for (const [task] of keys.map((_, i) => seen(found(results, i)))) {
      if (task?.task.state === 'SUCCESS') values.push(await taskResults(store, task.task));
    }
  }
  return single ? (values[0] ?? []) : values;
}
