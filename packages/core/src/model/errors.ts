/**
 * Every refusal has a literal code, the fields that identify what was refused, and a message that says the limit, the
 * value and what to do. Callers match on `code`, never on the text.
 */
export type ErrorCode =
  /** The input breaks a rule: type, range, name, date, limit relation. Correct it and call again. */
  | 'invalid'
  /** Larger than a limit: payload, result, workflow, name, record. */
  | 'too-large'
  /** No such task, workflow, queue, schedule, lock. */
  | 'not-found'
  /** What the decision was made on has changed; read again and decide again. */
  | 'conflict'
  /** The state does not allow it (retry of a running task); the message says which states do. */
  | 'wrong-state'
  /** The unique key is held by another task, named in `fields.holder`. */
  | 'unique-conflict'
  /** Waiting for a result took longer than allowed. The task goes on. */
  | 'timeout'
  /** The awaited task ended as FAILURE. */
  | 'task-failed'
  /** The awaited task ended as CANCELLED. */
  | 'task-cancelled'
  /** The store does not answer, or has no room for new work. Nothing was acknowledged; try again later. */
  | 'unavailable'
  | 'storage-full'
  /** This session or client is over: lease lost, stopped, closed. */
  | 'session-lost'
  | 'closed'
  /** A stored record this version cannot read. */
  | 'unreadable';

export class LeaseholdError extends Error {
  override readonly name = 'LeaseholdError';
  readonly code: ErrorCode;
  /** What identifies the case: `id`, `field`, `limit`, `value`, `holder`, `revision`... Plain data. */
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    fields: Readonly<Record<string, unknown>> = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
    this.fields = fields;
  }
}

export function isLeaseholdError(value: unknown, code?: ErrorCode): value is LeaseholdError {
  return value instanceof LeaseholdError && (code === undefined || value.code === code);
}
