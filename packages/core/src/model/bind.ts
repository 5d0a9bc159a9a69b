import { encodeValue, inferType } from './args.js';
import { checkArgCount, encodeDeclared } from './define.js';
import { LeaseholdError } from './errors.js';
import { defined, display, type Place } from './plain.js';
import { receiveValue, refineValue } from './refine.js';
import type { ArgInfo, HandlerInfo } from './records.js';
import type { ArgType, TypedValue } from './signature.js';
import type { ArgSpec, DeclaredType, HandlerArgs, TaskDefinition, TaskResult } from './task-types.js';
import { SIGNATURE_DEFAULTS } from './validate.js';

/** A `number` is advertised as float64, which is what a form may send for it; the handler takes integers as well. */
function advertised(type: DeclaredType): ArgType {
  return type === 'number' ? 'float64' : type;
}

function describeArg({ name, type, help, secret, optional }: ArgSpec): ArgInfo {
  return defined({ name, type: advertised(type), help, secret, optional }) as ArgInfo;
}

/** What a node record says about a handler: plain data, enough to build a form. Undeclared results are an empty list. */
export function describeDefinition(definition: TaskDefinition): HandlerInfo {
  const { name, variadic, results, defaults, description, runbookUrl } = definition;
  const { queue: _queue, ...others } = defaults;
  return {
    name,
    queue: defaults.queue ?? SIGNATURE_DEFAULTS.queue,
    args: definition.args.map(describeArg),
    ...(variadic === undefined ? {} : { variadic: advertised(variadic) }),
    results: (results ?? []).map(advertised),
    ...(description === undefined ? {} : { description }),
    ...(runbookUrl === undefined ? {} : { runbookUrl }),
    ...(Object.keys(others).length === 0 ? {} : { defaults: others }),
  };
}

/**
 * What the handler receives for the stored arguments: an object for arguments declared by name, else a tuple. It is a
 * promise only when a schema answers later, so always `await` it.
 * @throws LeaseholdError `invalid`: too few, too many, a type that does not fit, or refused by a schema. No retry helps.
 */
export function bindArgs<T extends TaskDefinition>(
  definition: T,
  stored: readonly TypedValue[],
  secrets: readonly number[] = [],
): HandlerArgs<T> | Promise<HandlerArgs<T>> {
  checkArgCount(definition, stored.length);
  const values = stored.map((typed, index) => {
    const spec = definition.args[index];
    const field = `${definition.name}: args[${index}]${spec === undefined ? '' : ` (${spec.name})`}`;
    const place: Place = { field, secret: spec?.secret === true || secrets.includes(index) };
    const value = receiveValue(typed, spec?.type ?? definition.variadic ?? 'json', place);
    return spec?.schema === undefined ? value : refineValue(spec.schema, value, place);
  });
  if (!values.some((value) => value instanceof Promise)) return shape(definition, values) as HandlerArgs<T>;
  return Promise.all(values).then((settled) => shape(definition, settled) as HandlerArgs<T>);
}

function shape(definition: TaskDefinition, values: readonly unknown[]): unknown {
  if (definition.style === 'named') {
    return Object.fromEntries(definition.args.map((spec, index) => [spec.name, values[index]]));
  }
  const missing = Math.max(0, definition.args.length - values.length);
  return [...values, ...Array.from({ length: missing }, () => undefined)];
}

/**
 * The results of a handler in stored form: none for undefined, one for a value, several for a declared list.
 * @throws LeaseholdError `invalid` when a result cannot be stored or is not what was declared.
 */
export function encodeResults(definition: TaskDefinition, returned: unknown): readonly TypedValue[] {
  const { results, name } = definition;
  if (results === undefined) {
    if (returned === undefined) return [];
    const place = `${name}: result`;
    return [encodeValue(inferType(returned, place), returned, place)];
  }
  const [only] = results;
  if (only === undefined) return [];
  if (results.length === 1) return [encodeDeclared(only, returned, `${name}: result`)];
  if (Array.isArray(returned) && returned.length === results.length) {
    return results.map((type, index) => encodeDeclared(type, returned[index], `${name}: results[${index}]`));
  }
  const given = Array.isArray(returned) ? `${returned.length} results` : display(returned);
  throw new LeaseholdError('invalid', `${name}: ${given} returned; it declares a list of ${results.length} results`, {
    field: 'results',
    name,
  });
}

/**
 * What a waiter gets for stored results: undefined, the value, or a tuple, as declared; a list when nothing was declared.
 * @throws LeaseholdError `invalid` when the stored results are not what the definition says.
 */
export function decodeResults<T extends TaskDefinition>(definition: T, stored: readonly TypedValue[]): TaskResult<T> {
  const { results, name } = definition;
  const decode = (typed: TypedValue, index: number, type: DeclaredType = typed.type): unknown =>
    receiveValue(typed, type, `${name}: results[${index}]`);
  if (results === undefined) return stored.map((typed, index) => decode(typed, index)) as TaskResult<T>;
  if (stored.length !== results.length) {
    throw new LeaseholdError('invalid', `${name}: ${stored.length} results stored; ${results.length} are declared`, {
      field: 'results',
      name,
    });
  }
  const values = stored.map((typed, index) => decode(typed, index, results[index]));
  return (results.length > 1 ? values : values[0]) as TaskResult<T>;
}
