/**
 * A process's membership: one session after another, as long as it runs. Worker and leader of a process share it, so that
 * the process has one lease.
 *
 * M1  At most one session at a time; the next is opened only when the last one is over.
 * M2  Members (`join`) say what the node record is to hold; it always shows all of them.
 * M3  A store that is away is tried again, with growing waits, for as long as it takes.
 */
import { hostname } from 'node:os';
import { LAYOUT_VERSION } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import type { NodeRecord } from '../model/records.js';
import { Backoff } from '../runtime/backoff.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Lifecycle, type Service } from '../runtime/service.js';
import { leaseTimes, openSession, type NodeDescription, type Session, type SessionOptions } from './session.js';
import type { RenewerSource } from './renewer.js';
import type { Store } from './store.js';

export interface MembershipOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly renewer: RenewerSource;
  readonly ttlMs?: number;
  readonly marginMs?: number;
  readonly host?: string;
  readonly version?: string;
}

/** What one member adds to the node record. */
export type Contribution = Partial<Pick<NodeRecord, 'queues' | 'handlers' | 'labels' | 'draining' | 'candidate'>>;

export interface Member {
  /** A new session is open. Everything of the one before is lost. */
  opened?(session: Session): void;
  /** Whether it runs, claims or settles this task: a lock that no member owns is a stray. */
  owns?(id: string): boolean;
}

export class Membership implements Service {
  readonly #options: MembershipOptions;
  readonly #lifecycle: Lifecycle;
  readonly #members = new Map<Member, Contribution>();
  #session: Session | undefined;
  #running: Promise<void> | undefined;

  constructor(options: MembershipOptions) {
    leaseTimes(options);
    this.#options = options;
    this.#lifecycle = new Lifecycle({
      name: 'membership',
      begin: (signal) => void (this.#running = this.#run(signal)),
      end: async () => {
        await this.#running;
        await this.#session?.revoke();
      },
    });
  }

  /** Resolves at once; `session` and `opened` tell of sessions. */
  start(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.start(signal);
  }

  /** Revokes the lease. Its members have stopped before. */
  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /** The session, while there is one that can be trusted. */
  get session(): Session | undefined {
    return this.#session?.isTrusted() === true ? this.#session : undefined;
  }

  owns(id: string): boolean {
    for (const member of this.#members.keys()) if (member.owns?.(id) === true) return true;
    return false;
  }

  /** Takes part from now on. Returns how to change the contribution; `undefined` takes it out. */
  join(member: Member, contribution: Contribution): (change: Contribution | undefined) => Promise<void> {
    this.#refuseOtherLabels(contribution);
    this.#members.set(member, contribution);
    void this.#describe();
    const { session } = this;
    if (session !== undefined) member.opened?.(session);
    return (change) => {
      if (change === undefined) this.#members.delete(member);
      else this.#members.set(member, change);
      return this.#describe();
    };
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const backoff = new Backoff({ minMs: 200, maxMs: 10_000, random: this.#options.store.random });
    while (!signal.aborted) {
      try {
        const session = await openSession(this.#sessionOptions());
        backoff.reset();
        this.#session = session;
        await this.#live(session, signal);
      } catch (error) {
        const waitMs = backoff.nextMs();
        logger.warn('no session could be opened; trying again', { error, waitMs, tries: backoff.tries });
        await clock.sleep(waitMs, signal);
      }
    }
  }

  async #live(session: Session, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#options.logger.info('a session is open', { node: session.id, lease: session.lease });
    for (const member of this.#members.keys()) member.opened?.(session);
    void this.#describe();
    await ended(session.signal, signal);
  }

  async #describe(): Promise<void> {
    const { session } = this;
    if (session === undefined) return;
    try {
      await session.update(this.#description());
    } catch (error) {
      this.#options.logger.warn('the node record could not be written', { error, node: session.id });
    }
  }

  #sessionOptions(): SessionOptions {
    const { store, clock, logger, renewer, ttlMs, marginMs } = this.#options;
    return {
      store,
      clock,
      logger,
      renewer,
      node: this.#description(),
      ...(ttlMs === undefined ? {} : { ttlMs }),
      ...(marginMs === undefined ? {} : { marginMs }),
    };
  }

  /** M2 */
  #description(): NodeDescription {
    const all = [...this.#members.values()];
    const serving = all.filter(({ queues }) => queues !== undefined && queues.length > 0);
    return {
      host: this.#options.host ?? hostname(),
      pid: process.pid,
      version: this.#options.version ?? '',
      queues: all.flatMap(({ queues }) => queues ?? []),
      handlers: all.flatMap(({ handlers }) => handlers ?? []),
      labels: Object.assign({}, ...all.map(({ labels }) => labels ?? {})) as Readonly<Record<string, string>>,
      draining: serving.length > 0 && serving.every(({ draining }) => draining === true),
      candidate: all.some(({ candidate }) => candidate === true),
      layout: LAYOUT_VERSION,
    };
  }

  #refuseOtherLabels({ labels }: Contribution): void {
    if (labels === undefined) return;
    for (const other of this.#members.values()) {
      if (other.labels === undefined || JSON.stringify(other.labels) === JSON.stringify(labels)) continue;
      const message = 'workers that share a membership have the same labels; give each its own membership otherwise';
      throw new LeaseholdError('invalid', message, { field: 'labels' });
    }
  }
}

function ended(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const signal of signals) signal.removeEventListener('abort', done);
      resolve();
    };
    if (signals.some((signal) => signal.aborted)) return resolve();
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
  });
}
