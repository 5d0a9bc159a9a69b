/** What a client may ask to follow: a view, a filter, a sort and a window. */
import { z } from 'zod';
import {
  BulkRow,
  ErrorRow,
  LockRow,
  NodeRow,
  QueueRow,
  ScheduleRow,
  TaskRow,
  TaskStateName,
  WorkflowRow,
  WorkflowStateName,
} from './rows.js';
import { SummarySection } from './summary.js';
import { Decimal, Millis } from './scalars.js';
import { QUERY_LIMITS, TASK_SORTS, type ViewName } from './constants.js';

const values = z.array(z.string().min(1).max(600)).max(QUERY_LIMITS.values);
const text = z.string().max(QUERY_LIMITS.text);

/** All given parts must hold; of the values of one part, any. */
export const TaskFilter = z.strictObject({
  state: z.array(TaskStateName).max(8).exactOptional(),
  name: values.exactOptional(),
  queue: values.exactOptional(),
  node: values.exactOptional(),
  tag: values.exactOptional(),
  workflow: z.string().max(600).exactOptional(),
  /** An error's fingerprint. */
  error: z.string().max(100).exactOptional(),
  /** Part of an id, name, argument preview or error message, case-insensitive. */
  q: text.exactOptional(),
  /** Created at or after, and before. */
  from: Millis.exactOptional(),
  to: Millis.exactOptional(),
  ids: z.array(z.string().max(600)).max(QUERY_LIMITS.ids).exactOptional(),
});
export type TaskFilter = z.infer<typeof TaskFilter>;

/** Filter of the small views; parts that a view does not have are ignored. */
export const RowFilter = z.strictObject({
  q: text.exactOptional(),
  queue: values.exactOptional(),
  node: values.exactOptional(),
  state: z.array(WorkflowStateName).max(8).exactOptional(),
  ids: z.array(z.string().max(600)).max(QUERY_LIMITS.ids).exactOptional(),
});
export type RowFilter = z.infer<typeof RowFilter>;

export const TaskOrder = z.strictObject({ by: z.enum(TASK_SORTS), desc: z.boolean() });
export type TaskOrder = z.infer<typeof TaskOrder>;
export const Window = z.strictObject({
  offset: z.int().min(0).max(QUERY_LIMITS.offset),
  limit: z.int().min(1).max(QUERY_LIMITS.window),
});
export type Window = z.infer<typeof Window>;

/** The board as it was at this revision: one snapshot, and no changes. Absent: the live board. */
const rev = Decimal.exactOptional();

export const LiveQuery = z.discriminatedUnion('view', [
  z.strictObject({ view: z.literal('tasks'), filter: TaskFilter, order: TaskOrder, window: Window, rev }),
  z.strictObject({
    view: z.enum(['nodes', 'locks', 'queues', 'workflows', 'errors', 'schedules', 'bulks', 'summary']),
    filter: RowFilter,
    window: Window,
    rev,
  }),
]);
export type LiveQuery = z.infer<typeof LiveQuery>;

/** The rows of each view. The natural orders: nodes and queues by name, locks by age, workflows and errors newest first. */
export interface RowOf {
  readonly tasks: TaskRow;
  readonly nodes: NodeRow;
  readonly locks: LockRow;
  readonly queues: QueueRow;
  readonly workflows: WorkflowRow;
  readonly errors: ErrorRow;
  readonly schedules: ScheduleRow;
  readonly bulks: BulkRow;
  readonly summary: SummarySection;
}
export type AnyRow = RowOf[ViewName];

export const ROW_SCHEMAS = Object.freeze({
  tasks: TaskRow,
  nodes: NodeRow,
  locks: LockRow,
  queues: QueueRow,
  workflows: WorkflowRow,
  errors: ErrorRow,
  schedules: ScheduleRow,
  bulks: BulkRow,
  summary: SummarySection,
}) satisfies Record<ViewName, z.ZodType>;
