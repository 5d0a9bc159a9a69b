import type { Compare, Kv, KeyValue, Op, OpResult } from '../kv/kv.js';
import type { Json } from '../model/json.js';
import type { Keys } from '../model/keys.js';
import { encodeRecord } from '../model/codec.js';
import type { Actor, AuditRecord } from '../model/records.js';
import { actorText } from '../model/records.js';
import type { Taken } from '../model/transition.js';
import type { Committer, Fence } from './commit.js';

/** What every store function works with. Plain wiring; owns nothing. */
export interface Store {
  readonly kv: Kv;
  readonly keys: Keys;
  readonly committer: Committer;
  /** Wall clock, epoch ms. */
  readonly now: () => number;
  /** 0 to 1. */
  readonly random: () => number;
  /** A new time-sorted id. */
  readonly newId: () => string;
  readonly limits: StoreLimits;
}

export interface StoreLimits {
  readonly payloadBytes: number;
  readonly workflowTasks: number;
}

/** Why an operator acts, on what sight, and under which id the act is recorded (which makes it idempotent). */
export interface OperatorCall {
  readonly actor: Actor;
  readonly operationId: string;
  readonly reason?: string;
  /** The mod revision the operator saw; when given, anything else is a conflict. */
  readonly revisionSeen?: bigint;
  readonly request?: string;
  /** A leader who acts (a schedule that cancels its run before) acts under its office (I8). */
  readonly fence?: Fence;
}

export function takenBy(store: Store, actor: Actor): Taken {
  return { by: actorText(actor), nowMs: store.now() };
}

export const put = (key: string, value: string, lease?: bigint): Op =>
  lease === undefined ? { kind: 'put', key, value } : { kind: 'put', key, value, lease };
export const del = (key: string): Op => ({ kind: 'delete', key });
export const get = (key: string): Op => ({ kind: 'range', key });
export const absent = (key: string): Compare => ({ key, target: 'create', value: 0n });
export const present = (key: string): Compare => ({ key, target: 'create', op: '>', value: 0n });
export const modIs = (key: string, revision: bigint): Compare => ({ key, target: 'mod', value: revision });
export const createdAt = (key: string, revision: bigint): Compare => ({ key, target: 'create', value: revision });
export const versionIs = (key: string, version: number): Compare => ({
  key,
  target: 'version',
  value: BigInt(version),
});
export const leaseIs = (key: string, lease: bigint): Compare => ({ key, target: 'lease', value: lease });

/** The single key that a `get` in a branch found. */
export function found(results: readonly OpResult[], index: number): KeyValue | undefined {
  const result = results[index];
  return result?.kind === 'range' ? result.kvs[0] : undefined;
}

/** The audit record of an operator's act, written in the transaction of the act itself. */
export function auditOp(
  store: Store,
  call: OperatorCall,
  operation: string,
  targets: readonly string[],
  detail?: Json,
  more: { readonly revisionBefore?: bigint; readonly outcome?: AuditRecord['outcome'] } = {},
): Op {
  const record: AuditRecord = {
    operation,
    atMs: store.now(),
    actor: call.actor,
    targets,
    outcome: more.outcome ?? 'done',
    ...(more.revisionBefore === undefined ? {} : { revisionBefore: String(more.revisionBefore) }),
    ...(call.reason === undefined ? {} : { reason: call.reason }),
    ...(call.revisionSeen === undefined ? {} : { revisionSeen: String(call.revisionSeen) }),
    ...(call.request === undefined ? {} : { request: call.request }),
    ...(detail === undefined ? {} : { detail }),
  };
  return put(store.keys.audit(call.operationId), encodeRecord(record));
}
