/**
 * A worker: claims tasks of its queues and runs their handlers, under a session's lease.
 *
 * V1  It claims only names it has handlers for, and tasks whose labels it has.
 * V2  When its session is over, its handlers are told to stop, what they return is ignored, and it goes on under the next
 *     session.
 * V3  `stop` claims nothing more, waits for the handlers until its deadline, tells the rest to stop, hands back those that
 *     returned, and leaves the others to the end of the lease, which it revokes last. A second call with less time, or
 *     `abort`, does not wait so long.
 */
import type { ReadyEntry } from '../store/edge.js';
import type { Held } from '../store/claim.js';
import { Membership, type Member } from '../store/membership.js';
import { loopRenewer } from '../store/renewer.js';
import { readLocks } from '../store/ready.js';
import type { Session } from '../store/session.js';
import type { Store } from '../store/store.js';
import { Loop } from '../runtime/loop.js';
import { Lifecycle, type Service } from '../runtime/service.js';
import { Audits } from './audits.js';
import { Claimer, type Lane } from './claimer.js';
import { Executor, type Counters } from './executor.js';
import { Intake } from './intake.js';
import { Limits } from './limits.js';
import { Nodes } from './nodes.js';
import { workerSettings, type WorkerOptions, type WorkerSettings } from './options.js';
import { Orders } from './orders.js';
import { Rates } from './rates.js';
import { SettingsView } from './settings.js';
import { ALL_SHARDS, shardsOf } from './shards.js';
import { Statistics } from './statistics.js';
import { Stealing } from './stealing.js';
import { Threads } from './threads.js';

export interface WorkerStatus {
  readonly node?: string;
  readonly draining: boolean;
  readonly running: number;
  /** Handlers that go on although their attempt is over. */
  readonly abandoned: number;
  readonly claimed: number;
  readonly counters: Readonly<Counters>;
}

export class Worker implements Service {
  readonly #store: Store;
  readonly #settings: WorkerSettings;
  readonly #membership: Membership;
  readonly #ownMembership: boolean;
  readonly #lifecycle: Lifecycle;
  readonly #executor: Executor;
  readonly #threads: Threads;
  readonly #claimer: Claimer;
  readonly #lanes: readonly Lane[];
  readonly #stealing: readonly Stealing[];
  readonly #nodes: Nodes;
  readonly #view: SettingsView;
  readonly #limits: Limits;
  readonly #rates: Rates;
  readonly #losses: Loop;
  readonly #audits: Audits;
  readonly #statistics: Statistics;
  readonly #member: Member;
  #describe: ReturnType<Membership['join']> | undefined;
  #orders: Orders | undefined;
  #draining = false;
  #stopCalled = false;
  #stopAt: { readonly atMs: number; readonly hurry: () => void } | undefined;
  #deadlineMs: number;

