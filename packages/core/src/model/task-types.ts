import type { ArgValue } from './args.js';
import type { ArgType, Signature } from './signature.js';
import type { SchemaInput, SchemaOutput, StandardSchemaV1 } from './standard-schema.js';

/** The types behind `defineTask`: from what a task declares to what its callers give and its handler receives. */

/**
 * A type as a task declares it: an argument type, or `number`, which is a JavaScript number. A whole `number` travels as
 * int64 and any other as float64; the handler takes any numeric type, and refuses an integer beyond 2^53, which a
 * JavaScript number cannot hold, with the advice to declare int64.
 */
export type DeclaredType = ArgType | 'number';

/** One declared argument with more than its type. */
export interface ArgOptions {
  readonly type: DeclaredType;
  /** Refines the value: checked at submission if it answers at once, and always before the handler runs. */
  readonly schema?: StandardSchemaV1;
  /** Shown beside the form field. */
  readonly help?: string;
  /** Its value is never shown: not on the board, not in errors, not in logs. */
  readonly secret?: boolean;
  /** May be left out, if all after it are left out too; the handler then receives undefined. */
  readonly optional?: boolean;
}
export type NamedArg = ArgOptions & { readonly name: string };

/** `{ sku: 'string', quantity: 'int32' }`: by name; the order of the keys is the order on the wire. */
export type NamedDeclaration = Readonly<Record<string, DeclaredType | ArgOptions>>;
/** `['int64', { name: 'by', type: 'int64' }]`: by position. */
export type PositionalDeclaration = readonly (DeclaredType | NamedArg)[];
export type ArgsDeclaration = NamedDeclaration | PositionalDeclaration;

type WideInt = 'int' | 'int64' | 'uint' | 'uint64';
type TypeOf<D> = D extends DeclaredType ? D : D extends { readonly type: infer T extends DeclaredType } ? T : never;
type Simplify<T> = { [K in keyof T]: T[K] };

/** What a handler receives, and a waiter gets as a result, for a declared type. */
export type ReceivedValue<T extends DeclaredType> = T extends ArgType ? ArgValue<T> : number;

/** What a caller may give for a declared type: as received, and a number for a 64-bit integer while it loses no digit. */
export type GivenValue<T extends DeclaredType> = T extends WideInt
  ? bigint | number
  : T extends `[]${WideInt}`
    ? readonly (bigint | number)[]
    : ReceivedValue<T>;

type Given<D> = D extends { readonly schema: infer S extends StandardSchemaV1 }
  ? SchemaInput<S>
  : GivenValue<TypeOf<D>>;
type Received<D> =
  | (D extends { readonly schema: infer S extends StandardSchemaV1 } ? SchemaOutput<S> : ReceivedValue<TypeOf<D>>)
  | (D extends { readonly optional: true } ? undefined : never);

type GivenTuple<D extends PositionalDeclaration> = D extends readonly [
  infer Head,
  ...infer Rest extends PositionalDeclaration,
]
  ? Head extends { readonly optional: true }
    ? readonly [Given<Head>?, ...GivenTuple<Rest>]
    : readonly [Given<Head>, ...GivenTuple<Rest>]
  : readonly [];
type ReceivedTuple<D extends PositionalDeclaration> = D extends readonly [
  infer Head,
  ...infer Rest extends PositionalDeclaration,
]
  ? readonly [Received<Head>, ...ReceivedTuple<Rest>]
  : readonly [];

type OptionalKeys<D> = { [K in keyof D]: D[K] extends { readonly optional: true } ? K : never }[keyof D];
type GivenRecord<D> = Simplify<
  { readonly [K in Exclude<keyof D, OptionalKeys<D>>]: Given<D[K]> } & {
    readonly [K in OptionalKeys<D>]?: Given<D[K]> | undefined;
  }
>;
/** The named arguments of a positional declaration, so that they can be given by name as well. */
type ByName<D extends PositionalDeclaration> = {
  readonly [E in Extract<D[number], NamedArg> as E['name']]: E;
};
type AllNamed<D extends PositionalDeclaration> = D[number] extends NamedArg ? GivenRecord<ByName<D>> : never;

/** All arguments, as `signature` takes them. */
export type GivenArgs<D extends ArgsDeclaration, V> = D extends PositionalDeclaration
  ? V extends DeclaredType
    ? readonly [...GivenTuple<D>, ...GivenValue<V>[]]
    : GivenTuple<D> | (D extends readonly [] ? never : AllNamed<D>)
  : GivenRecord<D>;

/** Some of them, as `partial` takes them: the others come from the task before. */
export type PartialArgs<D extends ArgsDeclaration, V> = D extends PositionalDeclaration
  ? V extends DeclaredType
    ? readonly [...Partial<GivenTuple<D>>, ...GivenValue<V>[]]
    : Partial<GivenTuple<D>> | (D extends readonly [] ? never : Partial<AllNamed<D>>)
  : Partial<GivenRecord<D>>;

