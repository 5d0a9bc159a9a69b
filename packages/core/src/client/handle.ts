/** What a submission returns: ask for the state, wait for the result. */
import { prefixEnd } from '../kv/kv.js';
import { decodeValue } from '../model/args.js';
import { decodeRecord, decodeTask } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { memberId } from '../model/ids.js';
import type { WorkflowRecord } from '../model/records.js';
import { isEnded, isWorkflowEnded } from '../model/state.js';
import type { TaskRecord } from '../model/task.js';
import { exitTasks } from '../model/workflow.js';
import { readGraph, readMembers } from '../store/graph.js';
import { readTaskResults } from '../store/inputs.js';
import type { Store } from '../store/store.js';
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
  const single = root.exits[0] !== undefined && 'task' in root.exits[0];
  const values: (readonly unknown[])[] = [];
  for (const index of exits) {
    const [kv] = (await store.kv.range({ key: store.keys.task(memberId(graph.id, index)) })).kvs;
    const task = kv === undefined ? undefined : decodeTask(kv.value);
    if (task?.state === 'SUCCESS') values.push(await taskResults(store, task));
  }
  return single ? (values[0] ?? []) : values;
}

/** Members of a workflow as they end, in the order in which they end; ends with the workflow. */
export async function* membersAsTheyEnd(
  store: Store,
  id: string,
  options: WaitOptions = {},
): AsyncGenerator<TaskRecord> {
  const [kv] = (await store.kv.range({ key: store.keys.workflow(id) })).kvs;
  if (kv === undefined) throw new LeaseholdError('not-found', `there is no workflow ${id}`, { id });
  const { tasks } = decodeRecord<WorkflowRecord>(kv.value, 'workflow');
  const seen = new Set<string>();
  for (;;) {
    for await (const page of readMembers(store, id, 0, tasks)) {
      for (const { task } of page) {
        if (!isEnded(task.state) || seen.has(task.id)) continue;
        seen.add(task.id);
        yield task;
      }
    }
    if (seen.size >= tasks) return;
    await nextEnd(store, id, seen, options);
  }
}

/** Resolves when a member that is not in `seen` has ended, by a watch over the members. */
async function nextEnd(store: Store, id: string, seen: ReadonlySet<string>, options: WaitOptions): Promise<void> {
  const from = store.keys.task(`${id}.`);
  const rangeEnd = prefixEnd(from);
  const answer = await store.kv.range({ key: from, rangeEnd });
  const ended = answer.kvs.some((kv) => isNewlyEnded(kv.value, seen));
  if (ended) return;
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => finish(() => reject(options.signal?.reason as Error));
    const finish = (act: () => void): void => {
      handle.close();
      options.signal?.removeEventListener('abort', abort);
      act();
    };
    const handle = store.kv.watch({ key: from, rangeEnd, startRevision: answer.revision + 1n }, (message) => {
      if (message.kind === 'progress') return;
      // A watch that is over is no news of a member: the caller reads again and sees.
      const news = message.kind !== 'events' || message.events.some(({ kv }) => isNewlyEnded(kv.value, seen));
      if (news) finish(resolve);
    });
    options.signal?.addEventListener('abort', abort, { once: true });
  });
}

function isNewlyEnded(value: string, seen: ReadonlySet<string>): boolean {
  if (value === '') return false;
  const task = decodeTask(value);
  return isEnded(task.state) && !seen.has(task.id);
}