  constructor(store: Store, options: WorkerOptions) {
    const settings = workerSettings(options);
    const { clock, logger, hooks, handlers, graceMs } = settings;
    this.#store = store;
    this.#settings = settings;
    this.#deadlineMs = settings.stopDeadlineMs;
    this.#ownMembership = options.membership === undefined;
    this.#membership = options.membership ?? new Membership(membershipOptions(store, settings, options));
    this.#threads = new Threads(settings.threads);
    this.#executor = new Executor({ store, clock, logger, handlers, hooks, graceMs, threads: this.#threads });
    this.#limits = new Limits(store, clock, logger, () => this.#claimer.wake());
    this.#rates = new Rates(store, clock, logger, () => this.#claimer.wake());
    this.#view = new SettingsView(store, clock, logger, () => {
      this.#shareOut();
      this.#claimer.settingsChanged();
    });
    this.#nodes = new Nodes(store, clock, logger, { changed: () => this.#shareOut(), lost: () => this.#losses.wake() });
    this.#lanes = settings.queues.map((queue) => this.#makeLane(queue));
    this.#claimer = this.#makeClaimer();
    this.#stealing = this.#lanes.map((lane) => this.#makeStealing(lane));
    this.#losses = new Loop({ name: 'lost nodes', clock, logger, pass: () => this.#readLosses() });
    this.#audits = new Audits({
      store,
      clock,
      logger,
      membership: this.#membership,
      executor: this.#executor,
      everyMs: settings.auditEveryMs,
      sweep: () => this.#orders?.sweep((id) => this.#owns(id)),
    });
    this.#statistics = new Statistics(
      store,
      settings,
      () => this.#membership.session,
      () => this.status,
    );
    this.#member = { opened: (session) => this.#opened(session), owns: (id) => this.#owns(id) };
    this.#lifecycle = new Lifecycle({ name: 'worker', begin: (signal) => this.#begin(signal), end: () => this.#end() });
  }

  /** Resolves when it works; a store that is away is tried again for as long as it takes, in the background. */
  start(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.start(signal);
  }

  /** V3. Idempotent; a call with a nearer deadline brings it forward. */
  stop(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    const deadlineMs = options.deadlineMs ?? this.#settings.stopDeadlineMs;
    this.#deadlineMs = this.#stopCalled ? Math.min(this.#deadlineMs, deadlineMs) : deadlineMs;
    this.#stopCalled = true;
    const at = this.#settings.clock.monotonic() + deadlineMs;
    if (this.#stopAt !== undefined && at < this.#stopAt.atMs) this.#stopAt.hurry();
    return this.#lifecycle.stop();
  }

  /** Stops without waiting for handlers. */
  abort(): Promise<void> {
    return this.stop({ deadlineMs: 0 });
  }

  /** Takes nothing more. Resolves when what it runs is over; it stays up. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#describe?.(this.#contribution());
    await this.#claimer.quiet();
    await this.#executor.quiet();
  }

  get status(): WorkerStatus {
    const node = this.#membership.session?.id;
    return {
      ...(node === undefined ? {} : { node }),
      draining: this.#draining,
      running: this.#executor.running.size,
      abandoned: this.#executor.abandoned,
      claimed: this.#claimer.claimed,
      counters: this.#executor.counters,
    };
  }

  async #begin(signal: AbortSignal): Promise<void> {
    await this.#view.feed.start();
    await this.#nodes.feed.start();
    await this.#losses.start();
    this.#describe = this.#membership.join(this.#member, this.#contribution());
    if (this.#ownMembership) await this.#membership.start();
    await this.#audits.start();
    await this.#statistics.start();
    for (const stealing of this.#stealing) await stealing.start(signal);
  }

  async #end(): Promise<void> {
    const { logger } = this.#settings;
    this.#draining = true;
    this.#executor.refusing = true;
    void this.#describe?.(this.#contribution());
    await Promise.all(this.#stealing.map((stealing) => stealing.stop()));
    await this.#windDown();
    const left = this.#executor.running.size;
    if (left > 0) logger.warn('handlers did not stop; their tasks are left to the end of the lease', { left });
    this.#executor.close();
    await this.#threads.close();
    await this.#audits.stop();
    await this.#statistics.stop();
    await this.#losses.stop();
    await this.#orders?.stop();
    await this.#describe?.(undefined);
    await Promise.all([this.#view.feed.stop(), this.#nodes.feed.stop(), this.#limits.stop(), this.#rates.stop()]);
    await Promise.all(this.#lanes.map(({ intake }) => intake.close()));
    if (this.#ownMembership) await this.#membership.stop();
  }

  /** Waits for the handlers, then tells them to stop, then waits a little more. */
  async #windDown(): Promise<void> {
    const done = this.#claimer.quiet().then(() => this.#executor.quiet());
    await this.#either(done, this.#deadlineMs);
    this.#executor.stopAll('shutdown', 'the worker is stopping');
    await this.#either(done, this.#settings.graceMs, false);
  }

  #either(done: Promise<void>, ms: number, hurried = true): Promise<void> {
    const { clock } = this.#settings;
    return new Promise((resolve) => {
      const finish = (): void => {
        timer.cancel();
        this.#stopAt = undefined;
        resolve();
      };
      const timer = clock.setTimer(ms, finish);
      if (hurried) this.#stopAt = { atMs: clock.monotonic() + ms, hurry: finish };
      void done.then(finish);
    });
  }

  #contribution(): Parameters<Membership['join']>[1] {
    const { queues, handlers, labels } = this.#settings;
    return { queues, handlers: handlers.infos, labels, draining: this.#draining };
  }

  #opened(session: Session): void {
    const { clock, logger } = this.#settings;
    const lost = (): void => {
      this.#executor.stopAll('lost', 'the lease of this worker ended', (execution) => execution.session === session);
    };
    if (session.signal.aborted) return lost();
    session.signal.addEventListener('abort', lost, { once: true });
    void this.#orders?.stop();
    this.#orders = new Orders(this.#store, session, clock, logger, {
      cancel: (id, reason) => this.#tell(id, 'cancelled', reason === '' ? 'cancelled' : reason),
      released: (id) => this.#tell(id, 'released', 'the lock was taken away by an operator'),
      drain: () => void this.drain(),
    });
    this.#shareOut();
    this.#claimer.wake();
  }

  #tell(id: string, what: 'cancelled' | 'released', message: string): void {
    const execution = this.#executor.running.get(id);
    if (execution !== undefined) this.#executor.stop(execution, what, message);
  }

  #owns(id: string): boolean {
    return this.#claimer.owns(id) || this.#executor.running.has(id);
  }

  /** Which shards are this node's now. */
  #shareOut(): void {
    const me = this.#membership.session?.id;
    if (me === undefined || !this.#nodes.listed) return;
    for (const { queue, intake } of this.#lanes) {
      const ordered = this.#view.queue(queue).settings.ordered === true;
      intake.own(ordered ? ALL_SHARDS : shardsOf(me, this.#peers(queue)), ordered);
    }
  }

  /**
   * Nodes that can run whatever this one can: only to them it leaves shards. What only it can run would otherwise lie in
   * shards whose owner passes it over, until somebody happens to steal there.
   */
  #peers(queue: string): readonly string[] {
    const { handlers, labels } = this.#settings;
    const wanted = Object.entries(labels);
    return this.#nodes.serving(queue, (node) => {
      const names = new Set(node.handlers.map(({ name }) => name));
      return (
        handlers.infos.every(({ name }) => names.has(name)) &&
        wanted.every(([label, value]) => node.labels[label] === value)
      );
    });
  }

  /** Nodes were lost: what they held is claimable where no lock is left. */
  async #readLosses(): Promise<void> {
    const locks = await readLocks(this.#store);
    for (const { intake } of this.#lanes) intake.window.unlocked(locks, (id) => this.#owns(id));
    for (const stealing of this.#stealing) stealing.forget();
    this.#claimer.wake();
  }

  #accepts(entry: ReadyEntry): boolean {
    const { handlers, labels } = this.#settings;
    if (!handlers.has(entry.name)) return false;
    return Object.entries(entry.labels ?? {}).every(([label, value]) => labels[label] === value);
  }

  #makeLane({ name, concurrency, weight }: WorkerSettings['queues'][number]): Lane {
    const { clock, logger } = this.#settings;
    const accepts = (entry: ReadyEntry): boolean => this.#accepts(entry);
    const wake = (): void => this.#claimer.wake();
    const intake = new Intake({ store: this.#store, clock, logger, queue: name, accepts, wake });
    return { queue: name, concurrency, weight, intake, active: 0, deciding: 0, turns: 0 };
  }

  #makeClaimer(): Claimer {
    const { clock, logger, concurrency } = this.#settings;
    return new Claimer({
      store: this.#store,
      clock,
      logger,
      settings: this.#view,
      limits: this.#limits,
      rates: this.#rates,
      lanes: this.#lanes,
      concurrency,
      session: () => this.#claimSession(),
      owned: (id) => this.#membership.owns(id),
      run: (session, held) => this.#run(session, held),
    });
  }

  #claimSession(): Session | undefined {
    if (this.#draining || this.#view.feed.status.revision === 0n) return undefined;
    return this.#membership.session;
  }

  async #run(session: Session, held: Held): Promise<void> {
    const { id } = held.task;
    if (!session.isTrusted()) return;
    const run = this.#executor.run(session, held);
    const orders = this.#orders;
    orders?.claimed(id);
    await run;
    orders?.over(id);
  }

  #makeStealing(lane: Lane): Stealing {
    const { clock, logger, stealEveryMs } = this.#settings;
    return new Stealing({
      store: this.#store,
      clock,
      logger,
      lane,
      claimer: this.#claimer,
      accepts: (entry) => this.#accepts(entry),
      session: () => this.#claimSession(),
      nodes: () => this.#peers(lane.queue).length,
      maxMs: stealEveryMs,
    });
  }
}

function membershipOptions(
  store: Store,
  { clock, logger }: WorkerSettings,
  options: WorkerOptions,
): ConstructorParameters<typeof Membership>[0] {
  return {
    store,
    clock,
    logger,
    renewer: options.renewer ?? loopRenewer,
    ...(options.leaseTtlMs === undefined ? {} : { ttlMs: options.leaseTtlMs }),
    ...(options.leaseMarginMs === undefined ? {} : { marginMs: options.leaseMarginMs }),
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.version === undefined ? {} : { version: options.version }),
  };
}

/** Makes a worker; `start` sets it going. @throws LeaseholdError `invalid` for options that cannot be. */
export function createWorker(store: Store, options: WorkerOptions): Worker {
  return new Worker(store, options);
}
