/** The past: which of it is still there, the board as it was, what differs between two moments, and the stream of changes. */
import { z } from 'zod';
import { TaskStateName } from './rows.js';
import { Decimal, Millis } from './scalars.js';

export const Moment = z.object({
  revision: Decimal,
  /** When that was: the time of the newest task write or clock sample at or before it; absent when neither is known. */
  atMs: Millis.exactOptional(),
  /** Tasks by state. */
  states: z.record(z.string(), z.number()).exactOptional(),
});
export type Moment = z.infer<typeof Moment>;

export const HistorySpan = z.object({
  now: Moment,
  /** Revisions below it were compacted away; `0` when nothing ever was, absent when it was not learnt in time. */
  floor: Decimal.exactOptional(),
  /** Oldest first: where the leader wrote down which revision it was at which time. Only those at or above the floor. */
  samples: z.array(z.object({ revision: Decimal, atMs: Millis })),
});
export type HistorySpan = z.infer<typeof HistorySpan>;

/** `GET /history/moment`: a revision, or the newest one that is known to be at or before a time. */
export const MomentQuery = z.object({ rev: Decimal.optional(), time: z.coerce.number().optional() });

/** `GET /history/difference`: `to` absent is now. */
export const DifferenceQuery = z.object({ from: Decimal, to: Decimal.optional() });

export const DIFFERENCE_ROWS = 500;

export const TaskDifference = z.object({
  id: z.string(),
  name: z.string(),
  queue: z.string(),
  kind: z.enum(['appeared', 'changed', 'vanished']),
  from: TaskStateName.exactOptional(),
  to: TaskStateName.exactOptional(),
});
export type TaskDifference = z.infer<typeof TaskDifference>;

export const Difference = z.object({
  from: Moment,
  to: Moment,
  appeared: z.number(),
  changed: z.number(),
  vanished: z.number(),
  same: z.number(),
  /** How many tasks went from which state to which; a missing side is a task that was not there. Largest first. */
  moves: z.array(
    z.object({ from: TaskStateName.exactOptional(), to: TaskStateName.exactOptional(), count: z.number() }),
  ),
  /** The latest changes first, at most `DIFFERENCE_ROWS`. */
  tasks: z.array(TaskDifference),
  nodesArrived: z.array(z.string()),
  nodesLeft: z.array(z.string()),
  queuesPaused: z.array(z.string()),
  queuesResumed: z.array(z.string()),
  leaders: z.tuple([z.string().nullable(), z.string().nullable()]),
});
export type Difference = z.infer<typeof Difference>;

/** `GET /events`: answers at once when something is there, else waits a while. Lists repeat the parameter. */
export const EventsQuery = z.object({
  /** Only what comes after this revision; absent: the latest that is held. */
  after: Decimal.optional(),
  kind: z
    .preprocess((value) => (value === undefined || Array.isArray(value) ? value : [value]), z.array(z.string().max(40)))
    .optional(),
  /** Beginning of the key, below the namespace: `locks/`. */
  prefix: z.string().max(600).optional(),
  task: z.string().max(600).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(200),
  waitMs: z.coerce.number().int().min(0).max(20_000).default(0),
});
export type EventsQuery = z.output<typeof EventsQuery>;

export const StreamEvent = z.object({
  type: z.enum(['put', 'delete']),
  kind: z.string(),
  /** Below the namespace. */
  key: z.string(),
  /** First write of the key. */
  created: z.boolean(),
  /** Lease it hangs on. */
  lease: Decimal.exactOptional(),
  bytes: z.number(),
  /** The task it is about. */
  task: z.string().exactOptional(),
  /** Redacted; a text when it is no JSON or was cut. Absent for deletes, payload keys, and whoever may not see payloads. */
  value: z.unknown().optional(),
  cut: z.literal(true).exactOptional(),
});
export type StreamEvent = z.infer<typeof StreamEvent>;

/** All that one transaction changed, as far as the filter lets through. */
export const StreamGroup = z.object({
  revision: Decimal,
  seenMs: Millis.exactOptional(),
  events: z.array(StreamEvent),
  /** Changes of the same transaction that the filter hides. */
  hidden: z.number(),
});
export type StreamGroup = z.infer<typeof StreamGroup>;

export const EventPage = z.object({
  /** Looked through up to here: the next `after`. */
  revision: Decimal,
  /** Changes at or below it are no longer held. */
  heldFrom: Decimal,
  /** Oldest first. */
  groups: z.array(StreamGroup),
  /** What lies between the `after` that was sent and these groups was dropped: too many changes, or a break. */
  missed: z.boolean(),
});
export type EventPage = z.infer<typeof EventPage>;
