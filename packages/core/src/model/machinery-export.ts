import { stringify } from 'lossless-json';
import { decodeValue, isIntType, elementType } from './args.js';
import { invalid } from './check.js';
import type { MachineryNote } from './machinery-read.js';
import { DEFAULT_RETRY } from './retry.js';
import type { Signature, TypedValue, Workflow } from './signature.js';

/** Our workflows in Machinery's form: exactly its keys, in its order, as its own encoder writes them. */

export interface MachinerySignature {
  UUID: string;
  Name: string;
  RoutingKey: string;
  ETA: string | null;
  GroupUUID: string;
  GroupTaskCount: number;
  Args: readonly MachineryArg[];
  Headers: Readonly<Record<string, string>>;
  Priority: number;
  Immutable: boolean;
  RetryCount: number;
  RetryTimeout: number;
  OnSuccess: readonly MachinerySignature[] | null;
  OnError: readonly MachinerySignature[] | null;
  ChordCallback: MachinerySignature | null;
  BrokerMessageGroupId: string;
  SQSReceiptHandle: string;
  StopTaskDeletionOnError: boolean;
  IgnoreWhenTaskNotRegistered: boolean;
}
/** `Value` holds bigint for integers beyond 2^53; `stringifyMachinery` writes all digits. */
export interface MachineryArg {
  readonly Name: string;
  readonly Type: string;
  readonly Value: unknown;
}
export interface MachineryGroup {
  readonly GroupUUID: string;
  readonly Tasks: readonly MachinerySignature[];
}
export type MachineryValue =
  | MachinerySignature
  | { readonly Tasks: readonly MachinerySignature[] }
  | MachineryGroup
  | { readonly Group: MachineryGroup; readonly Callback: MachinerySignature };
export interface MachineryExport {
  readonly value: MachineryValue;
  /** What Machinery has no field for, and therefore loses. */
  readonly notes: readonly MachineryNote[];
}

