/** Builders for workflows: Machinery's names and argument order. */
import type { FailurePolicy, Signature, TypedValue, Workflow } from './signature.js';

/** A signature counts as a workflow of one task. */
export type Part = Signature | Workflow;

export interface ChainOptions {
  readonly onFailure?: FailurePolicy;
  /** Gets every failure as one `json` argument, prepended. */
  readonly onError?: Part;
}

export interface GroupOptions extends ChainOptions {
  /** At most so many members run at once. */
  readonly concurrency?: number;
}

export function isWorkflow(part: Part): part is Workflow {
  return 'kind' in part;
}

export function toWorkflow(part: Part): Workflow {
  return isWorkflow(part) ? part : { kind: 'task', signature: part };
}

/** One after another; each gets the results of the one before appended to its own arguments. */
export function chain(steps: readonly Part[], options: ChainOptions = {}): Workflow {
  return { kind: 'chain', steps: steps.map(toWorkflow), ...common(options) };
}

/** All at once. */
export function group(members: readonly Part[], options: GroupOptions = {}): Workflow {
  return { kind: 'group', members: members.map(toWorkflow), ...common(options), ...concurrency(options) };
}

/** A group, and a callback that gets the results of all members, in member order. */
export function chord(header: readonly Part[], callback: Part, options: GroupOptions = {}): Workflow {
  return {
    kind: 'chord',
    header: header.map(toWorkflow),
    callback: toWorkflow(callback),
    ...common(options),
    ...concurrency(options),
  };
}

/** One task a list of arguments: a group of the same signature with different arguments. */
export function starmap(
  signature: Signature,
  lists: readonly (readonly TypedValue[])[],
  options: GroupOptions = {},
): Workflow {
  return group(
    lists.map((args) => ({ ...signature, args: [...signature.args, ...args] })),
    options,
  );
}

/** Cuts a list into pieces of at most `size`, each for one task: fewer, larger tasks. */
export function chunked<T>(
  items: readonly T[],
  size: number,
  make: (piece: readonly T[]) => Part,
  options: GroupOptions = {},
): Workflow {
  if (!Number.isInteger(size) || size < 1) throw new RangeError('the size of a piece is a whole number above 0');
  const pieces: Part[] = [];
  for (let at = 0; at < items.length; at += size) pieces.push(make(items.slice(at, at + size)));
  return group(pieces, options);
}

function common(options: ChainOptions): { onFailure?: FailurePolicy; onError?: Workflow } {
  return {
    ...(options.onFailure === undefined ? {} : { onFailure: options.onFailure }),
    ...(options.onError === undefined ? {} : { onError: toWorkflow(options.onError) }),
  };
}

function concurrency(options: GroupOptions): { concurrency?: number } {
  return options.concurrency === undefined ? {} : { concurrency: options.concurrency };
}
