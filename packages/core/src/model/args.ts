import { LeaseholdError } from './errors.js';
import { utf8Length, type Json } from './json.js';
import { base64ToBytes, bytesToBase64, checkJson, display, hasLoneSurrogate, type Place } from './plain.js';
import { SCALAR_TYPES, type ArgType, type ScalarType, type TypedValue } from './signature.js';

/** The JavaScript value of each scalar type. The 64-bit integers (`int` and `uint` are 64-bit, as in Go) are bigint. */
interface ScalarValues {
  bool: boolean;
  int: bigint;
  int8: number;
  int16: number;
  int32: number;
  int64: bigint;
  uint: bigint;
  uint8: number;
  uint16: number;
  uint32: number;
  uint64: bigint;
  float32: number;
  float64: number;
  string: string;
}

/** The JavaScript value that a handler receives for an argument of type T. */
export type ArgValue<T extends ArgType> = T extends ScalarType
  ? ScalarValues[T]
  : T extends 'bytes'
    ? Uint8Array
    : T extends 'json'
      ? Json
      : T extends `[]${infer S extends ScalarType}`
        ? readonly ScalarValues[S][]
        : never;

type IntType = Exclude<ScalarType, 'bool' | 'string' | 'float32' | 'float64'>;

const INT_RANGES: Readonly<Record<IntType, readonly [bigint, bigint]>> = {
  int: [-(2n ** 63n), 2n ** 63n - 1n],
  int8: [-128n, 127n],
  int16: [-32768n, 32767n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint: [0n, 2n ** 64n - 1n],
  uint8: [0n, 255n],
  uint16: [0n, 65535n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};
const WIDE: ReadonlySet<string> = new Set(['int', 'int64', 'uint', 'uint64']);
const SCALARS: ReadonlySet<string> = new Set(SCALAR_TYPES);

/** All argument and result types: the scalars, a slice of each, `bytes` and `json`. */
export const ARG_TYPES: readonly ArgType[] = Object.freeze([
  ...SCALAR_TYPES,
  ...SCALAR_TYPES.map((type) => `[]${type}` as const),
  'bytes',
  'json',
]);
const ARG_TYPE_SET: ReadonlySet<unknown> = new Set(ARG_TYPES);

export function isArgType(type: unknown): type is ArgType {
  return ARG_TYPE_SET.has(type);
}

/** True for the integer types that are stored as decimal strings and are bigint in JavaScript. */
export function isWideInt(type: ArgType): type is 'int' | 'int64' | 'uint' | 'uint64' {
  return WIDE.has(type);
}

/** True for every integer type, narrow or 64-bit. */
export function isIntType(type: ArgType): type is IntType {
  return Object.hasOwn(INT_RANGES, type);
}

/** The element type of a slice, or null for any other type. */
export function elementType(type: ArgType): ScalarType | null {
  return type.startsWith('[]') ? (type.slice(2) as ScalarType) : null;
}

/** The refusal of a value in Machinery's words: `50.5 is not int32`, with the field before and the reason behind. */
export function refuseValue(value: unknown, type: string, place: Place, reason?: string): LeaseholdError {
  const { field, secret } = typeof place === 'string' ? { field: place, secret: false } : place;
  const shown = secret ? '[secret]' : display(value);
  const because = reason === undefined ? '' : ` (${reason})`;
  return new LeaseholdError('invalid', `${field}: ${shown} is not ${type}${because}`, { field, type, value: shown });
}

/** @throws LeaseholdError `invalid`: `<type> is not one of supported types`. */
export function checkArgType(type: unknown, place: Place): ArgType {
  if (isArgType(type)) return type;
  const field = typeof place === 'string' ? place : place.field;
  const shown = typeof type === 'string' ? display(type).slice(1, -1) : display(type);
  throw new LeaseholdError('invalid', `${field}: ${shown} is not one of supported types`, {
    field,
    type: shown,
    supported: ARG_TYPES,
  });
}

/** `js`: given by a program. `stored`: came as JSON, where bytes are base64 and 64-bit integers are decimal strings. */
type Form = 'js' | 'stored';

function toInteger(type: IntType, value: unknown, place: Place, form: Form): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'number' && Number.isInteger(value) && WIDE.has(type)) {
    const how = form === 'js' ? 'a bigint' : 'a decimal string';
    throw refuseValue(value, type, place, `a number beyond 2^53 has lost digits: give it as ${how}`);
  }
  if (form === 'stored' && WIDE.has(type) && typeof value === 'string' && /^-?\d{1,20}$/.test(value)) {
    return BigInt(value);
  }
  throw refuseValue(value, type, place);
}

