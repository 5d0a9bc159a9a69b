/** Exit codes: what a script can tell apart. */
import { isLeaseholdError, type ErrorCode } from '@leasehold/core';
import { KvError } from '@leasehold/core/kv';

export const EXIT = Object.freeze({
  ok: 0,
  /** It was done and did not succeed: the awaited task failed, a check of `doctor` failed. */
  failed: 1,
  /** What was asked for makes no sense: arguments, types, limits. */
  usage: 2,
  notFound: 3,
  /** Refused as things stand: the state does not allow it, it changed, the unique key is held. */
  refused: 4,
  /** The store does not answer, or in time. */
  unavailable: 5,
});

const BY_CODE: Readonly<Record<ErrorCode, number>> = {
  invalid: EXIT.usage,
  'too-large': EXIT.usage,
  'not-found': EXIT.notFound,
  conflict: EXIT.refused,
  'wrong-state': EXIT.refused,
  'unique-conflict': EXIT.refused,
  timeout: EXIT.unavailable,
  'task-failed': EXIT.failed,
  'task-cancelled': EXIT.failed,
  unavailable: EXIT.unavailable,
  'storage-full': EXIT.refused,
  'session-lost': EXIT.unavailable,
  closed: EXIT.unavailable,
  unreadable: EXIT.failed,
};

export function exitCodeOf(error: unknown): number {
  if (isLeaseholdError(error)) return BY_CODE[error.code];
  if (error instanceof KvError) return error.code === 'denied' ? EXIT.refused : EXIT.unavailable;
  if (error instanceof RangeError || error instanceof SyntaxError) return EXIT.usage;
  return EXIT.failed;
}
