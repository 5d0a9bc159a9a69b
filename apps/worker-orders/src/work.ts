/** What a handler here needs of the attempt it runs in; the worker's task context has all of it, a test makes its own. */
export interface Work {
  readonly taskId: string;
  /** The fencing token: grows with every attempt of a task. */
  readonly token: bigint;
  /** Aborted on cancel, timeout, stop, and when the lease is lost. */
  readonly signal: AbortSignal;
  log(message: string): void;
}
