/**
 * Why is it waiting? Pure: a task and the facts of one revision give every reason why it does not run, the most
 * decisive first, as data (code and parameters). Texts belong to who shows them. An ended task, and one that runs under
 * a lock, has no reason.
 */
import type { LeaderRecord, Pause, Settings, WorkflowRecord } from './records.js';
import { isEnded } from './state.js';
import type { TaskState } from './state.js';
import type { TaskRecord } from './task.js';

export type WaitReason =
  | { readonly code: 'not-due'; readonly params: { readonly untilMs: number } }
  | { readonly code: 'retry-backoff'; readonly params: { readonly untilMs: number; readonly failures: number } }
  | { readonly code: 'snoozed'; readonly params: { readonly untilMs: number; readonly snoozes: number } }
  /** Its time has come; the leader has not promoted it yet. */
  | { readonly code: 'promotion-late'; readonly params: { readonly dueMs: number } }
  | { readonly code: 'no-leader'; readonly params: { readonly sinceMs?: number } }
  /** STARTED without a lock: its node's lease ended, and the next claimer takes it over. */
  | { readonly code: 'lost-worker'; readonly params: { readonly node: string; readonly attempt: number } }
  | {
      readonly code: 'waits-for-task';
      readonly params: { readonly taskId: string; readonly name?: string; readonly state?: TaskState };
    }
  /** `done` of `total` members have ended; both absent while the graph is not loaded. */
  | {
      readonly code: 'barrier';
      readonly params: {
        readonly workflowId: string;
        readonly join?: number;
        readonly done?: number;
        readonly total?: number;
      };
    }
  | { readonly code: 'staged'; readonly params: { readonly workflowId: string } }
  | { readonly code: 'workflow-stopping'; readonly params: { readonly workflowId: string; readonly reason?: string } }
  | { readonly code: 'all-paused'; readonly params: Pause }
  | { readonly code: 'queue-paused'; readonly params: Pause & { readonly queue: string } }
  | { readonly code: 'name-paused'; readonly params: Pause & { readonly name: string } }
  | { readonly code: 'no-worker'; readonly params: { readonly queue: string } }
  | { readonly code: 'unknown-name'; readonly params: { readonly name: string; readonly queue: string } }
  | { readonly code: 'labels-mismatch'; readonly params: { readonly labels: string } }
  | { readonly code: 'workers-busy'; readonly params: { readonly running: number; readonly capacity: number } }
  | {
      readonly code: 'concurrency';
      readonly params: {
        readonly limit: string;
        readonly held: number;
        readonly max: number;
        readonly holders: readonly string[];
      };
    }
  | { readonly code: 'rate-limit'; readonly params: { readonly limit: string; readonly untilMs: number } }
  | { readonly code: 'unique-held'; readonly params: { readonly key: string; readonly holder: string } }
  | { readonly code: 'storage-full'; readonly params: { readonly usedBytes: number; readonly softLimitBytes: number } }
  /** Nothing stands in its way but those before it. `ahead` 0: it is next. */
  | { readonly code: 'position'; readonly params: { readonly queue: string; readonly ahead: number } };

export type WaitCode = WaitReason['code'];

/** Every code, in the order in which reasons are given. */
export const WAIT_CODES = [
  'staged',
  'workflow-stopping',
  'lost-worker',
  'waits-for-task',
  'barrier',
  'not-due',
  'retry-backoff',
  'snoozed',
  'no-leader',
  'promotion-late',
  'all-paused',
  'queue-paused',
  'name-paused',
  'storage-full',
  'no-worker',
  'unknown-name',
  'labels-mismatch',
  'unique-held',
  'concurrency',
  'rate-limit',
  'workers-busy',
  'position',
] as const satisfies readonly WaitCode[];

/** What explaining needs to know of a live node. */
export interface NodeFacts {
  readonly id: string;
  /** Concurrency by queue it serves. */
  readonly queues: ReadonlyMap<string, number>;
  readonly names: ReadonlySet<string>;
  readonly labels: Readonly<Record<string, string>>;
  readonly draining: boolean;
  /** Locks it holds, in all and by queue. */
  readonly running: number;
  readonly runningByQueue: ReadonlyMap<string, number>;
}

/** What it waits for inside its workflow. */
export type Awaited =
  | { readonly kind: 'task'; readonly id: string; readonly name?: string; readonly state?: TaskState }
  | { readonly kind: 'join'; readonly join?: number; readonly done?: number; readonly total?: number };

