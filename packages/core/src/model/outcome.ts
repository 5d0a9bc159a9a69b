/**
 * Pure: what the end of an attempt means for its task. The executor reports an outcome, this decides the edge, the caller
 * commits it. "A failure on the last attempt" has its one home here.
 */
import { LeaseholdError } from './errors.js';
import { utf8Length } from './json.js';
import { nextDelayMs } from './retry.js';
import type { TypedValue } from './signature.js';
import { RECORD_LIMITS, type TaskError, type TaskRecord } from './task.js';
import * as edge from './transition.js';
import type { Taken } from './transition.js';

export type AttemptOutcome =
  | { readonly kind: 'success'; readonly results: readonly TypedValue[] }
  /** `retryInMs`: the handler named the wait itself; still uses a retry. */
  | { readonly kind: 'failure'; readonly error: TaskError; readonly retryInMs?: number }
  | { readonly kind: 'timeout'; readonly error: TaskError }
  /** Machinery's retry-later: run again, not a failure, own cap. */
  | { readonly kind: 'snooze'; readonly delayMs: number }
  /** The handler stopped because a cancel was asked for. */
  | { readonly kind: 'cancelled'; readonly reason: string }
  /** The worker stops; the handler has really returned. */
  | { readonly kind: 'hand-back' };

export interface Decision {
  readonly task: TaskRecord;
  /** Results too large for the record: to be written to `results/<id>/<attempt>`. */
  readonly results?: readonly TypedValue[];
}

export function decide(task: TaskRecord, outcome: AttemptOutcome, taken: Taken, random: () => number): Decision {
  switch (outcome.kind) {
    case 'success':
      return success(task, outcome.results, taken);
    case 'failure':
      return { task: failure(task, outcome.error, taken, random, 'failed', outcome.retryInMs) };
    case 'timeout':
      return { task: failure(task, outcome.error, taken, random, 'timed-out') };
    case 'snooze':
      return { task: snooze(task, outcome.delayMs, taken) };
    case 'cancelled':
      return { task: edge.cancelledAsAsked(task, taken, outcome.reason) };
    case 'hand-back':
      return { task: handBack(task, taken) };
  }
}

function handBack(task: TaskRecord, taken: Taken): TaskRecord {
  if (task.cancelRequested !== undefined) return edge.cancelledAsAsked(task, taken, task.cancelRequested.reason);
  return edge.handedBack(task, taken);
}

function success(task: TaskRecord, results: readonly TypedValue[], taken: Taken): Decision {
  if (utf8Length(JSON.stringify(results)) <= RECORD_LIMITS.inlineBytes) {
    return { task: edge.succeeded(task, taken, { results }) };
  }
  return { task: edge.succeeded(task, taken, { resultRef: task.attempt }), results };
}

function failure(
  task: TaskRecord,
  error: TaskError,
  taken: Taken,
  random: () => number,
  kind: 'failed' | 'timed-out',
  retryInMs?: number,
): TaskRecord {
  // A running task that was asked to stop is not tried again, whatever it ended with.
  if (task.cancelRequested !== undefined) return edge.cancelledAsAsked(task, taken, task.cancelRequested.reason);
  const past = task.deadlineMs !== undefined && taken.nowMs >= task.deadlineMs;
  if (past || error.final === true || task.failures >= task.retry.count) {
    return edge.failedFinal(task, taken, error, kind === 'failed' ? 'failed-final' : 'timed-out');
  }
  const delayMs = retryInMs ?? nextDelayMs(task.retry, task.failures + 1, random);
  return edge.failedRetry(task, taken, error, taken.nowMs + delayMs, kind === 'failed' ? 'failed-retry' : 'timed-out');
}

function snooze(task: TaskRecord, delayMs: number, taken: Taken): TaskRecord {
  if (task.cancelRequested !== undefined) return edge.cancelledAsAsked(task, taken, task.cancelRequested.reason);
  if (task.snoozes < RECORD_LIMITS.snoozes) return edge.snoozed(task, taken, taken.nowMs + Math.max(0, delayMs));
  const error: TaskError = {
    type: 'SnoozeLimitError',
    message: `asked to be run again later ${task.snoozes} times; the limit is ${RECORD_LIMITS.snoozes}`,
    attempt: task.attempt,
    atMs: taken.nowMs,
    final: true,
  };
  return edge.failedFinal(task, taken, error);
}

/** Anything that was thrown, as an error that fits the record. */
export function toTaskError(thrown: unknown, attempt: number, node: string, nowMs: number): TaskError {
  const base = { attempt, node, atMs: nowMs };
  if (thrown instanceof Error) {
    const stack = safeText(() => thrown.stack ?? '');
    const coded = thrown instanceof LeaseholdError && thrown.code === 'invalid';
    return {
      ...base,
      type: coded ? 'BadArgumentError' : cut(safeText(() => thrown.name) || 'Error', 100),
      message: cut(
        safeText(() => thrown.message),
        RECORD_LIMITS.errorMessageBytes,
      ),
      ...(stack === '' ? {} : { stack: cut(stack, RECORD_LIMITS.errorStackBytes) }),
    };
  }
  return { ...base, type: thrownType(thrown), message: cut(thrownText(thrown), RECORD_LIMITS.errorMessageBytes) };
}

function thrownType(thrown: unknown): string {
  return thrown === undefined || thrown === null
    ? 'NothingThrown'
    : `Thrown${typeof thrown === 'object' ? 'Object' : 'Value'}`;
}

function thrownText(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (thrown === undefined) return 'the handler threw undefined';
  return safeText(() => JSON.stringify(thrown) ?? typeof thrown);
}

/** Getters and toString of foreign objects may throw. */
function safeText(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return '(unreadable)';
  }
}

/** Cuts to so many bytes of UTF-8, never inside a character. */
export function cut(text: string, bytes: number): string {
  if (utf8Length(text) <= bytes) return text;
  let end = Math.min(text.length, bytes);
  while (end > 0 && utf8Length(text.slice(0, end)) > bytes - 3) end = Math.floor(end * 0.9);
  const last = text.charCodeAt(end - 1);
  return `${text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end)}…`;
}
