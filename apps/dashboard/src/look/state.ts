import { Ban, Check, CircleDashed, Clock3, Hourglass, Play, RotateCw, X, type LucideIcon } from 'lucide-react';
import type { TaskState, WorkflowState } from '@leasehold/core/model';
import type { PlainKey } from '../i18n';

/**
 * The one map from a state to its look: badges, facets, charts and graphs all read it. A new state does not compile
 * until it has an icon, a word and a colour here.
 */
export interface Look {
  readonly icon: LucideIcon;
  readonly word: PlainKey;
  /** Class names, spelled out so that Tailwind finds them. */
  readonly text: string;
  readonly fill: string;
  readonly stroke: string;
  readonly soft: string;
}

const TONES = {
  waiting: { text: 'text-waiting', fill: 'fill-waiting', stroke: 'stroke-waiting', soft: 'bg-waiting/12' },
  scheduled: { text: 'text-scheduled', fill: 'fill-scheduled', stroke: 'stroke-scheduled', soft: 'bg-scheduled/12' },
  pending: { text: 'text-pending', fill: 'fill-pending', stroke: 'stroke-pending', soft: 'bg-pending/12' },
  started: { text: 'text-started', fill: 'fill-started', stroke: 'stroke-started', soft: 'bg-started/12' },
  retry: { text: 'text-retry', fill: 'fill-retry', stroke: 'stroke-retry', soft: 'bg-retry/12' },
  success: { text: 'text-success', fill: 'fill-success', stroke: 'stroke-success', soft: 'bg-success/12' },
  failure: { text: 'text-failure', fill: 'fill-failure', stroke: 'stroke-failure', soft: 'bg-failure/12' },
  cancelled: { text: 'text-cancelled', fill: 'fill-cancelled', stroke: 'stroke-cancelled', soft: 'bg-cancelled/12' },
} as const;

export const TASK_LOOK: Readonly<Record<TaskState, Look>> = {
  STARTED: { icon: Play, word: 'state.STARTED', ...TONES.started },
  PENDING: { icon: CircleDashed, word: 'state.PENDING', ...TONES.pending },
  WAITING: { icon: Hourglass, word: 'state.WAITING', ...TONES.waiting },
  SCHEDULED: { icon: Clock3, word: 'state.SCHEDULED', ...TONES.scheduled },
  RETRY: { icon: RotateCw, word: 'state.RETRY', ...TONES.retry },
  FAILURE: { icon: X, word: 'state.FAILURE', ...TONES.failure },
  SUCCESS: { icon: Check, word: 'state.SUCCESS', ...TONES.success },
  CANCELLED: { icon: Ban, word: 'state.CANCELLED', ...TONES.cancelled },
};

/** A workflow borrows the look of the task state that means the same. */
export const WORKFLOW_LOOK: Readonly<Record<WorkflowState, Look>> = {
  RUNNING: { ...TASK_LOOK.STARTED, word: 'workflow.RUNNING' },
  CANCELLING: { ...TASK_LOOK.CANCELLED, word: 'workflow.CANCELLING' },
  SUCCESS: { ...TASK_LOOK.SUCCESS, word: 'workflow.SUCCESS' },
  FAILURE: { ...TASK_LOOK.FAILURE, word: 'workflow.FAILURE' },
  CANCELLED: { ...TASK_LOOK.CANCELLED, word: 'workflow.CANCELLED' },
};

/** In the order in which an operator looks for them. */
export const STATE_ORDER = Object.keys(TASK_LOOK) as readonly TaskState[];
