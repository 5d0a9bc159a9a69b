import { KvError, type KvErrorCode } from './kv.js';

/**
 * The one place that knows gRPC's status codes and etcd's messages. Callers see `KvError` codes only.
 *
 * A message is looked at only where one status code stands for things that a caller handles differently.
 */
const CANCELLED = 1;
const UNKNOWN = 2;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const OUT_OF_RANGE = 11;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** `sent`: the server may have acted on the request; only then a failed write is ambiguous. */
interface Reading {
  readonly code: KvErrorCode;
  readonly sent: boolean;
}

const refused = (code: KvErrorCode): Reading => ({ code, sent: false });
const unsure = (code: KvErrorCode): Reading => ({ code, sent: true });

export function toKvError(error: unknown, write: boolean): KvError {
  if (error instanceof KvError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const { code, sent } = read(grpcCode(error, message), message);
  return new KvError(code, message, { ambiguous: write && sent, cause: error });
}

/** The server does not know our token (any more): a definite refusal, made before anything was done. */
export function isStaleToken(error: unknown): boolean {
  return error instanceof Error && error.message.includes('invalid auth token');
}

/** The request never left this process. */
export function isNeverSent(error: KvError): boolean {
  return error.code === 'unavailable' && NEVER_SENT.test(error.message);
}

const NEVER_SENT = /No connection established|Name resolution failed|Channel has been shut down/;

function grpcCode(error: unknown, message: string): number {
  if (error instanceof Error && 'code' in error && typeof error.code === 'number') return error.code;
  // etcd3's own error classes lose the code, but not gRPC's way of writing it: "14 UNAVAILABLE: ...".
  const leading = /^(\d{1,2}) [A-Z_]+:/.exec(message);
  return leading === null ? UNKNOWN : Number(leading[1]);
}

function read(status: number, message: string): Reading {
  switch (status) {
    case INVALID_ARGUMENT:
      return refused(readInvalid(message));
    case DEADLINE_EXCEEDED:
      return unsure('timeout');
    case NOT_FOUND:
      return refused(message.includes('lease not found') ? 'lease-not-found' : 'invalid');
    case PERMISSION_DENIED:
    case UNAUTHENTICATED:
      return refused('denied');
    case RESOURCE_EXHAUSTED:
      return readExhausted(message);
    case FAILED_PRECONDITION:
      return message.includes('not leader') ? unsure('unavailable') : refused(readPrecondition(message));
    case OUT_OF_RANGE:
      return refused(readOutOfRange(message));
    case UNAVAILABLE:
      return NEVER_SENT.test(message) ? refused('unavailable') : unsure('unavailable');
    case CANCELLED:
      return unsure('unavailable');
    case INTERNAL:
    case UNKNOWN:
      if (message.includes('range is empty')) return refused('invalid');
      // A watch is refused in words only.
      if (/permission denied|invalid auth token|user name is empty/.test(message)) return refused('denied');
      return unsure(/RST_STREAM|ECONNRE|EPIPE|GOAWAY/.test(message) ? 'unavailable' : 'internal');
    default:
      return unsure('internal');
  }
}

function readInvalid(message: string): KvErrorCode {
  if (message.includes('too many operations')) return 'too-many-operations';
  if (message.includes('duplicate key')) return 'duplicate-key';
  if (message.includes('too large')) return 'too-large';
  return /authentication failed|user name is empty|invalid auth/.test(message) ? 'denied' : 'invalid';
}

function readPrecondition(message: string): KvErrorCode {
  return /authentication|auth/.test(message) ? 'denied' : 'invalid';
}

function readOutOfRange(message: string): KvErrorCode {
  if (message.includes('compacted')) return 'compacted';
  return message.includes('future revision') ? 'future-revision' : 'invalid';
}

function readExhausted(message: string): Reading {
  if (message.includes('database space exceeded')) return refused('no-space');
  if (message.includes('too many requests')) return refused('unavailable');
  // The server's own words for a request it did not read; our client's for a reply that it did not read.
  if (/grpc: (received|trying to send) message (larger|after)/.test(message)) return refused('too-large');
  if (/message larger than max/i.test(message)) return unsure('too-large');
  return unsure('unavailable');
}
