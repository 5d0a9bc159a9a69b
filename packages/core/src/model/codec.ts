/**
 * Records to JSON and back. Stored JSON is language-neutral: snake_case, short, readable with etcdctl, and the article's
 * Task struct (`id`, `name`, `schedule_at`, `status`) decodes a task record as it is. Defaults are left out. Readers
 * ignore fields they do not know; a record of a newer layout version is refused (`unreadable`) rather than damaged.
 */
import type { Cause } from './cause.js';
import { LeaseholdError } from './errors.js';
import type { Json } from './json.js';
import type { RetryPolicy } from './signature.js';
import { TASK_STATES } from './state.js';
import type { LockRecord, TaskPayload, TaskRecord, WorkflowPlace } from './task.js';

export const LAYOUT_VERSION = 1;

type Stored = Record<string, unknown>;

/** camelCase field, stored name; times are stored as epoch ms under names that end in `_ms`. */
const TASK_FIELDS: readonly (readonly [keyof TaskRecord, string])[] = [
  ['queue', 'queue'],
  ['shard', 'shard'],
  ['priority', 'priority'],
  ['cause', 'cause'],
  ['by', 'by'],
  ['args', 'args'],
  ['createdMs', 'created_ms'],
  ['updatedMs', 'updated_ms'],
  ['order', 'order'],
  ['dueMs', 'due_ms'],
  ['startedMs', 'started_ms'],
  ['endedMs', 'ended_ms'],
  ['attempt', 'attempt'],
  ['failures', 'failures'],
  ['losses', 'losses'],
  ['snoozes', 'snoozes'],
  ['handBacks', 'hand_backs'],
  ['timeoutMs', 'timeout_ms'],
  ['expiresMs', 'expires_ms'],
  ['deadlineMs', 'deadline_ms'],
  ['headers', 'headers'],
  ['immutable', 'immutable'],
  ['secrets', 'secrets'],
  ['tags', 'tags'],
  ['labels', 'labels'],
  ['concurrency', 'concurrency'],
  ['ignoreWhenNotRegistered', 'ignore_when_not_registered'],
  ['node', 'node'],
  ['slots', 'slots'],
  ['unique', 'unique'],
  ['cancelRequested', 'cancel_requested'],
  ['results', 'results'],
  ['resultRef', 'result_ref'],
  ['error', 'error'],
  ['pastErrors', 'past_errors'],
  ['hasCallbacks', 'has_callbacks'],
  ['parent', 'parent'],
];

const STORED_NAMES: ReadonlyMap<string, string> = new Map(TASK_FIELDS);

/** Left out of the JSON when they have this value, and put back by the reader. */
const DEFAULTS: Readonly<Record<string, Json>> = {
  shard: 0,
  priority: 0,
  attempt: 0,
  failures: 0,
  losses: 0,
  snoozes: 0,
  hand_backs: 0,
};

export function encodeTask(task: TaskRecord): string {
  const out: Stored = {
    id: task.id,
    name: task.name,
    status: task.state,
    schedule_at: new Date(task.scheduleAtMs).toISOString(),
    v: LAYOUT_VERSION,
  };
  // Only what is there: a record has half of the fields there are, and this is done for every transition.
  for (const key in task) {
    const stored = STORED_NAMES.get(key);
    const field = key as keyof TaskRecord;
    const value = task[field];
    if (stored === undefined || value === undefined || value === DEFAULTS[stored]) continue;
    out[stored] = TASK_NESTED.has(field) ? snake(value as Json) : value;
  }
  out['retry'] = encodeRetry(task.retry);
  if (task.workflow !== undefined) out['workflow'] = encodePlace(task.workflow);
  return JSON.stringify(out);
}

export function decodeTask(text: string): TaskRecord {
  return decodeTaskObject(parseObject(text, 'task'));
}

/**
 * A task record that is already parsed JSON (it travels inside its ready entry). What another language left out and can be
 * told from the rest is filled in; without an id, a name and a known state it is no task.
 * @throws LeaseholdError `unreadable`.
 */
