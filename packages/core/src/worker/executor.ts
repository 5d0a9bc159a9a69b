/**
 * Runs held tasks: arguments, handler, outcome, settling. One `Execution` for each, from its claim until it is settled or
 * given up.
 *
 * X1  A handler runs only while its session is trusted; when trust ends it is told to stop, and whatever it returns is
 *     ignored.
 * X2  An attempt ends once: with the first of its handler's end, its timeout (plus a grace to stop in), its loss. A handler
 *     that goes on afterwards is abandoned: it takes no place, and the token of the next attempt fences its side effects.
 * X3  An outcome is never dropped while the session lives: settling is tried again until the store answers.
 * X4  Only a handler that really returned is handed back at shutdown.
 */
import { bindArgs } from '../model/bind.js';
import { LeaseholdError } from '../model/errors.js';
import type { AttemptOutcome } from '../model/outcome.js';
import type { TypedValue } from '../model/signature.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Held } from '../store/claim.js';
import { resolveInputs } from '../store/inputs.js';
import type { Session } from '../store/session.js';
import type { Store } from '../store/store.js';
import { RunContext } from './context.js';
import { Deadlines } from './deadlines.js';
import type { Handlers } from './handlers.js';
import type { WorkerHooks } from './hooks.js';
import { Notebook, type Page } from './notebook.js';
import { outcomeOfReturn, RecentResults } from './results.js';
import { settleAttempt, type Settled } from './settling.js';
import type { Threads } from './threads.js';
import { finalFailure, outcomeOfThrown, Stopped, timedOut, type Situation, type StopReason } from './verdicts.js';

export interface ExecutorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly handlers: Handlers;
  readonly hooks: WorkerHooks;
  readonly threads: Threads;
  /** How long a handler may take to stop when its time is over, ms. */
  readonly graceMs: number;
}

export interface Execution {
  readonly held: Held;
  readonly session: Session;
  readonly context: RunContext;
  readonly page: Page;
  phase: 'running' | 'settling' | 'over';
}

/** Counters since the start. */
export interface Counters {
  succeeded: number;
  failed: number;
  retried: number;
  handedBack: number;
  superseded: number;
}

