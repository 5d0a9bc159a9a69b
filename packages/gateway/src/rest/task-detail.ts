/** Everything about one task, as of one revision; its past and results are read at that same revision. */
import { prefixEnd, type KeyValue, type OpResult, type RangeRequest } from '@leasehold/core/kv';
import {
  decodeLock,
  decodePayload,
  decodeTask,
  LeaseholdError,
  type TaskRecord,
  type TypedValue,
} from '@leasehold/core/model';
import { decodeResults, type Store } from '@leasehold/core/store';
import type { LogLine, TaskDetail } from '@leasehold/wire';
import { redactText, showValues } from '../guard/redact.js';
import type { BoardView } from '../projection/board-view.js';
import { handlerView, taskRow } from '../projection/rows.js';
import { decodeProgress, type LockEntry } from '../projection/kept.js';
import { taskEntry } from '../projection/task-entry.js';
import { attemptsOf, historyOf, readPast, showError } from './history.js';

const LOG_LINES = 500;

interface Read {
  readonly asOf: bigint;
  readonly kv: KeyValue;
  readonly task: TaskRecord;
  readonly lock?: LockEntry;
  readonly args: readonly TypedValue[];
  readonly results?: readonly TypedValue[];
  readonly progress?: TaskDetail['progress'];
  readonly logs: LogLine[];
}

export async function taskDetail(
  board: BoardView,
  store: Store,
  id: string,
  payload: boolean,
  rev?: string,
): Promise<TaskDetail> {
  const read = await readTask(store, id, rev === undefined ? undefined : BigInt(rev));
  const { task, kv, lock } = read;
  const past = await readPast(store.kv, kv);
  if (task.state === 'WAITING' && task.workflow !== undefined) await board.graphs.load(task.workflow.id);
  const { state, facts, leases } = board;
  const secrets = state.secrets.of(task);
  const entry = taskEntry(task, kv.modRevision, secrets);
  const handler = state
    .liveNodes()
    .flatMap(({ record }) => record.handlers)
    .find(({ name }) => name === task.name);
  const lease =
    lock === undefined ? undefined : leases.view(lock.leaseId, state.nodes.get(lock.node)?.record.leaseTtlMs ?? 0);
  const hide = (values: readonly TypedValue[], secrets?: readonly number[]) =>
    payload ? showValues(values, secrets) : values.map(({ type }) => ({ type, value: null, hidden: true as const }));
  return {
    asOf: read.asOf.toString(),
    row: taskRow({ state, facts, leases }, entry),
    ...scalars(task),
    args: hide(read.args, secrets),
    why: [...facts.reasons(entry)],
    attempts: attemptsOf(task, past),
    history: historyOf(past),
    historyWhole: past.whole,
    logs: payload ? read.logs : [],
    ...(read.results === undefined ? {} : { results: hide(read.results) }),
    ...(task.error === undefined ? {} : { error: showError(task.error) }),
    ...(lock === undefined ? {} : { lock: { ...lockView(lock), ...(lease === undefined ? {} : { lease }) } }),
    ...(read.progress === undefined ? {} : { progress: read.progress }),
    ...(handler === undefined ? {} : { handler: handlerView(handler) }),
  };
}

function lockView({ node, attempt, sinceMs, token, leaseId }: LockEntry): NonNullable<TaskDetail['lock']> {
  return { node, attempt, sinceMs, token, leaseId };
}

function scalars(
  task: TaskRecord,
): Pick<TaskDetail, 'by' | 'failures' | 'losses' | 'snoozes' | 'handBacks' | 'retry' | 'timeoutMs'> &
  Partial<TaskDetail> {
  const {
    by,
    failures,
    losses,
    snoozes,
    handBacks,
    retry,
    timeoutMs,
    expiresMs,
    deadlineMs,
    headers,
    labels,
    unique,
    parent,
  } = task;
  return {
    by,
    failures,
    losses,
    snoozes,
    handBacks,
    retry: { ...retry },
    timeoutMs,
    ...(expiresMs === undefined ? {} : { expiresMs }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(headers === undefined ? {} : { headers: shownHeaders(headers) }),
    ...(labels === undefined ? {} : { labels: { ...labels } }),
    ...(unique === undefined ? {} : { unique: unique.key }),
    ...(parent === undefined ? {} : { parent }),
    ...(task.cancelRequested === undefined ? {} : { cancelRequested: task.cancelRequested }),
  };
}

function shownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const [shown] = showValues([{ type: 'json', value: headers }]);
  return (shown?.value ?? {}) as Record<string, string>;
}