export interface LimitFacts {
  readonly limit: string;
  readonly max: number;
  /** Ids of the tasks that hold its units. */
  readonly holders: readonly string[];
}

/** The facts of one revision. What is absent is not a reason. */
export interface WaitFacts {
  readonly nowMs: number;
  /** `locks/<id>` is there. */
  readonly locked: boolean;
  readonly settings: { readonly queue?: Settings; readonly name?: Settings; readonly all?: Settings };
  readonly nodes: readonly NodeFacts[];
  readonly leader?: LeaderRecord;
  /** Since when there is no leader, if that is known. */
  readonly leaderGoneMs?: number;
  readonly workflow?: Pick<WorkflowRecord, 'state' | 'reason'>;
  /** Its workflow is sealed, but not all of its members are written yet. */
  readonly unfolding?: boolean;
  readonly awaited?: Awaited;
  readonly limits?: readonly LimitFacts[];
  /** Rate limits of its queue or name that are used up, and until when. */
  readonly rates?: readonly { readonly limit: string; readonly untilMs: number }[];
  readonly uniqueHolder?: string;
  readonly storage?: { readonly usedBytes: number; readonly softLimitBytes: number };
  /** How many ready tasks of its queue stand before it. */
  readonly ahead?: number;
}

/** What explaining reads of a task: a consumer that keeps less than the record need not keep it. */
export type WaitingTask = Pick<
  TaskRecord,
  | 'id'
  | 'name'
  | 'state'
  | 'cause'
  | 'queue'
  | 'attempt'
  | 'failures'
  | 'snoozes'
  | 'scheduleAtMs'
  | 'dueMs'
  | 'node'
  | 'labels'
  | 'unique'
> & { readonly workflow?: { readonly id: string } };

/** How late a promotion may be before it is called late. */
const PROMOTION_GRACE_MS = 2_000;

export function explain(task: WaitingTask, facts: WaitFacts): readonly WaitReason[] {
  if (isEnded(task.state) || (task.state === 'STARTED' && facts.locked)) return [];
  const reasons = [
    ...workflowReasons(task, facts),
    ...(task.state === 'WAITING' ? awaitedReasons(task, facts) : []),
    ...(task.state === 'SCHEDULED' || task.state === 'RETRY' ? dueReasons(task, facts) : []),
    ...(task.state === 'STARTED' ? [lostReason(task)] : []),
    ...(task.state === 'WAITING' ? [] : claimReasons(task, facts)),
  ];
  return task.state === 'PENDING' ? [...reasons, ...positionReasons(task, facts)] : reasons;
}

function workflowReasons(task: WaitingTask, { workflow, unfolding }: WaitFacts): readonly WaitReason[] {
  if (task.workflow === undefined || workflow === undefined) return [];
  const workflowId = task.workflow.id;
  if (workflow.state !== 'RUNNING') {
    const { reason } = workflow;
    return [{ code: 'workflow-stopping', params: { workflowId, ...(reason === undefined ? {} : { reason }) } }];
  }
  return unfolding === true ? [{ code: 'staged', params: { workflowId } }] : [];
}

function awaitedReasons(task: WaitingTask, { awaited }: WaitFacts): readonly WaitReason[] {
  if (awaited?.kind === 'task') {
    const { id, name, state } = awaited;
    const params = { taskId: id, ...(name === undefined ? {} : { name }), ...(state === undefined ? {} : { state }) };
    return [{ code: 'waits-for-task', params }];
  }
  if (task.workflow === undefined) return [];
  const { join, done, total } = awaited ?? {};
  const params = {
    workflowId: task.workflow.id,
    ...(join === undefined ? {} : { join }),
    ...(done === undefined ? {} : { done }),
    ...(total === undefined ? {} : { total }),
  };
  return [{ code: 'barrier', params }];
}

function dueReasons(task: WaitingTask, facts: WaitFacts): readonly WaitReason[] {
  const untilMs = task.dueMs ?? task.scheduleAtMs;
  if (untilMs > facts.nowMs) return [untilReason(task, untilMs)];
  const late = facts.nowMs - untilMs > PROMOTION_GRACE_MS;
  if (facts.leader === undefined) return [noLeader(facts)];
  return late ? [{ code: 'promotion-late', params: { dueMs: untilMs } }] : [untilReason(task, untilMs)];
}

function noLeader({ leaderGoneMs }: WaitFacts): WaitReason {
  return { code: 'no-leader', params: leaderGoneMs === undefined ? {} : { sinceMs: leaderGoneMs } };
}

