/**
 * What an editor sent back, with what was hidden from him put back in: he changes what he saw, and the rest stays as it was.
 */
import { LeaseholdError, type Json } from '@leasehold/core/model';
import { HIDDEN, isSecretName, redactText } from './redact.js';

type Fields = Readonly<Record<string, Json>>;

function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws LeaseholdError `invalid` for a value that still holds `[hidden]`: it would be stored as it stands. */
export function restoreHidden(given: Json, stored: Json | undefined, field: string): Json {
  const restored = restore(given, stored);
  // What was stored with those letters in it is nobody's mistake.
  if (!holdsMark(restored) || (stored !== undefined && holdsMark(stored))) return restored;
  throw new LeaseholdError(
    'invalid',
    `${field}: a hidden part was moved or changed; write the whole value, or leave it`,
    {
      field,
    },
  );
}

function restore(given: Json, stored: Json | undefined): Json {
  if (stored === undefined) return given;
  if (typeof given === 'string') return typeof stored === 'string' && given === redactText(stored) ? stored : given;
  if (Array.isArray(given)) {
    return Array.isArray(stored) ? given.map((item: Json, i) => restore(item, stored[i] as Json | undefined)) : given;
  }
  if (!isFields(given) || !isFields(stored)) return given;
  // From entries, so that a key `__proto__` stays data.
  return Object.fromEntries(
    Object.entries(given).map(([key, item]) => {
      const before = Object.hasOwn(stored, key) ? stored[key] : undefined;
      const kept = before !== undefined && isSecretName(key) && item === HIDDEN;
      return [key, kept ? before : restore(item, before)];
    }),
  );
}

function holdsMark(value: Json): boolean {
  return JSON.stringify(value).includes(HIDDEN);
}
