/** What a handler throws to say more than "it failed", and what any end of a handler means. Pure. */
import type { AttemptOutcome } from '../model/outcome.js';
import { toTaskError } from '../model/outcome.js';
import type { TaskError } from '../model/task.js';

/** It failed; try again after so long instead of after the policy's delay. Uses one of its retries. */
export class RetryIn extends Error {
  override readonly name: string = 'RetryIn';
  readonly delayMs: number;
  constructor(delayMs: number, options: { readonly message?: string; readonly cause?: unknown } = {}) {
    super(options.message ?? messageOf(options.cause) ?? `asked to be tried again in ${delayMs} ms`, {
      cause: options.cause,
    });
    this.delayMs = requireDelay(delayMs);
  }
}

/** It did not fail, it is too early: run it again later (Machinery's retry-later). Uses no retry, but is counted. */
export class Snooze extends Error {
  override readonly name: string = 'Snooze';
  readonly delayMs: number;
  constructor(delayMs: number) {
    super(`asked to be run again in ${delayMs} ms`);
    this.delayMs = requireDelay(delayMs);
  }
}

/** It failed, and trying again is useless. */
export class FinalError extends Error {
  override readonly name: string = 'FinalError';
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
  }
}

function requireDelay(delayMs: number): number {
  if (Number.isFinite(delayMs) && delayMs >= 0 && delayMs <= 31_536_000_000) return Math.round(delayMs);
  throw new RangeError(`a delay is 0 to 31536000000 ms (a year), not ${delayMs}`);
}

function messageOf(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.message : undefined;
}

/** Why a handler was told to stop. */
export type StopReason = 'timeout' | 'cancelled' | 'lost' | 'released' | 'shutdown';

/** What the signal of a handler carries as its reason. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly reason: StopReason;
  constructor(reason: StopReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Situation {
  readonly attempt: number;
  readonly node: string;
  readonly nowMs: number;
  /** Set when the handler had been told to stop before it ended. */
  readonly stopped?: Stopped;
}

/** What it means that the handler threw. */
export function outcomeOfThrown(thrown: unknown, at: Situation): AttemptOutcome {
  const asked = verdictOf(thrown, at);
  switch (at.stopped?.reason) {
    case 'cancelled':
      return { kind: 'cancelled', reason: at.stopped.message };
    case 'timeout':
      return timedOut(at);
    case 'shutdown':
      return asked ?? { kind: 'hand-back' };
    case 'lost':
    case 'released':
    case undefined:
      return asked ?? { kind: 'failure', error: toTaskError(thrown, at.attempt, at.node, at.nowMs) };
  }
}

function verdictOf(thrown: unknown, at: Situation): AttemptOutcome | undefined {
  if (thrown instanceof Snooze) return { kind: 'snooze', delayMs: thrown.delayMs };
  if (thrown instanceof RetryIn) return { kind: 'failure', error: causeOf(thrown, at), retryInMs: thrown.delayMs };
  if (thrown instanceof FinalError) return { kind: 'failure', error: { ...causeOf(thrown, at), final: true } };
  return undefined;
}

/** Errors are grouped by type, and the wrapped error says more than its wrapper. */
function causeOf(thrown: Error, at: Situation): TaskError {
  const own = toTaskError(thrown, at.attempt, at.node, at.nowMs);
  if (!(thrown.cause instanceof Error)) return own;
  return { ...toTaskError(thrown.cause, at.attempt, at.node, at.nowMs), message: own.message };
}

export function timedOut(at: Situation): AttemptOutcome {
  const error: TaskError = {
    type: 'TimeoutError',
    message: at.stopped?.message ?? 'the attempt ran longer than its timeout',
    attempt: at.attempt,
    node: at.node,
    atMs: at.nowMs,
  };
  return { kind: 'timeout', error };
}

/** A failure that no further try can mend. */
export function finalFailure(type: string, thrown: unknown, at: Situation): AttemptOutcome {
  return { kind: 'failure', error: { ...toTaskError(thrown, at.attempt, at.node, at.nowMs), type, final: true } };
}
