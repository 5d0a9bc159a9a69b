/**
 * The leader of a namespace: an election, and while this node is elected, the duties. Each duty is a service of its own
 * and every write of it is fenced by the term, so that a leader that does not know that it is over does no harm.
 */
import type { LeaderHealth } from '../model/leader-health.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Lifecycle, type Service } from '../runtime/service.js';
import type { Leadership, SeenLeader } from '../store/leadership.js';
import type { Store } from '../store/store.js';
import { Election, type ElectionSession } from './election.js';
import { Expirer } from './expirer.js';
import { Janitor, type JanitorOptions } from './janitor.js';
import { Pacer } from './pacer.js';
import { Promoter } from './promoter.js';
import { Repairer, type RepairerOptions } from './repairer.js';
import { Rescuer, type RescuerOptions } from './rescuer.js';
import { Scheduler, type SchedulerOptions } from './scheduler.js';
import type { Term } from './term.js';

export interface LeaderOptions {
  readonly store: Store;
  /** The node's session: its lease is the office's. One leader service lives as long as one session. */
  readonly session: ElectionSession;
  readonly clock: Clock;
  readonly logger: Logger;
  /** False: asks for no office now (a draining node). */
  readonly candidate?: () => boolean;
  readonly rescuer?: RescuerOptions;
  readonly repairer?: RepairerOptions;
  readonly scheduler?: SchedulerOptions;
  readonly janitor?: JanitorOptions;
}

interface Duties {
  readonly promoter: Promoter;
  readonly expirer: Expirer;
  readonly pacer: Pacer;
  readonly rescuer: Rescuer;
  readonly repairer: Repairer;
  readonly scheduler: Scheduler;
  readonly janitor: Janitor;
}

export class Leader implements Service {
  readonly #options: LeaderOptions;
  readonly #election: Election;
  readonly #lifecycle: Lifecycle;
  #duties: Duties | undefined;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#election = new Election({
      ...options,
      beginTerm: (leadership, signal) => this.#beginTerm(leadership, signal),
      endTerm: () => this.#endTerm(),
    });
    this.#lifecycle = new Lifecycle({
      name: 'leader',
      begin: (signal) => this.#election.start(signal),
      end: () => this.#election.stop(),
    });
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.start(signal);
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /** True while this node leads, as far as it knows. */
  get elected(): boolean {
    return this.#election.leadership !== undefined;
  }

  /** Whoever leads, as last seen. */
  get seen(): SeenLeader | undefined {
    return this.#election.leader;
  }

  /** How the duties do; undefined while this node does not lead. Goes into its `stats/` record. */
  health(): LeaderHealth | undefined {
    const leadership = this.#election.leadership;
    const duties = this.#duties;
    if (leadership === undefined || duties === undefined) return undefined;
    return {
      sinceMs: leadership.sinceMs,
      ...duties.promoter.health(),
      ...duties.rescuer.health(),
      ...duties.repairer.health(),
      ...duties.scheduler.health(),
      ...duties.janitor.health(),
    };
  }

  async #beginTerm(leadership: Leadership, signal: AbortSignal): Promise<void> {
    const duties = this.#makeDuties(leadership);
    this.#duties = duties;
    for (const duty of Object.values(duties) as Service[]) await duty.start(signal);
  }

  async #endTerm(): Promise<void> {
    const duties = this.#duties;
    this.#duties = undefined;
    if (duties !== undefined) await Promise.all((Object.values(duties) as Service[]).map((duty) => duty.stop()));
  }

  #makeDuties(leadership: Leadership): Duties {
    const { store, clock, logger, rescuer, repairer, scheduler, janitor } = this.#options;
    const term: Term = {
      store,
      leadership,
      clock,
      logger: logger.child({ node: leadership.node }),
      doubt: () => this.#election.doubt(),
      drive: (drive) => repairing.drive(drive),
    };
    const storage = janitor?.storage;
    const admits = storage === undefined ? undefined : () => storage.admits();
    const repairing = new Repairer(term, repairer);
    return {
      promoter: new Promoter(term),
      expirer: new Expirer(term),
      pacer: new Pacer(term),
      rescuer: new Rescuer(term, { ...rescuer, onNodeLost: () => repairing.scanSoon() }),
      repairer: repairing,
      scheduler: new Scheduler(term, { ...(admits === undefined ? {} : { admits }), ...scheduler }),
      janitor: new Janitor(term, janitor),
    };
  }
}
