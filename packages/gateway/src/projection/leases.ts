/**
 * Leases as measured. A keepalive is no event, so the store is asked: each live node's lease about once a second, in turn
 * when there are many. A countdown between two measurements is the reader's arithmetic.
 */
import type { Kv } from '@leasehold/core/kv';
import type { LeaseView } from '@leasehold/wire';

/** Leases asked for in one round. */
const PER_ROUND = 50;

export class Leases {
  readonly #kv: Kv;
  readonly #now: () => number;
  readonly #views = new Map<string, LeaseView>();
  #turn = 0;

  constructor(kv: Kv, now: () => number) {
    this.#kv = kv;
    this.#now = now;
  }

  /** As last measured; before that, as granted. */
  view(leaseId: string, ttlMs: number): LeaseView {
    return this.#views.get(leaseId) ?? { id: leaseId, ttlMs, remainingMs: ttlMs, measuredMs: this.#now() };
  }

  /** Measures some of these and forgets all others. Resolves with whether anything was learnt. */
  async measure(leaseIds: readonly string[], signal: AbortSignal): Promise<boolean> {
    const wanted = new Set(leaseIds);
    for (const id of this.#views.keys()) if (!wanted.has(id)) this.#views.delete(id);
    const turn = leaseIds.length <= PER_ROUND ? leaseIds : this.#nextTurn(leaseIds);
    const learnt = await Promise.all(turn.map((id) => this.#ask(id, signal)));
    return learnt.includes(true);
  }

  #nextTurn(leaseIds: readonly string[]): readonly string[] {
    const from = this.#turn % leaseIds.length;
    this.#turn = from + PER_ROUND;
    return [
      ...leaseIds.slice(from, from + PER_ROUND),
      ...leaseIds.slice(0, Math.max(0, from + PER_ROUND - leaseIds.length)),
    ];
  }

  async #ask(id: string, signal: AbortSignal): Promise<boolean> {
    try {
      const sentMs = this.#now();
      const { ttlS, grantedTtlS } = await this.#kv.leaseStatus(BigInt(id), { signal, timeoutMs: 2_000 });
      this.#views.set(id, leaseView(id, ttlS, grantedTtlS, sentMs, this.#views.get(id)));
      return true;
    } catch {
      return false; // The store is away; the feed says so.
    }
  }
}

function leaseView(id: string, ttlS: number, grantedTtlS: number, measuredMs: number, before?: LeaseView): LeaseView {
  if (ttlS < 0) return { id, ttlMs: before?.ttlMs ?? grantedTtlS * 1_000, remainingMs: 0, measuredMs, ended: true };
  const ttlMs = grantedTtlS * 1_000;
  const remainingMs = ttlS * 1_000;
  return { id, ttlMs, remainingMs, measuredMs, renewedMs: measuredMs - (ttlMs - remainingMs) };
}
