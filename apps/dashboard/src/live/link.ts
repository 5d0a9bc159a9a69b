import { compareDecimal, type GapNotice, type Heartbeat, type Hello } from '@leasehold/wire';

/** Where the feed puts what it hears, and components find it. */
export const LINK_KEY = ['link'] as const;
export const liveKey = (sub: string): readonly ['live', string] => ['live', sub];

/** What is known about the connection, from received messages alone. Local times are of this browser's clock. */
export interface Link {
  readonly phase: 'connecting' | 'connected' | 'disconnected' | 'refused';
  readonly hello?: Hello;
  readonly heartbeat?: Heartbeat;
  /** When the heartbeat came. */
  readonly heardMs?: number;
  /** When rows last changed before our eyes. */
  readonly changedMs?: number;
  /** The largest revision seen in any message. */
  readonly revision: string;
  readonly notice?: GapNotice;
  /** Views that are frozen, and what waits behind them. */
  readonly paused: { readonly views: number; readonly arrivals: number };
  readonly problem?: string;
}

export const FIRST_LINK: Link = { phase: 'connecting', revision: '0', paused: { views: 0, arrivals: 0 } };

export const AMBER_MS = 5_000;
export const STALE_MS = 30_000;
const RECENT_MS = 3_000;

export function laterRevision(a: string, b: string): string {
  return compareDecimal(a, b) >= 0 ? a : b;
}

export type Pulse =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'live'; readonly revision: string }
  | { readonly kind: 'past'; readonly revision: string }
  | { readonly kind: 'idle'; readonly ageMs: number }
  | { readonly kind: 'paused'; readonly arrivals: number }
  | { readonly kind: 'reconnecting'; readonly asOfMs: number | null; readonly cause: 'server' | 'etcd' };

export interface LinkHealth {
  readonly pulse: Pulse;
  readonly freshness: 'fresh' | 'amber' | 'stale';
  /** Age of the last proof that the board had everything; null before the first. */
  readonly proofAgeMs: number | null;
}

/** How old the proof is: what the server said about its own, plus the time since it said so. */
function proofAge({ heartbeat, heardMs }: Link, nowMs: number): number | null {
  if (heartbeat === undefined || heardMs === undefined) return null;
  return Math.max(0, heartbeat.nowMs - heartbeat.verifiedMs) + Math.max(0, nowMs - heardMs);
}

export function healthOf(link: Link, nowMs: number): LinkHealth {
  const proofAgeMs = proofAge(link, nowMs);
  const freshness =
    proofAgeMs === null ? 'amber' : proofAgeMs > STALE_MS ? 'stale' : proofAgeMs > AMBER_MS ? 'amber' : 'fresh';
  return { proofAgeMs, freshness, pulse: pulseOf(link, nowMs, proofAgeMs) };
}

function pulseOf(link: Link, nowMs: number, proofAgeMs: number | null): Pulse {
  if (link.phase === 'refused') return { kind: 'refused', text: link.problem ?? '' };
  const asOfMs = link.heartbeat?.verifiedMs ?? null;
  if (link.phase === 'disconnected') return { kind: 'reconnecting', asOfMs, cause: 'server' };
  if (link.phase === 'connecting' || link.heartbeat === undefined) return { kind: 'connecting' };
  if (link.heartbeat.feed !== 'live') return { kind: 'reconnecting', asOfMs, cause: 'etcd' };
  if (proofAgeMs !== null && proofAgeMs > STALE_MS) return { kind: 'reconnecting', asOfMs, cause: 'server' };
  if (link.paused.views > 0 && link.paused.arrivals > 0) return { kind: 'paused', arrivals: link.paused.arrivals };
  const proven = proofAgeMs !== null && proofAgeMs <= AMBER_MS;
  if (proven && link.changedMs !== undefined && nowMs - link.changedMs < RECENT_MS)
    return { kind: 'live', revision: link.revision };
  return { kind: 'idle', ageMs: proofAgeMs ?? 0 };
}
