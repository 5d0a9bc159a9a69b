/** What an operator types, to typed values and back. Pure; the core checks, in its own words. */
import {
  checkStored,
  elementType,
  isIntType,
  isWideInt,
  LeaseholdError,
  type ArgType,
  type Json,
  type TypedValue,
} from '@leasehold/core/model';
import type { HandlerView } from '@leasehold/wire';
import { parseLossless, stringifyLossless } from '../api/lossless';

export interface ArgSpec {
  readonly name: string;
  readonly type: ArgType;
  readonly help?: string;
  readonly secret?: boolean;
  readonly optional?: boolean;
}

export type Parsed =
  | { readonly kind: 'value'; readonly typed: TypedValue }
  | { readonly kind: 'absent' }
  | { readonly kind: 'wrong'; readonly problem: string };

/** The fields of a form: the declared arguments, then one more than is filled of a variadic one. */
export function specsOf(handler: HandlerView | undefined, texts: readonly string[]): readonly ArgSpec[] {
  if (handler === undefined) return [];
  const { args, variadic } = handler;
  if (variadic === undefined) return args;
  const extra = Math.max(1, texts.length - args.length + (texts.at(-1) === '' ? 0 : 1));
  return [...args, ...Array.from({ length: extra }, (_, i) => ({ name: `…${i + 1}`, type: variadic, optional: true }))];
}

const RANGE_BITS: Readonly<Record<string, number>> = { '': 64, '8': 8, '16': 16, '32': 32, '64': 64 };

/** `-128 to 127`, for integer types. */
export function rangeText(type: ArgType): string | undefined {
  if (!isIntType(type)) return undefined;
  const bits = BigInt(RANGE_BITS[type.replace(/^u?int/, '')] ?? 64);
  return type.startsWith('u') ? `0 to ${2n ** bits - 1n}` : `${-(2n ** (bits - 1n))} to ${2n ** (bits - 1n) - 1n}`;
}

class BadText extends Error {}

/** One scalar as typed. Nothing is guessed: `1e3`, ` 5` with a letter, or an empty number are refused. */
function scalarOf(type: ArgType, text: string): Json {
  if (type === 'string') return text;
  const word = text.trim();
  if (type === 'bool') {
    if (word === 'true' || word === 'false') return word === 'true';
    throw new BadText(`${word || '""'} is not bool`);
  }
  if (isWideInt(type)) {
    if (/^[+-]?\d+$/.test(word)) return word.replace(/^\+/, '');
    throw new BadText(`${word || '""'} is not ${type}`);
  }
  const number = word === '' ? Number.NaN : Number(word);
  if (Number.isNaN(number) || !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(word))
    throw new BadText(`${word || '""'} is not ${type}`);
  return number;
}

/** A slice as a JSON array, or one item a line. */
function sliceOf(element: ArgType, text: string): readonly Json[] {
  const whole = text.trim();
  if (whole === '') return [];
  if (whole.startsWith('[')) {
    const value = jsonOf(whole);
    if (!Array.isArray(value)) throw new BadText('not a JSON array');
    return value.map((item: unknown) => (typeof item === 'bigint' ? item.toString() : (item as Json)));
  }
  return whole.split('\n').map((line) => scalarOf(element, line));
}

function jsonOf(text: string): unknown {
  try {
    return parseLossless(text);
  } catch (error) {
    throw new BadText(error instanceof Error ? error.message : String(error));
  }
}

function valueOf(type: ArgType, text: string): unknown {
  if (type === 'json') return jsonOf(text);
  if (type === 'bytes') return text.trim();
  const element = elementType(type);
  return element === null ? scalarOf(type, text) : sliceOf(element, text);
}

export function parseArg(spec: ArgSpec, text: string): Parsed {
  if (text === '' && spec.optional === true && spec.type !== 'string') return { kind: 'absent' };
  try {
    const value = valueOf(spec.type, text);
    const typed = { type: spec.type, value };
    return { kind: 'value', typed: checkStored(typed, spec.name) };
  } catch (error) {
    if (error instanceof BadText || error instanceof LeaseholdError) return { kind: 'wrong', problem: error.message };
    throw error;
  }
}

/** All arguments; optional ones at the end that were left empty are left out. */
export function parseArgs(
  specs: readonly ArgSpec[],
  texts: readonly string[],
): { readonly args: readonly TypedValue[]; readonly problems: ReadonlyMap<number, string> } {
  const parsed = specs.map((spec, i) => parseArg(spec, texts[i] ?? ''));
  const problems = new Map<number, string>();
  const last = parsed.findLastIndex(
    (each) => each.kind === 'value' && !(each.typed.value === '' && specs[parsed.indexOf(each)]?.optional === true),
  );
  const args: TypedValue[] = [];
  parsed.forEach((each, i) => {
    if (each.kind === 'wrong') problems.set(i, each.problem);
    else if (each.kind === 'value' && i <= last) args.push(each.typed);
    else if (each.kind === 'absent' && i < last) problems.set(i, '–');
  });
  return { args, problems };
}

/** Back to what would be typed. */
export function textOf(type: ArgType, value: unknown): string {
  if (value === undefined || value === null) return type === 'json' ? 'null' : '';
  if (typeof value === 'string' && type !== 'json') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return stringifyLossless(value, type === 'json' ? 2 : undefined);
}
