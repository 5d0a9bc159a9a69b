/** The states of a task. RECEIVED of Machinery is the claim itself; it has no state of its own. */
export const TASK_STATES = [
  'WAITING',
  'SCHEDULED',
  'PENDING',
  'STARTED',
  'RETRY',
  'SUCCESS',
  'FAILURE',
  'CANCELLED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** States that end a task. Only an explicit, recorded retry leaves them (invariant I7). */
export const ENDED_STATES = ['SUCCESS', 'FAILURE', 'CANCELLED'] as const;
export type EndedState = (typeof ENDED_STATES)[number];

export function isEnded(state: TaskState): state is EndedState {
  return state === 'SUCCESS' || state === 'FAILURE' || state === 'CANCELLED';
}

/** The states of a workflow. CANCELLING: nothing new starts, running members are being ended. */
export const WORKFLOW_STATES = ['RUNNING', 'CANCELLING', 'SUCCESS', 'FAILURE', 'CANCELLED'] as const;
export type WorkflowState = (typeof WORKFLOW_STATES)[number];

export function isWorkflowEnded(state: WorkflowState): boolean {
  return state === 'SUCCESS' || state === 'FAILURE' || state === 'CANCELLED';
}
