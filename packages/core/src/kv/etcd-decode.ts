/** Answers of the hot path out of their bytes; only what the seam hands on is read, the rest is passed over. */
import { MessageReader } from './etcd-message.js';
import type { KeyValue, KvEvent, OpResult, RangeResult, Revision, TxnResult } from './kv.js';

/** One message of a watch stream. */
export interface WatchResponse {
  /** Revision of the store when it was sent. */
  readonly revision: Revision;
  readonly watchId: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: Revision;
  readonly cancelReason: string;
  readonly fragment: boolean;
  readonly events: readonly KvEvent[];
}

export function decodeTxn(bytes: Buffer): TxnResult {
  const from = new MessageReader(bytes);
  return readTxn(from, from.end);
}

export function decodeRange(bytes: Buffer): RangeResult {
  const from = new MessageReader(bytes);
  return readRange(from, from.end);
}

export function decodeWatch(bytes: Buffer): WatchResponse {
  const from = new MessageReader(bytes);
  const { end } = from;
  const events: KvEvent[] = [];
  const out = {
    revision: 0n,
    watchId: 0,
    created: false,
    canceled: false,
    compactRevision: 0n,
    cancelReason: '',
    fragment: false,
    events,
  };
  while (from.before(end)) {
    const tag = from.number();
    if (tag === 0x0a) out.revision = readHeader(from, from.nested());
    else if (tag === 0x10) out.watchId = Number(from.int64());
    else if (tag === 0x18) out.created = from.number() !== 0;
    else if (tag === 0x20) out.canceled = from.number() !== 0;
    else if (tag === 0x28) out.compactRevision = from.int64();
    else if (tag === 0x32) out.cancelReason = from.text();
    else if (tag === 0x38) out.fragment = from.number() !== 0;
    else if (tag === 0x5a) events.push(readEvent(from, from.nested()));
    else from.skip(tag);
  }
  return out;
}

function readHeader(from: MessageReader, end: number): Revision {
  let revision = 0n;
  while (from.before(end)) {
    const tag = from.number();
    if (tag === 0x18) revision = from.int64();
    else from.skip(tag);
  }
  return revision;
}

function readTxn(from: MessageReader, end: number): TxnResult {
  let revision = 0n;
  let succeeded = false;
  const results: OpResult[] = [];
  while (from.before(end)) {
    const tag = from.number();
    if (tag === 0x0a) revision = readHeader(from, from.nested());
    else if (tag === 0x10) succeeded = from.number() !== 0;
    else if (tag === 0x1a) results.push(readResult(from, from.nested()));
    else from.skip(tag);
  }
  return { revision, succeeded, results };
}

const PUT_RESULT: OpResult = Object.freeze({ kind: 'put' });

function readResult(from: MessageReader, end: number): OpResult {
  let result = PUT_RESULT;
  while (from.before(end)) {
    const tag = from.number();
    if (tag === 0x0a) {
      const { kvs, more, count } = readRange(from, from.nested());
      result = { kind: 'range', kvs, more, count };
    } else if (tag === 0x1a) result = { kind: 'delete', deleted: readDeleted(from, from.nested()) };
    else if (tag === 0x22) {
      const { succeeded, results } = readTxn(from, from.nested());
      result = { kind: 'txn', succeeded, results };
    } else from.skip(tag);
  }
  return result;
}

function readDeleted(from: MessageReader, end: number): number {
  let deleted = 0;
  while (from.before(end)) {
    const tag = from.number();
    if (tag === 0x10) deleted = from.number();
    else from.skip(tag);
  }
  return deleted;
}

function readRange(from: MessageReader, end: number): RangeResult {
  let revision = 0n;
  let more = false;
  let count = 0;
  const kvs: KeyValue[] = [];
  while (from.before(end)) {
    const tag = from.number();
    if (tag === 0x0a) revision = readHeader(from, from.nested());
    else if (tag === 0x12) kvs.push(readKeyValue(from, from.nested()));
    else if (tag === 0x18) more = from.number() !== 0;
    else if (tag === 0x20) count = from.number();
    else from.skip(tag);
  }
  return { revision, kvs, more, count };
}

function readEvent(from: MessageReader, end: number): KvEvent {
  let type: KvEvent['type'] = 'put';
  let kv: KeyValue | undefined;
  let prev: KeyValue | undefined;
  while (from.before(end)) {
    const tag = from.number();
    if (tag === 0x08) type = from.number() === 1 ? 'delete' : 'put';
    else if (tag === 0x12) kv = readKeyValue(from, from.nested());
    else if (tag === 0x1a) prev = readKeyValue(from, from.nested());
    else from.skip(tag);
  }
  if (kv === undefined) throw new RangeError('a watch event has no key');
  return prev === undefined ? { type, kv } : { type, kv, prev };
}

function readKeyValue(from: MessageReader, end: number): KeyValue {
  let key = '';
  let value = '';
  let createRevision = 0n;
  let modRevision = 0n;
  let version = 0n;
  let lease = 0n;
  while (from.before(end)) {
    const tag = from.number();
    if (tag === 0x0a) key = from.text();
    else if (tag === 0x10) createRevision = from.int64();
    else if (tag === 0x18) modRevision = from.int64();
    else if (tag === 0x20) version = from.int64();
    else if (tag === 0x2a) value = from.text();
    else if (tag === 0x30) lease = from.int64();
    else from.skip(tag);
  }
  return { key, value, createRevision, modRevision, version, lease };
}
