/** Rows of the small views, each from the state. Pure but for the leases as last measured. */
import { actorText, hash32, type HandlerInfo } from '@leasehold/core/model';
import type {
  BulkRow,
  HandlerDefaults,
  HandlerView,
  LockRow,
  NodeRow,
  QueueRow,
  ScheduleRow,
  TaskRow,
  WorkflowRow,
} from '@leasehold/wire';
import { redactText } from '../guard/redact.js';
import type { Facts } from './facts.js';
import type { Leases } from './leases.js';
import type { NodeEntry } from './kept.js';
import type { BoardState } from './state.js';
import type { TaskEntry } from './task-entry.js';

export interface RowContext {
  readonly state: BoardState;
  readonly facts: Facts;
  readonly leases: Leases;
}

export function taskRow({ state, facts }: RowContext, task: TaskEntry): TaskRow {
  const lock = state.locks.get(task.id);
  const progress = task.state === 'STARTED' ? state.progressOf(task.id, task.attempt) : undefined;
  const [why] = facts.reasons(task);
  const node = lock?.node ?? task.node;
  return {
    id: task.id,
    name: task.name,
    state: task.state,
    cause: task.cause,
    queue: task.queue,
    priority: task.priority,
    attempt: { n: task.attempt, max: task.maxAttempts },
    createdMs: task.createdMs,
    updatedMs: task.updatedMs,
    scheduleMs: task.dueMs ?? task.scheduleAtMs,
    args: task.args,
    revision: task.revision,
    ...(task.startedMs === undefined ? {} : { startedMs: task.startedMs }),
    ...(task.endedMs === undefined ? {} : { endedMs: task.endedMs }),
    ...(node === undefined ? {} : { node }),
    ...(lock === undefined ? {} : { token: lock.token, lockedMs: lock.sinceMs }),
    ...(task.error === undefined ? {} : { error: task.error }),
    ...(task.workflow === undefined ? {} : { workflow: task.workflow }),
    ...(task.tags === undefined ? {} : { tags: [...task.tags] }),
    ...(progress === undefined ? {} : { progress }),
    ...(task.cancelling ? { cancelling: true as const } : {}),
    ...(why === undefined ? {} : { why }),
  };
}

/** For who may not see what tasks carry. Progress is written to be watched, so it stays. */
export function withoutPayload(row: TaskRow): TaskRow {
  return { ...row, args: '' };
}

export function lockRow({ state, leases }: RowContext, id: string): LockRow | undefined {
  const lock = state.locks.get(id);
  if (lock === undefined) return undefined;
  const task = state.tasks.get(id);
  const node = state.nodes.get(lock.node);
  const progress = state.progressOf(id, lock.attempt);
  return {
    id,
    node: lock.node,
    attempt: lock.attempt,
    sinceMs: lock.sinceMs,
    token: lock.token,
    leaseId: lock.leaseId,
    name: task?.name ?? '',
    queue: task?.queue ?? '',
    revision: task?.revision ?? '0',
    ...(task === undefined ? {} : { state: task.state }),
    ...(node === undefined ? {} : { lease: leases.view(lock.leaseId, node.record.leaseTtlMs) }),
    ...(progress === undefined ? {} : { progress }),
  };
}

export function handlerView(handler: HandlerInfo): HandlerView {
  const { name, queue, variadic, results, description, runbookUrl, defaults } = handler;
  return {
    name,
    queue,
    args: handler.args.map((arg) => ({ ...arg })),
    results: [...results],
    ...(variadic === undefined ? {} : { variadic }),
    ...(description === undefined ? {} : { description }),
    ...(runbookUrl === undefined || !/^https?:\/\//i.test(runbookUrl) ? {} : { runbookUrl }),
    ...(defaults === undefined ? {} : { defaults: defaultsView(defaults) }),
  };
}

function defaultsView({ priority, timeoutMs, retry }: NonNullable<HandlerInfo['defaults']>): HandlerDefaults {
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry?.count === undefined ? {} : { retries: retry.count }),
    ...(retry?.backoff === undefined ? {} : { backoff: retry.backoff }),
  };
}

export function nodeRow({ state, facts, leases }: RowContext, node: NodeEntry): NodeRow {
  const { record } = node;
  const running = facts.nodes().find(({ id }) => id === record.id);
  const stats = state.stats.get(record.id);
  const lease = leases.view(node.leaseId, record.leaseTtlMs);
  return {
    id: record.id,
    host: record.host,
    pid: record.pid,
    version: record.version,
    startedMs: record.startedMs,
    lease: node.departedMs === undefined ? lease : { ...lease, remainingMs: 0, ended: true },
    queues: record.queues.map(({ name, concurrency }) => {
      return { name, concurrency, running: running?.runningByQueue.get(name) ?? 0 };
    }),
    handlers: record.handlers.map(handlerView),
    labels: { ...record.labels },
    draining: record.draining,
    candidate: record.candidate,
    leader: state.leader?.node === record.id && node.departedMs === undefined,
    running: running?.running ?? 0,
    capacity: record.queues.reduce((sum, { concurrency }) => sum + concurrency, 0),
    revision: node.revision,
    ...(stats === undefined ? {} : { stats: statsView(stats) }),
    ...(node.departedMs === undefined ? {} : { departedMs: node.departedMs }),
  };
}

