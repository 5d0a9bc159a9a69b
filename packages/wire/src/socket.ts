/**
 * The socket: reading only. No mutation goes over it.
 *
 * Flow control is by acknowledgement: the client calls the callback of every `snapshot` and `change`; until it has, the
 * server holds back further ones of that subscription and later sends one change from what was acknowledged to what is.
 * So there is no backlog: a slow or hidden client gets the window as it is when it is ready.
 */
import { z } from 'zod';
import type { Change, Row, Snapshot } from './live.js';
import { PROTOCOL, type EnvironmentTone } from './constants.js';
import { LiveQuery, Window } from './query.js';

const SubscriptionName = z.string().min(1).max(100);

/** `handshake.auth` of the client. */
export const Handshake = z.object({ protocol: z.literal(PROTOCOL) });

export const Subscribe = z.strictObject({
  sub: SubscriptionName,
  query: LiveQuery,
  frozen: z.boolean().default(false),
});
export type Subscribe = z.input<typeof Subscribe>;
export const Unsubscribe = z.strictObject({ sub: SubscriptionName });
/** Freeze or thaw order and membership; thawing shows what is new at once. */
export const Freeze = z.strictObject({ sub: SubscriptionName, frozen: z.boolean() });
/** Show what is new now, and stay frozen if frozen. */
export const Release = z.strictObject({ sub: SubscriptionName });
/** Another part of the same list: scrolled. */
export const MoveWindow = z.strictObject({ sub: SubscriptionName, window: Window });
/** The tab is hidden: nothing is sent until it is not; then one change per subscription. */
export const Hidden = z.strictObject({ hidden: z.boolean() });

export interface SocketFailure {
  readonly code: 'invalid' | 'too-many' | 'denied' | 'not-found' | 'unavailable';
  readonly message: string;
  readonly sub?: string;
}
export type Reply = { readonly ok: true } | { readonly ok: false; readonly error: SocketFailure };

export interface Hello {
  readonly protocol: number;
  /** Of the gateway's package: a page of another version says so. */
  readonly version: string;
  readonly namespace: string;
  readonly environment: string;
  /** Of the band at the top; absent: the page goes by the environment's name. */
  readonly environmentTone?: EnvironmentTone;
  readonly readOnly: boolean;
  /** Who the socket was opened by; `method` is how that is known. */
  readonly user?: {
    readonly name: string;
    readonly role?: string;
    readonly method?: string;
    /** What he may do, so that buttons can say what is missing. The server asks again, whatever they show. */
    readonly permissions: readonly string[];
    readonly canSignOut: boolean;
  };
  /** Gateway clock, for countdowns. */
  readonly nowMs: number;
}

/**
 * Proof of life, every second or so, also when nothing changes. `verifiedMs`: when etcd last proved (by an event or a
 * progress notification) that the board had everything up to `revision`.
 */
export interface Heartbeat {
  readonly revision: string;
  readonly generation: number;
  readonly verifiedMs: number;
  readonly nowMs: number;
  readonly feed: 'listing' | 'live' | 'reconnecting';
}

/** The feed could not go on without a break: what happened between the two revisions was not seen one by one. */
export interface GapNotice {
  readonly kind: 'compacted' | 'reset' | 'reconnected';
  readonly fromRevision: string;
  readonly toRevision: string;
  readonly atMs: number;
}

type Ack = () => void;

export interface ServerEvents {
  hello: (hello: Hello) => void;
  snapshot: (snapshot: Snapshot<Row>, ack: Ack) => void;
  change: (change: Change<Row>, ack: Ack) => void;
  heartbeat: (heartbeat: Heartbeat) => void;
  notice: (notice: GapNotice) => void;
  failure: (failure: SocketFailure) => void;
}

export interface ClientEvents {
  subscribe: (message: Subscribe, reply?: (reply: Reply) => void) => void;
  unsubscribe: (message: z.input<typeof Unsubscribe>, reply?: (reply: Reply) => void) => void;
  freeze: (message: z.input<typeof Freeze>, reply?: (reply: Reply) => void) => void;
  release: (message: z.input<typeof Release>, reply?: (reply: Reply) => void) => void;
  window: (message: z.input<typeof MoveWindow>, reply?: (reply: Reply) => void) => void;
  hidden: (message: z.input<typeof Hidden>, reply?: (reply: Reply) => void) => void;
}
