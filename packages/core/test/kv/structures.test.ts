import { createRequire } from 'node:module';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeRange, decodeTxn, decodeWatch } from '../../src/kv/etcd-decode.js';
import { encodeRange, encodeTxn } from '../../src/kv/etcd-encode.js';
import { COMPARE_RESULT, COMPARE_TARGET, WATCH_FILTER } from '../../src/kv/etcd-wire.js';
import { ordersProgress } from '../../src/kv/etcd-watch.js';
import { txnBytes, type Compare, type KeyValue, type Op, type OpResult, type Txn } from '../../src/kv/index.js';
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

describe('a request', () => {
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

  test('says to protobuf what its objects say', () => {
    const { Txn: txnMethod } = kvService();
    fc.assert(
      fc.property(txn, (request) => {
        const again = (bytes: Buffer): Buffer => txnMethod.requestSerialize(txnMethod.requestDeserialize(bytes));
        // Both through the library, which writes zeros or not as it likes; a deep comparison of long buffers is slow.
        const [ours, theirs] = [again(encodeTxn(request)), again(txnMethod.requestSerialize(asObjects(request)))];
        expect(ours.equals(theirs)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test('that is a read does so too', () => {
    const { Range: rangeMethod } = kvService();
    const range = fc.record({
      key: text,
      rangeEnd: text,
      limit: fc.nat(),
      revision: int64,
      keysOnly: fc.boolean(),
      countOnly: fc.boolean(),
      serializable: fc.boolean(),
    });
    fc.assert(
      fc.property(range, (request) => {
        const { keysOnly, countOnly, serializable, revision, ...rest } = request;
        const objects = rangeMethod.requestSerialize({
          ...wireKeys(rest),
          limit: rest.limit,
          revision: String(revision),
          keys_only: keysOnly,
          count_only: countOnly,
          serializable,
        });
        const again = (bytes: Buffer): Buffer => rangeMethod.requestSerialize(rangeMethod.requestDeserialize(bytes));
        expect(again(encodeRange(request)).equals(again(objects))).toBe(true);
      }),
    );
  });

  test('has the size that is counted beforehand', () => {
    fc.assert(
      fc.property(txn, (request) => {
        expect(txnBytes(request)).toBe(encodeTxn(request).length);
      }),
      { numRuns: 300 },
    );
  });

  test('that cannot be written leaves nothing of itself in the next one', () => {
    const good: Txn = { compare: [], success: [{ kind: 'put', key: 'a', value: 'b' }] };
    const before = encodeTxn(good);
    const bad = { compare: [], success: [{ kind: 'put', key: 'k', value: 1n }] } as unknown as Txn;
    expect(() => encodeTxn(bad)).toThrow();
    expect(encodeTxn(good).equals(before)).toBe(true);
  });
});

describe('an answer', () => {
  const text = fc.string({ unit: 'binary', maxLength: 50 });
  const int64 = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
  const keyValue = fc.record({
    key: text,
    value: text,
    createRevision: int64,
    modRevision: int64,
    version: int64,
    lease: int64,
  });
  const leaf = fc.oneof(
    fc.constant<OpResult>({ kind: 'put' }),
    fc.record({ kind: fc.constant('delete' as const), deleted: fc.nat() }),
    fc.record({
      kind: fc.constant('range' as const),
      kvs: fc.array(keyValue, { maxLength: 3 }),
      more: fc.boolean(),
      count: fc.nat(),
    }),
  );
  const nested = fc.record({
    kind: fc.constant('txn' as const),
    succeeded: fc.boolean(),
    results: fc.array(leaf, { maxLength: 3 }),
  });
  const results = fc.array(fc.oneof(leaf, nested), { maxLength: 4 });
  const header = (revision: bigint): object => ({ cluster_id: '18446744073709551615', revision: String(revision) });

  test('of a transaction is what protobuf wrote into it', () => {
    const { Txn: method } = kvService();
    fc.assert(
      fc.property(int64, fc.boolean(), results, (revision, succeeded, parts) => {
        const message = { header: header(revision), succeeded, responses: parts.map(wireResult) };
        expect(decodeTxn(method.responseSerialize(message))).toEqual({ revision, succeeded, results: parts });
      }),
    );
  });

  test('of a range is too', () => {
    const { Range: method } = kvService();
    fc.assert(
      fc.property(int64, fc.array(keyValue), fc.boolean(), fc.nat(), (revision, kvs, more, count) => {
        const message = { header: header(revision), kvs: kvs.map(wireKeyValue), more, count };
        expect(decodeRange(method.responseSerialize(message))).toEqual({ revision, kvs, more, count });
      }),
    );
  });

  test('of a watch is too, with negative ids', () => {
    const { watch: method } = watchService();
    const event = fc.record({ type: fc.constantFrom('put' as const, 'delete' as const), kv: keyValue, prev: keyValue });
    fc.assert(
      fc.property(int64, fc.integer(), fc.boolean(), text, fc.array(event), (revision, watchId, flag, why, events) => {
        const message = {
          header: header(revision),
          watch_id: watchId,
          created: flag,
          canceled: !flag,
          compact_revision: String(revision),
          cancel_reason: why,
          fragment: flag,
          events: events.map(({ type, kv, prev }) => ({
            type: type === 'delete' ? 1 : 0,
            kv: wireKeyValue(kv),
            prev_kv: wireKeyValue(prev),
          })),
        };
        expect(decodeWatch(method.responseSerialize(message))).toEqual({
          revision,
          watchId,
          created: flag,
          canceled: !flag,
          compactRevision: revision,
          cancelReason: why,
          fragment: flag,
          events,
        });
      }),
    );
  });

  test('that was cut is refused, not half read', () => {
    const { Txn: method } = kvService();
    const message = { header: header(7n), succeeded: true, responses: [wireResult({ kind: 'delete', deleted: 300 })] };
    const whole = method.responseSerialize(message);
    expect(() => decodeTxn(whole.subarray(0, whole.length - 1))).toThrow(RangeError);
  });

  function wireKeyValue(kv: KeyValue): object {
    return {
      key: Buffer.from(kv.key),
      value: Buffer.from(kv.value),
      create_revision: String(kv.createRevision),
      mod_revision: String(kv.modRevision),
      version: String(kv.version),
      lease: String(kv.lease),
    };
  }

  function wireResult(result: OpResult): object {
    switch (result.kind) {
      case 'put':
        return { response_put: { header: header(5n) } };
      case 'delete':
        return { response_delete_range: { header: header(5n), deleted: result.deleted } };
      case 'range':
        return {
          response_range: { kvs: result.kvs.map(wireKeyValue), more: result.more, count: result.count },
        };
      case 'txn':
        return { response_txn: { succeeded: result.succeeded, responses: result.results.map(wireResult) } };
    }
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

interface Method {
  requestSerialize(message: object): Buffer;
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(message: object): Buffer;
}

/** The messages as `etcd3` itself reads and writes them, found through its own dependencies. */
function service(name: string): Record<string, Method> {
  const etcd3Main = createRequire(import.meta.url).resolve('etcd3');
  const loader = createRequire(etcd3Main)('@grpc/proto-loader') as {
    loadSync(file: string, options: object): Record<string, Record<string, Method>>;
  };
  const proto = path.join(path.dirname(etcd3Main), '../proto/rpc.proto');
  const options = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
  const found = loader.loadSync(proto, options)[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}

function kvService(): { readonly Txn: Method; readonly Range: Method } {
  return service('etcdserverpb.KV') as { Txn: Method; Range: Method };
}

function watchService(): { readonly watch: Method } {
  return { watch: service('etcdserverpb.Watch')['Watch'] as Method };
}

/** A request as an object of the library. */
function asObjects({ compare, success, failure }: Txn): object {
  return { compare: compare.map(wireCompare), success: success.map(wireOp), failure: (failure ?? []).map(wireOp) };
}

const FIELDS = { version: 'version', create: 'create_revision', mod: 'mod_revision', lease: 'lease' } as const;

function wireCompare(compare: Compare): object {
  return {
    ...wireKeys(compare),
    result: COMPARE_RESULT[compare.op ?? '='],
    target: COMPARE_TARGET[compare.target],
    ...(compare.target === 'value'
      ? { value: Buffer.from(compare.value) }
      : { [FIELDS[compare.target]]: String(compare.value) }),
  };
}

function wireKeys({ key, rangeEnd = '' }: { readonly key: string; readonly rangeEnd?: string }): object {
  return { key: Buffer.from(key), range_end: Buffer.from(rangeEnd) };
}

function wireOp(op: Op): object {
  switch (op.kind) {
    case 'put': {
      const { key, value, lease = 0n } = op;
      return { request_put: { key: Buffer.from(key), value: Buffer.from(value), lease: String(lease) } };
    }
    case 'delete':
      return { request_delete_range: wireKeys(op) };
    case 'range':
      return {
        request_range: {
          ...wireKeys(op),
          limit: op.limit ?? 0,
          keys_only: op.keysOnly === true,
          count_only: op.countOnly === true,
        },
      };
    case 'txn':
      return { request_txn: asObjects(op.txn) };
  }
}
