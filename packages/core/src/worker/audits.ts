/**
 * Every few seconds: what etcd says this session holds against what this process knows. A lock that nobody here runs (the
 * answer to its claim got lost) is handed back; a handler whose lock is gone is told to stop; and a session that another
 * epoch has ended (etcd was restored) is found out, although its lease is still kept.
 */
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Loop } from '../runtime/loop.js';
import type { Membership } from '../store/membership.js';
import type { Session } from '../store/session.js';
import { settle } from '../store/settle.js';
import type { Store } from '../store/store.js';
import { auditLocks, readStray, type Audit } from '../store/strays.js';
import type { Executor } from './executor.js';

export interface AuditsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly membership: Membership;
  readonly executor: Executor;
  readonly everyMs: number;
  /** Called after each audit. */
  readonly sweep: () => void;
}

export class Audits {
  readonly #options: AuditsOptions;
  readonly #loop: Loop;
  /** Strays of the last audit: an answer may just have been on its way, so one sight is not enough. */
  #suspects: ReadonlySet<string> = new Set();

  constructor(options: AuditsOptions) {
    this.#options = options;
    const { clock, logger, everyMs } = options;
    this.#loop = new Loop({ name: 'stray audit', clock, logger, pass: () => this.#pass(), intervalMs: everyMs });
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #pass(): Promise<void> {
    const { store, membership, sweep } = this.#options;
    const { session } = membership;
    if (session === undefined) return;
    await session.check();
    const audit = await auditLocks(store, session);
    if (!session.isTrusted()) return;
    await this.#handBackStrays(session, audit);
    this.#stopUnheld(session, audit);
    sweep();
  }

  async #handBackStrays(session: Session, { locked }: Audit): Promise<void> {
    const { store, membership, logger } = this.#options;
    const strays = [...locked].filter((id) => !membership.owns(id));
    const certain = strays.filter((id) => this.#suspects.has(id));
    this.#suspects = new Set(strays);
    for (const id of certain) {
      const held = await readStray(store, session, id);
      if (held === undefined || membership.owns(id)) continue;
      logger.warn('a lock that nobody here runs is handed back', { task: id });
      await settle(store, session.holder, held, { kind: 'hand-back' });
    }
  }

  /** Only locks from before the audit count, and only while the handler runs: settling deletes the lock itself. */
  #stopUnheld(session: Session, { locked, revision }: Audit): void {
    const { executor, logger } = this.#options;
    for (const execution of executor.running.values()) {
      const { held, phase } = execution;
      if (execution.session !== session || phase !== 'running' || held.token > revision || locked.has(held.task.id))
        continue;
      logger.warn('the lock of a running task is gone', { task: held.task.id });
      executor.stop(execution, 'released', 'the lock was taken away');
    }
  }
}
