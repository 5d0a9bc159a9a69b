/** Whatever went wrong, as a problem document: the core's code and words, the field, a status. Never a stack. */
import { KvError } from '@leasehold/core/kv';
import { isLeaseholdError } from '@leasehold/core/model';
import { STATUS_OF, type Problem, type ProblemCode } from '@leasehold/wire';
import type { z } from 'zod';
import { redactText } from '../guard/redact.js';

export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.fields = fields;
  }
}

const TITLES: Readonly<Record<ProblemCode, string>> = {
  invalid: 'The request breaks a rule',
  'too-large': 'Too large',
  'not-found': 'Not found',
  conflict: 'It has changed meanwhile',
  'wrong-state': 'Its state does not allow this',
  'unique-conflict': 'The unique key is taken',
  timeout: 'It took too long',
  'task-failed': 'The task failed',
  'task-cancelled': 'The task was cancelled',
  unavailable: 'The store does not answer',
  'storage-full': 'The store has no room for new work',
  'session-lost': 'This session is over',
  closed: 'This server is stopping',
  unreadable: 'A record cannot be read by this version',
  denied: 'Not allowed',
  'signed-out': 'Nobody is signed in',
  'too-many': 'Too often',
  compacted: 'That history was compacted away',
  'method-not-allowed': 'No such method here',
  'unsupported-media': 'Only JSON is taken',
  'bad-origin': 'Refused: foreign origin',
  'bad-host': 'Refused: unknown host',
  internal: 'Something went wrong here',
};

export function problem(code: ProblemCode, detail: string, fields: Readonly<Record<string, unknown>> = {}): Problem {
  const { field, ...rest } = fields;
  return {
    type: `urn:leasehold:problem:${code}`,
    title: TITLES[code],
    status: STATUS_OF[code],
    detail: redactText(detail),
    code,
    ...(typeof field === 'string' ? { field } : {}),
    ...(Object.keys(rest).length === 0 ? {} : { fields: plain(rest) }),
  };
}

/** 64-bit numbers as digits. */
function plain(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(fields, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  ) as Record<string, unknown>;
}

/** What fastify itself refuses, by its codes. */
const FASTIFY_CODES: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported-media', 'content-type: only application/json is taken'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'content-length: it is not the length of the body'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid', 'body: it is empty'],
};

interface Thrown {
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly message?: unknown;
}

export function problemOf(error: unknown, bodyLimit: number): Problem {
  if (error instanceof ProblemError || isLeaseholdError(error)) return problem(error.code, error.message, error.fields);
  if (error instanceof KvError) return kvProblem(error);
  const { code, statusCode, message } = (error ?? {}) as Thrown;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return problem(
      'too-large',
      `body: it exceeds the limit of ${bodyLimit} bytes; store the data elsewhere and pass a reference`,
      {
        field: 'body',
        limit: bodyLimit,
      },
    );
  }
  const known = typeof code === 'string' ? FASTIFY_CODES[code] : undefined;
  if (known !== undefined) return problem(known[0], known[1]);
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return problem('invalid', typeof message === 'string' ? message : 'the request is not understood');
  }
  return problem('internal', 'see the log of the server');
}

function kvProblem(error: KvError): Problem {
  if (error.code === 'too-large' || error.code === 'too-many-operations') return problem('too-large', error.message);
  if (error.code === 'no-space')
    return problem('storage-full', 'etcd is out of space: new work is refused until there is room');
  if (error.code === 'compacted') return problem('compacted', 'that revision was compacted away');
  if (error.code === 'future-revision')
    return problem('invalid', 'rev: the store has not reached that revision', { field: 'rev' });
  if (error.code === 'closed') return problem('closed', 'this server is stopping');
  const doubt = error.ambiguous
    ? '; it may or may not have been done: send it again with the same Idempotency-Key'
    : '';
  return problem('unavailable', `etcd does not answer${doubt}`);
}

/** The first thing that is wrong, with its path. */
export function issueProblem(part: string, error: z.ZodError): ProblemError {
  const [issue] = error.issues;
  const path = (issue?.path ?? [])
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('');
  const field = path.replace(/^\./, '') || part;
  return new ProblemError('invalid', `${field}: ${issue?.message ?? 'not understood'}`, { field });
}
