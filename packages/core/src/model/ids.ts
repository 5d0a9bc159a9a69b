import { UUID, V7Generator } from 'uuidv7';
import { LeaseholdError } from './errors.js';
import { display } from './plain.js';
import { LIMITS } from './signature.js';

/** Gives `count` random bytes, strong enough that nobody guesses an id. */
export type RandomBytes = (count: number) => Uint8Array;

/** Ids made by appending to another id (members, callbacks of callbacks) may be longer than what a submitter may choose. */
const DERIVED_ID_BYTES = 512;
const ID = /^[A-Za-z0-9._-]+$/;
const MEMBER = /^(.+)\.(\d{5})$/;
const CALLBACK = /^(.+)\.([se])(\d+)\.(\d+)$/;

function bytesFor(random: RandomBytes, count: number): DataView {
  const bytes = random(count);
  if (bytes.length !== count) throw new RangeError(`the random source gave ${bytes.length} bytes instead of ${count}`);
  return new DataView(bytes.buffer, bytes.byteOffset, count);
}

/** A UUIDv7: sorts by `nowMs` (epoch ms), and is decided by `nowMs` and ten random bytes alone. */
export function newId(nowMs: number, random: RandomBytes): string {
  const view = bytesFor(random, 10);
  const randomA = view.getUint16(0) & 0xfff;
  return UUID.fromFieldsV7(Math.floor(nowMs), randomA, view.getUint32(2) & 0x3fffffff, view.getUint32(6)).toString();
}

/**
 * Ids of one process in the order they were asked for, also within a millisecond and when the clock steps back by less
 * than ten seconds: what is submitted in a row is listed in a row.
 */
export function idGenerator(random: RandomBytes): (nowMs: number) => string {
  const generator = new V7Generator({ nextUint32: () => bytesFor(random, 4).getUint32(0) });
  return (nowMs) => generator.generateOrResetWithTs(Math.floor(nowMs)).toString();
}

/** True for any id a record may have, derived ones included. */
export function isTaskId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= DERIVED_ID_BYTES && ID.test(id);
}

/** True for ids that the scheduler derives from others; at a submitter's door they are refused, or they would collide. */
export function isDerivedId(id: string): boolean {
  return MEMBER.test(id) || CALLBACK.test(id);
}

/**
 * Checks an id chosen by a submitter.
 * @throws LeaseholdError `invalid`, or `too-large` above `limit` bytes.
 */
export function checkId(id: unknown, field = 'id', limit: number = LIMITS.idBytes): string {
  if (typeof id !== 'string' || !ID.test(id)) {
    const message = `${field}: ${display(id)} is not an id; use letters, digits, ".", "_" and "-"`;
    throw new LeaseholdError('invalid', message, { field, value: display(id) });
  }
  if (id.length <= limit) return id;
  const message = `${field}: ${id.length} bytes exceed the limit of ${limit} bytes; choose a shorter id`;
  throw new LeaseholdError('too-large', message, { field, size: id.length, limit });
}

/** The id of one member of a workflow, in the order of its tasks: `<workflowId>.00042`. */
export function memberId(workflowId: string, index: number): string {
  if (!Number.isInteger(index) || index < 0 || index > 99_999) throw new RangeError(`no member has the index ${index}`);
  return `${workflowId}.${String(index).padStart(5, '0')}`;
}

export function parseMemberId(id: string): { readonly workflowId: string; readonly index: number } | null {
  const match = MEMBER.exec(id);
  return match?.[1] === undefined ? null : { workflowId: match[1], index: Number(match[2]) };
}

/**
 * The id of a task's n-th callback: `s` onSuccess, `e` onError. `generation` is the attempt that ended, so that a task
 * which is retried after its end calls back again under another id, and a repeated settle under the same.
 */
export function callbackId(taskId: string, kind: 's' | 'e', generation: number, n: number): string {
  return `${taskId}.${kind}${generation}.${n}`;
}

export function parseCallbackId(id: string): {
  readonly taskId: string;
  readonly kind: 's' | 'e';
  readonly generation: number;
  readonly n: number;
} | null {
  const match = CALLBACK.exec(id);
  if (match?.[1] === undefined) return null;
  return { taskId: match[1], kind: match[2] === 's' ? 's' : 'e', generation: Number(match[3]), n: Number(match[4]) };
}
