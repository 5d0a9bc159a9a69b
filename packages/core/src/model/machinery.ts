import { parse } from 'lossless-json';
import { invalid } from './check.js';
import { isLeaseholdError } from './errors.js';
import {
  readArg,
  Reader,
  readEta,
  readHeaders,
  readPriority,
  type Fields,
  type MachineryNote,
} from './machinery-read.js';
import { display } from './plain.js';
import { LIMITS, type Signature, type Workflow } from './signature.js';

export type { MachineryNote } from './machinery-read.js';
export * from './machinery-export.js';

/**
 * Machinery's JSON into ours. Rules:
 * 1. `OnSuccess` with exactly one signature is the link of a chain; with several they are callbacks of the task. Of a
 *    group's member they are always callbacks: a chord takes the member's own results and does not wait for them.
 * 2. In `{ Tasks }` a link that repeats the next task is the chain's own; any other callback stays the user's (#644).
 * 3. Members that carry one `ChordCallback` are a chord; a member alone is refused, for its callback would be lost.
 * 4. What has no counterpart here is reported in `notes`, unless it has its zero value, which Go always writes.
 */

export interface MachineryImport {
  readonly workflow: Workflow;
  /** The GroupUUID, for the id of the workflow. */
  readonly id?: string;
  readonly notes: readonly MachineryNote[];
}

const SIGNATURE_KEYS: ReadonlySet<string> = new Set([
  'UUID',
  'Name',
  'RoutingKey',
  'ETA',
  'GroupUUID',
  'GroupTaskCount',
  'Args',
  'Headers',
  'Priority',
  'Immutable',
  'RetryCount',
  'RetryTimeout',
  'OnSuccess',
  'OnError',
  'ChordCallback',
  'IgnoreWhenTaskNotRegistered',
]);
/** Fields of one broker, with no meaning here. */
const BROKER_KEYS: readonly string[] = ['BrokerMessageGroupId', 'SQSReceiptHandle', 'StopTaskDeletionOnError'];
/** The signature's own fields; its callbacks are given by the caller. */
function readOwn(reader: Reader, fields: Fields, path: string, depth: number): Signature {
  const name = fields['Name'];
  if (typeof name !== 'string' || name === '') throw invalid(`${path}Name`, `${display(name)} is not a task name`);
  reader.unknownKeys(fields, new Set([...SIGNATURE_KEYS, ...BROKER_KEYS]), path);
  for (const key of BROKER_KEYS) {
    if (fields[key] !== undefined && fields[key] !== '' && fields[key] !== false && fields[key] !== null) {
      reader.note(`${path}${key}`, 'belongs to one broker, left out');
    }
  }
  const [id, queue] = [reader.text(fields, 'UUID', path), reader.text(fields, 'RoutingKey', path)];
  const etaMs = readEta(reader, fields, path);
  const args = reader.list(fields, 'Args', path).map((arg, i) => readArg(reader, arg, `${path}Args[${i}]`));
  const headers = readHeaders(reader, fields, path);
  const onError = reader
    .list(fields, 'OnError', path)
    .map((item, i) => readTask(reader, item, `${path}OnError[${i}].`, depth + 1));
  return {
    name,
    ...(id === '' ? {} : { id }),
    args,
    ...(queue === '' ? {} : { queue }),
    priority: readPriority(reader, fields, path),
    ...(etaMs === undefined ? {} : { etaMs }),
    retry: {
      count: reader.count(fields, 'RetryCount', path),
      backoff: 'fibonacci',
      delayMs: reader.count(fields, 'RetryTimeout', path) * 1_000,
    },
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(reader.flag(fields, 'Immutable', path) ? { immutable: true } : {}),
    ...(onError.length === 0 ? {} : { onError }),
    ...(reader.flag(fields, 'IgnoreWhenTaskNotRegistered', path) ? { ignoreWhenNotRegistered: true } : {}),
  };
}

