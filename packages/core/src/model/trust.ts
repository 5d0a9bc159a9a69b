/**
 * The trust window (invariant of every session): a lease may be relied on until
 *   send time of the last acknowledged renewal + TTL - margin
 * on the monotonic clock, and not a moment longer. etcd never ends a lease earlier than TTL after the renewal was sent,
 * so a holder that stops at the end of its window stops before anyone else can start.
 */
export interface TrustWindow {
  /** Monotonic ms at which the renewal that was acknowledged last had been SENT. */
  readonly sentAtMs: number;
  readonly ttlMs: number;
  readonly marginMs: number;
}

/** A tenth of the TTL, between 200 ms and 2 s: timers are late, and an abort takes a moment to reach a handler. */
export function defaultMarginMs(ttlMs: number): number {
  return Math.min(2_000, Math.max(200, Math.round(ttlMs / 10)));
}

/** Monotonic time at which trust ends. */
export function trustedUntilMs(window: TrustWindow): number {
  return window.sentAtMs + window.ttlMs - window.marginMs;
}

export function isTrusted(window: TrustWindow, nowMs: number): boolean {
  return nowMs < trustedUntilMs(window);
}

/** A renewal acknowledged out of order never shortens the window. */
export function renewed(window: TrustWindow, sentAtMs: number, ttlMs: number): TrustWindow {
  return sentAtMs <= window.sentAtMs ? window : { ...window, sentAtMs, ttlMs };
}

/** Renew every third of the TTL: two renewals may be lost before trust ends. */
export function renewEveryMs(ttlMs: number): number {
  return Math.max(250, Math.floor(ttlMs / 3));
}
