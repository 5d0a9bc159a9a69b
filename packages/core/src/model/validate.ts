import { checkPayload, checkStored, payloadBytes } from './args.js';
import {
  checkCount,
  checkDate,
  checkFields,
  checkFlag,
  checkInteger,
  checkMap,
  checkName,
  invalid,
  MAX_WAIT_MS,
  type Limits,
} from './check.js';
import { DEFAULT_TIMEOUT_MS } from './codec.js';
import { isLeaseholdError, LeaseholdError } from './errors.js';
import { checkId } from './ids.js';
import { defined, display } from './plain.js';
import { checkRetry, DEFAULT_RETRY } from './retry.js';
import {
  LIMITS,
  type RetryPolicy,
  type Signature,
  type TypedValue,
  type UniqueRule,
  type Workflow,
} from './signature.js';
import { checkWorkflow, tasksIn, mapSignatures } from './walk.js';
import { compileWorkflow } from './workflow.js';

export { checkName, type Limits } from './check.js';
export { checkWorkflow, mapSignatures } from './walk.js';

/** What fills the fields that a signature leaves out. */
export interface SignatureDefaults {
  readonly queue?: string;
  readonly priority?: number;
  readonly retry?: Partial<RetryPolicy>;
  readonly timeoutMs?: number;
}

/** A signature whose fields are all decided and checked. */
export interface ResolvedSignature extends Signature {
  readonly queue: string;
  readonly priority: number;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly immutable: boolean;
  readonly onSuccess: readonly Workflow[];
  readonly onError: readonly Workflow[];
  readonly secrets: readonly number[];
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly ignoreWhenNotRegistered: boolean;
}

/** The defaults of the scheduler itself: one hour is the longest run of an attempt that nobody gave a timeout. */
export const SIGNATURE_DEFAULTS = Object.freeze({
  queue: 'default',
  priority: 0,
  retry: DEFAULT_RETRY,
  timeoutMs: DEFAULT_TIMEOUT_MS,
});

/** The longest timeout of an attempt, ms: what a timer can hold, 24.8 days. */
export const MAX_TIMEOUT_MS = 2_147_483_647;

const CONFLICTS: readonly unknown[] = ['reject', 'existing', 'replace'] satisfies UniqueRule['onConflict'][];

function checkFuture(value: number, field: string, now: number): void {
  if (value > now) return;
  const at = new Date(value).toISOString();
  throw invalid(field, `${at} is in the past (it is ${new Date(now).toISOString()} now); give a later time`, { now });
}

