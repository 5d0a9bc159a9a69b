/**
 * Keeping a lease alive, and knowing how far that can be trusted.
 *
 * R1  `sentAtMs` is the monotonic time at which the renewal that was acknowledged last had been sent; it can be read at any
 *     time, without waiting for a message.
 * R2  A renewal is not sent once trust has ended: a lease that may have ended is not brought back (some releases of etcd
 *     acknowledge the renewal of a revoked lease).
 * R3  An answer `ttlS: 0` is final: `gone`.
 */
import type { CallOptions, Kv, LeaseId } from '../kv/kv.js';
import { isTrusted, renewed, renewEveryMs, type TrustWindow } from '../model/trust.js';
import type { Clock, Timer } from '../runtime/clock.js';

export interface RenewedLease {
  readonly id: LeaseId;
  readonly window: TrustWindow;
}

export interface Renewer {
  /** Begins to renew. Once. */
  begin(lease: RenewedLease): void;
  /** What may be relied on now. */
  readonly window: TrustWindow;
  /** etcd said that the lease is not there any more. */
  readonly gone: boolean;
  /** Ends renewing; does not revoke. Idempotent. */
  close(): Promise<void>;
}

/** Makes one renewer, ready to begin at once: what takes time to set up must not eat into a fresh lease. */
export type RenewerSource = (clock: Clock, kv: Kv) => Promise<Renewer>;

/** Renews from the event loop it runs in: for the memory twin, fake clocks, and processes that never block. */
export const loopRenewer: RenewerSource = (clock, kv) => Promise.resolve(new LoopRenewer(clock, kv));

const NEVER: TrustWindow = { sentAtMs: -Infinity, ttlMs: 0, marginMs: 0 };

/** The renewing itself, wherever it runs. */
export class LoopRenewer implements Renewer {
  readonly #clock: Pick<Clock, 'monotonic' | 'setTimer'>;
  readonly #kv: Pick<Kv, 'leaseKeepAlive'>;
  readonly #mayRenew: () => boolean;
  readonly #onChange: () => void;
  #id: LeaseId = 0n;
  #window = NEVER;
  #gone = false;
  #timer: Timer | undefined;
  #closed = false;

  constructor(
    clock: Pick<Clock, 'monotonic' | 'setTimer'>,
    kv: Pick<Kv, 'leaseKeepAlive'>,
    hooks: { readonly mayRenew?: () => boolean; readonly onChange?: () => void } = {},
  ) {
    this.#clock = clock;
    this.#kv = kv;
    this.#mayRenew = hooks.mayRenew ?? (() => true);
    this.#onChange = hooks.onChange ?? (() => undefined);
  }

  get window(): TrustWindow {
    return this.#window;
  }

  get gone(): boolean {
    return this.#gone;
  }

  begin({ id, window }: RenewedLease): void {
    this.#id = id;
    this.#window = window;
    this.#again();
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    return Promise.resolve();
  }

  #again(soon = false): void {
    if (this.#closed || this.#gone) return;
    this.#timer?.cancel();
    const everyMs = renewEveryMs(this.#window.ttlMs);
    this.#timer = this.#clock.setTimer(soon ? Math.min(200, everyMs / 4) : everyMs, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const sentAtMs = this.#clock.monotonic();
    if (!isTrusted(this.#window, sentAtMs)) return;
    if (!this.#mayRenew()) return this.#again(true);
    // A slow answer must not hold up the next renewal, so each waits no longer than to the next one.
    const options: CallOptions = { timeoutMs: Math.max(500, renewEveryMs(this.#window.ttlMs)) };
    try {
      const { ttlS } = await this.#kv.leaseKeepAlive(this.#id, options);
      if (this.#closed) return;
      if (ttlS > 0) this.#window = renewed(this.#window, sentAtMs, ttlS * 1_000);
      else this.#gone = true;
      this.#onChange();
      this.#again();
    } catch {
      this.#again(true);
    }
  }
}