/** X2: resolves the attempt; the first one counts. `undefined`: nothing is to be settled. */
type Finish = (outcome: AttemptOutcome | undefined) => void;

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #deadlines: Deadlines;
  readonly #notebook: Notebook;
  readonly #recent = new RecentResults();
  readonly #running = new Map<string, Execution>();
  readonly #finishes = new Map<Execution, Finish>();
  readonly #waiting = new Set<() => void>();
  readonly counters: Counters = { succeeded: 0, failed: 0, retried: 0, handedBack: 0, superseded: 0 };
  /** Handlers that go on although their attempt is over. */
  abandoned = 0;
  /** Nothing is begun any more: what was claimed meanwhile goes back. */
  refusing = false;
  #closed = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.clock);
    this.#notebook = new Notebook(options.store, options.clock, options.logger);
  }

  get running(): ReadonlyMap<string, Execution> {
    return this.#running;
  }

  /** Runs it to its end. Never rejects. */
  async run(session: Session, held: Held): Promise<void> {
    const execution = this.#begin(session, held);
    const { id } = held.task;
    this.#running.set(id, execution);
    try {
      const outcome = await this.#attempt(execution);
      execution.phase = 'settling';
      if (outcome !== undefined) await this.#settle(execution, outcome);
    } catch (error) {
      this.#options.logger.error('an attempt could not be carried through', { task: id, error });
    } finally {
      execution.phase = 'over';
      if (this.#running.get(id) === execution) this.#running.delete(id);
      this.#tellIfQuiet();
    }
  }

  /** Tells a handler to stop. What that means for its attempt is decided when it ends. */
  stop(execution: Execution, reason: StopReason, message: string): void {
    if (execution.phase === 'over') return;
    execution.context.stop(new Stopped(reason, message));
    if (reason === 'lost' || reason === 'released') this.#finishes.get(execution)?.(undefined);
    if (reason === 'timeout') this.#abandonLater(execution);
  }

  stopAll(reason: StopReason, message: string, which: (execution: Execution) => boolean = () => true): void {
    for (const execution of this.#running.values()) if (which(execution)) this.stop(execution, reason, message);
  }

  /** Resolves when nothing runs, and no abandoned handler goes on. */
  quiet(): Promise<void> {
    if (this.#running.size === 0 && this.abandoned === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Waits for nothing more: what still runs is left to the end of the lease. */
  close(): void {
    this.#closed = true;
    for (const finish of this.#finishes.values()) finish(undefined);
    this.#deadlines.close();
    this.#notebook.close();
  }

  #begin(session: Session, held: Held): Execution {
    const { store } = this.#options;
    const { task, token } = held;
    const byTimeout = store.now() + task.timeoutMs;
    const deadlineMs = task.deadlineMs === undefined ? byTimeout : Math.min(byTimeout, task.deadlineMs);
    const page = this.#notebook.open(session, held);
    const context = new RunContext(task, { epoch: session.epoch, revision: token }, deadlineMs, page);
    return { held, session, context, page, phase: 'running' };
  }

  #attempt(execution: Execution): Promise<AttemptOutcome | undefined> {
    return new Promise((resolve) => {
      const leftMs = execution.context.deadlineMs - this.#options.store.now();
      const deadline = this.#deadlines.set(Math.max(0, leftMs), () =>
        this.stop(execution, 'timeout', timeoutMessage(execution.held)),
      );
      let open = true;
      const close = (outcome: AttemptOutcome | undefined): void => {
        open = false;
        deadline.clear();
        this.#finishes.delete(execution);
        resolve(outcome);
      };
      this.#finishes.set(execution, (outcome) => {
        if (open) this.abandoned += 1;
        close(outcome);
      });
      const ended = (outcome: AttemptOutcome | undefined): void => {
        if (open) return close(outcome);
        this.abandoned -= 1;
        this.#tellIfQuiet();
        return undefined;
      };
      this.#handler(execution).then(ended, (error: unknown) => {
        this.#options.logger.error('a handler could not be run', { task: execution.held.task.id, error });
        ended(undefined);
      });
    });
  }

  async #handler(execution: Execution): Promise<AttemptOutcome | undefined> {
    const { handlers, hooks, store } = this.#options;
    const { held, context } = execution;
    const handling = handlers.find(held.task.name);
    if (handling === undefined || this.refusing) return { kind: 'hand-back' };
    let args: unknown;
    try {
      args = await bindArgs(handling.definition, await this.#args(execution), held.task.secrets);
    } catch (error) {
      if (!execution.session.isTrusted() || this.#closed) return undefined;
      return this.#refusedArgs(error, this.#situation(execution));
    }
    if (context.stopped?.reason === 'shutdown') return { kind: 'hand-back' };
    if (!execution.session.isTrusted()) return undefined;
    try {
      if (hooks.before !== undefined) await hooks.before(context);
      const returned = await handling.run(args, context, this.#options.threads);
      if (context.stopped?.reason === 'timeout') return timedOut(this.#situation(execution));
      return outcomeOfReturn(handling.definition, returned, store.limits.payloadBytes, this.#situation(execution));
    } catch (thrown) {
      return outcomeOfThrown(thrown, this.#situation(execution));
    }
  }

  /** Own arguments, then the results of what the task waited for. */
  #args({ held }: Execution): readonly TypedValue[] | Promise<readonly TypedValue[]> {
    const own = held.payload?.args ?? held.task.args ?? [];
    const place = held.task.workflow;
    if (place?.inputs === undefined) return own;
    return this.#inputs(held, place.generation).then((inputs) => [...own, ...inputs]);
  }

  async #inputs(held: Held, generation: number): Promise<readonly TypedValue[]> {
    for (let tries = 0; ; tries++) {
      try {
        return await resolveInputs(this.#options.store, held.task, this.#recent.of(generation));
      } catch (error) {
        if (error instanceof LeaseholdError || tries >= INPUT_TRIES || this.#closed) throw error;
        await this.#options.clock.sleep(Math.min(2_000, 50 * 2 ** tries));
      }
    }
  }

  /** Arguments that do not fit will not fit next time; a store that does not answer is worth another attempt. */
  #refusedArgs(error: unknown, at: Situation): AttemptOutcome {
    if (error instanceof LeaseholdError && error.code === 'invalid') return finalFailure('BadArgumentError', error, at);
    return outcomeOfThrown(error, at);
  }

  #situation({ held, session, context }: Execution): Situation {
    const base = { attempt: held.task.attempt, node: session.id, nowMs: this.#options.store.now() };
    return context.stopped === undefined ? base : { ...base, stopped: context.stopped };
  }

  #abandonLater(execution: Execution): void {
    this.#deadlines.set(this.#options.graceMs, () => {
      const finish = this.#finishes.get(execution);
      if (finish === undefined) return;
      this.#options.logger.warn('a handler did not stop at its timeout and is abandoned', {
        task: execution.held.task.id,
        name: execution.held.task.name,
      });
      finish(timedOut(this.#situation(execution)));
    });
  }

  async #settle(execution: Execution, outcome: AttemptOutcome): Promise<void> {
    const { held, page, session } = execution;
    if (page.pending) await this.#notebook.flush(page);
    const settled = await settleAttempt(this.#options, session, held, outcome, () => this.#closed);
    this.#count(settled);
    if (settled.kind !== 'settled') return;
    const { task } = settled;
    if (task.workflow?.cont.next !== undefined && outcome.kind === 'success') {
      this.#recent.put(task.id, task.workflow.generation, outcome.results);
    }
    await this.#tellHooks(execution, settled);
  }

  async #tellHooks({ context }: Execution, { task }: Extract<Settled, { kind: 'settled' }>): Promise<void> {
    const { hooks, logger } = this.#options;
    try {
      if (task.error !== undefined && task.state !== 'SUCCESS') await hooks.error?.(context, task.error, task.state);
      await hooks.after?.(context, task.state);
    } catch (error) {
      logger.error('a worker hook failed', { task: task.id, error });
    }
  }

  #count(settled: Settled): void {
    const { counters } = this;
    if (settled.kind === 'superseded') counters.superseded += 1;
    if (settled.kind !== 'settled') return;
    if (settled.task.state === 'SUCCESS') counters.succeeded += 1;
    else if (settled.task.state === 'RETRY') counters.retried += 1;
    else if (settled.task.state === 'PENDING') counters.handedBack += 1;
    else counters.failed += 1;
  }

  #tellIfQuiet(): void {
    if (this.#running.size > 0 || this.abandoned > 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function timeoutMessage({ task }: Held): string {
  return `the attempt ran longer than its timeout of ${task.timeoutMs} ms, or past its deadline`;
}

const INPUT_TRIES = 10;
