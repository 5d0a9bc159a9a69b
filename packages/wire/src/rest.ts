/** REST `/api/v1`: what requests hold and what comes back. Signatures and workflows are checked by the core, in its words. */
import { z } from 'zod';
import { TASK_SORTS } from './constants.js';
import {
  ArgTypeName,
  CauseName,
  HandlerView,
  LeaseView,
  LockRow,
  Percentiles,
  Progress,
  TaskRow,
  TaskStateName,
  Why,
  WorkflowRow,
} from './rows.js';
import { Decimal, Millis } from './scalars.js';

/** An argument or result as shown: `hidden` ones have no value; of a `cut` one, the value is a preview text. */
export const ShownValue = z.object({
  type: ArgTypeName,
  name: z.string().exactOptional(),
  value: z.unknown(),
  hidden: z.literal(true).exactOptional(),
  /** Bytes of the whole value when it is only previewed here. */
  cut: z.number().exactOptional(),
});
export type ShownValue = z.infer<typeof ShownValue>;

export const ShownError = z.object({
  type: z.string(),
  message: z.string(),
  stack: z.string().exactOptional(),
  attempt: z.number(),
  node: z.string().exactOptional(),
  atMs: Millis,
  final: z.boolean().exactOptional(),
  fingerprint: z.string(),
});
export type ShownError = z.infer<typeof ShownError>;

/** One write of the record that etcd still has. */
export const HistoryEntry = z.object({
  revision: Decimal,
  state: TaskStateName,
  cause: CauseName,
  by: z.string(),
  atMs: Millis,
  attempt: z.number(),
  node: z.string().exactOptional(),
  cancelling: z.literal(true).exactOptional(),
});
export type HistoryEntry = z.infer<typeof HistoryEntry>;

export const Attempt = z.object({
  attempt: z.number(),
  node: z.string().exactOptional(),
  startedMs: Millis.exactOptional(),
  endedMs: Millis.exactOptional(),
  /** The edge that ended it; absent while it runs. `lost` shows as such. */
  cause: CauseName.exactOptional(),
  /** Its fencing token, where history still knows it. */
  token: Decimal.exactOptional(),
  error: ShownError.exactOptional(),
});
export type Attempt = z.infer<typeof Attempt>;

export const LogLine = z.object({
  attempt: z.number(),
  n: z.number(),
  atMs: Millis.exactOptional(),
  level: z.string().exactOptional(),
  message: z.string(),
});
export type LogLine = z.infer<typeof LogLine>;

export const TaskDetail = z.object({
  /** The revision everything here is as of. */
  asOf: Decimal,
  row: TaskRow,
  by: z.string(),
  args: z.array(ShownValue),
  results: z.array(ShownValue).exactOptional(),
  error: ShownError.exactOptional(),
  failures: z.number(),
  losses: z.number(),
  snoozes: z.number(),
  handBacks: z.number(),
  retry: z.object({
    count: z.number(),
    backoff: z.string(),
    delayMs: z.number(),
    maxDelayMs: z.number(),
    jitter: z.number(),
  }),
  timeoutMs: z.number(),
  expiresMs: Millis.exactOptional(),
  deadlineMs: Millis.exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  labels: z.record(z.string(), z.string()).exactOptional(),
  unique: z.string().exactOptional(),
  parent: z.string().exactOptional(),
  cancelRequested: z.object({ by: z.string(), atMs: Millis, reason: z.string() }).exactOptional(),
  /** All reasons why it does not run, the most decisive first. */
  why: z.array(Why),
  lock: z
    .object({
      node: z.string(),
      attempt: z.number(),
      sinceMs: Millis,
      token: Decimal,
      leaseId: Decimal,
      lease: LeaseView.exactOptional(),
    })
    .exactOptional(),
  attempts: z.array(Attempt),
  /** Oldest first. */
  history: z.array(HistoryEntry),
  /** False: older writes were compacted away, or there were more than are shown. */
  historyWhole: z.boolean(),
  progress: Progress.exactOptional(),
  logs: z.array(LogLine),
  /** The handler as a live worker advertises it: for the form of "retry with edited args". */
  handler: HandlerView.exactOptional(),
});
export type TaskDetail = z.infer<typeof TaskDetail>;