export function decodeTaskObject(stored: Readonly<Record<string, Json>>): TaskRecord {
  const task: Record<string, unknown> = {
    id: stored['id'],
    name: stored['name'],
    state: stored['status'],
    scheduleAtMs: Date.parse(text(stored['schedule_at'])),
    cause: 'submitted' satisfies Cause,
    by: '',
  };
  for (const [field, key] of TASK_FIELDS) {
    const value = stored[key] ?? DEFAULTS[key];
    if (value !== undefined && value !== null) task[field] = camelDeep(field, value);
  }
  task['retry'] = decodeRetry(stored['retry']);
  if (stored['workflow'] !== undefined) task['workflow'] = decodePlace(stored['workflow']);
  if (!isWhole(task)) complete(task);
  return task as unknown as TaskRecord;
}

/** True of every record that this library wrote. */
function isWhole(task: Record<string, unknown>): boolean {
  const { id, name, queue, createdMs, updatedMs, timeoutMs, scheduleAtMs, state } = task;
  return (
    typeof id === 'string' &&
    typeof name === 'string' &&
    typeof queue === 'string' &&
    typeof createdMs === 'number' &&
    typeof updatedMs === 'number' &&
    typeof timeoutMs === 'number' &&
    !Number.isNaN(scheduleAtMs) &&
    KNOWN_STATES.has(state)
  );
}

const KNOWN_STATES: ReadonlySet<unknown> = new Set(TASK_STATES);
export const DEFAULT_TIMEOUT_MS = 3_600_000;

function complete(task: Record<string, unknown>): void {
  for (const field of ['id', 'name'] as const) {
    if (typeof task[field] === 'string' && task[field] !== '') continue;
    throw new LeaseholdError('unreadable', `a task record has no ${field}`, { what: 'task', field });
  }
  if (!KNOWN_STATES.has(task['state'])) {
    const fields = { what: 'task', id: String(task['id']), state: String(task['state']) };
    throw new LeaseholdError('unreadable', `task ${fields.id} has the state "${fields.state}", which is none`, fields);
  }
  const scheduleAtMs = Number.isNaN(task['scheduleAtMs']) ? undefined : task['scheduleAtMs'];
  const createdMs = task['createdMs'] ?? scheduleAtMs ?? 0;
  task['createdMs'] = createdMs;
  task['scheduleAtMs'] = scheduleAtMs ?? createdMs;
  task['updatedMs'] ??= createdMs;
  task['queue'] ??= 'default';
  task['timeoutMs'] ??= DEFAULT_TIMEOUT_MS;
}

/** The retry policy in the least room: what differs from no retries. */
function encodeRetry(retry: RetryPolicy): Stored | undefined {
  const { count, backoff, delayMs, delaysMs, maxDelayMs, jitter } = retry;
  const out: Stored = {};
  if (count !== 0) out['count'] = count;
  if (backoff !== 'fibonacci') out['backoff'] = backoff;
  if (delayMs !== 0) out['delay_ms'] = delayMs;
  if (delaysMs !== undefined) out['delays_ms'] = delaysMs;
  if (maxDelayMs !== DEFAULT_MAX_DELAY_MS) out['max_delay_ms'] = maxDelayMs;
  if (jitter !== 0) out['jitter'] = jitter;
  return Object.keys(out).length === 0 ? undefined : out;
}

export const DEFAULT_MAX_DELAY_MS = 86_400_000;

function decodeRetry(value: Json | undefined): RetryPolicy {
  const stored = (value ?? {}) as Record<string, Json>;
  return {
    count: Number(stored['count'] ?? 0),
    backoff: (stored['backoff'] ?? 'fibonacci') as RetryPolicy['backoff'],
    delayMs: Number(stored['delay_ms'] ?? 0),
    ...(Array.isArray(stored['delays_ms']) ? { delaysMs: stored['delays_ms'].map(Number) } : {}),
    maxDelayMs: Number(stored['max_delay_ms'] ?? DEFAULT_MAX_DELAY_MS),
    jitter: Number(stored['jitter'] ?? 0),
  };
}

