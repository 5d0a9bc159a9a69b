/** Rows of the board: compact, no payloads, every 64-bit number as decimal digits. Each has an `id` that never changes. */
import {
  ARG_TYPES,
  BULK_ACTIONS,
  BULK_STATES,
  CAUSES,
  TASK_STATES,
  WAIT_CODES,
  WORKFLOW_STATES,
  type WaitReason,
} from '@leasehold/core/model';
import { z } from 'zod';
import { Decimal, Millis } from './scalars.js';

export const TaskStateName = z.enum(TASK_STATES);
export const WorkflowStateName = z.enum(WORKFLOW_STATES);
export const CauseName = z.enum(CAUSES);
export const ArgTypeName = z.enum(ARG_TYPES as [(typeof ARG_TYPES)[number], ...(typeof ARG_TYPES)[number][]]);

/**
 * Why a task waits: a code and its parameters (core `model/explain`). The parameters are checked by the code that made
 * them; on the wire only their kinds are.
 */
export const Why = z.object({
  code: z.enum(WAIT_CODES),
  params: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())])),
}) as unknown as z.ZodType<WaitReason>;
export type Why = WaitReason;

export const Progress = z.object({
  fraction: z.number().exactOptional(),
  message: z.string().exactOptional(),
  atMs: Millis.exactOptional(),
});
export type Progress = z.infer<typeof Progress>;

export const ErrorSummary = z.object({
  type: z.string(),
  /** The first line, cut. */
  message: z.string(),
  fingerprint: z.string(),
});
export type ErrorSummary = z.infer<typeof ErrorSummary>;

export const TaskRow = z.object({
  id: z.string(),
  name: z.string(),
  state: TaskStateName,
  cause: CauseName,
  queue: z.string(),
  priority: z.number(),
  /** `n` attempts begun, of at most `max` (retries + 1; lost and handed-back attempts are not bounded by it). */
  attempt: z.object({ n: z.number(), max: z.number() }),
  createdMs: Millis,
  updatedMs: Millis,
  /** When it becomes (became) ready: ETA, retry time, or creation. */
  scheduleMs: Millis,
  startedMs: Millis.exactOptional(),
  endedMs: Millis.exactOptional(),
  node: z.string().exactOptional(),
  /** Fencing token of the lock that is there now: its create revision. */
  token: Decimal.exactOptional(),
  lockedMs: Millis.exactOptional(),
  error: ErrorSummary.exactOptional(),
  /** A short redacted preview: `"SKU-9", 50`. */
  args: z.string(),
  workflow: z.object({ id: z.string(), index: z.number() }).exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  progress: Progress.exactOptional(),
  /** Somebody asked it to stop; its worker has not ended it yet. */
  cancelling: z.literal(true).exactOptional(),
  /** The most decisive reason why it does not run. */
  why: Why.exactOptional(),
  /** Mod revision of the record: what a mutation sends as `revisionSeen`. */
  revision: Decimal,
});
export type TaskRow = z.infer<typeof TaskRow>;

/**
 * A lease as last measured: at `measuredMs` (gateway clock) `remainingMs` were left of `ttlMs`. Between measurements it
 * counts down; a keepalive between two measurements is seen at the next. `ended`: the store does not know it any more.
 */
export const LeaseView = z.object({
  id: Decimal,
  ttlMs: z.number(),
  remainingMs: z.number(),
  measuredMs: Millis,
  /** When it was last seen to have been renewed, by the same clock; absent until measured. */
  renewedMs: Millis.exactOptional(),
  ended: z.literal(true).exactOptional(),
});
export type LeaseView = z.infer<typeof LeaseView>;

export const ArgInfoView = z.object({
  name: z.string(),
  type: ArgTypeName,
  help: z.string().exactOptional(),
  secret: z.boolean().exactOptional(),
  optional: z.boolean().exactOptional(),
});
/** What a form shows where nothing is filled in. */
export const HandlerDefaults = z.object({
  priority: z.number().exactOptional(),
  timeoutMs: z.number().exactOptional(),
  retries: z.number().exactOptional(),
  backoff: z.enum(['fibonacci', 'exponential', 'fixed', 'custom']).exactOptional(),
});
export type HandlerDefaults = z.infer<typeof HandlerDefaults>;
export const HandlerView = z.object({
  name: z.string(),
  queue: z.string(),
  args: z.array(ArgInfoView),
  variadic: ArgTypeName.exactOptional(),
  results: z.array(ArgTypeName),
  description: z.string().exactOptional(),
  runbookUrl: z.string().exactOptional(),
  defaults: HandlerDefaults.exactOptional(),
});
export type HandlerView = z.infer<typeof HandlerView>;