export const WorkflowGraphNode = z.object({
  index: z.number(),
  id: z.string(),
  name: z.string(),
  state: TaskStateName.exactOptional(),
  /** Indexes of the tasks that must end before it; through a join for all that report to it. */
  after: z.array(z.number()),
  /** The join it waits for, if any. */
  join: z.number().exactOptional(),
  attempt: z.number().exactOptional(),
  startedMs: Millis.exactOptional(),
  endedMs: Millis.exactOptional(),
});
export const WorkflowJoin = z.object({
  join: z.number(),
  slots: z.number(),
  left: z.number(),
  range: z.tuple([z.number(), z.number()]),
  policy: z.string(),
});
/** One task, or the like ones among many: of one name, at one place of branches that are alike. */
export const WorkflowPictureNode = z.object({
  id: z.string(),
  /** Of the task, or the lowest of those it stands for. */
  index: z.number(),
  name: z.string(),
  count: z.number(),
  /** Absent when it stands for several. */
  taskId: z.string().exactOptional(),
  /** How many are in each state; what has not been made yet is in none. */
  states: z.partialRecord(TaskStateName, z.number()),
});
export type WorkflowPictureNode = z.infer<typeof WorkflowPictureNode>;
export const WorkflowPicture = z.object({
  nodes: z.array(WorkflowPictureNode),
  edges: z.array(z.tuple([z.string(), z.string()])),
});
export type WorkflowPicture = z.infer<typeof WorkflowPicture>;

export const WorkflowDetail = z.object({
  asOf: Decimal,
  row: WorkflowRow,
  /** Absent when the workflow has more than 2 000 tasks: list its members instead. */
  graph: z.object({ tasks: z.array(WorkflowGraphNode), joins: z.array(WorkflowJoin) }).exactOptional(),
  /** The graph for the eye, branches that are alike drawn once. Absent when even so it has more than 500 nodes. */
  picture: WorkflowPicture.exactOptional(),
  /** The source as it was submitted, arguments redacted; absent with the graph. */
  source: z.unknown(),
  members: z.array(TaskRow),
  failures: z.array(z.object({ taskId: z.string(), name: z.string(), attempt: z.number(), error: z.string() })),
});
export type WorkflowDetail = z.infer<typeof WorkflowDetail>;

/** Query of `GET /tasks`. Lists repeat the parameter. */
const many = z.preprocess(
  (value) => (value === undefined ? undefined : Array.isArray(value) ? value : [value]),
  z.array(z.string().max(600)).max(50).optional(),
);
export const TaskListQuery = z.object({
  state: many,
  name: many,
  queue: many,
  node: many,
  tag: many,
  workflow: z.string().max(600).optional(),
  error: z.string().max(100).optional(),
  q: z.string().max(200).optional(),
  from: z.coerce.number().optional(),
  to: z.coerce.number().optional(),
  sort: z.string().max(40).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z.string().max(2_000).optional(),
  /** The board as it was at this revision. */
  rev: Decimal.optional(),
});
export type TaskListQuery = z.infer<typeof TaskListQuery>;

/** How many tasks that match were created when. `from` and `to` of the query are not applied: it is what they are chosen from. */
export const TaskHistogram = z.object({
  revision: Decimal,
  total: z.number(),
  /** Matching tasks that are older than the first bucket. */
  earlier: z.number(),
  fromMs: Millis,
  stepMs: z.number(),
  /** Of each state that occurs, one number per bucket; all of one length. */
  states: z.partialRecord(TaskStateName, z.array(z.number())),
});
export type TaskHistogram = z.infer<typeof TaskHistogram>;

/** Pause and limits of a task name, or of everything. */
export const SettingsView = z.object({
  /** Mod revision, `0` without any: what a pause sends as `revisionSeen`. */
  revision: Decimal,
  paused: z.object({ by: z.string(), sinceMs: Millis, reason: z.string() }).exactOptional(),
  limit: z.number().exactOptional(),
  rate: z.object({ count: z.number(), intervalMs: z.number() }).exactOptional(),
});
export type SettingsView = z.infer<typeof SettingsView>;

/** `GET /queues/:name/detail`: what its row does not say. */
export const QueueDetail = z.object({
  revision: Decimal,
  /** Task names with tasks that have not ended, or that live workers serve in it. */
  names: z.array(
    z.object({
      name: z.string(),
      /** Tasks that have not ended, by state. */
      states: z.record(z.string(), z.number()),
      /** Live nodes that serve this queue and know the name; none: it waits for ever. */
      nodes: z.array(z.string()),
      run: Percentiles.exactOptional(),
      settings: SettingsView,
    }),
  ),
  more: z.number(),
  everything: SettingsView,
  /** Tasks that ended, per second of the last minute, oldest first. */
  ended: z.array(z.number()),
});
export type QueueDetail = z.infer<typeof QueueDetail>;

/** Where one thing may be asked for as it was. */
export const RevQuery = z.object({ rev: Decimal.optional() });

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z.string().max(2_000).optional(),
  q: z.string().max(200).optional(),
});

function page<T extends z.ZodType>(row: T) {
  return z.object({
    /** Every row is as of this revision. */
    revision: Decimal,
    total: z.number(),
    rows: z.array(row),
    /** Give it back as `cursor` for the next page; absent on the last. */
    next: z.string().exactOptional(),
  });
}
export const TaskPage = page(TaskRow);
export type TaskPage = z.infer<typeof TaskPage>;
export const WorkflowPage = page(WorkflowRow);
export const LockPage = page(LockRow);

