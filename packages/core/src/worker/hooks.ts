import type { TaskState } from '../model/state.js';
import type { TaskError } from '../model/task.js';
import type { TaskContext } from './context.js';

/** What is called around every attempt of a worker, whatever its task. */
export interface WorkerHooks {
  /** Before the handler; if it throws, the attempt failed with that. */
  readonly before?: (context: TaskContext) => void | Promise<void>;
  /** After the outcome was committed: the state that the task has now. */
  readonly after?: (context: TaskContext, state: TaskState) => void | Promise<void>;
  /** After an outcome with an error was committed, before `after`. */
  readonly error?: (context: TaskContext, error: TaskError, state: TaskState) => void | Promise<void>;
}