export const NodeRow = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  startedMs: Millis,
  lease: LeaseView,
  queues: z.array(z.object({ name: z.string(), concurrency: z.number(), running: z.number() })),
  handlers: z.array(HandlerView),
  labels: z.record(z.string(), z.string()),
  draining: z.boolean(),
  candidate: z.boolean(),
  leader: z.boolean(),
  running: z.number(),
  capacity: z.number(),
  stats: z
    .object({
      atMs: Millis,
      clockSkewMs: z.number().exactOptional(),
      eventLoopDelayMs: z.number(),
      claimed: z.number(),
      succeeded: z.number(),
      failed: z.number(),
      rssBytes: z.number(),
    })
    .exactOptional(),
  /** Set when its lease ended: it stays listed for a while. */
  departedMs: Millis.exactOptional(),
  revision: Decimal,
});
export type NodeRow = z.infer<typeof NodeRow>;

export const LockRow = z.object({
  /** The task's id. */
  id: z.string(),
  node: z.string(),
  attempt: z.number(),
  sinceMs: Millis,
  token: Decimal,
  leaseId: Decimal,
  name: z.string(),
  queue: z.string(),
  state: TaskStateName.exactOptional(),
  /** The countdown of the holder's lease, as its node row has it. */
  lease: LeaseView.exactOptional(),
  progress: Progress.exactOptional(),
  /** Mod revision of the task's record. */
  revision: Decimal,
});
export type LockRow = z.infer<typeof LockRow>;

const counts = z.record(z.string(), z.number());
const PausedView = z.object({ by: z.string(), sinceMs: Millis, reason: z.string() });
export const Percentiles = z.object({ count: z.number(), p50Ms: z.number(), p95Ms: z.number() });
export type Percentiles = z.infer<typeof Percentiles>;

export const QueueRow = z.object({
  /** The queue's name. */
  id: z.string(),
  /** Tasks by state. */
  states: counts,
  running: z.number(),
  /** Concurrency of its own, if set. */
  limit: z.number().exactOptional(),
  rate: z.object({ count: z.number(), intervalMs: z.number() }).exactOptional(),
  /** Claimed in the order of commits within a priority. */
  ordered: z.literal(true).exactOptional(),
  /** What its live workers can run at once. */
  capacity: z.number(),
  workers: z.number(),
  hasWorker: z.boolean(),
  paused: PausedView.exactOptional(),
  /** Since when its oldest ready task is ready. */
  oldestMs: Millis.exactOptional(),
  wait: Percentiles.exactOptional(),
  run: Percentiles.exactOptional(),
  /** Mod revision of its settings, `0` without any. */
  revision: Decimal,
});
export type QueueRow = z.infer<typeof QueueRow>;

export const WorkflowRow = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['task', 'chain', 'group', 'chord']),
  state: WorkflowStateName,
  tasks: z.number(),
  /** Members by state. */
  states: counts,
  done: z.number(),
  failed: z.number(),
  by: z.string(),
  createdMs: Millis,
  updatedMs: Millis,
  endedMs: Millis.exactOptional(),
  reason: z.string().exactOptional(),
  generation: z.number(),
  tags: z.array(z.string()).exactOptional(),
  revision: Decimal,
});
export type WorkflowRow = z.infer<typeof WorkflowRow>;

export const ErrorRow = z.object({
  /** The fingerprint. */
  id: z.string(),
  type: z.string(),
  message: z.string(),
  /** Tasks that carry it now (failed, or retrying after it). */
  count: z.number(),
  failing: z.number(),
  firstMs: Millis,
  lastMs: Millis,
  names: z.array(z.string()),
  /** The latest task that has it. */
  sample: z.string(),
});
export type ErrorRow = z.infer<typeof ErrorRow>;

export const ScheduleRow = z.object({
  id: z.string(),
  spec: z.string(),
  zone: z.string(),
  target: z.string(),
  nextMs: Millis.exactOptional(),
  lastMs: Millis.exactOptional(),
  fired: z.number(),
  paused: PausedView.exactOptional(),
  missed: z.string(),
  overlap: z.string(),
  by: z.string(),
  updatedMs: Millis,
  revision: Decimal,
});
export type ScheduleRow = z.infer<typeof ScheduleRow>;

export const BulkActionName = z.enum(BULK_ACTIONS);
export type BulkActionName = z.infer<typeof BulkActionName>;
export const BulkRow = z.object({
  id: z.string(),
  action: BulkActionName,
  priority: z.number().exactOptional(),
  state: z.enum(BULK_STATES),
  /** What was shown when it was asked for: a task filter, or how many were picked. */
  filter: z.record(z.string(), z.unknown()),
  total: z.number(),
  position: z.number(),
  done: z.number(),
  skipped: z.number(),
  conflicted: z.number(),
  by: z.string(),
  reason: z.string().exactOptional(),
  /** The revision at which its tasks were seen. */
  snapshot: Decimal,
  createdMs: Millis,
  updatedMs: Millis,
  endedMs: Millis.exactOptional(),
  revision: Decimal,
});
export type BulkRow = z.infer<typeof BulkRow>;
