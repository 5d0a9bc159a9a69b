import type { LeaseId, LeaseStatus } from './kv.js';
import type { LeaseTable } from './memory-txn.js';
import { inByteOrder } from './sorted-map.js';

interface Lease {
  readonly id: LeaseId;
  readonly ttlS: number;
  expiresAtMs: number;
  readonly keys: Set<string>;
}

/** Above 2^53, so that a lease id that passes through a `number` is noticed. */
const FIRST_LEASE_ID = 7_587_848_390_000_000_001n;

/** The memory twin's leases. They end only in `due` (asked for by `tick`) or `revoke`, never by themselves. */
export class MemoryLeases implements LeaseTable {
  #leases = new Map<LeaseId, Lease>();
  #nextId = FIRST_LEASE_ID;
  readonly #now: () => number;
  readonly #minTtlS: number;

  constructor(now: () => number, minTtlS: number) {
    this.#now = now;
    this.#minTtlS = minTtlS;
  }

  has(id: LeaseId): boolean {
    return this.#leases.has(id);
  }

  move(key: string, from: LeaseId, to: LeaseId): void {
    this.#leases.get(from)?.keys.delete(key);
    this.#leases.get(to)?.keys.add(key);
  }

  grant(ttlS: number): { id: LeaseId; ttlS: number } {
    const granted = Math.max(Math.ceil(ttlS), this.#minTtlS);
    const id = this.#nextId;
    this.#nextId += 1n;
    this.#leases.set(id, { id, ttlS: granted, expiresAtMs: this.#now() + granted * 1000, keys: new Set() });
    return { id, ttlS: granted };
  }

  /** 0 for a lease that is gone, and for one that is over but not yet removed. */
  renew(id: LeaseId): number {
    const lease = this.#leases.get(id);
    const now = this.#now();
    if (lease === undefined || lease.expiresAtMs <= now) return 0;
    lease.expiresAtMs = now + lease.ttlS * 1000;
    return lease.ttlS;
  }

  /** Takes the lease out and returns its keys in the order in which etcd deletes them; undefined when there is none. */
  remove(id: LeaseId): readonly string[] | undefined {
    const lease = this.#leases.get(id);
    if (lease === undefined) return undefined;
    this.#leases.delete(id);
    return inByteOrder(lease.keys);
  }

  status(id: LeaseId): LeaseStatus {
    const lease = this.#leases.get(id);
    if (lease === undefined) return { id, ttlS: -1, grantedTtlS: 0, keys: [] };
    const leftMs = Math.max(0, lease.expiresAtMs - this.#now());
    return { id, ttlS: Math.floor(leftMs / 1000), grantedTtlS: lease.ttlS, keys: inByteOrder(lease.keys) };
  }

  /** The leases whose time is over, longest over first. */
  due(): readonly LeaseId[] {
    const now = this.#now();
    const over = [...this.#leases.values()].filter((lease) => lease.expiresAtMs <= now);
    over.sort((a, b) => a.expiresAtMs - b.expiresAtMs || (a.id < b.id ? -1 : 1));
    return over.map((lease) => lease.id);
  }

  nextExpiryMs(): number | undefined {
    let next: number | undefined;
    for (const { expiresAtMs } of this.#leases.values())
      if (next === undefined || expiresAtMs < next) next = expiresAtMs;
    return next;
  }

  /** What a change of etcd's leader does: every lease starts anew with its full time. */
  resetAll(): void {
    const now = this.#now();
    for (const lease of this.#leases.values()) lease.expiresAtMs = now + lease.ttlS * 1000;
  }
}
