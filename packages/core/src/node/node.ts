/**
 * A scheduler process: one membership (one lease), a worker under it, and a leader that takes part in the election with
 * each session. The composition root of worker and leader, which do not know each other.
 */
import { connectEtcd, type EtcdOptions } from '../kv/etcd-kv.js';
import type { Kv } from '../kv/kv.js';
import { Client, type ClientOptions } from '../client/client.js';
import type { JanitorOptions } from '../leader/janitor.js';
import { Leader } from '../leader/leader.js';
import { LeaseholdError } from '../model/errors.js';
import type { LeaderHealth } from '../model/leader-health.js';
import { retentionPolicy, type RetentionInput } from '../model/retention.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { jsonLogger, type Logger } from '../runtime/logger.js';
import { Lifecycle, type Service } from '../runtime/service.js';
import { createStore, type StoreOptions } from '../store/create.js';
import { threadRenewer } from '../store/keepalive.js';
import { Membership, type Member } from '../store/membership.js';
import { loopRenewer, type RenewerSource } from '../store/renewer.js';
import type { Session } from '../store/session.js';
import type { Store } from '../store/store.js';
import { createWorker, type Worker } from '../worker/worker.js';
import type { WorkerOptions } from '../worker/options.js';

export interface NodeOptions extends Omit<WorkerOptions, 'membership' | 'renewer'> {
  /** etcd's endpoints and credentials; the keepalive thread opens a connection of its own with them. */
  readonly etcd?: EtcdOptions;
  /** An open connection instead (tests). Its lease is then renewed in this thread. */
  readonly kv?: Kv;
  readonly namespace?: string;
  /** May be elected leader. Default true. */
  readonly leader?: boolean;
  /** How long the main thread may be blocked before the lease is given up, ms. Default 60000. */
  readonly stallMs?: number;
  /**
   * How long what has ended is kept while this node leads: by age, number and size, per state. Give every node of a namespace
   * the same. Default: a day (failures: a week), 100 000 tasks and 512 MiB of each state, whichever is reached first.
   */
  readonly retention?: RetentionInput;
  /** May compact etcd's history, for everybody who shares that etcd, while it leads. Default true. */
  readonly compact?: boolean;
  readonly store?: Omit<StoreOptions, 'namespace'>;
  readonly client?: Pick<ClientOptions, 'defaults' | 'beforePublish' | 'name' | 'storage'>;
}

export class SchedulerNode implements Service {
  readonly store: Store;
  readonly client: Client;
  readonly worker: Worker;
  readonly #membership: Membership;
  readonly #lifecycle: Lifecycle;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #ownKv: Kv | undefined;
  readonly #leads: boolean;
  readonly #janitor: JanitorOptions;
  #leader: Leader | undefined;
  #changing: Promise<void> = Promise.resolve();
  #leave: ReturnType<Membership['join']> | undefined;

  constructor(options: NodeOptions) {
    const own = options.kv === undefined && options.etcd !== undefined ? connectEtcd(options.etcd) : undefined;
    const kv = options.kv ?? own;
    if (kv === undefined)
      throw new LeaseholdError('invalid', 'give `etcd: { endpoints }` or an open `kv`', { field: 'etcd' });
    this.#ownKv = own;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? jsonLogger();
    this.#leads = options.leader ?? true;
    this.#janitor = { retention: retentionPolicy(options.retention), compact: options.compact ?? true };
    this.store = createStore(kv, storeOptions(options));
    this.client = new Client({ kv, ...storeOptions(options), ...options.client });
    this.#membership = new Membership({
      store: this.store,
      clock: this.#clock,
      logger: this.#logger,
      renewer: renewerOf(options),
      ...(options.leaseTtlMs === undefined ? {} : { ttlMs: options.leaseTtlMs }),
      ...(options.leaseMarginMs === undefined ? {} : { marginMs: options.leaseMarginMs }),
      ...(options.host === undefined ? {} : { host: options.host }),
      ...(options.version === undefined ? {} : { version: options.version }),
    });
    this.worker = createWorker(this.store, {
      ...options,
      clock: this.#clock,
      logger: this.#logger,
      membership: this.#membership,
      leaderHealth: () => this.leaderHealth,
    });
    this.#lifecycle = new Lifecycle({ name: 'node', begin: () => this.#begin(), end: () => this.#end() });
  }

  /** Resolves when it works; with etcd away it goes on trying in the background, and says so in the log. */
  start(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.start(signal);
  }

  /** Stops claiming, waits for handlers, hands back the rest, gives up the office and the lease. Idempotent. */
  stop(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    // Told to the worker here, so that a second call with a nearer deadline brings it forward.
    if (this.#lifecycle.started) void this.worker.stop(options);
    return this.#lifecycle.stop();
  }

  /** This node's id, while it has a session. */
  get id(): string | undefined {
    return this.#membership.session?.id;
  }

  /** True while it leads, as far as it knows. */
  get elected(): boolean {
    return this.#leader?.elected === true;
  }

  get leaderHealth(): LeaderHealth | undefined {
    return this.#leader?.health();
  }

  async #begin(): Promise<void> {
    if (this.#leads) {
      const member: Member = { opened: (session) => this.#campaign(session) };
      this.#leave = this.#membership.join(member, { candidate: true });
    }
    await this.worker.start();
    await this.#membership.start();
  }

  /** One leader service lives as long as one session. */
  #campaign(session: Session): void {
    this.#changing = this.#changing.then(async () => {
      await this.#leader?.stop();
      this.#leader = new Leader({
        store: this.store,
        session,
        clock: this.#clock,
        logger: this.#logger,
        candidate: () => !this.worker.status.draining,
        janitor: { ...this.#janitor, storage: this.client.storage },
      });
      await this.#leader.start();
    });
    this.#changing.catch((error: unknown) => this.#logger.error('the leader could not be started', { error }));
  }

  async #end(): Promise<void> {
    await this.worker.stop();
    await this.#changing.catch(() => undefined);
    await this.#leader?.stop();
    await this.#leave?.(undefined);
    await this.#membership.stop();
    await this.client.close();
    this.store.committer.close();
    await this.#ownKv?.close();
  }
}

function storeOptions({ namespace, store, clock }: NodeOptions): StoreOptions {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(clock === undefined
      ? {}
      : { now: () => clock.now(), commit: { sleep: (ms) => clock.sleep(ms), now: () => clock.monotonic() } }),
    ...store,
  };
}

/** With etcd, in a thread of its own, so that a busy handler does not lose the lease. */
function renewerOf({ kv, etcd, stallMs }: NodeOptions): RenewerSource {
  if (kv !== undefined || etcd === undefined) return loopRenewer;
  return threadRenewer({ etcd, ...(stallMs === undefined ? {} : { stallMs }) });
}

/**
 * Makes and starts a scheduler process: worker and leader under one lease.
 * @throws LeaseholdError `invalid` for options that cannot be.
 */
export async function startNode(options: NodeOptions): Promise<SchedulerNode> {
  const node = new SchedulerNode(options);
  await node.start();
  return node;
}
