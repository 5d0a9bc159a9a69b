import { isLeaseholdError, LeaseholdError } from './errors.js';
import type { Json } from './json.js';

/** Checking and copying plain data: JSON values, base64, and how a refused value is shown. */

/** Where a value stands, for the error text: `args[1]` or `args[1] (quantity)`. The value of a secret is never shown. */
export type Place = string | { readonly field: string; readonly secret?: boolean };

const LONE_SURROGATE = /\p{Surrogate}/u;
const MAX_JSON_DEPTH = 100;
/** A value that refers to one part many times can unfold to any size; no payload within the limits has as many parts. */
const MAX_JSON_PARTS = 1_000_000;

/** A half of a surrogate pair alone has no UTF-8 form: a store would change it silently. */
export function hasLoneSurrogate(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

function cut(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

/** A short text for a refused value. Never throws, and is never longer than about 100 characters. */
export function display(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(cut(value));
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return cut(value.toString());
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'object':
      return displayObject(value);
  }
}

function displayObject(value: object | null): string {
  if (value === null) return 'null';
  try {
    if (Array.isArray(value)) return `an array of ${value.length}`;
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    return tag === 'Object' ? 'an object' : `an object (${cut(tag)})`;
  } catch {
    return 'an object'; // A proxy or a getter that throws.
  }
}

interface Walk {
  readonly place: Place;
  /** The objects from the root to here: meeting one again is a cycle. */
  readonly open: Set<object>;
  parts: number;
}

function refuse(walk: Walk, path: string, problem: string): LeaseholdError {
  const { field } = typeof walk.place === 'string' ? { field: walk.place } : walk.place;
  const at = `${field}${path}`;
  return new LeaseholdError('invalid', `${at}: ${problem}`, { field: at, type: 'json' });
}

function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function copyJson(value: unknown, path: string, depth: number, walk: Walk): Json {
  walk.parts += 1;
  if (walk.parts > MAX_JSON_PARTS) throw refuse(walk, '', `more than ${MAX_JSON_PARTS} values are not json`);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    if (hasLoneSurrogate(value)) throw refuse(walk, path, 'a string with a lone surrogate is not json');
    return value;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw refuse(walk, path, `${value} is not json: it has no such number`);
    return value === 0 ? 0 : value;
  }
  if (typeof value === 'bigint') {
    throw refuse(walk, path, 'a bigint is not json: pass it as its own int64 argument, or as a string');
  }
  if (typeof value !== 'object') throw refuse(walk, path, `${display(value)} is not json`);
  if (walk.open.has(value)) throw refuse(walk, path, 'a cyclic value is not json: it contains itself here');
  if (depth >= MAX_JSON_DEPTH) throw refuse(walk, '', `json nested deeper than ${MAX_JSON_DEPTH} levels is refused`);
  walk.open.add(value);
  const copy = copyObject(value, path, depth, walk);
  walk.open.delete(value);
  return copy;
}

function copyObject(value: object, path: string, depth: number, walk: Walk): Json {
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => copyJson(item, `${path}[${index}]`, depth + 1, walk));
  }
  if (!isPlainObject(value)) {
    throw refuse(walk, path, `${display(value)} is not json: only plain objects and arrays are; convert it first`);
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw refuse(walk, path, 'a symbol as a key is not json');
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    if (hasLoneSurrogate(key)) throw refuse(walk, path, 'a key with a lone surrogate is not json');
    const item = value[key];
    if (item === undefined) continue;
    const part = copyJson(item, `${path}.${key.slice(0, 40)}`, depth + 1, walk);
    // Assigning `__proto__` would change the prototype; defining it keeps it a key like any other.
    Object.defineProperty(copy, key, { value: part, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

/**
 * A fresh copy of a JSON value. Keys whose value is undefined are left out, as JSON.stringify does; everything else that
 * JSON cannot carry is refused rather than changed.
 * @throws LeaseholdError `invalid`, naming the path inside the value.
 */
export function checkJson(value: unknown, place: Place): Json {
  const walk: Walk = { place, open: new Set(), parts: 0 };
  try {
    return copyJson(value, '', 0, walk);
  } catch (error) {
    if (isLeaseholdError(error)) throw error;
    // A getter or proxy of the caller's threw while it was read.
    const { message, code, fields } = refuse(walk, '', `reading it failed: ${String(error).slice(0, 200)}`);
    throw new LeaseholdError(code, message, fields, { cause: error });
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const DIGITS: ReadonlyMap<string, number> = new Map([...ALPHABET].map((digit, index) => [digit, index]));

/** Standard base64 with padding (RFC 4648, section 4). */
export function bytesToBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text += ALPHABET.charAt(word >> 18) + ALPHABET.charAt((word >> 12) & 63);
    text += (left > 1 ? ALPHABET.charAt((word >> 6) & 63) : '=') + (left > 2 ? ALPHABET.charAt(word & 63) : '=');
  }
  return text;
}

/** The bytes of standard, padded base64; null when the text is anything else. */
export function base64ToBytes(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let word = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = i < text.length - padding ? DIGITS.get(text.charAt(i)) : 0;
    if (digit === undefined) return null;
    word = (word << 6) | digit;
    if (i % 4 !== 3) continue;
    const at = ((i - 3) / 4) * 3;
    for (let n = 0; n < 3 && at + n < bytes.length; n++) bytes[at + n] = (word >> (16 - 8 * n)) & 255;
    word = 0;
  }
  return bytes;
}

/** A copy without the keys whose value is undefined. */
export function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}
