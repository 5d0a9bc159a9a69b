/** What a schedule submits, as operations of the transaction that fires it. */
import type { Compare, Op } from '../kv/kv.js';
import type { ScheduleRecord, WorkflowRecord } from '../model/records.js';
import type { Taken } from '../model/transition.js';
import { normalizeSignature } from '../model/validate.js';
import { countTasks } from '../model/workflow.js';
import type { Leadership } from './leadership.js';
import { absent, type Store } from './store.js';
import { resolveWorkflow, smallWorkflow, submitWorkflow, taskOps } from './submit.js';

export interface ScheduledRun {
  /** The id is free; and the unique key, if it has one. */
  readonly compare: readonly Compare[];
  readonly ops: readonly Op[];
  /** The unique key that must be free. */
  readonly uniqueKey?: string;
}

/** `parent` of everything a schedule submits. */
export function scheduleParent(scheduleId: string): string {
  return `schedule:${scheduleId}`;
}

/** Undefined when it is too large for one transaction: then it is submitted afterwards, by `submitLarge`. */
export function scheduledOps(
  store: Store,
  schedule: ScheduleRecord,
  id: string,
  taken: Taken,
): ScheduledRun | undefined {
  const { keys } = store;
  const { workflow } = schedule;
  const parent = scheduleParent(schedule.id);
  if (workflow.kind === 'task') {
    const signature = normalizeSignature(workflow.signature, {}, taken.nowMs);
    const { ops } = taskOps(store, signature, taken, id, parent);
    const uniqueKey = signature.unique === undefined ? undefined : keys.unique(signature.unique.key);
    const free = [absent(keys.task(id)), ...(uniqueKey === undefined ? [] : [absent(uniqueKey)])];
    return { compare: free, ops, ...(uniqueKey === undefined ? {} : { uniqueKey }) };
  }
  const resolved = resolveWorkflow(workflow, {}, taken.nowMs);
  const header: WorkflowRecord = {
    id,
    state: 'RUNNING',
    name: schedule.id,
    kind: workflow.kind,
    tasks: countTasks(workflow),
    joins: 0,
    parts: 1,
    version: 1,
    generation: 1,
    by: taken.by,
    createdMs: taken.nowMs,
    updatedMs: taken.nowMs,
    parent,
  };
  const ops = smallWorkflow(store, header, resolved, taken);
  return ops === undefined ? undefined : { compare: [absent(keys.workflow(id)), absent(keys.staged(id))], ops };
}

/**
 * Submits a large workflow under the id of its run, under the leader's fence (I8); doing it again does nothing.
 * @throws LeaseholdError `session-lost` when this leader's term is over.
 */
export async function submitLarge(
  store: Store,
  leader: Leadership,
  schedule: Pick<ScheduleRecord, 'id' | 'workflow'>,
  id: string,
): Promise<void> {
  const parent = scheduleParent(schedule.id);
  await submitWorkflow(store, leader.actor, schedule.workflow, { id, name: schedule.id, parent, fence: leader.fence });
}
