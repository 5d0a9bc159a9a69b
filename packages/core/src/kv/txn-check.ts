import { KvError, KV_LIMITS, type Op, type Txn } from './kv.js';
import { byteOrder } from './sorted-map.js';

/**
 * The checks etcd makes on a transaction before it looks at any key (v3rpc/key.go, `checkTxnRequest` and
 * `checkIntervals`): same rules, same order, so that the twin refuses what etcd refuses.
 *
 * 1. At each level max(compares, success, failure) is at most what is left; levels below get the rest.
 * 2. Keys are not empty.
 * 3. Within one branch no key is put twice, at any depth. The two branches of ONE nested transaction may put the same
 *    key: only one of them runs. Two nested transactions may not, however their compares exclude each other.
 * 4. No key is put under a range that the same level deletes, or that an EARLIER nested sibling deletes. A later
 *    sibling may delete what an earlier one put: operations run in order.
 */
export function checkTxn(txn: Txn, maxOps: number = KV_LIMITS.maxTxnOps): void {
  checkShape(txn, maxOps);
  checkBranch(txn.success);
  checkBranch(txn.failure ?? []);
}

/** [from, to); `to` undefined: no upper bound. Keys are byte strings. */
export interface Interval {
  readonly from: string;
  readonly to: string | undefined;
}

/** Single keys apart from ranges: a request deletes hundreds of keys and very few ranges. */
interface Deletes {
  readonly keys: Set<string>;
  readonly ranges: Interval[];
}

interface Touched {
  readonly puts: Set<string>;
  readonly deletes: Deletes;
}

function checkShape(txn: Txn, left: number): void {
  const failure = txn.failure ?? [];
  const width = Math.max(txn.compare.length, txn.success.length, failure.length);
  if (width > left) {
    throw new KvError('too-many-operations', `a transaction level of ${width} operations; ${left} are left here`);
  }
  for (const compare of txn.compare) requireKey(compare.key);
  for (const op of txn.success) checkOp(op, left - width);
  for (const op of failure) checkOp(op, left - width);
}

function checkOp(op: Op, left: number): void {
  if (op.kind === 'txn') checkShape(op.txn, left);
  else requireKey(op.key);
}

export function requireKey(key: string): void {
  if (key === '') throw new KvError('invalid', 'a key is empty');
}

function checkBranch(ops: readonly Op[]): Touched {
  const touched: Touched = { puts: new Set(), deletes: { keys: new Set(), ranges: [] } };
  for (const op of ops) if (op.kind === 'delete') addDelete(op.key, op.rangeEnd, touched.deletes);
  for (const op of ops) if (op.kind === 'txn') mergeNested(op.txn, touched);
  for (const op of ops) if (op.kind === 'put') addPut(byteOrder(op.key), touched);
  return touched;
}

function mergeNested(txn: Txn, touched: Touched): void {
  const then = checkBranch(txn.success);
  const otherwise = txn.failure === undefined ? undefined : checkBranch(txn.failure);
  for (const key of then.puts) addPut(key, touched);
  for (const key of otherwise?.puts ?? []) if (!then.puts.has(key)) addPut(key, touched);
  for (const { deletes } of otherwise === undefined ? [then] : [then, otherwise]) {
    for (const key of deletes.keys) touched.deletes.keys.add(key);
    touched.deletes.ranges.push(...deletes.ranges);
  }
}

function addDelete(key: string, rangeEnd: string | undefined, deletes: Deletes): void {
  if (rangeEnd === undefined || rangeEnd === '') deletes.keys.add(byteOrder(key));
  else deletes.ranges.push(intervalOf(key, rangeEnd));
}

function addPut(key: string, { puts, deletes }: Touched): void {
  if (puts.has(key)) throw new KvError('duplicate-key', `key ${JSON.stringify(key)} is put twice in one request`);
  const deleted =
    deletes.keys.has(key) || deletes.ranges.some(({ from, to }) => key >= from && (to === undefined || key < to));
  if (deleted) throw new KvError('duplicate-key', `key ${JSON.stringify(key)} is put and deleted in one request`);
  puts.add(key);
}

/** The keys that `key` and `rangeEnd` mean: one key without `rangeEnd`, everything from `key` on with NUL. */
export function intervalOf(key: string, rangeEnd: string | undefined): Interval {
  const from = byteOrder(key);
  if (rangeEnd === undefined || rangeEnd === '') return { from, to: `${from}\0` };
  return { from, to: rangeEnd === '\0' ? undefined : byteOrder(rangeEnd) };
}
