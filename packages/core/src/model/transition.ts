/**
 * THE state machine. Every edge is one pure function from a record to the next record; the caller commits it together
 * with the places that `places.ts` derives from the two records. `EDGES` is the same machine as a table: the diagram in
 * `docs/state-machine.md`, the tests and the offline checker read it.
 */
import type { Cause } from './cause.js';
import { LeaseholdError } from './errors.js';
import { orderOf } from './order.js';
import type { TypedValue } from './signature.js';
import { isEnded, type TaskState } from './state.js';
import { RECORD_LIMITS, type PastError, type TaskError, type TaskRecord } from './task.js';

export interface Edge {
  readonly cause: Cause;
  readonly from: readonly (TaskState | 'NONE')[];
  readonly to: readonly TaskState[];
}

/** Every edge there is. */
export const EDGES: readonly Edge[] = [
  { cause: 'submitted', from: ['NONE'], to: ['WAITING', 'SCHEDULED', 'PENDING'] },
  { cause: 'released', from: ['WAITING'], to: ['PENDING', 'SCHEDULED'] },
  { cause: 'due', from: ['SCHEDULED', 'RETRY'], to: ['PENDING'] },
  { cause: 'claimed', from: ['PENDING', 'STARTED'], to: ['STARTED'] },
  { cause: 'succeeded', from: ['STARTED'], to: ['SUCCESS'] },
  { cause: 'failed-retry', from: ['STARTED'], to: ['RETRY'] },
  { cause: 'failed-final', from: ['STARTED'], to: ['FAILURE'] },
  { cause: 'timed-out', from: ['STARTED'], to: ['RETRY', 'FAILURE'] },
  { cause: 'snoozed', from: ['STARTED'], to: ['RETRY'] },
  { cause: 'lost', from: ['STARTED'], to: ['PENDING'] },
  { cause: 'quarantined', from: ['STARTED'], to: ['FAILURE'] },
  { cause: 'handed-back', from: ['STARTED'], to: ['PENDING'] },
  { cause: 'force-released', from: ['STARTED'], to: ['PENDING'] },
  { cause: 'cancelled', from: ['SCHEDULED', 'PENDING', 'RETRY', 'STARTED', 'WAITING'], to: ['CANCELLED'] },
  { cause: 'stopped', from: ['WAITING', 'SCHEDULED', 'PENDING', 'RETRY', 'STARTED'], to: ['CANCELLED'] },
  { cause: 'expired', from: ['WAITING', 'SCHEDULED', 'PENDING', 'RETRY', 'STARTED'], to: ['CANCELLED', 'FAILURE'] },
  { cause: 'rescheduled', from: ['SCHEDULED', 'RETRY', 'PENDING'], to: ['SCHEDULED', 'PENDING'] },
  {
    cause: 'retried-by-operator',
    from: ['FAILURE', 'CANCELLED', 'SUCCESS', 'RETRY', 'SCHEDULED'],
    to: ['PENDING', 'WAITING'],
  },
];

const EDGE_BY_CAUSE = new Map(EDGES.map((edge) => [edge.cause, edge]));

export function isEdge(from: TaskState | 'NONE', cause: Cause, to: TaskState): boolean {
  const edge = EDGE_BY_CAUSE.get(cause);
  return edge !== undefined && edge.from.includes(from) && edge.to.includes(to);
}

/** Who takes an edge, and when (epoch ms by its own clock). */
export interface Taken {
  readonly by: string;
  readonly nowMs: number;
}

type Changes = Partial<TaskRecord> & { readonly state: TaskState };

const RESULT_FIELDS = ['results', 'resultRef', 'error'] as const satisfies readonly (keyof TaskRecord)[];

/** Fields that belong to a state and leave with it. */
type Stateful = 'node' | 'slots' | 'dueMs' | 'order' | 'cancelRequested' | (typeof RESULT_FIELDS)[number];

function take(task: TaskRecord, cause: Cause, taken: Taken, changes: Changes, drop: readonly Stateful[]): TaskRecord {
  if (!isEdge(task.state, cause, changes.state)) {
    throw new LeaseholdError('wrong-state', `${task.id} is ${task.state}: no edge "${cause}" leads from there`, {
      id: task.id,
      state: task.state,
      cause,
    });
  }
  const next = without(task, drop);
  return Object.assign(next, changes, { cause, by: taken.by, updatedMs: taken.nowMs });
}

/**
 * A copy without these fields. Made by leaving out, not by deleting: an object that lost a property is a slow one for the
 * rest of its life, and each record passes several edges and the codec.
 */
function without(task: TaskRecord, drop: readonly string[]): TaskRecord {
  const copy: Record<string, unknown> = {};
  for (const field in task) if (!drop.includes(field)) copy[field] = task[field as keyof TaskRecord];
  return copy as unknown as TaskRecord;
}

const LEAVE_STARTED: readonly Stateful[] = ['node', 'slots', 'cancelRequested'];
const LEAVE_ALL: readonly Stateful[] = [...LEAVE_STARTED, 'dueMs', 'order'];
/** What earlier attempts, or an earlier life, ended with makes room for the new end. */
const LEAVE_WITH_RESULTS: readonly Stateful[] = [...LEAVE_ALL, ...RESULT_FIELDS];