/** Every mutation. The Idempotency-Key header is the operation id (for submissions: the id of what is made). */
const acting = {
  /** Shown in the audit. */
  reason: z.string().max(500).exactOptional(),
};
const guarded = {
  ...acting,
  /** Mod revision of what the operator saw; anything else is a conflict and nothing is done. */
  revisionSeen: Decimal,
};

export const SubmitTask = z.looseObject({ name: z.unknown(), args: z.unknown() });
export const SubmitWorkflow = z.object({
  workflow: z.unknown(),
  name: z.string().max(200).exactOptional(),
  tags: z.array(z.string().max(200)).max(32).exactOptional(),
  /** `machinery`: the JSON of Machinery's own signatures, chains, groups and chords. */
  format: z.enum(['leasehold', 'machinery']).default('leasehold'),
  ...acting,
});
/** `args` entries that are `{ hidden: true }` keep the stored value at their position. */
export const RetryTask = z.strictObject({ ...guarded, args: z.array(z.unknown()).exactOptional() });
export const CancelTask = z.strictObject({ ...guarded });
export const DeleteTask = z.strictObject({ ...guarded });
export const RescheduleTask = z.strictObject({
  ...guarded,
  etaMs: z.unknown().optional(),
  priority: z.unknown().optional(),
});
export const CancelWorkflow = z.strictObject({ ...guarded });
export const RetryWorkflow = z.strictObject({
  ...guarded,
  /** Retry from this member on, also what had succeeded; absent: failed members only. */
  from: z.int().min(0).exactOptional(),
});
export const PauseQueue = z.strictObject({ reason: z.string().min(1).max(500), revisionSeen: Decimal.exactOptional() });
export const ResumeQueue = z.strictObject({
  reason: z.string().max(500).exactOptional(),
  revisionSeen: Decimal.exactOptional(),
});
export const ForceRelease = z.strictObject({ reason: z.string().min(1).max(500), revisionSeen: Decimal });

/** What a mutation answers. A view that has reached `revision` shows it. */
export const Done = z.object({
  id: z.string(),
  revision: Decimal,
  kind: z.enum(['task', 'workflow']).exactOptional(),
  /** Submissions: false when the id was there already and nothing was written. */
  created: z.boolean().exactOptional(),
});
export type Done = z.infer<typeof Done>;

export const SubmitCheck = z.object({
  /** Bytes of the arguments as stored, and the limit. */
  bytes: z.number(),
  limit: z.number(),
  tasks: z.number(),
  joins: z.number(),
  /** Task names that no live worker advertises, or not in their queue. */
  unknownNames: z.array(z.string()),
  warnings: z.array(z.string()),
});
export type SubmitCheck = z.infer<typeof SubmitCheck>;

export const HandlerList = z.object({
  revision: Decimal,
  handlers: z.array(
    HandlerView.extend({
      /** Live nodes that advertise it. */
      nodes: z.array(z.string()),
      /** Queues served by those nodes. */
      queues: z.array(z.string()),
      /** Nodes advertise it with other arguments or results: a deployment is rolling. */
      differing: z.boolean(),
    }),
  ),
});
export type HandlerList = z.infer<typeof HandlerList>;

export const ClusterStatus = z.object({
  clusterId: z.string(),
  version: z.string(),
  revision: Decimal,
  leaderId: z.string(),
  raftTerm: z.string(),
  dbSizeBytes: z.number(),
  dbSizeInUseBytes: z.number(),
  members: z.array(
    z.object({ id: z.string(), name: z.string(), clientUrls: z.array(z.string()), isLearner: z.boolean() }),
  ),
  alarms: z.array(z.object({ memberId: z.string(), alarm: z.string() })),
  namespace: z.string(),
  quotaBytes: z.number(),
  /** False: etcd did not tell it, and its default is assumed. */
  quotaKnown: z.boolean(),
  /** New work is refused from here on, bytes in use. */
  softLimitBytes: z.number(),
  /** New work is refused now. */
  full: z.boolean(),
  advice: z.enum(['none', 'defragment', 'make-room']),
  /** Older revisions are forgotten; absent when nothing was ever compacted, or it was not learnt in time. */
  compactedRevision: Decimal.exactOptional(),
  feed: z.object({
    state: z.string(),
    revision: Decimal,
    verifiedMs: Millis,
    generation: z.number(),
    relists: z.number(),
    rows: z.number(),
    dropped: z.number(),
  }),
});
export type ClusterStatus = z.infer<typeof ClusterStatus>;

export const SORT_PATTERN = new RegExp(`^-?(${TASK_SORTS.join('|')})$`);
