/**
 * The seam between the scheduler and its store: five verbs (range, txn, watch, lease, status).
 *
 * Everything above this file is written once and runs on etcd (`etcd-kv.ts`) and on the deterministic twin
 * (`memory-kv.ts`). The types follow etcd's own semantics; where etcd has a surprising rule it is stated here,
 * because the twin has to have the same rule.
 *
 * Keys and values are UTF-8 strings. Revisions, versions and lease ids are `bigint` end to end: they pass 2^53.
 */

export type Revision = bigint;
export type LeaseId = bigint;

/** One key as the store holds it. `lease` is 0n for a key without one. */
export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** How many times the key was put since it was created; 1 for a new key. */
  readonly version: bigint;
  readonly lease: LeaseId;
}

/**
 * A condition of a transaction. Without `rangeEnd` it speaks of one key (an absent key has 0 everywhere and no value:
 * a `value` compare on an absent key is false). With `rangeEnd` it must hold for every key of [key, rangeEnd):
 * `createRevision = 0` over a range is true exactly when the range is empty.
 */
export type Compare = {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly op?: '=' | '!=' | '>' | '<';
} & (
  | { readonly target: 'create' | 'mod' | 'version' | 'lease'; readonly value: bigint }
  | { readonly target: 'value'; readonly value: string }
);

export type Op =
  | { readonly kind: 'put'; readonly key: string; readonly value: string; readonly lease?: LeaseId }
  | { readonly kind: 'delete'; readonly key: string; readonly rangeEnd?: string }
  | RangeOp
  | { readonly kind: 'txn'; readonly txn: Txn };

