/** Errors over HTTP: application/problem+json (RFC 9457) with the core's codes, and what the page needs to point. */
import type { ErrorCode } from '@leasehold/core/model';
import { z } from 'zod';

/** Codes of the gateway itself, beside the core's. */
export type ProblemCode =
  | ErrorCode
  | 'denied'
  | 'signed-out'
  | 'too-many'
  | 'compacted'
  | 'method-not-allowed'
  | 'unsupported-media'
  | 'bad-origin'
  | 'bad-host'
  | 'internal';

export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  /** The core's own words: "args[0]: 50.5 is not int32". */
  detail: z.string(),
  code: z.string(),
  /** Path of the field that is wrong: `steps[1].signature.args[0]`. */
  field: z.string().exactOptional(),
  /** What identifies the case: limit, size, holder, revision, state... */
  fields: z.record(z.string(), z.unknown()).exactOptional(),
});
export type Problem = z.infer<typeof Problem>;

export const STATUS_OF: Readonly<Record<ProblemCode, number>> = Object.freeze({
  invalid: 400,
  'too-large': 413,
  'not-found': 404,
  conflict: 409,
  'wrong-state': 409,
  'unique-conflict': 409,
  timeout: 503,
  'task-failed': 422,
  'task-cancelled': 422,
  unavailable: 503,
  'storage-full': 503,
  'session-lost': 503,
  closed: 503,
  unreadable: 422,
  denied: 403,
  'signed-out': 401,
  'too-many': 429,
  compacted: 410,
  'method-not-allowed': 405,
  'unsupported-media': 415,
  'bad-origin': 403,
  'bad-host': 403,
  internal: 500,
});
