/** What a handler here needs of the attempt it runs in. */
export interface Work {
  /** Aborted on cancel, timeout, stop, and when the lease is lost. */
  readonly signal: AbortSignal;
  log(message: string): void;
  /** How far it is: `done` of `total`. */
  progress(done: number, total: number): void;
}
