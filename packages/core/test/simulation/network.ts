/** A process's connection: the twin's, with replies that arrive on their own, faults by the seed, and a place to break it. */
import type {
  CallOptions,
  Kv,
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
  WatchHandle,
  WatchMessage,
  WatchRequest,
} from '../../src/kv/kv.js';
import type { Fate, MemoryConnection } from '../../src/kv/index.js';
import type { Random } from './random.js';
import type { Owner, Scheduler } from './scheduler.js';

/** What may go wrong; each can be switched off when a failing seed is made smaller. */
export const FAULT_KINDS = ['refused', 'lost-request', 'lost-reply', 'late'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Changes what is sent: how a mutation breaks a guard. */
export interface Alter {
  readonly txn?: (txn: Txn) => Txn;
  readonly range?: (request: RangeRequest) => RangeRequest;
  /** Puts itself between the process and its connection. */
  readonly wrap?: (send: Send, turn: () => Promise<void>) => Send;
}

export type Send = (txn: Txn, options?: CallOptions) => Promise<TxnResult>;

const SHARES: Readonly<Record<FaultKind, number>> = {
  refused: 0.01,
  'lost-request': 0.02,
  'lost-reply': 0.03,
  late: 0.02,
};

/** Draws the fate of each call. The draws are the same whatever is switched off. */
export function faulty(random: Random, enabled: (kind: FaultKind) => boolean): () => Fate {
  return () => {
    let draw = random.next();
    const delayMs = random.int(1, 9_000);
    for (const kind of FAULT_KINDS) {
      draw -= SHARES[kind];
      if (draw < 0) return enabled(kind) ? fateOf(kind, delayMs) : 'pass';
    }
    return 'pass';
  };
}

function fateOf(kind: FaultKind, delayMs: number): Fate {
  switch (kind) {
    case 'refused':
      return 'refuse';
    case 'lost-request':
      return 'drop-before';
    case 'lost-reply':
      return 'drop-after';
    case 'late':
      return { delayMs };
  }
}

export class SimKv implements Kv {
  readonly #inner: MemoryConnection;
  readonly #scheduler: Scheduler;
  readonly #owner: Owner;
  readonly #alter: Alter;
  readonly #send: Send;

  constructor(inner: MemoryConnection, scheduler: Scheduler, owner: Owner, alter: Alter = {}) {
    this.#inner = inner;
    this.#scheduler = scheduler;
    this.#owner = owner;
    this.#alter = alter;
    const send: Send = (txn, options) => inner.txn(alter.txn?.(txn) ?? txn, options);
    this.#send = alter.wrap?.(send, () => this.#turn()) ?? send;
  }

  range(request: RangeRequest, options?: CallOptions): Promise<RangeResult> {
    return this.#reply(this.#inner.range(this.#alter.range?.(request) ?? request, options));
  }

  txn(txn: Txn, options?: CallOptions): Promise<TxnResult> {
    return this.#reply(this.#send(txn, options));
  }

  leaseGrant(ttlS: number, options?: CallOptions): Promise<{ id: LeaseId; ttlS: number }> {
    return this.#reply(this.#inner.leaseGrant(ttlS, options));
  }

  leaseKeepAlive(id: LeaseId, options?: CallOptions): Promise<{ ttlS: number }> {
    return this.#reply(this.#inner.leaseKeepAlive(id, options));
  }

  leaseRevoke(id: LeaseId, options?: CallOptions): Promise<void> {
    return this.#reply(this.#inner.leaseRevoke(id, options));
  }

  leaseStatus(id: LeaseId, options?: CallOptions): Promise<LeaseStatus> {
    return this.#reply(this.#inner.leaseStatus(id, options));
  }

  compact(revision: Revision, options?: CallOptions): Promise<void> {
    return this.#reply(this.#inner.compact(revision, options));
  }

  status(options?: CallOptions): Promise<KvStatus> {
    return this.#reply(this.#inner.status(options));
  }

  members(options?: CallOptions): Promise<readonly KvMember[]> {
    return this.#reply(this.#inner.members(options));
  }

  alarms(options?: CallOptions): Promise<readonly KvAlarm[]> {
    return this.#reply(this.#inner.alarms(options));
  }

  watch(request: WatchRequest, onMessage: (message: WatchMessage) => void): WatchHandle {
    return this.#inner.watch(request, (message) => this.#scheduler.enqueue(this.#owner, () => onMessage(message)));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** An answer, or its failure, is a thing of its own: it may overtake others, and a frozen process does not get it. */
  async #reply<T>(call: Promise<T>): Promise<T> {
    try {
      const value = await call;
      await this.#turn();
      return value;
    } catch (error) {
      await this.#turn();
      throw error;
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#scheduler.enqueue(this.#owner, resolve));
  }
}