function storeInteger(type: IntType, value: unknown, place: Place, form: Form): number | string {
  const integer = toInteger(type, value, place, form);
  const [min, max] = INT_RANGES[type];
  if (integer < min || integer > max) throw refuseValue(integer, type, place, `range ${min} to ${max}`);
  return WIDE.has(type) ? integer.toString() : Number(integer);
}

function storeFloat(type: 'float32' | 'float64', value: unknown, place: Place): number {
  if (typeof value !== 'number') throw refuseValue(value, type, place);
  if (!Number.isFinite(value)) throw refuseValue(value, type, place, 'JSON has no such number');
  if (type === 'float32' && !Number.isFinite(Math.fround(value))) {
    throw refuseValue(value, type, place, 'range -3.4028235e38 to 3.4028235e38');
  }
  return value === 0 ? 0 : value;
}

function storeScalar(type: ScalarType, value: unknown, place: Place, form: Form): boolean | number | string {
  switch (type) {
    case 'bool':
      if (typeof value === 'boolean') return value;
      throw refuseValue(value, type, place);
    case 'string':
      if (typeof value !== 'string') throw refuseValue(value, type, place);
      if (hasLoneSurrogate(value)) throw refuseValue(value, type, place, 'it holds a lone surrogate');
      return value;
    case 'float32':
    case 'float64':
      return storeFloat(type, value, place);
    default:
      return storeInteger(type, value, place, form);
  }
}

function storeBytes(value: unknown, place: Place, form: Form): string {
  if (value instanceof Uint8Array) return bytesToBase64(value);
  if (form === 'stored' && typeof value === 'string') {
    const bytes = base64ToBytes(value);
    if (bytes !== null) return bytesToBase64(bytes);
    throw refuseValue(value, 'bytes', place, 'not base64');
  }
  throw refuseValue(value, 'bytes', place);
}

function within(place: Place, index: number): Place {
  return typeof place === 'string' ? `${place}[${index}]` : { ...place, field: `${place.field}[${index}]` };
}

function storeSlice(type: ArgType, element: ScalarType, value: unknown, place: Place, form: Form): Json {
  if (element === 'uint8' && value instanceof Uint8Array) return [...value];
  if (element === 'uint8' && form === 'stored' && typeof value === 'string') {
    // Go writes []uint8 as base64.
    const bytes = base64ToBytes(value);
    if (bytes !== null) return [...bytes];
    throw refuseValue(value, type, place, 'not base64');
  }
  if (!Array.isArray(value)) throw refuseValue(value, type, place);
  return Array.from(value, (item: unknown, index) => storeScalar(element, item, within(place, index), form));
}

function toStored(type: ArgType, value: unknown, place: Place, form: Form): Json {
  if (type === 'json') return checkJson(value, place);
  const element = elementType(type);
  if (element !== null) return value === null ? [] : storeSlice(type, element, value, place, form);
  if (type === 'bytes') return value === null ? '' : storeBytes(value, place, form);
  return storeScalar(type as ScalarType, value, place, form);
}

/**
 * The stored form of a JavaScript value, always a fresh copy. 64-bit types take a bigint or a safe integer number; null
 * is an empty slice or empty bytes, and otherwise refused (except in `json`). Negative zero becomes zero.
 * @throws LeaseholdError `invalid`: `<value> is not <type>`, with the field and the range.
 */
export function encodeValue(type: ArgType, value: unknown, place: Place, name?: string): TypedValue {
  const stored = toStored(checkArgType(type, place), value, place, 'js');
  return name === undefined ? { type, value: stored } : { type, value: stored, name };
}

/**
 * Checks a typed value that came from outside (API, JSON, another language) and gives its canonical form. 64-bit types
 * take a decimal string, a bigint, or a JSON number that is a safe integer.
 * @throws LeaseholdError `invalid`.
 */
