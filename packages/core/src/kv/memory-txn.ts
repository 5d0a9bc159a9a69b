import type { Compare, KeyValue, LeaseId, Op, OpResult, Txn } from './kv.js';
import { KvError } from './kv.js';
import type { Mvcc } from './memory-mvcc.js';
import { byteOrder } from './sorted-map.js';
import { intervalOf } from './txn-check.js';

/**
 * How the memory twin runs a transaction that passed `checkTxn`, in etcd's three steps:
 *
 * 1. `decide`: every compare of the branches that are taken is evaluated against the state before any write.
 * 2. `requireLeases`: a put on the taken path that names a lost lease refuses the whole request.
 * 3. `apply`: operations run in order and see earlier writes of the request. Nothing can fail any more.
 */
export interface Decision {
  readonly succeeded: boolean;
  readonly ops: readonly Op[];
  /** One for each nested transaction among `ops`, in order. */
  readonly nested: readonly Decision[];
}

export interface LeaseTable {
  has(id: LeaseId): boolean;
  /** A key changed hands; 0n is "no lease". */
  move(key: string, from: LeaseId, to: LeaseId): void;
}

export function decide(txn: Txn, mvcc: Mvcc): Decision {
  const succeeded = txn.compare.every((compare) => holds(compare, mvcc));
  const ops = succeeded ? txn.success : (txn.failure ?? []);
  const nested: Decision[] = [];
  for (const op of ops) if (op.kind === 'txn') nested.push(decide(op.txn, mvcc));
  return { succeeded, ops, nested };
}

export function requireLeases(decision: Decision, leases: LeaseTable): void {
  for (const op of decision.ops) {
    if (op.kind === 'put' && op.lease !== undefined && op.lease !== 0n && !leases.has(op.lease)) {
      throw new KvError('lease-not-found', `lease ${op.lease} is gone; the request was refused`);
    }
  }
  for (const nested of decision.nested) requireLeases(nested, leases);
}

export function apply(decision: Decision, mvcc: Mvcc, leases: LeaseTable): OpResult[] {
  const nested = decision.nested.values();
  return decision.ops.map((op): OpResult => {
    switch (op.kind) {
      case 'put': {
        const lease = op.lease ?? 0n;
        const { before } = mvcc.put(op.key, op.value, lease);
        if (before !== lease) leases.move(op.key, before, lease);
        return { kind: 'put' };
      }
      case 'delete': {
        const gone = mvcc.delete(intervalOf(op.key, op.rangeEnd));
        for (const { key, lease } of gone) if (lease !== 0n) leases.move(key, lease, 0n);
        return { kind: 'delete', deleted: gone.length };
      }
      case 'range':
        return { kind: 'range', ...mvcc.range(op) };
      case 'txn': {
        const inner = nested.next().value as Decision;
        return { kind: 'txn', succeeded: inner.succeeded, results: apply(inner, mvcc, leases) };
      }
    }
  });
}

function holds(compare: Compare, mvcc: Mvcc): boolean {
  if (compare.rangeEnd === undefined || compare.rangeEnd === '') return holdsFor(compare, mvcc.get(compare.key));
  let found = false;
  let result = true;
  mvcc.scan(intervalOf(compare.key, compare.rangeEnd), (kv) => {
    found = true;
    result = holdsFor(compare, kv);
    return result;
  });
  return found ? result : holdsFor(compare, undefined);
}

function holdsFor(compare: Compare, kv: KeyValue | undefined): boolean {
  const op = compare.op ?? '=';
  if (compare.target === 'value') {
    return kv !== undefined && ordered(byteOrder(kv.value), op, byteOrder(compare.value));
  }
  return ordered(numberOf(compare.target, kv), op, compare.value);
}

function numberOf(target: 'create' | 'mod' | 'version' | 'lease', kv: KeyValue | undefined): bigint {
  if (kv === undefined) return 0n;
  switch (target) {
    case 'create':
      return kv.createRevision;
    case 'mod':
      return kv.modRevision;
    case 'version':
      return kv.version;
    case 'lease':
      return kv.lease;
  }
}

function ordered<T extends bigint | string>(left: T, op: '=' | '!=' | '>' | '<', right: T): boolean {
  switch (op) {
    case '=':
      return left === right;
    case '!=':
      return left !== right;
    case '>':
      return left > right;
    case '<':
      return left < right;
  }
}

/** Whether any branch puts: etcd refuses such a request as a whole when it is out of space. */
export function putsAnything(txn: Txn): boolean {
  const puts = (op: Op): boolean => op.kind === 'put' || (op.kind === 'txn' && putsAnything(op.txn));
  return txn.success.some(puts) || (txn.failure?.some(puts) ?? false);
}
