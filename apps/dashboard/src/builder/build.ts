/** From drafts to a workflow and back, and what is wrong on the way. Pure. */
import {
  elementType,
  holeName,
  holeText,
  isIntType,
  type ArgType,
  type FailurePolicy,
  type Signature,
  type TypedValue,
  type Workflow,
} from '@leasehold/core/model';
import type { HandlerView } from '@leasehold/wire';
import { parseArg, specsOf, textOf } from '../forms/args';
import { newBox, newTask, type BoxDraft, type Draft, type TaskDraft } from './draft';

export type Problem = { readonly key: number } & (
  | { readonly code: 'no-name' }
  | { readonly code: 'empty' }
  | { readonly code: 'chord-short' }
  | { readonly code: 'bad-number' }
  | { readonly code: 'unknown-name'; readonly name: string }
  | { readonly code: 'bad-value'; readonly arg: string; readonly text: string }
  | { readonly code: 'missing'; readonly arg: string; readonly type: string }
  | { readonly code: 'too-many'; readonly takes: number; readonly gets: number }
  | { readonly code: 'hole'; readonly arg: string; readonly name: string }
  | { readonly code: 'misfit'; readonly arg: string; readonly wants: string; readonly gets: string }
);

/** A warning does not keep from submitting: the worker may know more than this page. */
export function isWarning({ code }: Problem): boolean {
  return code === 'unknown-name' || code === 'misfit' || code === 'too-many';
}

type Handlers = ReadonlyMap<string, HandlerView>;
/** Types of the results that are handed on; undefined when a name is not known. */
type Results = readonly ArgType[] | undefined;

interface Made {
  readonly workflow: Workflow;
  readonly out: Results;
}

export interface Build {
  readonly workflow: Workflow;
  readonly problems: readonly Problem[];
}

export function buildWorkflow(root: BoxDraft, handlers: Handlers): Build {
  const problems: Problem[] = [];
  const { workflow } = make(root, [], handlers, problems);
  return { workflow, problems };
}

function make(draft: Draft, incoming: Results, handlers: Handlers, problems: Problem[]): Made {
  if (draft.kind === 'task') return makeTask(draft, incoming, handlers, problems);
  if (draft.items.length === 0) problems.push({ key: draft.key, code: 'empty' });
  const policy = draft.onFailure === 'stop' ? {} : { onFailure: draft.onFailure };
  if (draft.kind === 'chain') {
    let out = incoming;
    const steps = draft.items.map((item) => {
      const made = make(item, out, handlers, problems);
      out = made.out;
      return made.workflow;
    });
    return { workflow: { kind: 'chain', steps, ...policy }, out };
  }
  const more = { ...policy, ...concurrencyOf(draft, problems) };
  const last = draft.items.at(-1);
  const side = draft.kind === 'chord' && draft.items.length > 1 ? draft.items.slice(0, -1) : draft.items;
  const members = side.map((item) => make(item, incoming, handlers, problems));
  const results = members.some(({ out }) => out === undefined) ? undefined : members.flatMap(({ out }) => out ?? []);
  if (draft.kind === 'group')
    return { workflow: { kind: 'group', members: members.map(({ workflow }) => workflow), ...more }, out: results };
  if (draft.items.length < 2 || last === undefined) {
    problems.push({ key: draft.key, code: 'chord-short' });
    return { workflow: { kind: 'group', members: members.map(({ workflow }) => workflow), ...more }, out: results };
  }
  const callback = make(last, last.kind === 'task' && last.immutable ? [] : results, handlers, problems);
  return {
    workflow: { kind: 'chord', header: members.map(({ workflow }) => workflow), callback: callback.workflow, ...more },
    out: callback.out,
  };
}

function concurrencyOf({ key, concurrency }: BoxDraft, problems: Problem[]): { concurrency?: number } {
  if (concurrency.trim() === '') return {};
  const value = Number(concurrency);
  if (/^\d{1,5}$/.test(concurrency.trim()) && value > 0) return { concurrency: value };
  problems.push({ key, code: 'bad-number' });
  return {};
}

function makeTask(draft: TaskDraft, incoming: Results, handlers: Handlers, problems: Problem[]): Made {
  const handler = handlers.get(draft.name);
  if (draft.name === '') problems.push({ key: draft.key, code: 'no-name' });
  else if (handler === undefined) problems.push({ key: draft.key, code: 'unknown-name', name: draft.name });
  const args = argsOf(draft, handler, incoming, problems);
  const signature: Signature = {
    name: draft.name,
    args,
    ...queueOf(draft, handler),
    ...(draft.immutable ? { immutable: true } : {}),
    ...retriesOf(draft, problems),
  };
  return { workflow: { kind: 'task', signature }, out: draft.immutable ? [] : handler?.results };
}

