import { encodeValue, isArgType, refuseValue } from './args.js';
import { checkFields, checkName } from './check.js';
import { mergeDefaults } from './defaults.js';
import { LeaseholdError } from './errors.js';
import { display, type Place } from './plain.js';
import type { ArgType, Signature, TypedValue } from './signature.js';
import { checkGiven } from './refine.js';
import type {
  ArgNames,
  ArgOptions,
  ArgsDeclaration,
  ArgSpec,
  CallOptions,
  DeclaredType,
  DefinedTask,
  DefinitionDefaults,
  NamedArg,
  TaskDefinition,
} from './task-types.js';
import { normalizeSignature } from './validate.js';

export type * from './task-types.js';

export interface TaskOptions<
  D extends ArgsDeclaration,
  V extends DeclaredType | undefined,
  R extends readonly DeclaredType[] | undefined,
> extends DefinitionDefaults {
  /** By name (an object) or by position (a list). Default: none. */
  readonly args?: D;
  /** Any number of further arguments of this type, after those declared by position. */
  readonly variadic?: V;
  /** Types of the results. Left out: the handler may return one value of any type. */
  readonly results?: R;
  /** Arguments whose values are never shown. */
  readonly secrets?: readonly ArgNames<NoInfer<D>>[];
  /** Help for a form, by argument. */
  readonly argHelp?: { readonly [Name in ArgNames<NoInfer<D>>]?: string };
  readonly description?: string;
  /** What to do when it fails: a link for whoever is on call. */
  readonly runbookUrl?: string;
  /** Former names, under which its worker takes tasks as well. */
  readonly aliases?: readonly string[];
}

const DEFAULTS = [
  'queue',
  'priority',
  'retry',
  'timeoutMs',
  'headers',
  'immutable',
  'tags',
  'labels',
  'concurrency',
  'ignoreWhenNotRegistered',
] as const satisfies readonly (keyof DefinitionDefaults)[];
const OPTIONS = [
  ...DEFAULTS,
  'args',
  'variadic',
  'results',
  'secrets',
  'argHelp',
  'description',
  'runbookUrl',
  'aliases',
];

function bad(task: string, problem: string): LeaseholdError {
  return new LeaseholdError('invalid', `task ${task}: ${problem}`, { field: 'definition', name: task });
}

function checkType(type: unknown, task: string, what: string): DeclaredType {
  if (type === 'number' || isArgType(type)) return type;
  throw bad(task, `${what}: ${typeof type === 'string' ? type : display(type)} is not one of supported types`);
}

function checkSpec(task: string, given: NamedArg, secret: boolean, help: string | undefined): ArgSpec {
  const { name, schema } = given;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name === '__proto__') {
    throw bad(task, `${display(name)} is not an argument name; use letters, digits and "_", and begin with a letter`);
  }
  const text = help ?? given.help;
  return {
    name,
    type: checkType(given.type, task, name),
    ...(text === undefined ? {} : { help: text }),
    ...(secret || given.secret === true ? { secret: true } : {}),
    ...(given.optional === true ? { optional: true } : {}),
    ...(schema === undefined ? {} : { schema }),
  };
}

function withName(name: string, declared: DeclaredType | ArgOptions): NamedArg {
  return typeof declared === 'string' ? { name, type: declared } : { ...declared, name };
}

function isPositional(args: ArgsDeclaration): args is readonly (DeclaredType | NamedArg)[] {
  return Array.isArray(args);
}

function listArgs(args: ArgsDeclaration): readonly NamedArg[] {
  if (!isPositional(args)) return Object.entries(args).map(([name, declared]) => withName(name, declared));
  return args.map((declared, index) => {
    const name = typeof declared === 'string' ? `arg${index}` : declared.name;
    return withName(name, declared);
  });
}

/** The options with the types of D erased, so that the checks below read them as plain data. */
type AnyOptions = TaskOptions<ArgsDeclaration, DeclaredType | undefined, readonly DeclaredType[] | undefined>;