/** Ready now: at the place its schedule time and priority give it. */
function pendingAt(task: TaskRecord, readyMs: number): Changes {
  return { state: 'PENDING', scheduleAtMs: readyMs, order: orderOf(readyMs, task.priority) };
}

/** SCHEDULED or RETRY has come due. Goes by the time it was due, not by when the promoter saw it. */
export function due(task: TaskRecord, taken: Taken): TaskRecord {
  return take(task, 'due', taken, pendingAt(task, task.dueMs ?? taken.nowMs), ['dueMs']);
}

/** The last thing a WAITING task waited for is over. `version` is that of the workflow record the release compares. */
export function released(task: TaskRecord, taken: Taken, version: number): TaskRecord {
  const later = task.scheduleAtMs > taken.nowMs;
  const changes: Changes = later ? { state: 'SCHEDULED', dueMs: task.scheduleAtMs } : pendingAt(task, taken.nowMs);
  const place = task.workflow === undefined ? {} : { workflow: { ...task.workflow, version } };
  return take(task, 'released', taken, { ...changes, ...place }, []);
}

/**
 * A worker takes it, under its lock. From STARTED it is the takeover of an attempt whose lock is gone: that attempt is
 * counted as lost first.
 */
export function claimed(task: TaskRecord, taken: Taken, node: string, slots: readonly string[]): TaskRecord {
  const base = task.state === 'STARTED' ? countLoss(task, taken) : task;
  return take(
    base,
    'claimed',
    taken,
    {
      state: 'STARTED',
      node,
      attempt: base.attempt + 1,
      startedMs: taken.nowMs,
      ...(slots.length > 0 ? { slots } : {}),
    },
    LEAVE_STARTED,
  );
}

/**
 * True when a STARTED task without a lock must not simply be run again: one more lost attempt quarantines it, or it was
 * asked to stop. A claimer leaves it to the rescuer.
 */
export function isPoison(task: TaskRecord): boolean {
  return task.losses + 1 >= RECORD_LIMITS.losses || task.cancelRequested !== undefined;
}

export interface Outcome {
  readonly results?: readonly TypedValue[];
  /** Set when the results are in `results/<id>/<attempt>`. */
  readonly resultRef?: number;
}

export function succeeded(task: TaskRecord, taken: Taken, outcome: Outcome): TaskRecord {
  return take(task, 'succeeded', taken, { state: 'SUCCESS', endedMs: taken.nowMs, ...outcome }, LEAVE_WITH_RESULTS);
}

/** It will be tried again at `retryAtMs`; uses one retry. */
export function failedRetry(
  task: TaskRecord,
  taken: Taken,
  error: TaskError,
  retryAtMs: number,
  cause: 'failed-retry' | 'timed-out' = 'failed-retry',
): TaskRecord {
  const changes = { state: 'RETRY', dueMs: retryAtMs, scheduleAtMs: retryAtMs, failures: task.failures + 1 } as const;
  return take(task, cause, taken, { ...changes, error, pastErrors: remember(task, error) }, LEAVE_ALL);
}

export function failedFinal(
  task: TaskRecord,
  taken: Taken,
  error: TaskError,
  cause: 'failed-final' | 'timed-out' | 'expired' = 'failed-final',
): TaskRecord {
  const changes = { state: 'FAILURE', endedMs: taken.nowMs, failures: task.failures + 1 } as const;
  return take(task, cause, taken, { ...changes, error, pastErrors: remember(task, error) }, LEAVE_ALL);
}

/** The handler asked to be run again later; uses no retry but its own cap. */
export function snoozed(task: TaskRecord, taken: Taken, untilMs: number): TaskRecord {
  const changes = { state: 'RETRY', dueMs: untilMs, scheduleAtMs: untilMs, snoozes: task.snoozes + 1 } as const;
  return take(task, 'snoozed', taken, changes, LEAVE_ALL);
}

/**
 * Its node's lease ended. Free again at its old place; quarantined after too many losses; over if it had been asked to
 * stop. Uses no retry.
 */
export function lost(task: TaskRecord, taken: Taken): TaskRecord {
  const counted = countLoss(task, taken);
  if (task.cancelRequested !== undefined) return cancelledAsAsked(counted, taken, task.cancelRequested.reason);
  if (counted.losses < RECORD_LIMITS.losses) {
    return take(counted, 'lost', taken, { state: 'PENDING' }, LEAVE_STARTED);
  }
  const error: TaskError = {
    type: 'QuarantinedError',
    message: `lost its worker ${counted.losses} times: the task is likely to kill it. Retry it by hand once that is mended.`,
    attempt: task.attempt,
    atMs: taken.nowMs,
    final: true,
  };
  const changes = { state: 'FAILURE', endedMs: taken.nowMs, error, pastErrors: remember(counted, error) } as const;
  return take(counted, 'quarantined', taken, changes, LEAVE_ALL);
}

/** A stopping worker returns what it has not finished. */
export function handedBack(task: TaskRecord, taken: Taken): TaskRecord {
  return take(task, 'handed-back', taken, { state: 'PENDING', handBacks: task.handBacks + 1 }, LEAVE_STARTED);
}