function readCallbacks(reader: Reader, list: readonly unknown[], path: string, depth: number): readonly Workflow[] {
  return list.map((item, i) => readTask(reader, item, `${path}OnSuccess[${i}].`, depth + 1));
}

function withCallbacks(signature: Signature, onSuccess: readonly Workflow[]): Workflow {
  return { kind: 'task', signature: onSuccess.length === 0 ? signature : { ...signature, onSuccess } };
}

/** Rule 3: the marks of a group say that this is a member, not a whole. */
function refuseMember(reader: Reader, fields: Fields, path: string): void {
  if (fields['ChordCallback'] !== undefined && fields['ChordCallback'] !== null) {
    throw invalid(
      `${path}ChordCallback`,
      'a member of a chord cannot be taken alone; give all members, or { Group, Callback }',
    );
  }
  for (const key of ['GroupUUID', 'GroupTaskCount']) {
    const value = fields[key] ?? '';
    if (value !== '' && value !== 0) reader.note(`${path}${key}`, 'of a group that is not given, left out');
  }
}

/** A signature with what follows it: rule 1. Long chains are walked, not recursed into. */
function readTask(reader: Reader, given: unknown, path: string, depth: number): Workflow {
  if (depth > LIMITS.workflowDepth) throw invalid(path, `callbacks nested deeper than ${LIMITS.workflowDepth}`);
  const steps: Workflow[] = [];
  let fields = reader.object(given, path);
  for (let at = path; ; at = `${path}OnSuccess#${steps.length}.`) {
    refuseMember(reader, fields, at);
    const next = reader.list(fields, 'OnSuccess', at);
    const own = readOwn(reader, fields, at, depth);
    steps.push(withCallbacks(own, next.length === 1 ? [] : readCallbacks(reader, next, at, depth)));
    if (next.length !== 1) break;
    fields = reader.object(next[0], `${at}OnSuccess[0]`);
  }
  const [only] = steps;
  return steps.length === 1 && only !== undefined ? only : { kind: 'chain', steps };
}

/** What makes two copies of a signature the same one: its UUID, else its name and arguments. */
function identity(given: unknown): string {
  const fields = (typeof given === 'object' && given !== null ? given : {}) as Fields;
  if (typeof fields['UUID'] === 'string' && fields['UUID'] !== '') return fields['UUID'];
  const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
  return JSON.stringify([fields['Name'], fields['Args']], plain);
}

/** Rule 2. */
function readChain(reader: Reader, tasks: readonly unknown[], path: string): Workflow {
  const steps = tasks.map((given, index) => {
    const at = `${path}[${index}].`;
    const fields = reader.object(given, at);
    refuseMember(reader, fields, at);
    const next = tasks[index + 1];
    const link = next === undefined ? null : identity(next);
    const callbacks = reader.list(fields, 'OnSuccess', at).filter((item) => identity(item) !== link);
    return withCallbacks(readOwn(reader, fields, at, 1), readCallbacks(reader, callbacks, at, 1));
  });
  return { kind: 'chain', steps };
}

function readMembers(reader: Reader, group: Fields, path: string): readonly Workflow[] {
  reader.unknownKeys(group, new Set(['GroupUUID', 'Tasks']), path);
  return reader.list(group, 'Tasks', path).map((given, index) => {
    const at = `${path}Tasks[${index}].`;
    const fields = reader.object(given, at);
    const callbacks = readCallbacks(reader, reader.list(fields, 'OnSuccess', at), at, 1);
    return withCallbacks(readOwn(reader, fields, at, 1), callbacks);
  });
}

/** The callback that all members carry; null when none does. */
function commonCallback(reader: Reader, group: Fields, path: string): unknown {
  const callbacks = reader
    .list(group, 'Tasks', path)
    .map((given, index) => reader.object(given, `${path}Tasks[${index}].`)['ChordCallback'] ?? null);
  const [first = null] = callbacks;
  if (callbacks.every((callback) => identity(callback) === identity(first))) return first;
  throw invalid(`${path}Tasks`, 'the members carry different ChordCallbacks; a group has one');
}