/** Fields of a signature that Machinery does not know. */
const OURS = ['timeoutMs', 'expiresMs', 'deadlineMs', 'unique', 'secrets', 'tags', 'labels', 'concurrency'] as const;

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function writeInteger(value: bigint | number): bigint | number {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function writeArg(typed: TypedValue, path: string): MachineryArg {
  if (typed.type === 'json') throw invalid(path, 'Machinery has no type for json; pass it as a string');
  const Name = typed.name ?? '';
  if (typed.type === 'bytes') return { Name, Type: '[]byte', Value: typed.value };
  if (!isIntType(elementType(typed.type) ?? typed.type)) return { Name, Type: typed.type, Value: typed.value };
  const value = decodeValue(typed, path) as bigint | number | readonly (bigint | number)[];
  return {
    Name,
    Type: typed.type,
    Value: Array.isArray(value) ? value.map(writeInteger) : writeInteger(value as bigint),
  };
}

function noteLosses(signature: Signature, path: string, notes: MachineryNote[]): void {
  for (const field of OURS) {
    if (!isEmpty(signature[field])) notes.push({ path: `${path}${field}`, problem: 'Machinery has no such field' });
  }
  const { backoff = 'fibonacci', jitter = 0, maxDelayMs = DEFAULT_RETRY.maxDelayMs } = signature.retry ?? {};
  if (backoff !== 'fibonacci' || jitter !== 0 || maxDelayMs !== DEFAULT_RETRY.maxDelayMs) {
    notes.push({ path: `${path}retry`, problem: 'Machinery retries by Fibonacci only, without jitter or maximum' });
  }
}

function writeSignature(signature: Signature, path: string, notes: MachineryNote[]): MachinerySignature {
  noteLosses(signature, path, notes);
  const callbacks = (list: readonly Workflow[] | undefined, name: string) =>
    list === undefined || list.length === 0
      ? null
      : list.map((item, i) => writeLinked(item, `${path}${name}[${i}].`, notes));
  return {
    UUID: signature.id ?? '',
    Name: signature.name,
    RoutingKey: signature.queue ?? '',
    ETA: signature.etaMs === undefined ? null : new Date(signature.etaMs).toISOString(),
    GroupUUID: '',
    GroupTaskCount: 0,
    Args: signature.args.map((typed, i) => writeArg(typed, `${path}args[${i}]`)),
    Headers: signature.headers ?? {},
    Priority: signature.priority ?? 0,
    Immutable: signature.immutable ?? false,
    RetryCount: signature.retry?.count ?? 0,
    RetryTimeout: Math.floor((signature.retry?.delayMs ?? 0) / 1_000),
    OnSuccess: callbacks(signature.onSuccess, 'onSuccess'),
    OnError: callbacks(signature.onError, 'onError'),
    ChordCallback: null,
    BrokerMessageGroupId: '',
    SQSReceiptHandle: '',
    StopTaskDeletionOnError: false,
    IgnoreWhenTaskNotRegistered: signature.ignoreWhenNotRegistered ?? false,
  };
}

function noteFailurePolicy(workflow: Exclude<Workflow, { kind: 'task' }>, path: string, notes: MachineryNote[]): void {
  if (workflow.onError !== undefined) notes.push({ path: `${path}onError`, problem: 'Machinery has no such field' });
  if (workflow.onFailure !== undefined && workflow.onFailure !== 'stop') {
    notes.push({ path: `${path}onFailure`, problem: 'Machinery always stops' });
  }
  if (workflow.kind !== 'chain' && (workflow.concurrency ?? 0) > 0) {
    notes.push({ path: `${path}concurrency`, problem: 'Machinery limits publishing only, not execution' });
  }
}

function writeSteps(chain: Workflow & { kind: 'chain' }, path: string, notes: MachineryNote[]): MachinerySignature[] {
  noteFailurePolicy(chain, path, notes);
  return chain.steps.map((step, i) => {
    const at = `${path}steps[${i}].`;
    if (step.kind === 'task') return writeSignature(step.signature, at, notes);
    throw invalid(at.slice(0, -1), `Machinery has no ${step.kind} inside a chain; only tasks`);
  });
}

/** A task, or a chain as NewChain leaves it: each task has the next one in OnSuccess, before its own callbacks. */
function writeLinked(workflow: Workflow, path: string, notes: MachineryNote[]): MachinerySignature {
  if (workflow.kind === 'task') return writeSignature(workflow.signature, path, notes);
  const tasks = workflow.kind === 'chain' ? writeSteps(workflow, path, notes) : [];
  const first = tasks.reduceRight<MachinerySignature | null>((next, task) => {
    if (next === null) return task;
    return { ...task, OnSuccess: [next, ...(task.OnSuccess ?? [])] };
  }, null);
  if (first !== null) return first;
  throw invalid(
    path.slice(0, -1) || 'workflow',
    `Machinery has no ${workflow.kind} inside a workflow; only tasks and chains`,
  );
}

function writeGroup(members: readonly Workflow[], name: string, id: string, notes: MachineryNote[]): MachineryGroup {
  const tasks = members.map((member, i) => {
    // A chain as a member would come back as a task that nobody waits for beyond its first step.
    if (member.kind !== 'task')
      throw invalid(`${name}[${i}]`, `Machinery has no ${member.kind} inside a group; only tasks`);
    const task = writeSignature(member.signature, `${name}[${i}].`, notes);
    return { ...task, GroupUUID: id, GroupTaskCount: members.length };
  });
  return { GroupUUID: id, Tasks: tasks };
}

/**
 * The message that starts a task or chain on a Machinery broker: the first signature, the rest nested in its OnSuccess.
 * @throws LeaseholdError `invalid` for what Machinery cannot express.
 */
export function toMachineryMessage(workflow: Workflow): MachineryExport & { readonly value: MachinerySignature } {
  const notes: MachineryNote[] = [];
  return { value: writeLinked(workflow, '', notes), notes };
}

/**
 * A workflow in Machinery's form; a chain as `{ Tasks }` without links, which NewChain sets. `id` becomes the GroupUUID; without it, and for tasks without an id, Machinery makes one.
 * @throws LeaseholdError `invalid` for what Machinery cannot express: a group in a chain, a json argument.
 */
export function toMachinery(workflow: Workflow, id = ''): MachineryExport {
  const notes: MachineryNote[] = [];
  if (workflow.kind === 'task') return { value: writeSignature(workflow.signature, '', notes), notes };
  if (workflow.kind === 'chain') return { value: { Tasks: writeSteps(workflow, '', notes) }, notes };
  noteFailurePolicy(workflow, '', notes);
  if (workflow.kind === 'group') return { value: writeGroup(workflow.members, 'members', id, notes), notes };
  const group = writeGroup(workflow.header, 'header', id, notes);
  const callback = writeLinked(workflow.callback, 'callback.', notes);
  const tasks = group.Tasks.map((task) => ({ ...task, ChordCallback: callback }));
  return { value: { Group: { ...group, Tasks: tasks }, Callback: callback }, notes };
}

/** As `toMachinery`, as JSON text with all digits of 64-bit integers. */
export function stringifyMachinery(
  workflow: Workflow,
  id = '',
): { readonly text: string; readonly notes: readonly MachineryNote[] } {
  const { value, notes } = toMachinery(workflow, id);
  return { text: stringify(value) ?? '', notes };
}