function checkArgSpecs(task: string, options: AnyOptions): readonly ArgSpec[] {
  const declared = listArgs(options.args ?? []);
  const names = new Set(declared.map((arg) => arg.name));
  if (names.size !== declared.length) throw bad(task, 'two arguments have one name; rename one');
  const secrets: readonly string[] = options.secrets ?? [];
  const helps: Readonly<Record<string, string | undefined>> = options.argHelp ?? {};
  const stray = [...secrets, ...Object.keys(helps)].find((name) => !names.has(name));
  if (stray !== undefined) throw bad(task, `secrets or argHelp name ${display(stray)}, which is not an argument`);
  const specs = declared.map((arg) => checkSpec(task, arg, secrets.includes(arg.name), helps[arg.name]));
  const required = specs.findLastIndex((spec) => spec.optional !== true);
  const early = specs.findIndex((spec) => spec.optional === true);
  if (early !== -1 && early < required) throw bad(task, `${specs[early]?.name}: optional arguments come last`);
  if (options.variadic === undefined) return specs;
  if (!isPositional(options.args ?? [])) throw bad(task, 'variadic needs arguments declared by position (a list)');
  if (early !== -1) throw bad(task, 'variadic and optional arguments exclude each other');
  return specs;
}

/** The definition as plain data, checked. */
function checkDefinition(name: string, options: AnyOptions): TaskDefinition {
  checkName(name, 'name');
  checkFields(options, OPTIONS, `task ${name}: `);
  const defaults: DefinitionDefaults = Object.fromEntries(
    DEFAULTS.flatMap((field) => (options[field] === undefined ? [] : [[field, options[field]]])),
  );
  normalizeSignature({ ...defaults, name, args: [] }, {}, 0);
  const aliases = options.aliases ?? [];
  for (const [index, alias] of aliases.entries()) checkName(alias, `aliases[${index}]`);
  const { variadic, results, description, runbookUrl } = options;
  return {
    name,
    style: isPositional(options.args ?? []) ? 'positional' : 'named',
    args: checkArgSpecs(name, options),
    ...(variadic === undefined ? {} : { variadic: checkType(variadic, name, 'variadic') }),
    ...(results === undefined
      ? {}
      : { results: results.map((type, index) => checkType(type, name, `results[${index}]`)) }),
    defaults,
    ...(description === undefined ? {} : { description }),
    ...(runbookUrl === undefined ? {} : { runbookUrl }),
    aliases,
  };
}

/** Stores a value of a declared type; a `number` becomes int64 when it is whole, else float64. */
export function encodeDeclared(type: DeclaredType, value: unknown, place: Place, name?: string): TypedValue {
  if (type !== 'number') return encodeValue(type, value, place, name);
  if (typeof value === 'bigint') throw refuseValue(value, type, place, 'declare int64');
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw refuseValue(value, type, place, 'beyond 2^53: declare int64');
  }
  if (typeof value !== 'number') throw refuseValue(value, type, place);
  const wire: ArgType = Number.isInteger(value) ? 'int64' : 'float64';
  return encodeValue(wire, value, place, name);
}

/** The values in wire order; undefined where none is given. */
function inOrder(definition: TaskDefinition, args: unknown): readonly unknown[] {
  if (Array.isArray(args)) return args as readonly unknown[];
  if (typeof args !== 'object' || args === null) {
    throw bad(definition.name, `arguments are a list or an object by name, not ${display(args)}`);
  }
  const given = args as Readonly<Record<string, unknown>>;
  const names = definition.args.map((spec) => spec.name);
  const stray = Object.keys(given).find((key) => !names.includes(key));
  if (stray !== undefined)
    throw bad(definition.name, `no argument is named ${display(stray)}; it takes ${list(definition)}`);
  return names.map((name) => (Object.hasOwn(given, name) ? given[name] : undefined));
}