function groupId(reader: Reader, group: Fields, path: string): { readonly id?: string } {
  const id = reader.text(group, 'GroupUUID', path);
  return id === '' ? {} : { id };
}

function readGroup(reader: Reader, group: Fields): MachineryImport {
  const callback = commonCallback(reader, group, '');
  const members = readMembers(reader, group, '');
  const { notes } = reader;
  if (callback === null) return { workflow: { kind: 'group', members }, ...groupId(reader, group, ''), notes };
  const body = readTask(reader, callback, 'Tasks[0].ChordCallback.', 1);
  return { workflow: { kind: 'chord', header: members, callback: body }, ...groupId(reader, group, ''), notes };
}

function readChord(reader: Reader, chord: Fields): MachineryImport {
  reader.unknownKeys(chord, new Set(['Group', 'Callback']), '');
  const group = reader.object(chord['Group'], 'Group');
  const copied = commonCallback(reader, group, 'Group.');
  if (copied !== null && identity(copied) !== identity(chord['Callback'])) {
    reader.note('Group.Tasks[0].ChordCallback', 'differs from Callback, which is taken');
  }
  const header = readMembers(reader, group, 'Group.');
  const callback = readTask(reader, chord['Callback'], 'Callback.', 1);
  return { workflow: { kind: 'chord', header, callback }, ...groupId(reader, group, 'Group.'), notes: reader.notes };
}

/**
 * A signature, chain (`[...]` or `{ Tasks }`), group (`{ GroupUUID, Tasks }`) or chord (`{ Group, Callback }`) in
 * Machinery's form, already parsed. Integers beyond 2^53 must be bigint: use `parseMachinery` for a text. The workflow is
 * not yet checked against limits; submission does that.
 * @throws LeaseholdError `invalid`, with the path of the field.
 */
export function fromMachinery(value: unknown): MachineryImport {
  const reader = new Reader();
  if (Array.isArray(value)) return { workflow: readChain(reader, value as unknown[], ''), notes: reader.notes };
  const fields = reader.object(value, '');
  if ('Group' in fields || 'Callback' in fields) return readChord(reader, fields);
  if ('Tasks' in fields && 'GroupUUID' in fields) return readGroup(reader, fields);
  if ('Tasks' in fields) {
    reader.unknownKeys(fields, new Set(['Tasks']), '');
    return { workflow: readChain(reader, reader.list(fields, 'Tasks', ''), 'Tasks'), notes: reader.notes };
  }
  if ('Name' in fields) return { workflow: readTask(reader, fields, '', 1), notes: reader.notes };
  throw invalid(
    'Machinery JSON',
    'it is neither a signature (Name), chain (Tasks), group (GroupUUID) nor chord (Group)',
  );
}

/** True when a parsed JSON value looks like Machinery's: its keys begin with a capital. */
export function looksLikeMachinery(value: unknown): boolean {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first !== 'object' || first === null) return false;
  return ['Name', 'Tasks', 'Group', 'Callback'].some((key) => Object.hasOwn(first, key));
}

function exactNumber(digits: string): number | bigint {
  const number = Number(digits);
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(number) ? BigInt(digits) : number;
}

/**
 * As `fromMachinery`, from JSON text, keeping every digit of 64-bit integers.
 * @throws LeaseholdError `invalid` for text that is not JSON, with the position.
 */
export function parseMachinery(text: string): MachineryImport {
  let value: unknown;
  try {
    value = parse(text, null, exactNumber);
  } catch (error) {
    if (isLeaseholdError(error)) throw error;
    const reason = error instanceof SyntaxError ? error.message : 'it is nested too deeply';
    throw invalid('Machinery JSON', `not JSON: ${reason.slice(0, 200)}`);
  }
  return fromMachinery(value);
}
