import type {
  Compare,
  KeyValue,
  KvEvent,
  Op,
  OpResult,
  RangeRequest,
  RangeResult,
  Txn,
  TxnResult,
  WatchRequest,
} from './kv.js';

/**
 * etcd's messages as `etcd3`'s proto loader reads and writes them: bytes as buffers, 64-bit integers as decimal
 * strings. Enums are sent as NUMBERS: a name that the bundled proto does not know silently becomes 0.
 */
export interface WireHeader {
  readonly cluster_id: string;
  readonly member_id: string;
  readonly revision: string;
  readonly raft_term: string;
}

export interface WireKeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly create_revision: string;
  readonly mod_revision: string;
  readonly version: string;
  readonly lease: string;
}

export interface WireRange {
  readonly header: WireHeader | null;
  readonly kvs: readonly WireKeyValue[];
  readonly more: boolean;
  readonly count: string;
}

export interface WireTxn {
  readonly header: WireHeader | null;
  readonly succeeded: boolean;
  readonly responses: readonly WireResponseOp[];
}

interface WireResponseOp {
  readonly response: 'response_range' | 'response_put' | 'response_delete_range' | 'response_txn';
  readonly response_range?: WireRange;
  readonly response_delete_range?: { readonly deleted: string };
  readonly response_txn?: WireTxn;
}

export interface WireEvent {
  /** 'Put' or 'Delete'. */
  readonly type: string;
  readonly kv: WireKeyValue;
  readonly prev_kv: WireKeyValue | null;
}

export interface WireWatchResponse {
  readonly header: WireHeader | null;
  readonly watch_id: string;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: string;
  readonly cancel_reason: string;
  readonly fragment: boolean;
  readonly events: readonly WireEvent[];
}

/** Values of etcd's protocol, not of a library; a test compares them with what `etcd3` exports. */
export const COMPARE_RESULT = { '=': 0, '>': 1, '<': 2, '!=': 3 } as const;
export const COMPARE_TARGET = { version: 0, create: 1, mod: 2, value: 3, lease: 4 } as const;
export const WATCH_FILTER = { 'no-put': 0, 'no-delete': 1 } as const;

const COMPARE_FIELD = {
  version: 'version',
  create: 'create_revision',
  mod: 'mod_revision',
  lease: 'lease',
  value: 'value',
} as const;

/** A message to send. What is absent is zero; setting it would only cost. */
type WireRecord = Record<string, unknown>;

export function encodeTxn(txn: Txn): object {
  return {
    compare: txn.compare.map(encodeCompare),
    success: txn.success.map(encodeOp),
    failure: txn.failure === undefined ? [] : txn.failure.map(encodeOp),
  };
}

function encodeCompare(compare: Compare): object {
  const wire: WireRecord = {
    key: Buffer.from(compare.key),
    target: COMPARE_TARGET[compare.target],
    result: COMPARE_RESULT[compare.op ?? '='],
  };
  if (compare.rangeEnd !== undefined) wire['range_end'] = Buffer.from(compare.rangeEnd);
  wire[COMPARE_FIELD[compare.target]] =
    compare.target === 'value' ? Buffer.from(compare.value) : compare.value.toString();
  return wire;
}

function encodeOp(op: Op): object {
  switch (op.kind) {
    case 'put': {
      const put = { key: Buffer.from(op.key), value: Buffer.from(op.value) };
      return { request_put: op.lease === undefined ? put : { ...put, lease: op.lease.toString() } };
    }
    case 'delete':
      return { request_delete_range: encodeKeys(op) };
    case 'range':
      return { request_range: encodeRange(op) };
    case 'txn':
      return { request_txn: encodeTxn(op.txn) };
  }
}

function encodeKeys({ key, rangeEnd }: { readonly key: string; readonly rangeEnd?: string }): WireRecord {
  return rangeEnd === undefined
    ? { key: Buffer.from(key) }
    : { key: Buffer.from(key), range_end: Buffer.from(rangeEnd) };
}

export function encodeRange(request: RangeRequest): object {
  const wire = encodeKeys(request);
  if (request.limit !== undefined && request.limit > 0) wire['limit'] = request.limit;
  if (request.keysOnly === true) wire['keys_only'] = true;
  if (request.countOnly === true) wire['count_only'] = true;
  if (request.revision !== undefined) wire['revision'] = request.revision.toString();
  if (request.serializable === true) wire['serializable'] = true;
  return wire;
}

export function encodeWatch(request: WatchRequest, watchId: number): object {
  return {
    create_request: {
      ...encodeKeys(request),
      start_revision: request.startRevision.toString(),
      watch_id: watchId,
      fragment: true,
      progress_notify: true,
      prev_kv: request.prevKv ?? false,
      filters: request.filter === undefined ? [] : [WATCH_FILTER[request.filter]],
    },
  };
}

export function decodeKeyValue(wire: WireKeyValue): KeyValue {
  return {
    key: wire.key.toString(),
    value: wire.value.toString(),
    createRevision: BigInt(wire.create_revision),
    modRevision: BigInt(wire.mod_revision),
    version: BigInt(wire.version),
    lease: wire.lease === '0' ? 0n : BigInt(wire.lease),
  };
}

export function decodeRange(wire: WireRange): RangeResult {
  return {
    revision: BigInt(wire.header?.revision ?? 0),
    kvs: wire.kvs.map(decodeKeyValue),
    more: wire.more,
    count: Number(wire.count),
  };
}

export function decodeTxn(wire: WireTxn): TxnResult {
  return {
    revision: BigInt(wire.header?.revision ?? 0),
    succeeded: wire.succeeded,
    results: wire.responses.map(decodeOp),
  };
}

const PUT_RESULT: OpResult = Object.freeze({ kind: 'put' });

function decodeOp(wire: WireResponseOp): OpResult {
  switch (wire.response) {
    case 'response_put':
      return PUT_RESULT;
    case 'response_delete_range':
      return { kind: 'delete', deleted: Number(wire.response_delete_range?.deleted) };
    case 'response_range': {
      const { kvs, more, count } = wire.response_range as WireRange;
      return { kind: 'range', kvs: kvs.map(decodeKeyValue), more, count: Number(count) };
    }
    case 'response_txn': {
      const { succeeded, responses } = wire.response_txn as WireTxn;
      return { kind: 'txn', succeeded, results: responses.map(decodeOp) };
    }
  }
}

export function decodeEvent(wire: WireEvent): KvEvent {
  const event = { type: wire.type === 'Delete' ? 'delete' : 'put', kv: decodeKeyValue(wire.kv) } as const;
  return wire.prev_kv === null || wire.prev_kv === undefined ? event : { ...event, prev: decodeKeyValue(wire.prev_kv) };
}

/** Ids of members and clusters are unsigned 64-bit numbers, shown in hexadecimal as etcdctl does. */
export function hexId(decimal: string): string {
  return BigInt(decimal).toString(16);
}