function encodePlace(place: WorkflowPlace): Stored {
  const { next, up, policy } = place.cont;
  return {
    id: place.id,
    index: place.index,
    version: place.version,
    generation: place.generation,
    up: [up.join, up.slot],
    ...(policy === 'stop' ? {} : { policy }),
    ...(next === undefined ? {} : { next: next.entries, rest: next.rest }),
    ...(next?.joins === undefined ? {} : { next_joins: next.joins }),
    ...(place.inputs === undefined ? {} : { inputs: place.inputs }),
    ...(place.limits === undefined || place.limits.length === 0 ? {} : { limits: place.limits }),
  };
}

function decodePlace(value: Json | undefined): WorkflowPlace {
  const stored = value as Record<string, Json>;
  const [join = 0, slot = 0] = stored['up'] as number[];
  const next = stored['next'] as number[] | undefined;
  const joins = stored['next_joins'] as number[] | undefined;
  const inputs = stored['inputs'] as WorkflowPlace['inputs'];
  const limits = stored['limits'] as WorkflowPlace['limits'];
  return {
    id: text(stored['id']),
    index: Number(stored['index']),
    version: Number(stored['version']),
    generation: Number(stored['generation']),
    cont: {
      up: { join, slot },
      policy: (stored['policy'] ?? 'stop') as WorkflowPlace['cont']['policy'],
      ...(next === undefined
        ? {}
        : {
            next: {
              entries: next,
              rest: stored['rest'] as [number, number],
              ...(joins === undefined ? {} : { joins }),
            },
          }),
    },
    ...(inputs === undefined ? {} : { inputs }),
    ...(limits === undefined ? {} : { limits }),
  };
}

export function encodeLock(lock: LockRecord): string {
  return JSON.stringify({ node: lock.node, attempt: lock.attempt, since_ms: lock.sinceMs });
}

export function decodeLock(json: string): LockRecord {
  const stored = parseObject(json, 'lock');
  return { node: text(stored['node']), attempt: Number(stored['attempt']), sinceMs: Number(stored['since_ms']) };
}

export function encodePayload(payload: TaskPayload): string {
  return encodeRecord(payload);
}

export function decodePayload(text: string): TaskPayload {
  return decodeRecord<TaskPayload>(text, 'payload');
}

/**
 * Any other record: the field names of its type become snake_case. Keys of maps (`headers`, `labels`, arguments) are the
 * user's and stay as they are.
 */
export function encodeRecord(record: object): string {
  return JSON.stringify({ v: LAYOUT_VERSION, ...(snake(record as Json) as object) });
}

export function decodeRecord<T>(text: string, what: string): T {
  const { v: _v, ...rest } = parseObject(text, what);
  return camel(rest) as unknown as T;
}

/** Fields whose content belongs to users: never renamed. */
const OPAQUE = new Set(['headers', 'labels', 'args', 'results', 'value', 'filter', 'parameters', 'detail']);
const TASK_NESTED = new Set<keyof TaskRecord>(['unique', 'cancelRequested', 'error', 'pastErrors']);

function camelDeep(field: keyof TaskRecord, value: Json): Json {
  return TASK_NESTED.has(field) ? camel(value) : value;
}

function snake(value: Json): Json {
  return rename(value, (key) => key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
}

function camel(value: Json): Json {
  return rename(value, (key) => key.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase()));
}

function rename(value: Json, name: (key: string) => string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => rename(item, name));
  if (value === null || typeof value !== 'object') return value;
  const out: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const renamed = name(key);
    out[renamed] = OPAQUE.has(renamed) ? item : rename(item, name);
  }
  return out;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function parseObject(text: string, what: string): Record<string, Json> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LeaseholdError('unreadable', `a ${what} record is not JSON`, { what }, { cause });
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new LeaseholdError('unreadable', `a ${what} record is not a JSON object`, { what });
  }
  const record = value as Record<string, Json>;
  const version = record['v'] ?? LAYOUT_VERSION;
  if (typeof version === 'number' && version > LAYOUT_VERSION) {
    throw new LeaseholdError(
      'unreadable',
      `a ${what} record has layout ${version}; this version reads ${LAYOUT_VERSION}`,
      {
        what,
        version,
      },
    );
  }
  return record;
}