function queueOf({ queue }: TaskDraft, handler: HandlerView | undefined): { queue: string } | undefined {
  const chosen = queue.trim() === '' ? handler?.queue : queue.trim();
  return chosen === undefined ? undefined : { queue: chosen };
}

function retriesOf({ key, retries }: TaskDraft, problems: Problem[]): { retry?: { count: number } } {
  if (retries.trim() === '') return {};
  if (/^\d{1,5}$/.test(retries.trim())) return { retry: { count: Number(retries) } };
  problems.push({ key, code: 'bad-number' });
  return {};
}

/** What was typed, up to the last field that is not empty; the results of the step before come behind. */
function argsOf(
  draft: TaskDraft,
  handler: HandlerView | undefined,
  incoming: Results,
  problems: Problem[],
): readonly TypedValue[] {
  const { key, texts } = draft;
  const specs = handler === undefined ? [] : specsOf(handler, texts);
  const filled = texts.findLastIndex((text) => text !== '') + 1;
  const args: TypedValue[] = [];
  specs.slice(0, filled).forEach((spec, i) => {
    const hole = holeName(texts[i]);
    if (hole !== undefined) {
      args.push({ type: spec.type, value: holeText(hole) });
      problems.push({ key, code: 'hole', arg: spec.name, name: hole });
      return;
    }
    const parsed = parseArg(spec, texts[i] ?? '');
    if (parsed.kind === 'value') args.push(parsed.typed);
    else
      problems.push({ key, code: 'bad-value', arg: spec.name, text: parsed.kind === 'wrong' ? parsed.problem : '–' });
  });
  if (handler !== undefined && incoming !== undefined) checkFit(key, handler, filled, incoming, problems);
  return args;
}

function checkFit(
  key: number,
  handler: HandlerView,
  own: number,
  incoming: readonly ArgType[],
  problems: Problem[],
): void {
  const { args, variadic } = handler;
  const gets = own + incoming.length;
  if (gets > args.length && variadic === undefined) problems.push({ key, code: 'too-many', takes: args.length, gets });
  incoming.forEach((type, i) => {
    const spec = args[own + i];
    const wants = spec?.type ?? variadic;
    if (wants !== undefined && !fits(type, wants))
      problems.push({ key, code: 'misfit', arg: spec?.name ?? `…${i + 1}`, wants, gets: type });
  });
  for (const spec of args.slice(gets)) {
    // An empty text is a value; what else is not given is missing.
    if (spec.optional !== true) problems.push({ key, code: 'missing', arg: spec.name, type: spec.type });
  }
}

/** Equal, or an integer type for another, which the value may fit; json takes anything. */
export function fits(gets: ArgType, wants: ArgType): boolean {
  if (gets === wants || wants === 'json') return true;
  const [a, b] = [elementType(gets), elementType(wants)];
  if (a !== null && b !== null) return fits(a, b);
  if (a !== null || b !== null) return false;
  const isFloat = (type: ArgType): boolean => type === 'float32' || type === 'float64';
  return (isIntType(gets) && isIntType(wants)) || (isFloat(gets) && isFloat(wants));
}

/** The tree of a workflow that came as JSON; keys from `key` on. */
export function draftOf(
  workflow: Workflow,
  handlers: Handlers,
  key = 0,
): { readonly draft: Draft; readonly next: number } {
  if (workflow.kind === 'task') return { draft: taskDraft(workflow.signature, handlers, key), next: key + 1 };
  let next = key + 1;
  const parts =
    workflow.kind === 'chain'
      ? workflow.steps
      : workflow.kind === 'group'
        ? workflow.members
        : [...workflow.header, workflow.callback];
  const items = parts.map((part) => {
    const made = draftOf(part, handlers, next);
    next = made.next;
    return made.draft;
  });
  const onFailure: FailurePolicy = workflow.onFailure ?? 'stop';
  const concurrency = workflow.kind === 'chain' ? '' : String(workflow.concurrency ?? '');
  return { draft: { ...newBox(key, workflow.kind, items), onFailure, concurrency }, next };
}

function taskDraft(signature: Signature, handlers: Handlers, key: number): TaskDraft {
  return {
    ...newTask(key, signature.name),
    texts: signature.args.map(({ type, value }) => textOf(type, value)),
    immutable: signature.immutable === true,
    queue: signature.queue === handlers.get(signature.name)?.queue ? '' : (signature.queue ?? ''),
    retries: signature.retry?.count === undefined ? '' : String(signature.retry.count),
  };
}