function statsView(stats: NonNullable<ReturnType<BoardState['stats']['get']>>): NonNullable<NodeRow['stats']> {
  const { atMs, clockSkewMs, eventLoopDelayMs, claimed, succeeded, failed, rssBytes } = stats;
  const skew = clockSkewMs === undefined ? {} : { clockSkewMs };
  return { atMs, eventLoopDelayMs, claimed, succeeded, failed, rssBytes, ...skew };
}

/** Every queue that has tasks, settings or a worker. */
export function queueNames(state: BoardState): ReadonlySet<string> {
  const served = state.liveNodes().flatMap(({ record }) => record.queues.map(({ name }) => name));
  return new Set([...state.counts.queueStates.keys(), ...state.queues.keys(), ...served]);
}

export function queueRows({ state, facts }: RowContext): readonly QueueRow[] {
  const oldest = new Map<string, number>();
  for (const task of state.counts.byState.PENDING.values()) {
    const known = oldest.get(task.queue);
    if (known === undefined || task.scheduleAtMs < known) oldest.set(task.queue, task.scheduleAtMs);
  }
  return [...queueNames(state)].map((name) => {
    const settings = state.queues.get(name);
    const nodes = facts.nodes().filter((node) => !node.draining && node.queues.has(name));
    const states = state.counts.queueStates.get(name)?.toRecord() ?? {};
    const { paused, concurrency, rate, ordered } = settings?.record ?? {};
    const oldestMs = oldest.get(name);
    const wait = state.traffic.queueWait.percentiles(name);
    const run = state.traffic.queueRun.percentiles(name);
    return {
      id: name,
      states,
      running: states['STARTED'] ?? 0,
      capacity: nodes.reduce((sum, node) => sum + (node.queues.get(name) ?? 0), 0),
      workers: nodes.length,
      hasWorker: nodes.length > 0,
      revision: settings?.revision ?? '0',
      ...(concurrency === undefined ? {} : { limit: concurrency }),
      ...(rate === undefined ? {} : { rate: { count: rate.count, intervalMs: rate.intervalMs } }),
      ...(ordered === true ? { ordered } : {}),
      ...(paused === undefined ? {} : { paused }),
      ...(oldestMs === undefined ? {} : { oldestMs }),
      ...(wait === undefined ? {} : { wait }),
      ...(run === undefined ? {} : { run }),
    };
  });
}

export function workflowRow({ state }: RowContext, id: string): WorkflowRow | undefined {
  const kept = state.workflows.get(id);
  if (kept === undefined) return undefined;
  const { record, revision } = kept;
  const states = state.counts.workflowStates.get(id)?.toRecord() ?? {};
  return {
    id,
    name: record.name,
    kind: record.kind,
    state: record.state,
    tasks: record.tasks,
    states,
    done: (states['SUCCESS'] ?? 0) + (states['FAILURE'] ?? 0) + (states['CANCELLED'] ?? 0),
    failed: states['FAILURE'] ?? 0,
    by: record.by,
    createdMs: record.createdMs,
    updatedMs: record.updatedMs,
    generation: record.generation,
    revision,
    ...(record.endedMs === undefined ? {} : { endedMs: record.endedMs }),
    ...(record.reason === undefined ? {} : { reason: redactText(record.reason) }),
    ...(record.tags === undefined ? {} : { tags: [...record.tags] }),
  };
}

export function scheduleRow({ state }: RowContext, id: string): ScheduleRow | undefined {
  const kept = state.schedules.get(id);
  if (kept === undefined) return undefined;
  const { record, revision } = kept;
  const { workflow, nextMs, lastMs, paused } = record;
  return {
    id,
    spec: record.spec,
    zone: record.zone,
    target: workflow.kind === 'task' ? workflow.signature.name : workflow.kind,
    fired: record.fired,
    missed: record.missed,
    overlap: record.overlap,
    by: record.by,
    updatedMs: record.updatedMs,
    revision,
    ...(nextMs === undefined ? {} : { nextMs }),
    ...(lastMs === undefined ? {} : { lastMs }),
    ...(paused === undefined ? {} : { paused }),
  };
}

export function bulkRow({ state }: RowContext, id: string): BulkRow | undefined {
  const kept = state.bulks.get(id);
  if (kept === undefined) return undefined;
  const { actor, filter, reason, ...record } = kept.record;
  return {
    ...record,
    filter: filter !== null && typeof filter === 'object' && !Array.isArray(filter) ? { ...filter } : {},
    by: actorText(actor),
    revision: kept.revision,
    ...(reason === undefined ? {} : { reason: redactText(reason) }),
  };
}

/** Handlers as live nodes advertise them; nodes that advertise another shape of the same name are seen as differing. */
export function handlerShape(handler: HandlerInfo): number {
  const { args, variadic, results } = handler;
  return hash32(
    JSON.stringify([args.map(({ name, type, optional, secret }) => [name, type, optional, secret]), variadic, results]),
  );
}