export function checkStored(typed: unknown, place: Place): TypedValue {
  const field = typeof place === 'string' ? place : place.field;
  if (typeof typed !== 'object' || typed === null || Array.isArray(typed)) {
    throw new LeaseholdError('invalid', `${field}: ${display(typed)} is not { type, value }`, { field });
  }
  const given = typed as Readonly<Record<string, unknown>>;
  const type = checkArgType(given['type'], place);
  const value = toStored(type, given['value'], place, 'stored');
  const name = given['name'];
  if (name === undefined || name === '') return { type, value };
  if (typeof name !== 'string' || hasLoneSurrogate(name)) throw refuseValue(name, 'a name', `${field}.name`);
  return { type, value, name };
}

function toScalar(type: ScalarType, stored: boolean | number | string): boolean | number | string | bigint {
  if (WIDE.has(type)) return BigInt(stored);
  return type === 'float32' ? Math.fround(stored as number) : stored;
}

/**
 * The JavaScript value of a stored one. float32 is rounded to single precision here; the record keeps what was given.
 * @throws LeaseholdError `invalid` when the record is damaged or was written by something else.
 */
export function decodeValue<T extends ArgType>(
  typed: Omit<TypedValue, 'type'> & { readonly type: T },
  place: Place = 'value',
): ArgValue<T> {
  const type: ArgType = checkArgType(typed.type, place);
  if (type === 'json') return typed.value as ArgValue<T>;
  const stored = toStored(type, typed.value, place, 'stored');
  if (type === 'bytes') return base64ToBytes(stored as string) as ArgValue<T>;
  const element = elementType(type);
  if (element === null) return toScalar(type as ScalarType, stored as boolean | number | string) as ArgValue<T>;
  const items = stored as readonly (boolean | number | string)[];
  return items.map((item) => toScalar(element, item)) as readonly unknown[] as ArgValue<T>;
}

function inferScalar(value: unknown, place: Place): ScalarType | null {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
      if (Number.isSafeInteger(value)) return 'int64';
      if (!Number.isInteger(value)) return 'float64';
      throw refuseValue(value, 'int64', place, 'beyond 2^53 digits are lost: use a bigint, or declare float64');
    case 'bigint':
      return value >= 2n ** 63n ? 'uint64' : 'int64';
    default:
      return null;
  }
}

/**
 * The type of a value that nobody declared: boolean `bool`, bigint `int64` (or `uint64` above its range), safe integer
 * `int64`, other number `float64`, Uint8Array `bytes`, an array of one scalar type a slice (integers and floats mixed:
 * `[]float64`), anything else `json`, the empty array included.
 * @throws LeaseholdError `invalid` for an integer number beyond 2^53.
 */
export function inferType(value: unknown, place: Place = 'value'): ArgType {
  if (value instanceof Uint8Array) return 'bytes';
  if (!Array.isArray(value)) return inferScalar(value, place) ?? 'json';
  const kinds = new Set<ScalarType | null>();
  for (const [index, item] of value.entries()) {
    kinds.add(inferScalar(item, within(place, index)));
    if (kinds.has(null)) return 'json';
  }
  const [only] = kinds;
  if (kinds.size === 1 && only !== undefined && SCALARS.has(String(only))) return `[]${only as ScalarType}`;
  if (kinds.size === 2 && kinds.has('int64') && kinds.has('float64')) {
    return value.every((item) => typeof item === 'number') ? '[]float64' : 'json';
  }
  if (kinds.size === 2 && kinds.has('int64') && kinds.has('uint64')) {
    return value.every((item: number | bigint) => item >= 0) ? '[]uint64' : 'json';
  }
  return 'json';
}

/** Bytes of one value in its stored form, UTF-8. */
export function valueBytes(typed: TypedValue): number {
  return utf8Length(JSON.stringify(typed));
}

/** Bytes of a list of values as stored: a JSON array of typed values. */
export function payloadBytes(values: readonly TypedValue[]): number {
  return values.reduce((sum, typed) => sum + valueBytes(typed), 2 + Math.max(0, values.length - 1));
}

/**
 * Returns the size in bytes.
 * @throws LeaseholdError `too-large`, with `size` and `limit`.
 */
export function checkPayload(values: readonly TypedValue[], limit: number, what = 'arguments'): number {
  const size = payloadBytes(values);
  if (size <= limit) return size;
  throw new LeaseholdError(
    'too-large',
    `${what}: ${size} bytes exceed the limit of ${limit} bytes; store the data elsewhere and pass a reference to it, or raise the payload limit`,
    { field: what, size, limit },
  );
}
