/**
 * What else an ending edge writes, in its own transaction (I4): the next step of a chain, the member's leaving its
 * barrier, a chore for the workflow's driver, callbacks, and the freeing of slots. Used by every edge that ends a task:
 * settle, rescue, cancel, expire.
 */
import { prefixEnd, type Compare, type Op } from '../kv/kv.js';
import type { Chore, MemberFailure } from '../model/records.js';
import type { TypedValue } from '../model/signature.js';
import { isEnded } from '../model/state.js';
import type { TaskPayload, TaskRecord, WorkflowPlace } from '../model/task.js';
import { released, type Taken } from '../model/transition.js';
import type { Seen } from './claim.js';
import { edgeOps } from './edge.js';
import { callbackOps } from './callbacks.js';
import { choreOp } from './submit.js';
import { del, modIs, versionIs, type Store } from './store.js';

export interface EndingContext {
  /** Needed when the record says that it has callbacks. */
  readonly payload?: TaskPayload;
  /** Successors as read; only when all of them are here is the hand-off inline. */
  readonly successors?: readonly Seen[];
  /** The workflow is being cancelled: nothing is handed on. */
  readonly halted?: boolean;
  /** Full results, also those too large for the record: callbacks take them as arguments. */
  readonly results?: readonly TypedValue[];
}

export interface Ending {
  readonly compare: readonly Compare[];
  readonly ops: readonly Op[];
  /** Position in `ops` of the count of members still awaited; 0 means: the driver has a join to complete. */
  readonly countAt?: number;
  /** A chore was written: the driver has something to do whatever the count says. */
  readonly chore: boolean;
}

const NOTHING: Ending = { compare: [], ops: [], chore: false };

/** Frees what a STARTED record holds; `slots` are leased keys that only their holder or an ended lease removes. */
export function slotOps(store: Store, before: TaskRecord): Op[] {
  return (before.slots ?? []).map((slot) => {
    const at = slot.lastIndexOf('/');
    return del(store.keys.slot(slot.slice(0, at), Number(slot.slice(at + 1))));
  });
}

export function endingOps(store: Store, after: TaskRecord, taken: Taken, context: EndingContext): Ending {
  if (!isEnded(after.state)) return NOTHING;
  const callbacks = callbackOps(store, after, taken, context);
  const place = after.workflow;
  if (place === undefined) return { ...NOTHING, ops: callbacks };
  const onward = continues(after, place) && context.halted !== true;
  const flow = onward ? onwardOps(store, after, place, taken, context) : choreEnding(store, after, place, context);
  return { ...flow, ops: [...flow.ops, ...callbacks] };
}

/** A success goes on; so does anything else in a chain that ignores failures. */
function continues(task: TaskRecord, place: WorkflowPlace): boolean {
  return task.state === 'SUCCESS' || (place.cont.policy === 'ignore' && task.cause !== 'stopped');
}

function onwardOps(store: Store, task: TaskRecord, place: WorkflowPlace, taken: Taken, context: EndingContext): Ending {
  const { keys } = store;
  const guard = versionIs(keys.workflow(place.id), place.version);
  const { next, up } = place.cont;
  if (next === undefined) {
    const barrier = keys.barrierOf(place.id, up.join);
    return {
      compare: [guard],
      ops: [
        del(keys.barrier(place.id, up.join, up.slot)),
        { kind: 'range', key: barrier, rangeEnd: prefixEnd(barrier), countOnly: true },
      ],
      countAt: 1,
      chore: false,
    };
  }
  const successors = context.successors ?? [];
  const inline = successors.length === next.entries.length && next.joins === undefined;
  if (!inline) {
    return { compare: [guard], ops: [choreOp(store, place.id, { kind: 'release', index: place.index })], chore: true };
  }
  const waiting = successors.filter((successor) => successor.task.state === 'WAITING');
  return {
    compare: [guard, ...waiting.map(({ task: { id }, revision }) => modIs(keys.task(id), revision))],
    ops: waiting.flatMap((successor) =>
      edgeOps(keys, successor.task, released(successor.task, { ...taken, by: `task:${task.id}` }, place.version)),
    ),
    chore: false,
  };
}

function choreEnding(store: Store, task: TaskRecord, place: WorkflowPlace, context: EndingContext): Ending {
  const failure: MemberFailure = {
    taskId: task.id,
    name: task.name,
    attempt: task.attempt,
    error: task.error === undefined ? '' : `${task.error.type}: ${task.error.message}`.slice(0, 300),
  };
  const chore: Chore = {
    kind: 'ended',
    index: place.index,
    ...(task.state === 'SUCCESS' ? {} : { failure }),
    ...(context.halted === true ? { halt: true } : {}),
  };
  return { compare: [], ops: [choreOp(store, place.id, chore)], chore: true };
}
