import { KvError, KV_LIMITS, type Compare, type Op, type Txn } from './kv.js';

/**
 * The encoded size of a request, computed from its parts: etcd refuses a raft entry above its limit, gRPC refuses the
 * message, and a batcher has to know beforehand. The field tags below 16 take one byte, `range_end` of a compare two.
 */

/** What etcd wraps around a request before it measures it (ids, header, user name); generous. */
export const REQUEST_OVERHEAD_BYTES = 512;

/** Throws `too-large` for a transaction that etcd would refuse for its size. `encodedBytes`: as `txnBytes` tells. */
export function requireFit(encodedBytes: number): void {
  const bytes = encodedBytes + REQUEST_OVERHEAD_BYTES;
  if (bytes <= KV_LIMITS.maxRequestBytes) return;
  throw new KvError(
    'too-large',
    `the request takes ${bytes} bytes and at most ${KV_LIMITS.maxRequestBytes} are allowed; send less at once`,
  );
}

export function txnBytes(txn: Txn): number {
  let size = 0;
  for (const compare of txn.compare) size += framed(compareBytes(compare));
  for (const op of txn.success) size += framed(opBytes(op));
  if (txn.failure !== undefined) for (const op of txn.failure) size += framed(opBytes(op));
  return size;
}

/** The size of one operation inside a transaction, without the frame around it. */
export function opBytes(op: Op): number {
  switch (op.kind) {
    case 'put':
      return framed(
        field(op.key) + field(op.value) + (op.lease === undefined || op.lease === 0n ? 0 : 1 + int64Bytes(op.lease)),
      );
    case 'delete':
      return framed(field(op.key) + field(op.rangeEnd));
    case 'range':
      return framed(
        field(op.key) +
          field(op.rangeEnd) +
          (op.limit === undefined || op.limit === 0 ? 0 : 1 + varintBytes(op.limit)) +
          (op.keysOnly === true ? 2 : 0) +
          (op.countOnly === true ? 2 : 0),
      );
    case 'txn':
      return framed(txnBytes(op.txn));
  }
}

function compareBytes(compare: Compare): number {
  const rangeEnd = compare.rangeEnd === undefined || compare.rangeEnd === '' ? 0 : field(compare.rangeEnd) + 1;
  const value = compare.target === 'value' ? framed(Buffer.byteLength(compare.value)) : 1 + int64Bytes(compare.value);
  return 4 + field(compare.key) + rangeEnd + value;
}

/** A bytes field: nothing when absent or empty. */
function field(text: string | undefined): number {
  return text === undefined || text === '' ? 0 : framed(Buffer.byteLength(text));
}

/** Tag, length and content. */
function framed(length: number): number {
  return 1 + varintBytes(length) + length;
}

function varintBytes(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 128; rest /= 128) size += 1;
  return size;
}

function int64Bytes(value: bigint): number {
  if (value < 0n) return 10;
  let size = 1;
  for (let rest = value; rest >= 128n; rest >>= 7n) size += 1;
  return size;
}
