/** Workers: what runs tasks. */
export type { TaskContext } from './context.js';
export { handle, type Handling } from './handlers.js';
export type { WorkerHooks } from './hooks.js';
export type { QueueOptions, WorkerOptions } from './options.js';
export { FinalError, RetryIn, Snooze, Stopped, type StopReason } from './verdicts.js';
export type { IsolatedContext, IsolatedHandler } from './threads.js';
export { createWorker, Worker, type WorkerStatus } from './worker.js';
