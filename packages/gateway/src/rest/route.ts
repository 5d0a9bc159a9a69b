/** A route as data: its permission stands beside it, and one without a permission does not compile. */
import type { Store } from '@leasehold/core/store';
import type { OperatorCall } from '@leasehold/core/store';
import { z } from 'zod';
import type { Logger } from '@leasehold/core';
import type { Identity, Permission } from '../guard/identity.js';
import type { EventStream } from '../past/event-stream.js';
import type { Pasts } from '../past/pasts.js';
import type { Board } from '../projection/board.js';

export interface Call<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly identity: Identity;
  /** From the Idempotency-Key header, or made for this request. */
  readonly operationId: string;
  /** True when the client chose it. */
  readonly idempotent: boolean;
  readonly requestId: string;
}

export interface RouteContext {
  readonly board: Board;
  readonly pasts: Pasts;
  readonly events: EventStream;
  readonly store: Store;
  readonly logger: Logger;
  /** Call it when sessions or tokens ended: sockets that came in with them are cut now. */
  readonly onAccessChanged?: () => void;
}

type Schema = z.ZodType;

export interface Route<P extends Schema = Schema, Q extends Schema = Schema, B extends Schema = Schema> {
  readonly method: 'GET' | 'POST';
  /** Below `/api/v1`. */
  readonly url: string;
  readonly permission: Permission;
  readonly summary: string;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly response: Schema;
  readonly run: (call: Call<z.output<P>, z.output<Q>, z.output<B>>, context: RouteContext) => Promise<unknown>;
}

const Nothing = z.object({});

type Given<P extends Schema, Q extends Schema, B extends Schema> = Omit<Route<P, Q, B>, 'params' | 'query' | 'body'> & {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
};

export function route<
  P extends Schema = typeof Nothing,
  Q extends Schema = typeof Nothing,
  B extends Schema = z.ZodUnknown,
>(given: Given<P, Q, B>): Route {
  const filled = { params: Nothing, query: Nothing, body: z.unknown(), ...given };
  return filled as unknown as Route;
}

export const IdParams = z.object({ id: z.string().min(1).max(600) });
export const NameParams = z.object({ name: z.string().min(1).max(600) });

/** The operator's call as the store takes it; the record it makes is the audit. */
export function operatorCall(
  call: Pick<Call<unknown, unknown, unknown>, 'identity' | 'operationId' | 'requestId'>,
  body: { readonly reason?: string; readonly revisionSeen?: string },
): OperatorCall {
  return {
    actor: call.identity.actor,
    operationId: call.operationId,
    request: call.requestId,
    ...(body.reason === undefined ? {} : { reason: body.reason }),
    ...(body.revisionSeen === undefined ? {} : { revisionSeen: BigInt(body.revisionSeen) }),
  };
}
