/** onSuccess and onError of one task, submitted in the transaction that ends it. */
import type { Op } from '../kv/kv.js';
import { callbackId } from '../model/ids.js';
import { LeaseholdError } from '../model/errors.js';
import { LIMITS, type TypedValue, type Workflow } from '../model/signature.js';
import type { TaskPayload, TaskRecord } from '../model/task.js';
import type { Taken } from '../model/transition.js';
import { normalizeSignature, type Limits } from '../model/validate.js';
import { countTasks } from '../model/workflow.js';
import type { WorkflowRecord } from '../model/records.js';
import { resolveWorkflow, smallWorkflow, taskOps } from './submit.js';
import type { Store } from './store.js';

interface CallbackContext {
  readonly payload?: TaskPayload;
  readonly results?: readonly TypedValue[];
}

export function callbackOps(store: Store, task: TaskRecord, taken: Taken, context: CallbackContext): Op[] {
  if (task.hasCallbacks !== true || task.state === 'CANCELLED') return [];
  const success = task.state === 'SUCCESS';
  const callbacks = (success ? context.payload?.onSuccess : context.payload?.onError) ?? [];
  const results = context.results ?? task.results ?? [];
  return callbacks.flatMap((callback, n) => {
    const workflow = success
      ? withArgs(callback, (args) => (task.immutable === true ? args : [...args, ...results]))
      : withArgs(callback, (args) => [errorText(task), ...args]);
    return submissionOps(store, workflow, callbackId(task.id, success ? 's' : 'e', task.attempt, n), taken, task.id);
  });
}

function errorText(task: TaskRecord): TypedValue {
  return { type: 'string', value: task.error?.message ?? '', name: 'error' };
}

/**
 * A small workflow as operations of somebody else's transaction. Its own size was checked when it was accepted.
 * @throws LeaseholdError `too-large` with what was handed on to it.
 */
export function submissionOps(store: Store, workflow: Workflow, id: string, taken: Taken, parent: string): Op[] {
  if (workflow.kind === 'task') {
    const { id: _own, ...signature } = workflow.signature;
    return taskOps(store, normalizeSignature(late(signature, taken), {}, taken.nowMs, LATE), taken, id, parent).ops;
  }
  const resolved = resolveWorkflow(workflow, {}, taken.nowMs, LATE);
  const header: WorkflowRecord = {
    id,
    state: 'RUNNING',
    name: 'callback',
    kind: workflow.kind,
    tasks: countTasks(workflow),
    joins: 0,
    parts: 1,
    version: 1,
    generation: 1,
    by: taken.by,
    createdMs: taken.nowMs,
    updatedMs: taken.nowMs,
    parent,
  };
  const ops = smallWorkflow(store, header, resolved, taken, LATE.payloadBytes);
  // Never left out in silence: whoever ends the task ends it as a failure that says so.
  if (ops === undefined) {
    const message = `callback ${id}, with what is handed on to it, is too large to be written when its task ends`;
    throw new LeaseholdError('too-large', message, { id, parent });
  }
  return ops;
}

/** Own arguments were checked when they were accepted; with what is handed on they may be larger, up to a request's size. */
const LATE: Limits = Object.freeze({ ...LIMITS, payloadBytes: 1_000_000, args: 100_000 });

/** A callback whose expiry passed while it waited to be submitted still runs: its clock starts now. */
function late<T extends { readonly expiresMs?: number; readonly deadlineMs?: number }>(signature: T, taken: Taken): T {
  const { expiresMs, deadlineMs, ...rest } = signature;
  return {
    ...rest,
    ...(expiresMs !== undefined && expiresMs > taken.nowMs ? { expiresMs } : {}),
    ...(deadlineMs !== undefined && deadlineMs > taken.nowMs ? { deadlineMs } : {}),
  } as T;
}

/** Changes the arguments of the tasks with which a workflow begins. */
export function withArgs(workflow: Workflow, change: (args: readonly TypedValue[]) => readonly TypedValue[]): Workflow {
  switch (workflow.kind) {
    case 'task':
      return { kind: 'task', signature: { ...workflow.signature, args: change(workflow.signature.args) } };
    case 'chain':
      return { ...workflow, steps: workflow.steps.map((step, i) => (i === 0 ? withArgs(step, change) : step)) };
    case 'group':
      return { ...workflow, members: workflow.members.map((member) => withArgs(member, change)) };
    case 'chord':
      return { ...workflow, header: workflow.header.map((member) => withArgs(member, change)) };
  }
}
