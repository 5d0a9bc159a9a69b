import { LeaseholdError } from './errors.js';
import { utf8Length } from './json.js';
import { display, hasLoneSurrogate } from './plain.js';
import { LIMITS } from './signature.js';

/** Checks of single fields. Each names the field, the value, the limit and what to do; each gives the checked value. */

/** Every limit of the model; a scheduler may be configured with other numbers. */
export type Limits = { readonly [Limit in keyof typeof LIMITS]: number };

/** The longest delay or window, ms: a year. */
export const MAX_WAIT_MS = 31_536_000_000;
const MAX_DATE_MS = 8_640_000_000_000_000;

/** Control characters, line and paragraph separators, and what turns the direction of the text around it. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
export function invalid(
  field: string,
  problem: string,
  fields: Readonly<Record<string, unknown>> = {},
): LeaseholdError {
  return new LeaseholdError('invalid', `${field}: ${problem}`, { field, ...fields });
}

/**
 * Checks the name of a task, queue, tag or label: any printable text of 1 to `limit` bytes of UTF-8.
 * @throws LeaseholdError `invalid`, or `too-large` above the limit.
 */
export function checkName(value: unknown, field: string, limit: number = LIMITS.nameBytes): string {
  if (typeof value !== 'string') throw invalid(field, `${display(value)} is not a text`);
  if (value === '') throw invalid(field, 'it is empty; give it a name');
  if (hasLoneSurrogate(value)) throw invalid(field, `${display(value)} holds a lone surrogate; use whole characters`);
  if (UNPRINTABLE.test(value)) {
    throw invalid(field, `${display(value)} holds a control character; use printable characters only`);
  }
  if (value.trim() !== value) throw invalid(field, `${display(value)} begins or ends with a space; remove it`);
  const size = utf8Length(value);
  if (size <= limit) return value;
  throw new LeaseholdError('too-large', `${field}: ${size} bytes exceed the limit of ${limit} bytes; shorten it`, {
    field,
    size,
    limit,
  });
}

export function checkInteger(value: unknown, field: string, min: number, max: number, unit = ''): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(field, `${display(value)} is not a whole number from ${min} to ${max}${unit}`, { min, max });
}

export function checkFlag(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(field, `${display(value)} is not true or false`);
}

export function checkDate(value: unknown, field: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_DATE_MS) return value;
  throw invalid(field, `${display(value)} is not a date; give whole milliseconds since 1970, as Date.getTime() does`);
}

/** @throws LeaseholdError `invalid` for a field that nothing would read: most often a misspelt one. */
export function checkFields(value: object, known: readonly string[], prefix = ''): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw invalid(`${prefix}${unknown.slice(0, 80)}`, `there is no such field; known are ${known.join(', ')}`);
}

export function checkCount(count: number, field: string, limit: number): void {
  if (count <= limit) return;
  throw new LeaseholdError('too-large', `${field}: ${count} exceed the limit of ${limit}; give fewer`, {
    field,
    size: count,
    limit,
  });
}

export function checkMap(
  value: unknown,
  field: string,
  limit: number,
  bytes: number,
): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(field, `${display(value)} is not an object of texts`);
  }
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  checkCount(entries.length, field, limit);
  let size = 0;
  for (const [key, text] of entries) {
    checkName(key, `${field} name`);
    if (typeof text !== 'string' || hasLoneSurrogate(text)) {
      throw invalid(`${field}.${key}`, `${display(text)} is not a text; convert it to a string`);
    }
    size += utf8Length(key) + utf8Length(text);
  }
  if (size <= bytes) return Object.fromEntries(entries) as Record<string, string>;
  const message = `${field}: ${size} bytes exceed the limit of ${bytes} bytes for all ${field}; shorten them`;
  throw new LeaseholdError('too-large', message, { field, size, limit: bytes });
}
