/** What a handler is given beside its arguments. */
import { tokenNumber, type FencingToken } from '../model/task.js';
import type { TaskRecord } from '../model/task.js';
import { FinalError, RetryIn, Snooze, type Stopped } from './verdicts.js';

export interface TaskContext {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  /** Which run of the task this is, from 1. Only grows, also over operators' retries. */
  readonly attempt: number;
  /** Failed attempts before this one. */
  readonly failures: number;
  /**
   * Grows with every attempt of the task. Hand it to whatever your side effects write to, and have that refuse a smaller
   * one: then an attempt that lost its lease cannot undo the work of the next.
   */
  readonly token: FencingToken;
  /** The token as one number, for stores that compare numbers. */
  readonly tokenNumber: bigint;
  /** Aborts on timeout, cancel, loss of the lease and shutdown; its reason is a `Stopped` that says which. */
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  /** Wall clock at which the attempt will be stopped. */
  readonly deadlineMs: number;
  /** Live on the board: 0 to 1, and a word. Only the last one of a moment is kept. */
  progress(fraction: number, message?: string): void;
  /** One line of the attempt's log; kept up to a limit for each attempt. */
  log(text: string): void;
  /** Fails this attempt; the next one begins after so long. Throws. */
  retryIn(ms: number, cause?: unknown): never;
  /** Not now: runs it again after so long, which is no failure. Throws. */
  snooze(ms: number): never;
  /** Fails the task; no retry helps. Throws. */
  fail(message: string, cause?: unknown): never;
}

export interface ContextHooks {
  progress(fraction: number, message: string | undefined): void;
  log(text: string): void;
}

export class RunContext implements TaskContext {
  readonly token: FencingToken;
  readonly deadlineMs: number;
  readonly #task: TaskRecord;
  readonly #hooks: ContextHooks;
  #controller: AbortController | undefined;
  #stopped: Stopped | undefined;

  constructor(task: TaskRecord, token: FencingToken, deadlineMs: number, hooks: ContextHooks) {
    this.#task = task;
    this.token = token;
    this.deadlineMs = deadlineMs;
    this.#hooks = hooks;
  }

  get id(): string {
    return this.#task.id;
  }
  get name(): string {
    return this.#task.name;
  }
  get queue(): string {
    return this.#task.queue;
  }
  get attempt(): number {
    return this.#task.attempt;
  }
  get failures(): number {
    return this.#task.failures;
  }
  get headers(): Readonly<Record<string, string>> {
    return this.#task.headers ?? {};
  }
  get tokenNumber(): bigint {
    return tokenNumber(this.token);
  }

  /** Made when it is asked for: most handlers never do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#stopped !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#stopped);
    return this.#controller.signal;
  }

  /** Why it was told to stop; the first reason stands. */
  get stopped(): Stopped | undefined {
    return this.#stopped;
  }

  stop(stopped: Stopped): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = stopped;
    this.#controller?.abort(stopped);
  }

  /** Functions of their own, so that a handler may take them out of its context: `({ sku }, { progress }) => ...`. */
  readonly progress = (fraction: number, message?: string): void => this.#hooks.progress(fraction, message);
  readonly log = (text: string): void => this.#hooks.log(text);
  readonly retryIn = retryIn;
  readonly snooze = snooze;
  readonly fail = fail;
}

function retryIn(ms: number, cause?: unknown): never {
  throw new RetryIn(ms, { cause });
}

function snooze(ms: number): never {
  throw new Snooze(ms);
}

function fail(message: string, cause?: unknown): never {
  throw new FinalError(message, { cause });
}