/** What the handler receives: an object for arguments declared by name, a tuple for those declared by position. */
export type ReceivedArgs<D extends ArgsDeclaration, V> = D extends PositionalDeclaration
  ? V extends DeclaredType
    ? readonly [...ReceivedTuple<D>, ...ReceivedValue<V>[]]
    : ReceivedTuple<D>
  : { readonly [K in keyof D]: Received<D[K]> };

export type ArgNames<D extends ArgsDeclaration> = D extends PositionalDeclaration
  ? Extract<D[number], NamedArg>['name'] | `arg${number}`
  : keyof D & string;

type ResultsDeclaration = readonly DeclaredType[] | undefined;
/** What a waiter gets: nothing, the one value, or a tuple. Undeclared results are an untyped list. */
export type ReceivedResults<R extends ResultsDeclaration> = R extends readonly DeclaredType[]
  ? R extends readonly []
    ? undefined
    : R extends readonly [infer Only extends DeclaredType]
      ? ReceivedValue<Only>
      : { readonly [K in keyof R]: ReceivedValue<TypeOf<R[K]>> }
  : readonly unknown[];
/** What a handler returns. */
export type GivenResults<R extends ResultsDeclaration> = R extends readonly DeclaredType[]
  ? R extends readonly []
    ? void
    : R extends readonly [infer Only extends DeclaredType]
      ? GivenValue<Only>
      : { readonly [K in keyof R]: GivenValue<TypeOf<R[K]>> }
  : unknown;

/** The fields of a signature that a definition gives to all its signatures. */
export type DefinitionDefaults = Pick<
  Signature,
  | 'queue'
  | 'priority'
  | 'retry'
  | 'timeoutMs'
  | 'headers'
  | 'immutable'
  | 'tags'
  | 'labels'
  | 'concurrency'
  | 'ignoreWhenNotRegistered'
>;
/** The fields that one call may set. */
export type CallOptions = Omit<Signature, 'name' | 'args' | 'secrets'>;

/** One declared argument, in its place on the wire. */
export interface ArgSpec {
  readonly name: string;
  readonly type: DeclaredType;
  readonly help?: string;
  readonly secret?: true;
  readonly optional?: true;
  readonly schema?: StandardSchemaV1;
}

/** A defined task without its compile-time types: what a worker registers and the node record describes. */
export interface TaskDefinition {
  readonly name: string;
  /** How the handler receives its arguments: one object, or one tuple. */
  readonly style: 'named' | 'positional';
  readonly args: readonly ArgSpec[];
  /** Any number of further arguments of this type. */
  readonly variadic?: DeclaredType;
  /** Absent: whatever the handler returns, its type inferred. */
  readonly results?: readonly DeclaredType[];
  readonly defaults: DefinitionDefaults;
  readonly description?: string;
  readonly runbookUrl?: string;
  /** Former names, under which its worker takes tasks as well. */
  readonly aliases: readonly string[];
}

export interface DefinedTask<
  D extends ArgsDeclaration = ArgsDeclaration,
  V extends DeclaredType | undefined = DeclaredType | undefined,
  R extends ResultsDeclaration = ResultsDeclaration,
> extends TaskDefinition {
  /**
   * A signature with all arguments, by position (`[1n, 2n]`) or by name (`{ sku: 'A', quantity: 2 }`).
   * @throws LeaseholdError `invalid` when a value does not fit its type or its schema, with the argument's name.
   */
  signature(args: GivenArgs<D, V>, options?: CallOptions): Signature;
  /**
   * A signature with only the first arguments, for a task whose other arguments are the results of the one before; or with
   * only the last ones, for an error handler, whose first argument is the error.
   */
  partial(args: PartialArgs<D, V>, options?: CallOptions): Signature;
  /** Never set; carries the types. */
  readonly types?: {
    readonly received: ReceivedArgs<D, V>;
    readonly returned: GivenResults<R>;
    readonly results: ReceivedResults<R>;
  };
}

type TypesOf<T> = T extends { readonly types?: infer Types } ? NonNullable<Types> : never;
/** The arguments a handler of this task receives. */
export type HandlerArgs<T extends TaskDefinition> = TypesOf<T> extends { readonly received: infer A } ? A : unknown;
/** What a handler of this task returns. */
export type HandlerReturn<T extends TaskDefinition> = TypesOf<T> extends { readonly returned: infer A } ? A : unknown;
/** What a waiter for this task gets. */
export type TaskResult<T extends TaskDefinition> = TypesOf<T> extends { readonly results: infer A } ? A : unknown;
/** A handler: `(args, context) => result`. */
export type Handler<T extends TaskDefinition, Context> = (
  args: HandlerArgs<T>,
  context: Context,
) => HandlerReturn<T> | Promise<HandlerReturn<T>>;