/** As of one revision: in one transaction now, in single reads pinned at a revision of the past. */
async function readTogether(
  { kv }: Store,
  ranges: readonly RangeRequest[],
  revision: bigint | undefined,
): Promise<{ readonly results: readonly OpResult[]; readonly revision: bigint }> {
  if (revision === undefined)
    return kv.txn({ compare: [], success: ranges.map((each) => ({ kind: 'range', ...each })) });
  const answers = await Promise.all(ranges.map((each) => kv.range({ ...each, revision })));
  return { results: answers.map((answer) => ({ kind: 'range', ...answer })), revision };
}

async function readTask(store: Store, id: string, revision?: bigint): Promise<Read> {
  const { keys } = store;
  const logs = keys.logs(id);
  const answer = await readTogether(
    store,
    [
      { key: keys.task(id) },
      { key: keys.lock(id) },
      { key: keys.args(id) },
      { key: keys.progress(id) },
      { key: logs, rangeEnd: prefixEnd(logs), limit: LOG_LINES },
    ],
    revision,
  );
  const [record, lock, payload, progress] = answer.results.map(firstOf);
  if (record === undefined) throw new LeaseholdError('not-found', `there is no task ${id}`, { id });
  const task = decodeTask(record.value);
  const args = task.args ?? (payload === undefined ? [] : (decodePayload(payload.value).args ?? []));
  const results = task.results ?? (await largeResults(store, task, answer.revision));
  return {
    asOf: answer.revision,
    kv: record,
    task,
    args,
    logs: logLines(store, answer.results[4]),
    ...(results === undefined ? {} : { results }),
    ...(lock === undefined
      ? {}
      : { lock: { ...decodeLock(lock.value), token: lock.createRevision.toString(), leaseId: lock.lease.toString() } }),
    ...progressNow(task, progress),
  };
}

/** Of the last attempt only. */
function progressNow(task: TaskRecord, kv: KeyValue | undefined): Pick<Read, 'progress'> {
  if (kv === undefined) return {};
  const { attempt, view } = decodeProgress(kv.value);
  return attempt === task.attempt ? { progress: view } : {};
}

function firstOf(result: OpResult): KeyValue | undefined {
  return result.kind === 'range' ? result.kvs[0] : undefined;
}

async function largeResults(
  store: Store,
  task: TaskRecord,
  revision: bigint,
): Promise<readonly TypedValue[] | undefined> {
  if (task.resultRef === undefined) return undefined;
  const [kv] = (await store.kv.range({ key: store.keys.result(task.id, task.resultRef), revision })).kvs;
  return kv === undefined ? undefined : decodeResults(kv.value);
}

/** Log entries are text by whoever wrote them: one line or several to a key, plain or JSON. */
function logLines(store: Store, result: OpResult | undefined): LogLine[] {
  if (result?.kind !== 'range') return [];
  return result.kvs.flatMap((kv) => {
    const parsed = store.keys.parse(kv.key);
    if (parsed?.kind !== 'logs') return [];
    const { attempt, n } = parsed;
    return entriesOf(kv.value).map((entry) => ({ attempt, n, ...entry }));
  });
}

type LogEntry = Omit<LogLine, 'attempt' | 'n'>;

function entriesOf(text: string): LogEntry[] {
  try {
    const value: unknown = JSON.parse(text);
    const lines = Array.isArray(value)
      ? value
      : isRecord(value) && Array.isArray(value['lines'])
        ? (value['lines'] as unknown[])
        : [value];
    return lines.map(entryOf);
  } catch {
    return [{ message: redactText(text.slice(0, 4_000)) }];
  }
}

function entryOf(line: unknown): LogEntry {
  if (!isRecord(line)) return { message: redactText(String(line).slice(0, 4_000)) };
  const atMs = line['at_ms'] ?? line['atMs'];
  const level = line['level'];
  const message = line['message'] ?? line['text'] ?? '';
  return {
    message: redactText((typeof message === 'string' ? message : JSON.stringify(message)).slice(0, 4_000)),
    ...(typeof atMs === 'number' ? { atMs } : {}),
    ...(typeof level === 'string' ? { level: level.slice(0, 20) } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
