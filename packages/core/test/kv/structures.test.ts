import { createRequire } from 'node:module';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeTxn, COMPARE_RESULT, COMPARE_TARGET, WATCH_FILTER } from '../../src/kv/etcd-wire.js';
import { ordersProgress } from '../../src/kv/etcd-watch.js';
import { txnBytes, type Compare, type Op, type Txn } from '../../src/kv/index.js';
import { byteOrder, SortedMap } from '../../src/kv/sorted-map.js';

describe('the sorted map', () => {
  const step = fc.record({
    kind: fc.constantFrom('set', 'set', 'set', 'delete', 'count', 'scan'),
    // Dense enough to overwrite, wide enough to split blocks.
    from: fc.integer({ min: 0, max: 2000 }),
    to: fc.integer({ min: 0, max: 2000 }),
  });

  test('does what a map sorted anew each time would do', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 3000, size: 'max' }), (steps) => {
        const map = new SortedMap<number>();
        const model = new Map<string, number>();
        const inside = (from: string, to: string): [string, number][] =>
          [...model].filter(([key]) => key >= from && key < to).sort(([a], [b]) => (a < b ? -1 : 1));
        for (const [turn, { kind, from, to }] of steps.entries()) {
          const [low, high] = [String(from), String(to)];
          if (kind === 'set') {
            map.set(low, turn);
            model.set(low, turn);
          } else if (kind === 'delete') {
            expect(map.delete(low)).toBe(model.delete(low));
          } else if (kind === 'count') {
            expect(map.count(low, high)).toBe(inside(low, high).length);
          } else {
            const found: [string, number][] = [];
            map.scan(low, high, (value, key) => void found.push([key, value]));
            expect(found).toEqual(inside(low, high));
          }
          expect(map.get(low)).toBe(model.get(low));
          expect(map.size).toBe(model.size);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('byte strings compare as the UTF-8 bytes do', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [left, right] = [byteOrder(a), byteOrder(b)];
        expect(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))).toBe(
          left < right ? -1 : left > right ? 1 : 0,
        );
      }),
    );
  });
});

describe('the size of a request', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constantFrom('', 'x'.repeat(20_000)));
  const optional = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
  const int64 = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
  const without = <T extends object>(value: T): T =>
    Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;

  const compare = fc
    .record({
      key: text,
      rangeEnd: optional(text),
      op: optional(fc.constantFrom('=', '!=', '>', '<')),
      rest: fc.oneof(
        fc.record({ target: fc.constantFrom('create', 'mod', 'version', 'lease'), value: int64 }),
        fc.record({ target: fc.constant('value'), value: text }),
      ),
    })
    .map(({ rest, ...keys }) => without({ ...keys, ...rest }) as Compare);

  const leafOp = fc
    .oneof(
      fc.record({ kind: fc.constant('put'), key: text, value: text, lease: optional(int64) }),
      fc.record({ kind: fc.constant('delete'), key: text, rangeEnd: optional(text) }),
      fc.record({
        kind: fc.constant('range'),
        key: text,
        rangeEnd: optional(text),
        limit: optional(fc.nat()),
        keysOnly: optional(fc.boolean()),
        countOnly: optional(fc.boolean()),
      }),
    )
    .map((op) => without(op) as Op);

  const { txn } = fc.letrec<{ txn: Txn; op: Op }>((tie) => ({
    txn: fc.record({
      compare: fc.array(compare, { maxLength: 3 }),
      success: fc.array(tie('op'), { maxLength: 3 }),
      failure: fc.array(tie('op'), { maxLength: 3 }),
    }),
    op: fc.oneof({ maxDepth: 2 }, leafOp, fc.record({ kind: fc.constant('txn' as const), txn: tie('txn') })),
  }));

  test('is what protobuf makes of it, but for zeros, which one encoder writes and the other leaves out', () => {
    const serialize = txnSerializer();
    fc.assert(
      fc.property(txn, (request) => {
        const real = serialize(encodeTxn(request)).length;
        const counted = txnBytes(request);
        // A few bytes an operation: zero enums, flags and integers, empty keys.
        expect(Math.abs(counted - real)).toBeLessThanOrEqual(16 * countParts(request));
      }),
    );
  });

  function countParts({ compare: compares, success, failure = [] }: Txn): number {
    return [...success, ...failure].reduce(
      (sum, op) => sum + 1 + (op.kind === 'txn' ? countParts(op.txn) : 0),
      compares.length + 1,
    );
  }
});

describe('the protocol', () => {
  test('the numbers that are sent are those of the library', () => {
    const etcd3 = createRequire(import.meta.url)('etcd3') as typeof import('etcd3');
    const { CompareResult, CompareTarget, FilterType } = etcd3;
    expect(COMPARE_RESULT).toEqual({
      '=': CompareResult.Equal,
      '>': CompareResult.Greater,
      '<': CompareResult.Less,
      '!=': CompareResult.NotEqual,
    });
    expect(COMPARE_TARGET).toEqual({
      version: CompareTarget.Version,
      create: CompareTarget.Create,
      mod: CompareTarget.Mod,
      value: CompareTarget.Value,
      lease: CompareTarget.Lease,
    });
    expect(WATCH_FILTER).toEqual({ 'no-put': FilterType.Noput, 'no-delete': FilterType.Nodelete });
  });

  test('progress is believed from the releases that order it', () => {
    const believed = ['3.4.25', '3.4.38', '3.5.8', '3.5.30', '3.6.0', '3.6.0-rc.1', '4.0.0'];
    const doubted = ['3.4.23', '3.4.24', '3.5.0', '3.5.7', '3.3.27'];
    expect(believed.filter((version) => !ordersProgress(version))).toEqual([]);
    expect(doubted.filter(ordersProgress)).toEqual([]);
  });
});

/** The serializer that `etcd3` itself uses, found through its own dependencies. */
function txnSerializer(): (message: object) => Buffer {
  const etcd3Main = createRequire(import.meta.url).resolve('etcd3');
  const loader = createRequire(etcd3Main)('@grpc/proto-loader') as {
    loadSync(file: string, options: object): Record<string, { Txn: { requestSerialize(message: object): Buffer } }>;
  };
  const proto = path.join(path.dirname(etcd3Main), '../proto/rpc.proto');
  const { 'etcdserverpb.KV': kv } = loader.loadSync(proto, { keepCase: true, longs: String, oneofs: true });
  if (kv === undefined) throw new Error('no KV service');
  return (message) => kv.Txn.requestSerialize(message);
}