export interface RangeOp {
  readonly kind: 'range';
  readonly key: string;
  readonly rangeEnd?: string;
  /** At most so many keys; 0 or absent means no limit. It does not bound etcd's work, `rangeEnd` does. */
  readonly limit?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

/**
 * Compare, then act; branches may hold transactions of their own, each with its own outcome. As etcd does it:
 * - all compares of the whole tree are evaluated against the state before any write of the request;
 * - operations run in order and see the writes of earlier ones, also across nested transactions;
 * - no key may be put twice in one request, nor put under a range deleted in it, not even in branches that exclude
 *   each other (`KvError` `duplicate-key`);
 * - at each level max(compares, success, failure) counts against 128, and nested levels get what is left
 *   (`too-many-operations`);
 * - one revision for all writes of the request; no revision is used when nothing is written.
 */
export interface Txn {
  readonly compare: readonly Compare[];
  readonly success: readonly Op[];
  readonly failure?: readonly Op[];
}

export type OpResult =
  | { readonly kind: 'put' }
  | { readonly kind: 'delete'; readonly deleted: number }
  | { readonly kind: 'range'; readonly kvs: readonly KeyValue[]; readonly more: boolean; readonly count: number }
  | { readonly kind: 'txn'; readonly succeeded: boolean; readonly results: readonly OpResult[] };

export interface TxnResult {
  readonly revision: Revision;
  readonly succeeded: boolean;
  readonly results: readonly OpResult[];
}

export interface RangeRequest {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly limit?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
  /** Read as of this revision. Older than the compaction floor: `KvError` `compacted`; newer than now: `future-revision`. */
  readonly revision?: Revision;
  /** Answer from the connected member without asking the quorum; may be stale. For health pages only. */
  readonly serializable?: boolean;
}

export interface RangeResult {
  readonly revision: Revision;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** All keys in the range, also those past `limit`. */
  readonly count: number;
}

export interface KvEvent {
  readonly type: 'put' | 'delete';
  /** For a delete: key and modRevision of the deletion, value '' and version 0. */
  readonly kv: KeyValue;
  /** The pair before the change, when the watch asked for `prevKv` and it is not compacted. */
  readonly prev?: KeyValue;
}

/**
 * What a watch hands on. `events` holds ALL events of the watched range at one or more whole revisions (fragments are
 * joined), ascending. `progress` proves that nothing happened up to `revision`. `compacted` and `closed` are last words:
 * the watch ends and the consumer lists again or opens anew from `resume`.
 */
export type WatchMessage =
  | { readonly kind: 'events'; readonly revision: Revision; readonly events: readonly KvEvent[] }
  | { readonly kind: 'progress'; readonly revision: Revision }
  | { readonly kind: 'compacted'; readonly compactRevision: Revision }
  | { readonly kind: 'closed'; readonly cause: KvError };

export interface WatchRequest {
  readonly key: string;
  readonly rangeEnd?: string;
  /**
   * The first revision wanted. 0n: from now on; then the first message is a `progress` that says after which revision.
   * A watch from now on is never behind, so it hears at once; one from an earlier revision may wait for etcd's next
   * round of catching up, up to 100 ms.
   */
  readonly startRevision: Revision;
  readonly prevKv?: boolean;
  /** Leave out puts or deletes. */
  readonly filter?: 'no-put' | 'no-delete';
}

export interface WatchHandle {
  /** Ask for a `progress` message soon: proof of life. No effect on an ended watch. */
  requestProgress(): void;
  /** Ends the watch; no message comes after it returns. Idempotent. */
  close(): void;
}

export interface LeaseStatus {
  readonly id: LeaseId;
  /** Seconds left; -1 when the lease does not exist (any more). */
  readonly ttlS: number;
  readonly grantedTtlS: number;
  readonly keys: readonly string[];
}

export interface KvStatus {
  readonly clusterId: string;
  readonly memberId: string;
  readonly version: string;
  readonly revision: Revision;
  readonly leaderId: string;
  readonly dbSizeBytes: number;
  readonly dbSizeInUseBytes: number;
  /** `--quota-backend-bytes`; absent while it is not known. */
  readonly quotaBytes?: number;
  readonly raftTerm: string;
}

export interface KvMember {
  readonly id: string;
  readonly name: string;
  readonly clientUrls: readonly string[];
  readonly peerUrls: readonly string[];
  readonly isLearner: boolean;
}

export interface KvAlarm {
  readonly memberId: string;
  readonly alarm: 'nospace' | 'corrupt' | 'other';
}

/** Per-call settings. `timeoutMs` bounds the wait for an answer, not the effect: see `KvError.ambiguous`. */
export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface Kv {
  range(request: RangeRequest, options?: CallOptions): Promise<RangeResult>;
  txn(txn: Txn, options?: CallOptions): Promise<TxnResult>;
  /** Never throws for a store that is away: that arrives as `closed`. Messages come in order, never re-entrantly. */
  watch(request: WatchRequest, onMessage: (message: WatchMessage) => void): WatchHandle;
  /** Grants a lease of at least `ttlS` seconds (etcd has a minimum, 2 by default). */
  leaseGrant(ttlS: number, options?: CallOptions): Promise<{ id: LeaseId; ttlS: number }>;
  /** Renews once. Resolves with the seconds granted; `ttlS: 0` when the lease is gone. */
  leaseKeepAlive(id: LeaseId, options?: CallOptions): Promise<{ ttlS: number }>;
  /** Ends a lease and deletes its keys. Resolves also when the lease is already gone. */
  leaseRevoke(id: LeaseId, options?: CallOptions): Promise<void>;
  leaseStatus(id: LeaseId, options?: CallOptions): Promise<LeaseStatus>;
  /** Forgets history below `revision`. Resolves also when already compacted there. */
  compact(revision: Revision, options?: CallOptions): Promise<void>;
  status(options?: CallOptions): Promise<KvStatus>;
  members(options?: CallOptions): Promise<readonly KvMember[]>;
  alarms(options?: CallOptions): Promise<readonly KvAlarm[]>;
  /** Ends all watches and connections. Idempotent. */
  close(): Promise<void>;
}

/**
 * Why a call failed, by what the caller can do:
 * - `unavailable`, `timeout`: try again later. `ambiguous` says whether the request may have been (or may yet be) applied.
 * - `too-large`, `too-many-operations`, `duplicate-key`, `invalid`: the request is wrong; never sent again as it is.
 * - `no-space`: the store refuses writes that need room. `lease-not-found`: a put named a lease that is gone (the whole
 *   request was refused). `compacted`, `future-revision`: a historic read cannot be served.
 * - `denied`: credentials. `closed`: this client was closed. `internal`: anything else.
 */
export type KvErrorCode =
  | 'unavailable'
  | 'timeout'
  | 'too-large'
  | 'too-many-operations'
  | 'duplicate-key'
  | 'invalid'
  | 'no-space'
  | 'lease-not-found'
  | 'compacted'
  | 'future-revision'
  | 'denied'
  | 'closed'
  | 'internal';

export class KvError extends Error {
  override readonly name = 'KvError';
  readonly code: KvErrorCode;
  /** True when a write may have been applied although no answer came. False for reads and for requests never sent. */
  readonly ambiguous: boolean;

  constructor(code: KvErrorCode, message: string, options: { ambiguous?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.ambiguous = options.ambiguous ?? false;
  }
}

/** etcd's limits with default settings; the twin enforces the same. */
export const KV_LIMITS = Object.freeze({
  maxTxnOps: 128,
  maxRequestBytes: 1_572_864,
});

/** The end of the range of all keys that start with `prefix`, as etcd wants it: the last byte plus one. */
export function prefixEnd(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  if (prefix === '' || last >= 0x7f) throw new RangeError('a prefix ends in an ASCII character below 0x7f');
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}
