import { KvError, KV_LIMITS } from './kv.js';
import type {
  KvAlarm,
  KvMember,
  KvStatus,
  LeaseId,
  LeaseStatus,
  RangeRequest,
  RangeResult,
  Revision,
  Txn,
  TxnResult,
  WatchRequest,
} from './kv.js';
import { MemoryConnection, type ConnectOptions, type SharedStore } from './memory-connection.js';
import { MemoryLeases } from './memory-lease.js';
import { Mvcc } from './memory-mvcc.js';
import { apply, decide, putsAnything, requireLeases } from './memory-txn.js';
import { MemoryWatch, type Schedule, type WatchHooks } from './memory-watch.js';
import { requireFit, txnBytes } from './request-size.js';
import { checkTxn, intervalOf, requireKey } from './txn-check.js';

/**
 * The deterministic twin of etcd: same rules, same answers, no process and no clock of its own.
 *
 * 1. A request takes effect at one instant, in the order in which the scheduler runs the calls.
 * 2. Time passes only through `now`; leases end only in `tick`.
 * 3. A refused request changes nothing.
 *
 * `connect` gives each simulated process its own handle, with its own faults.
 */
export interface MemoryStoreOptions {
  /** Milliseconds; only differences matter. Default: the monotonic clock. */
  readonly now?: () => number;
  /** Where calls and watch messages wait for their turn. Default: a microtask, or a timer when there is a delay. */
  readonly schedule?: Schedule;
  /** As etcd's `--max-txn-ops`. Default 128. */
  readonly maxTxnOps?: number;
  /** The least TTL that a lease gets. Default 2, as etcd's. */
  readonly minLeaseTtlS?: number;
  readonly clusterId?: string;
}

export class MemoryStore implements SharedStore {
  readonly schedule: Schedule;
  readonly #mvcc = new Mvcc();
  readonly #leases: MemoryLeases;
  readonly #watches = new Set<MemoryWatch>();
  readonly #maxTxnOps: number;
  readonly #clusterId: string;
  #raftTerm = 2;
  #outOfSpace = false;

  constructor(options: MemoryStoreOptions = {}) {
    this.schedule = options.schedule ?? defaultSchedule;
    this.#leases = new MemoryLeases(options.now ?? (() => performance.now()), options.minLeaseTtlS ?? 2);
    this.#maxTxnOps = options.maxTxnOps ?? KV_LIMITS.maxTxnOps;
    this.#clusterId = options.clusterId ?? 'cdf818194e3a8c32';
  }

  connect(options: ConnectOptions = {}): MemoryConnection {
    return new MemoryConnection(this, options);
  }

  get revision(): Revision {
    return this.#mvcc.revision;
  }

  /** Ends the leases whose time is over, each in a revision of its own. Returns their ids. */
  tick(): readonly LeaseId[] {
    const due = this.#leases.due();
    for (const id of due) this.revoke(id);
    return due;
  }

  /** When the next lease ends, on the scale of `now`; where a simulator may jump to. */
  nextExpiryMs(): number | undefined {
    return this.#leases.nextExpiryMs();
  }

  /** What an election inside etcd does to us: every lease gets its full time again. */
  changeLeader(): void {
    this.#raftTerm += 1;
    this.#leases.resetAll();
  }

  /** The NOSPACE alarm: puts, transactions with a put in any branch, and grants are refused. */
  setOutOfSpace(on: boolean): void {
    this.#outOfSpace = on;
  }

  range(request: RangeRequest): RangeResult {
    requireKey(request.key);
    return { revision: this.#mvcc.revision, ...this.#mvcc.range(request) };
  }

  txn(txn: Txn): TxnResult {
    requireFit(txnBytes(txn));
    checkTxn(txn, this.#maxTxnOps);
    if (this.#outOfSpace && putsAnything(txn)) throw new KvError('no-space', 'the store is out of space');
    const decision = decide(txn, this.#mvcc);
    requireLeases(decision, this.#leases);
    const results = apply(decision, this.#mvcc, this.#leases);
    this.#commit();
    return { revision: this.#mvcc.revision, succeeded: decision.succeeded, results };
  }

  grant(ttlS: number): { id: LeaseId; ttlS: number } {
    if (this.#outOfSpace) throw new KvError('no-space', 'the store is out of space');
    return this.#leases.grant(ttlS);
  }

  renew(id: LeaseId): { ttlS: number } {
    return { ttlS: this.#leases.renew(id) };
  }

  revoke(id: LeaseId): void {
    const keys = this.#leases.remove(id) ?? [];
    for (const key of keys) this.#mvcc.delete(intervalOf(key, undefined));
    this.#commit();
  }

  leaseStatus(id: LeaseId): LeaseStatus {
    return this.#leases.status(id);
  }

  compact(revision: Revision): void {
    if (revision > this.#mvcc.compacted && revision <= this.#mvcc.revision) {
      for (const watch of this.#watches) watch.beforeCompaction(revision);
    }
    this.#mvcc.compact(revision);
  }

  status(): KvStatus {
    const { revision, bytes } = this.#mvcc;
    return {
      clusterId: this.#clusterId,
      memberId: MEMBER_ID,
      version: '3.5.30',
      revision,
      leaderId: MEMBER_ID,
      dbSizeBytes: bytes,
      dbSizeInUseBytes: bytes,
      raftTerm: String(this.#raftTerm),
    };
  }

  members(): readonly KvMember[] {
    return [{ id: MEMBER_ID, name: 'memory', clientUrls: [], peerUrls: [], isLearner: false }];
  }

  alarms(): readonly KvAlarm[] {
    return this.#outOfSpace ? [{ memberId: MEMBER_ID, alarm: 'nospace' }] : [];
  }

  openWatch(request: WatchRequest, hooks: WatchHooks, held: boolean): MemoryWatch {
    const onEnd = (ended: MemoryWatch): void => {
      this.#watches.delete(ended);
      hooks.onEnd(ended);
    };
    const watch = new MemoryWatch(this.#mvcc, request, { ...hooks, onEnd }, held);
    this.#watches.add(watch);
    return watch;
  }

  #commit(): void {
    if (this.#mvcc.commit() === undefined) return;
    for (const watch of this.#watches) watch.notify();
  }
}

const MEMBER_ID = '8e9e05c52164694d';

function defaultSchedule(run: () => void, delayMs: number): void {
  if (delayMs <= 0) queueMicrotask(run);
  else setTimeout(run, delayMs);
}
