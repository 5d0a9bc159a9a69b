/** What the parts of the driver share. */
import type { Compare, Op } from '../kv/kv.js';
import { LeaseholdError } from '../model/errors.js';
import type { Chore } from '../model/records.js';
import type { Taken } from '../model/transition.js';
import type { CompiledWorkflow } from '../model/workflow.js';
import type { Fence } from './commit.js';
import type { SeenWorkflow } from './graph.js';
import type { Store } from './store.js';

/** What every step of the driver works on. */
export interface DriveContext {
  readonly store: Store;
  readonly fence: Fence;
  readonly taken: Taken;
  readonly graph: CompiledWorkflow;
  readonly workflow: SeenWorkflow;
  /** Joins to be looked at: they may be complete. */
  readonly joins: Set<number>;
  /** Joins whose remaining members are to be stopped, once for all failures of this pass. */
  readonly stop: Map<number, string>;
}

export interface SeenChore {
  readonly key: string;
  readonly revision: bigint;
  readonly chore: Chore;
}

export function chunks<T>(items: readonly T[], size: number): T[][] {
  const out: T[][] = [];
  for (let at = 0; at < items.length; at += size) out.push(items.slice(at, at + size));
  return out;
}

/**
 * Commits one step; false when a guard did not hold: somebody else was there first, or something changed, or, after a lost
 * reply, it was this very step (C4). Which of them is not guessed: the caller looks again, and finds done what is done.
 * @throws LeaseholdError `session-lost` when the fence does not hold: to try again under it would never end.
 */
export async function step(
  context: DriveContext,
  compare: readonly Compare[],
  success: readonly Op[],
): Promise<boolean> {
  const result = await context.store.committer.submit(context.fence, { compare, success });
  if (result.kind === 'fenced') {
    throw new LeaseholdError('session-lost', `fence ${context.fence.id} does not hold any more`, {
      fence: context.fence.id,
    });
  }
  return result.succeeded;
}