function list(definition: TaskDefinition): string {
  const specs = definition.args.map(({ name, type, optional }) => `${name}${optional === true ? '?' : ''}: ${type}`);
  if (definition.variadic !== undefined) specs.push(`...${definition.variadic}`);
  return specs.length === 0 ? 'no arguments' : `(${specs.join(', ')})`;
}

/**
 * @throws LeaseholdError `invalid` when a definition cannot take that many arguments; says what it takes.
 */
export function checkArgCount(definition: TaskDefinition, count: number, atLeast = true): void {
  const { args, variadic, name } = definition;
  const needed = args.filter((spec) => spec.optional !== true).length;
  const problem =
    atLeast && count < needed ? 'too few' : count > args.length && variadic === undefined ? 'too many' : null;
  if (problem === null) return;
  const message = `${name}: ${count} arguments given, ${problem}; it takes ${list(definition)}`;
  throw new LeaseholdError('invalid', message, { field: 'args', name, given: count, needed, most: args.length });
}

/** Where the given values stand: they must follow each other without a gap. */
function givenRange(definition: TaskDefinition, values: readonly unknown[], whole: boolean): readonly [number, number] {
  const start = values.findIndex((value) => value !== undefined);
  const end = values.findLastIndex((value) => value !== undefined) + 1;
  const [from, to] = start === -1 ? [0, 0] : whole ? [0, end] : [start, end];
  for (let index = from; index < to; index++) {
    if (values[index] !== undefined) continue;
    const name = definition.args[index]?.name ?? `arg${index}`;
    throw bad(definition.name, `argument ${name} is missing; it takes ${list(definition)}`);
  }
  const needed = definition.args.filter((spec) => spec.optional !== true).length;
  if (from > 0 && to < needed) {
    throw bad(definition.name, 'a partial call gives the first arguments, or the last ones, without a gap');
  }
  return [from, to];
}

function build(definition: TaskDefinition, args: unknown, options: CallOptions, whole: boolean): Signature {
  const values = inOrder(definition, args);
  const [from, to] = givenRange(definition, values, whole);
  checkArgCount(definition, to, whole);
  const { args: specs, defaults } = definition;
  const typed = values.slice(from, to).map((value, offset) => {
    const spec = specs[from + offset];
    const named = spec !== undefined && !/^arg\d+$/.test(spec.name);
    const field = `${definition.name}: args[${offset}]${named ? ` (${spec.name})` : ''}`;
    const place: Place = { field, secret: spec?.secret === true };
    const type = spec?.type ?? definition.variadic ?? 'json';
    const stored = encodeDeclared(type, value, place, named ? spec.name : undefined);
    if (spec?.schema !== undefined) checkGiven(spec.schema, stored, spec.type, place);
    return stored;
  });
  const secrets = specs.flatMap((spec, index) => (spec.secret === true ? [index - from] : [])).filter((at) => at >= 0);
  return {
    ...mergeDefaults(defaults, options),
    name: definition.name,
    args: typed,
    ...(secrets.length === 0 ? {} : { secrets }),
  };
}

/**
 * Defines a task once, for those who submit it and those who run it. The arguments' types are checked when compiling and
 * again when running.
 * @throws LeaseholdError `invalid` when the definition contradicts itself.
 */
export function defineTask<
  const D extends ArgsDeclaration = readonly [],
  const V extends DeclaredType | undefined = undefined,
  const R extends readonly DeclaredType[] | undefined = undefined,
>(name: string, options: TaskOptions<D, V, R> = {}): DefinedTask<D, V, R> {
  const definition = checkDefinition(name, options as unknown as AnyOptions);
  return Object.freeze({
    ...definition,
    signature: (args: unknown, call: CallOptions = {}) => build(definition, args, call, true),
    partial: (args: unknown, call: CallOptions = {}) => build(definition, args, call, false),
  });
}
