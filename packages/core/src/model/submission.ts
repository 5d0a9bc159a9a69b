/** Pure: what a submitted signature becomes. */
import { utf8Length } from './json.js';
import { orderOf } from './order.js';
import { RECORD_LIMITS, type TaskPayload, type TaskRecord, type WorkflowPlace } from './task.js';
import type { Taken } from './transition.js';
import type { ResolvedSignature } from './validate.js';

export interface Submission {
  readonly task: TaskRecord;
  /** What goes to `args/<id>`: large arguments, callbacks. */
  readonly payload?: TaskPayload;
}

export interface Placement {
  readonly id: string;
  readonly shard: number;
  readonly place?: WorkflowPlace;
  /** Waits for others in its workflow. */
  readonly waiting?: boolean;
  readonly parent?: string;
}

/** The record of a new task: WAITING, SCHEDULED when its ETA is in the future, else PENDING. */
export function submitted(signature: ResolvedSignature, taken: Taken, where: Placement): Submission {
  const argsJson = JSON.stringify(signature.args);
  const inline = utf8Length(argsJson) <= RECORD_LIMITS.inlineBytes;
  const hasCallbacks = signature.onSuccess.length > 0 || signature.onError.length > 0;
  const task: TaskRecord = {
    id: where.id,
    name: signature.name,
    cause: 'submitted',
    by: taken.by,
    queue: signature.queue,
    shard: where.shard,
    priority: signature.priority,
    createdMs: taken.nowMs,
    updatedMs: taken.nowMs,
    attempt: 0,
    failures: 0,
    losses: 0,
    snoozes: 0,
    handBacks: 0,
    retry: signature.retry,
    timeoutMs: signature.timeoutMs,
    ...(inline ? { args: signature.args } : {}),
    ...optional(signature),
    ...(hasCallbacks ? { hasCallbacks } : {}),
    ...(where.place === undefined ? {} : { workflow: where.place }),
    ...(where.parent === undefined ? {} : { parent: where.parent }),
    ...startingState(signature, taken, where),
  };
  const payload: TaskPayload = {
    ...(inline ? {} : { args: signature.args }),
    ...(signature.onSuccess.length > 0 ? { onSuccess: signature.onSuccess } : {}),
    ...(signature.onError.length > 0 ? { onError: signature.onError } : {}),
  };
  return Object.keys(payload).length === 0 ? { task } : { task, payload };
}

function startingState(
  signature: ResolvedSignature,
  taken: Taken,
  where: Placement,
): Pick<TaskRecord, 'state' | 'scheduleAtMs' | 'dueMs' | 'order'> {
  const etaMs = signature.etaMs ?? taken.nowMs;
  if (where.waiting === true) return { state: 'WAITING', scheduleAtMs: etaMs };
  if (etaMs > taken.nowMs) return { state: 'SCHEDULED', scheduleAtMs: etaMs, dueMs: etaMs };
  return { state: 'PENDING', scheduleAtMs: taken.nowMs, order: orderOf(taken.nowMs, signature.priority) };
}

function optional(signature: ResolvedSignature): Partial<TaskRecord> {
  const { expiresMs, deadlineMs, headers, immutable, secrets, tags, labels, concurrency, unique } = signature;
  return {
    ...(expiresMs === undefined ? {} : { expiresMs }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(immutable ? { immutable } : {}),
    ...(secrets.length === 0 ? {} : { secrets }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(unique === undefined ? {} : { unique }),
    ...(signature.ignoreWhenNotRegistered ? { ignoreWhenNotRegistered: true } : {}),
  };
}
