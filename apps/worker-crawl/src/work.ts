/** What a handler here needs of the attempt it runs in. */
export interface Work {
  /** Aborted on cancel, timeout, stop, and when the lease is lost. */
  readonly signal: AbortSignal;
  log(message: string): void;
}
