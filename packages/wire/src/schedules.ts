/** Schedules over REST: one with its workflow and its runs, and what changes one. The rules and their words are core's. */
import { z } from 'zod';
import { Done } from './rest.js';
import { ScheduleRow, TaskStateName, WorkflowStateName } from './rows.js';
import { Decimal, Millis } from './scalars.js';

export const ScheduleRun = z.object({
  id: z.string(),
  kind: z.enum(['task', 'workflow']),
  state: z.union([TaskStateName, WorkflowStateName]),
  /** The instant it was run for; absent for one that was run by hand. */
  instantMs: Millis.exactOptional(),
  createdMs: Millis,
  endedMs: Millis.exactOptional(),
});
export type ScheduleRun = z.infer<typeof ScheduleRun>;

export const ScheduleDetail = z.object({
  asOf: Decimal,
  row: ScheduleRow,
  /** What it submits, arguments redacted. */
  workflow: z.unknown(),
  anchorMs: Millis,
  missedWindowMs: z.number(),
  startMs: Millis.exactOptional(),
  endMs: Millis.exactOptional(),
  count: z.number().exactOptional(),
  jitterMs: z.number().exactOptional(),
  /** Newest first; those that retention has left. */
  runs: z.array(ScheduleRun),
});
export type ScheduleDetail = z.infer<typeof ScheduleDetail>;

const reason = z.string().max(500).exactOptional();

/** Of a schedule that is there, what is left out stays as it is; so does a workflow that was only seen redacted. */
export const UpsertSchedule = z.strictObject({
  spec: z.string().max(500),
  zone: z.string().max(100).exactOptional(),
  workflow: z.unknown().optional(),
  missed: z.string().max(40).exactOptional(),
  overlap: z.string().max(40).exactOptional(),
  /** Bounds, by the core's rules; `null` takes one away. */
  startMs: z.unknown().optional(),
  endMs: z.unknown().optional(),
  count: z.unknown().optional(),
  jitterMs: z.unknown().optional(),
  missedWindowMs: z.unknown().optional(),
  reason,
  /** `0`: it must not be there yet. */
  revisionSeen: Decimal,
});
export const ActOnSchedule = z.strictObject({ reason, revisionSeen: Decimal });
export const RunSchedule = z.strictObject({ reason, revisionSeen: Decimal.exactOptional() });
export const ScheduleDone = Done.extend({ submittedId: z.string() });
export type ScheduleDone = z.infer<typeof ScheduleDone>;