function checkTimes(input: Signature, now: number): Pick<Signature, 'etaMs' | 'expiresMs' | 'deadlineMs'> {
  const { etaMs, expiresMs, deadlineMs } = input;
  if (etaMs !== undefined) checkDate(etaMs, 'etaMs');
  for (const [field, value] of [['expiresMs', expiresMs] as const, ['deadlineMs', deadlineMs] as const]) {
    if (value === undefined) continue;
    checkFuture(checkDate(value, field), field, now);
    if (etaMs !== undefined && etaMs >= value) {
      const problem = `${new Date(value).toISOString()} is not after etaMs (${new Date(etaMs).toISOString()}): it could never run`;
      throw invalid(field, `${problem}; give a later time`);
    }
  }
  return {
    ...(etaMs === undefined ? {} : { etaMs }),
    ...(expiresMs === undefined ? {} : { expiresMs }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

function checkTags(value: unknown, limits: Limits): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid('tags', `${display(value)} is not a list of texts`);
  checkCount(value.length, 'tags', limits.tags);
  return [...new Set(value.map((tag, index) => checkName(tag, `tags[${index}]`, limits.nameBytes)))];
}

function checkSecrets(value: unknown, limits: Limits): readonly number[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid('secrets', `${display(value)} is not a list of argument positions`);
  const positions = value.map((item, index) => checkInteger(item, `secrets[${index}]`, 0, limits.args - 1));
  return [...new Set(positions)].sort((a, b) => a - b);
}

/**
 * Checks the arguments of a signature and gives their canonical form.
 * @throws LeaseholdError `invalid`, or `too-large` over the number of arguments or the payload limit.
 */
export function checkArgs(args: unknown, secrets: readonly number[], limits: Limits): readonly TypedValue[] {
  if (!Array.isArray(args)) throw invalid('args', `${display(args)} is not a list of { type, value }`);
  checkCount(args.length, 'args', limits.args);
  const values = args.map((typed: unknown, index) =>
    checkStored(typed, { field: `args[${index}]`, secret: secrets.includes(index) }),
  );
  checkPayload(values, limits.payloadBytes, 'args');
  return values;
}

function checkUnique(rule: UniqueRule, limits: Limits): UniqueRule {
  if (typeof rule !== 'object' || rule === null) throw invalid('unique', `${display(rule)} is not { key, onConflict }`);
  checkFields(rule, ['key', 'windowMs', 'onConflict'], 'unique.');
  const { windowMs, onConflict } = rule;
  const key = checkName(rule.key, 'unique.key', limits.nameBytes);
  if (!CONFLICTS.includes(onConflict)) {
    throw invalid('unique.onConflict', `${display(onConflict)} is not one of ${CONFLICTS.join(', ')}`);
  }
  if (windowMs === undefined) return { key, onConflict };
  return { key, onConflict, windowMs: checkInteger(windowMs, 'unique.windowMs', 1, MAX_WAIT_MS, ' ms') };
}

type Concurrency = NonNullable<Signature['concurrency']>;

function checkConcurrency(given: Concurrency, limits: Limits): Concurrency {
  if (typeof given !== 'object' || given === null)
    throw invalid('concurrency', `${display(given)} is not { key, max }`);
  checkFields(given, ['key', 'max'], 'concurrency.');
  return {
    key: checkName(given.key, 'concurrency.key', limits.nameBytes),
    max: checkInteger(given.max, 'concurrency.max', 1, 1_000_000),
  };
}

/**
 * A signature as it waits inside another one: checked against `now`, its arguments canonical, its gaps kept for the day it
 * is submitted.
 */
function canonical(input: Signature, now: number, limits: Limits): Signature {
  const { args, onSuccess, onError } = normalizeSignature(input, {}, now, limits);
  return {
    ...defined(input),
    args,
    ...(input.onSuccess === undefined ? {} : { onSuccess }),
    ...(input.onError === undefined ? {} : { onError }),
  };
}

function checkCallbacks(value: unknown, field: string, now: number, limits: Limits): readonly Workflow[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid(field, `${display(value)} is not a list of workflows`);
  checkCount(value.length, field, limits.callbackTasks);
  const workflows: readonly Workflow[] = value.map((item: unknown, index) =>
    placed(`${field}[${index}]`, () => checkWorkflow(item, limits)),
  );
  const checked = workflows.map((workflow, index) =>
    mapSignatures(workflow, (signature, path) =>
      placed(`${field}[${index}]${path}`, () => canonical(withoutKey(signature), now, limits)),
    ),
  );
  checkWritable(checked, field, limits);
  return checked;
}

/** A callback is written by the ending that calls it, which cannot be refused because somebody holds a key. */
function withoutKey(signature: Signature): Signature {
  if (signature.unique === undefined) return signature;
  throw invalid('unique', 'a unique key belongs to a task that is submitted on its own, not to a callback');
}

/** Index entries of one ending at most, joins and their members included. */
const CALLBACK_PLACES = 60;

/**
 * Callbacks are written in one transaction with the ending that calls them, so that none is lost: what can never fit there
 * is refused now. @throws LeaseholdError `too-large`.
 */
function checkWritable(callbacks: readonly Workflow[], field: string, limits: Limits): void {
  let [bytes, places, tasks] = [0, 0, 0];
  for (const callback of callbacks) {
    tasks += tasksIn(callback);
    mapSignatures(callback, (signature) => {
      bytes += payloadBytes(signature.args);
      return signature;
    });
    if (callback.kind !== 'task') for (const { slots } of compileWorkflow('c', callback).joins) places += slots + 2;
  }
  const refuse = (size: number, limit: number, what: string): LeaseholdError => {
    const message = `${field}: ${size} ${what} exceed the limit of ${limit}: all are written when the task ends; let the callback submit the rest`;
    return new LeaseholdError('too-large', message, { field, size, limit });
  };
  if (tasks > limits.callbackTasks) throw refuse(tasks, limits.callbackTasks, 'tasks');
  if (bytes > limits.payloadBytes) throw refuse(bytes, limits.payloadBytes, 'bytes of arguments');
  if (places > CALLBACK_PLACES) throw refuse(places, CALLBACK_PLACES, 'places of groups and their members');
}

/** The error callbacks of chains, groups and chords, wherever they stand. */
function checkErrorCallbacks(workflow: Workflow, path: string, limits: Limits): void {
  if (workflow.kind === 'task') return;
  const field = `${path}onError`;
  if (workflow.onError !== undefined) checkWritable([workflow.onError], field, limits);
  const inside = { chain: 'steps', group: 'members', chord: 'header' }[workflow.kind];
  const parts =
    workflow.kind === 'chain' ? workflow.steps : workflow.kind === 'group' ? workflow.members : workflow.header;
  parts.forEach((part, index) => checkErrorCallbacks(part, `${path}${inside}[${index}].`, limits));
  if (workflow.kind === 'chord') checkErrorCallbacks(workflow.callback, `${path}callback.`, limits);
  if (workflow.onError !== undefined) checkErrorCallbacks(workflow.onError, `${field}.`, limits);
}

/** Runs a check of one part and puts the path of the part before the field of its refusal. */
function placed<T>(path: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!isLeaseholdError(error) || path === '') throw error;
    const inner = error.fields['field'];
    const field = typeof inner === 'string' ? `${path}.${inner}` : path;
    throw new LeaseholdError(error.code, `${path}.${error.message}`, { ...error.fields, field }, { cause: error });
  }
}