function untilReason(task: WaitingTask, untilMs: number): WaitReason {
  if (task.state === 'SCHEDULED') return { code: 'not-due', params: { untilMs } };
  if (task.cause === 'snoozed') return { code: 'snoozed', params: { untilMs, snoozes: task.snoozes } };
  return { code: 'retry-backoff', params: { untilMs, failures: task.failures } };
}

function lostReason(task: WaitingTask): WaitReason {
  return { code: 'lost-worker', params: { node: task.node ?? '', attempt: task.attempt } };
}

/** What would keep a worker from claiming it, were it ready now. */
function claimReasons(task: WaitingTask, facts: WaitFacts): readonly WaitReason[] {
  return [
    ...pauseReasons(task, facts),
    ...storageReasons(facts),
    ...nodeReasons(task, facts),
    ...uniqueReasons(task, facts),
    ...limitReasons(facts),
    ...busyReasons(task, facts),
  ];
}

function pauseReasons(task: WaitingTask, { settings }: WaitFacts): readonly WaitReason[] {
  const { all, queue, name } = settings;
  return [
    ...(all?.paused === undefined ? [] : [{ code: 'all-paused' as const, params: all.paused }]),
    ...(queue?.paused === undefined
      ? []
      : [{ code: 'queue-paused' as const, params: { ...queue.paused, queue: task.queue } }]),
    ...(name?.paused === undefined
      ? []
      : [{ code: 'name-paused' as const, params: { ...name.paused, name: task.name } }]),
  ];
}

function storageReasons({ storage }: WaitFacts): readonly WaitReason[] {
  if (storage === undefined || storage.usedBytes < storage.softLimitBytes) return [];
  return [{ code: 'storage-full', params: storage }];
}

/** True when the node could run the task, busy or not. */
export function canRun(node: NodeFacts, task: Pick<WaitingTask, 'queue' | 'name' | 'labels'>): boolean {
  return !node.draining && node.queues.has(task.queue) && node.names.has(task.name) && fits(node, task.labels);
}

function fits(node: NodeFacts, labels: WaitingTask['labels']): boolean {
  return labels === undefined || Object.entries(labels).every(([key, value]) => node.labels[key] === value);
}

/** The first of: nobody serves the queue, nobody there knows the name, nobody who knows it has the labels. */
function nodeReasons(task: WaitingTask, facts: WaitFacts): readonly WaitReason[] {
  const serving = facts.nodes.filter((node) => !node.draining && node.queues.has(task.queue));
  if (serving.length === 0) return [{ code: 'no-worker', params: { queue: task.queue } }];
  const knowing = serving.filter((node) => node.names.has(task.name));
  if (knowing.length === 0) return [{ code: 'unknown-name', params: { name: task.name, queue: task.queue } }];
  if (knowing.some((node) => fits(node, task.labels))) return [];
  const labels = Object.entries(task.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return [{ code: 'labels-mismatch', params: { labels: labels.join(', ') } }];
}

function uniqueReasons(task: WaitingTask, { uniqueHolder }: WaitFacts): readonly WaitReason[] {
  if (task.unique === undefined || uniqueHolder === undefined || uniqueHolder === task.id) return [];
  return [{ code: 'unique-held', params: { key: task.unique.key, holder: uniqueHolder } }];
}

/** Holders named in one reason at most. */
const HOLDERS_SHOWN = 10;

function limitReasons({ limits = [], rates = [] }: WaitFacts): readonly WaitReason[] {
  const full = limits.filter(({ max, holders }) => holders.length >= max);
  return [
    ...full.map(({ limit, max, holders }) => {
      const params = { limit, held: holders.length, max, holders: holders.slice(0, HOLDERS_SHOWN) };
      return { code: 'concurrency' as const, params };
    }),
    ...rates.map((rate) => ({ code: 'rate-limit' as const, params: rate })),
  ];
}

function busyReasons(task: WaitingTask, facts: WaitFacts): readonly WaitReason[] {
  const able = facts.nodes.filter((node) => canRun(node, task));
  if (able.length === 0) return [];
  let running = 0;
  let capacity = 0;
  for (const node of able) {
    const own = node.queues.get(task.queue) ?? 0;
    const used = Math.min(own, node.runningByQueue.get(task.queue) ?? 0);
    if (used < own) return [];
    running += used;
    capacity += own;
  }
  return [{ code: 'workers-busy', params: { running, capacity } }];
}

function positionReasons(task: WaitingTask, { ahead }: WaitFacts): readonly WaitReason[] {
  return ahead === undefined ? [] : [{ code: 'position', params: { queue: task.queue, ahead } }];
}
