/**
 * Requests of the hot path as bytes; field numbers are those of etcd's `rpc.proto`. Fields of a message are written in
 * reverse, last first, as the writer goes from the end to the beginning.
 */
import { MessageWriter } from './etcd-message.js';
import { COMPARE_RESULT, COMPARE_TARGET } from './etcd-wire.js';
import type { Compare, Op, RangeRequest, Txn } from './kv.js';

const writer = new MessageWriter();

export function encodeTxn(txn: Txn): Buffer {
  return encoded(() => writeTxn(writer, txn));
}

export function encodeRange(request: RangeRequest): Buffer {
  return encoded(() => writeRange(writer, request));
}

/** A request that cannot be written (a key that is no string) leaves nothing behind for the next one. */
function encoded(write: () => void): Buffer {
  try {
    write();
    return writer.take();
  } catch (error) {
    writer.clear();
    throw error;
  }
}

function writeTxn(out: MessageWriter, { compare, success, failure }: Txn): void {
  if (failure !== undefined) for (let i = failure.length - 1; i >= 0; i--) writeOp(out, 0x1a, failure[i] as Op);
  for (let i = success.length - 1; i >= 0; i--) writeOp(out, 0x12, success[i] as Op);
  for (let i = compare.length - 1; i >= 0; i--) writeCompare(out, compare[i] as Compare);
}

/** The value of a compare is one of several fields: which one is there tells what is compared, so 0 is written too. */
const TARGET_TAG = { version: 0x20, create: 0x28, mod: 0x30, lease: 0x40 } as const;

function writeCompare(out: MessageWriter, compare: Compare): void {
  const before = out.length;
  // Field 64 has a tag of two bytes.
  if (compare.rangeEnd !== undefined && compare.rangeEnd !== '') out.text(0x82, compare.rangeEnd, 0x04);
  if (compare.target === 'value') out.text(0x3a, compare.value);
  else out.int64(TARGET_TAG[compare.target], compare.value);
  writeText(out, 0x1a, compare.key);
  out.number(0x10, COMPARE_TARGET[compare.target]);
  out.number(0x08, COMPARE_RESULT[compare.op ?? '=']);
  out.frame(0x0a, before);
}

function writeOp(out: MessageWriter, tag: number, op: Op): void {
  const before = out.length;
  switch (op.kind) {
    case 'put':
      if (op.lease !== undefined && op.lease !== 0n) out.int64(0x18, op.lease);
      writeText(out, 0x12, op.value);
      writeText(out, 0x0a, op.key);
      out.frame(0x12, before);
      break;
    case 'delete':
      writeText(out, 0x12, op.rangeEnd);
      writeText(out, 0x0a, op.key);
      out.frame(0x1a, before);
      break;
    case 'range':
      writeRange(out, op);
      out.frame(0x0a, before);
      break;
    case 'txn':
      writeTxn(out, op.txn);
      out.frame(0x22, before);
      break;
  }
  out.frame(tag, before);
}

function writeRange(out: MessageWriter, request: RangeRequest): void {
  if (request.countOnly === true) out.number(0x48, 1);
  if (request.keysOnly === true) out.number(0x40, 1);
  if (request.serializable === true) out.number(0x38, 1);
  if (request.revision !== undefined && request.revision !== 0n) out.int64(0x20, request.revision);
  if (request.limit !== undefined && request.limit > 0) out.number(0x18, request.limit);
  writeText(out, 0x12, request.rangeEnd);
  writeText(out, 0x0a, request.key);
}

function writeText(out: MessageWriter, tag: number, text: string | undefined): void {
  if (text !== undefined && text !== '') out.text(tag, text);
}