/** An admin took the lock away from a live worker. */
export function forceReleased(task: TaskRecord, taken: Taken): TaskRecord {
  return take(task, 'force-released', taken, { state: 'PENDING', losses: task.losses + 1 }, LEAVE_STARTED);
}

/** Asks a running task to stop: durable, no edge. Its worker aborts the handler and settles it as CANCELLED. */
export function cancelRequested(task: TaskRecord, taken: Taken, reason: string, stopped = false): TaskRecord {
  if (task.state !== 'STARTED') throw new LeaseholdError('wrong-state', `${task.id} is not running`, { id: task.id });
  if (task.cancelRequested !== undefined) return task;
  const request = { by: taken.by, atMs: taken.nowMs, reason, ...(stopped ? { stopped } : {}) };
  return { ...task, cancelRequested: request, updatedMs: taken.nowMs };
}

/** A running task has stopped because it was asked to; the cause says whether it was meant itself, or its workflow. */
export function cancelledAsAsked(task: TaskRecord, taken: Taken, reason: string): TaskRecord {
  return cancelled(task, taken, reason, task.cancelRequested?.stopped === true ? 'stopped' : 'cancelled');
}

export function cancelled(
  task: TaskRecord,
  taken: Taken,
  reason: string,
  cause: 'cancelled' | 'stopped' | 'expired' = 'cancelled',
): TaskRecord {
  const type = cause === 'expired' ? 'ExpiredError' : 'CancelledError';
  const error: TaskError = { type, message: reason, attempt: task.attempt, atMs: taken.nowMs, final: true };
  return take(task, cause, taken, { state: 'CANCELLED', endedMs: taken.nowMs, error }, LEAVE_ALL);
}

/** Run now, or at another time, or with another priority; only while nobody runs it. */
export function rescheduled(
  task: TaskRecord,
  taken: Taken,
  change: { readonly etaMs?: number; readonly priority?: number },
): TaskRecord {
  const moved = { ...task, priority: change.priority ?? task.priority };
  const atMs = change.etaMs ?? task.scheduleAtMs;
  if (atMs > taken.nowMs) {
    return take(moved, 'rescheduled', taken, { state: 'SCHEDULED', dueMs: atMs, scheduleAtMs: atMs }, LEAVE_ALL);
  }
  // Another priority alone does not cost a task the time it has waited, and a change that is taken back gives it back.
  const readyMs = Math.min(taken.nowMs, Math.max(atMs, task.createdMs));
  return take(moved, 'rescheduled', taken, pendingAt(moved, readyMs), LEAVE_ALL);
}

/**
 * An operator runs it again: retries start anew, attempts and errors are kept. `place` gives a member's new generation
 * and workflow version when a workflow is reopened; `waiting` puts it back behind its predecessors.
 */
export function retriedByOperator(
  task: TaskRecord,
  taken: Taken,
  options: {
    readonly args?: readonly TypedValue[];
    readonly waiting?: boolean;
    readonly generation?: number;
    readonly version?: number;
  } = {},
): TaskRecord {
  const place =
    task.workflow === undefined
      ? {}
      : {
          workflow: {
            ...task.workflow,
            generation: options.generation ?? task.workflow.generation,
            version: options.version ?? task.workflow.version,
          },
        };
  const fresh = withoutEnd(withoutResults(task));
  const args = options.args === undefined ? {} : { args: options.args };
  const to: Changes = options.waiting === true ? { state: 'WAITING' } : pendingAt(task, taken.nowMs);
  const zeroed = { failures: 0, losses: 0, snoozes: 0 };
  return take(fresh, 'retried-by-operator', taken, { ...zeroed, ...args, ...place, ...to }, LEAVE_ALL);
}

function countLoss(task: TaskRecord, taken: Taken): TaskRecord {
  const error: TaskError = {
    type: 'LostError',
    message: 'the lease of its node ended while it ran',
    attempt: task.attempt,
    atMs: taken.nowMs,
    ...(task.node === undefined ? {} : { node: task.node }),
  };
  return { ...task, losses: task.losses + 1, error, pastErrors: remember(task, error) };
}

function remember(task: TaskRecord, error: TaskError): readonly PastError[] {
  const { stack: _stack, ...past } = error;
  const short = { ...past, message: past.message.slice(0, RECORD_LIMITS.pastErrorMessageBytes) };
  return [...(task.pastErrors ?? []), short].slice(-RECORD_LIMITS.pastErrors);
}

function withoutResults(task: TaskRecord): TaskRecord {
  return without(task, RESULT_FIELDS);
}

function withoutEnd(task: TaskRecord): TaskRecord {
  const { endedMs: _ended, expiresMs: _expires, deadlineMs: _deadline, startedMs: _started, ...rest } = task;
  return rest;
}

/** Ended tasks keep no place in any index of live tasks; used where a record of unknown state is looked at. */
export function mayRetry(task: TaskRecord): boolean {
  return isEnded(task.state) || task.state === 'RETRY' || task.state === 'SCHEDULED';
}
