import { decodeValue, elementType, encodeValue, isArgType, isIntType, isWideInt, refuseValue } from './args.js';
import { LeaseholdError } from './errors.js';
import { display, type Place } from './plain.js';
import type { ArgType, TypedValue } from './signature.js';
import type { SchemaIssue, SchemaResult, StandardSchemaV1 } from './standard-schema.js';
import type { DeclaredType } from './task-types.js';

/** From a stored value to what a handler declared: conversion that loses nothing, then the argument's own schema. */

function toNumber(typed: TypedValue, place: Place): number {
  const value: unknown = decodeValue(typed, place);
  if (typeof value === 'number') return value;
  if (typeof value !== 'bigint') throw mismatch(typed, 'number', place);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw refuseValue(value, 'number', place, 'beyond 2^53: declare int64');
  return number;
}

function mismatch(typed: TypedValue, declared: DeclaredType, place: Place): LeaseholdError {
  return refuseValue(typed.value, declared, place, `it was sent as ${typed.type}`);
}

function isFloatType(type: ArgType): boolean {
  return type === 'float32' || type === 'float64';
}

/** Integers go to any integer type that holds the value, and to floats that hold it exactly; floats only to floats. */
function convertScalar(typed: TypedValue, declared: ArgType, place: Place): unknown {
  const value: unknown = decodeValue(typed, place);
  if (isIntType(declared) && isIntType(typed.type)) return decodeValue(encodeValue(declared, value, place), place);
  if (isFloatType(declared) && isIntType(typed.type)) {
    const number = Number(value);
    if (
      BigInt(number) !== BigInt(value as bigint | number) ||
      (declared === 'float32' && Math.fround(number) !== number)
    ) {
      throw refuseValue(value, declared, place, 'it would lose digits');
    }
    return number;
  }
  if (isFloatType(declared) && isFloatType(typed.type)) return decodeValue(encodeValue(declared, value, place), place);
  throw mismatch(typed, declared, place);
}

function convertSlice(typed: TypedValue, declared: ArgType, place: Place): unknown {
  const [from, to] = [elementType(typed.type), elementType(declared)];
  if (to === null || !Array.isArray(typed.value)) throw mismatch(typed, declared, place);
  if (typed.value.length === 0) return [];
  if (from === null) throw mismatch(typed, declared, place);
  return typed.value.map((value, index) => {
    const at: Place =
      typeof place === 'string' ? `${place}[${index}]` : { ...place, field: `${place.field}[${index}]` };
    return convertScalar({ type: from, value }, to, at);
  });
}

/** A value for an argument that takes any JSON: whatever JSON carries without losing digits or kind. */
function convertToJson(typed: TypedValue, place: Place): unknown {
  const element = elementType(typed.type) ?? typed.type;
  if (typed.type !== 'bytes' && !isWideInt(element)) return typed.value;
  throw mismatch(typed, 'json', place);
}

/**
 * The value that a handler receives for a stored one. Types need not be equal: integers go where they fit, `bytes` and
 * `[]uint8` are one, an empty list is an empty slice.
 * @throws LeaseholdError `invalid` when it would lose something; for `number` beyond 2^53 it says to declare int64.
 */
export function receiveValue(typed: TypedValue, declared: DeclaredType, place: Place): unknown {
  if (declared === 'number') return toNumber(typed, place);
  if (typed.type === declared) return decodeValue(typed, place);
  if (!isArgType(typed.type)) return decodeValue(typed, place);
  if (declared === 'json') return convertToJson(typed, place);
  if (declared === 'bytes' && typed.type === '[]uint8')
    return Uint8Array.from(decodeValue<'[]uint8'>({ ...typed, type: '[]uint8' }, place));
  if (declared === '[]uint8' && typed.type === 'bytes')
    return [...decodeValue<'bytes'>({ ...typed, type: 'bytes' }, place)];
  if (elementType(declared) !== null) return convertSlice(typed, declared, place);
  return convertScalar(typed, declared, place);
}

function describeIssue(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}

function accept(result: SchemaResult<unknown>, value: unknown, place: Place): unknown {
  if (result.issues === undefined) return result.value;
  const { field, secret } = typeof place === 'string' ? { field: place, secret: false } : place;
  // A schema's message may quote the value, so a secret keeps it to itself.
  const why = secret === true ? 'its schema refuses it' : result.issues.slice(0, 5).map(describeIssue).join('; ');
  const shown = secret === true ? '[secret]' : display(value);
  throw new LeaseholdError('invalid', `${field}: ${shown} is refused: ${why}`, { field, value: shown });
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** The value as the schema gives it, at once or, when the schema answers later, as a promise. */
export function refineValue(schema: StandardSchemaV1, value: unknown, place: Place): unknown {
  const result = schema['~standard'].validate(value);
  return isPromise(result) ? result.then((late) => accept(late, value, place)) : accept(result, value, place);
}

/**
 * Checks a value at submission, as its handler will see it. A schema that answers later is left to the handler's side.
 * @throws LeaseholdError `invalid` with the schema's own words.
 */
export function checkGiven(schema: StandardSchemaV1, stored: TypedValue, type: DeclaredType, place: Place): void {
  const value = receiveValue(stored, type, place);
  const result = schema['~standard'].validate(value);
  if (isPromise(result)) result.catch(() => undefined);
  else accept(result, value, place);
}