const KNOWN: Readonly<Record<keyof Signature, true>> = {
  name: true,
  id: true,
  args: true,
  queue: true,
  priority: true,
  etaMs: true,
  retry: true,
  timeoutMs: true,
  expiresMs: true,
  deadlineMs: true,
  headers: true,
  immutable: true,
  onSuccess: true,
  onError: true,
  unique: true,
  secrets: true,
  tags: true,
  labels: true,
  concurrency: true,
  ignoreWhenNotRegistered: true,
};

/**
 * Checks a signature and fills what it leaves out: first from `defaults`, then from SIGNATURE_DEFAULTS. `now` is epoch
 * ms. Gives a fresh value; callbacks are checked and canonical, but keep their own gaps until they are submitted.
 * @throws LeaseholdError `invalid` or `too-large`, naming the field, the value, the limit and what to do.
 */
export function normalizeSignature(
  input: Signature,
  defaults: SignatureDefaults,
  now: number,
  limits: Limits = LIMITS,
): ResolvedSignature {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw invalid('signature', `${display(input)} is not a signature; give { name, args, ... }`);
  }
  checkFields(input, Object.keys(KNOWN));
  const secrets = checkSecrets(input.secrets, limits);
  return {
    name: checkName(input.name, 'name', limits.nameBytes),
    ...(input.id === undefined ? {} : { id: checkId(input.id, 'id', limits.idBytes) }),
    args: checkArgs(input.args, secrets, limits),
    queue: checkName(input.queue ?? defaults.queue ?? SIGNATURE_DEFAULTS.queue, 'queue', limits.nameBytes),
    priority: checkInteger(input.priority ?? defaults.priority ?? 0, 'priority', 0, limits.priorityMax),
    retry: checkRetry(input.retry, defaults.retry, limits),
    timeoutMs: checkInteger(
      input.timeoutMs ?? defaults.timeoutMs ?? SIGNATURE_DEFAULTS.timeoutMs,
      'timeoutMs',
      1,
      MAX_TIMEOUT_MS,
      ' ms',
    ),
    ...checkTimes(input, now),
    headers: checkMap(input.headers, 'headers', limits.headers, limits.headerBytes),
    immutable: checkFlag(input.immutable ?? false, 'immutable'),
    onSuccess: checkCallbacks(input.onSuccess, 'onSuccess', now, limits),
    onError: checkCallbacks(input.onError, 'onError', now, limits),
    ...(input.unique === undefined ? {} : { unique: checkUnique(input.unique, limits) }),
    secrets,
    tags: checkTags(input.tags, limits),
    labels: checkMap(input.labels, 'labels', limits.labels, limits.headerBytes),
    ...(input.concurrency === undefined ? {} : { concurrency: checkConcurrency(input.concurrency, limits) }),
    ignoreWhenNotRegistered: checkFlag(input.ignoreWhenNotRegistered ?? false, 'ignoreWhenNotRegistered'),
  };
}

/**
 * Checks a whole workflow and every signature in it, and fills each of them. The path of a refused part stands before its
 * field: `steps[1].members[3].args[0]`.
 * @throws LeaseholdError `invalid` or `too-large`.
 */
export function normalizeWorkflow(
  workflow: Workflow,
  defaults: SignatureDefaults,
  now: number,
  limits: Limits = LIMITS,
): Workflow {
  const filled = mapSignatures(checkWorkflow(workflow, limits), (signature, path) =>
    placed(path.replace(/^\./, ''), () => normalizeSignature(signature, defaults, now, limits)),
  );
  checkErrorCallbacks(filled, '', limits);
  return filled;
}
