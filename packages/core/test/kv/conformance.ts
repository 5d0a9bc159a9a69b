import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Compare, Op, Txn, WatchRequest } from '../../src/kv/index.js';
import { codeOf, record, type OpenTarget, type Recording, type Target } from './target.js';

/**
 * What every store behind the seam does, etcd or twin. The rules are those of `kv.ts`; each was found on a real etcd
 * first (see the fact sheet in the design), and the same file runs on both.
 */
export function conformanceSuite(open: OpenTarget): void {
  let target: Target;
  beforeEach(() => {
    target = open();
  });
  afterEach(() => target.kv.close());
  const current = (): Target => target;

  describe('ranges', () => rangeSuite(current));
  describe('compares', () => compareSuite(current));
  describe('transactions', () => transactionSuite(current));
  describe('refusals', () => refusalSuite(current));
  describe('leases', () => leaseSuite(current));
  describe('watches', () => watchSuite(current));
  describe('closing', () => closingSuite(current));
}

type Current = () => Target;

const key = (current: Current, name: string): string => `${current().prefix}${name}`;
const put = (name: string, value = ''): Op => ({ kind: 'put', key: name, value });
const del = (name: string, rangeEnd?: string): Op => ({
  kind: 'delete',
  key: name,
  ...(rangeEnd === undefined ? {} : { rangeEnd }),
});
const nested = (compare: readonly Compare[], success: readonly Op[], failure: readonly Op[] = []): Op => ({
  kind: 'txn',
  txn: { compare, success, failure },
});
const absent = (name: string): Compare => ({ key: name, target: 'create', value: 0n });
const write = async ({ kv }: Target, ...ops: readonly Op[]): Promise<bigint> =>
  (await kv.txn({ compare: [], success: ops })).revision;
const all = ({ prefix, end }: Target): { key: string; rangeEnd: string } => ({ key: prefix, rangeEnd: end });

function rangeSuite(current: Current): void {
  const k = (name: string): string => key(current, name);

  test('a single key is read with its revisions, version and no lease', async () => {
    const { kv } = current();
    const first = await write(current(), put(k('a'), 'one'));
    const second = await write(current(), put(k('a'), 'two'));
    const { kvs, count, more, revision } = await kv.range({ key: k('a') });
    expect(kvs).toEqual([
      { key: k('a'), value: 'two', createRevision: first, modRevision: second, version: 2n, lease: 0n },
    ]);
    expect({ count, more }).toEqual({ count: 1, more: false });
    expect(revision).toBeGreaterThanOrEqual(second);
  });

  test('a key that was deleted and put again starts a new life', async () => {
    await write(current(), put(k('a')));
    await write(current(), put(k('a')));
    await write(current(), del(k('a')));
    const revision = await write(current(), put(k('a'), 'again'));
    const { kvs } = await current().kv.range({ key: k('a') });
    expect(kvs[0]).toMatchObject({ createRevision: revision, modRevision: revision, version: 1n });
  });

  test('limit cuts the keys, says that there are more, and counts them all', async () => {
    await write(current(), put(k('a')), put(k('b')), put(k('c')));
    const { kvs, more, count } = await current().kv.range({ ...all(current()), limit: 2 });
    expect(kvs.map((kv) => kv.key)).toEqual([k('a'), k('b')]);
    expect({ more, count }).toEqual({ more: true, count: 3 });
    expect(await current().kv.range({ ...all(current()), limit: 3 })).toMatchObject({ more: false, count: 3 });
  });

  test('keysOnly leaves the values out, countOnly leaves the keys out', async () => {
    await write(current(), put(k('a'), 'value'), put(k('b'), 'value'));
    const keys = await current().kv.range({ ...all(current()), keysOnly: true });
    expect(keys.kvs.map((kv) => [kv.key, kv.value])).toEqual([
      [k('a'), ''],
      [k('b'), ''],
    ]);
    expect(await current().kv.range({ ...all(current()), countOnly: true, limit: 1 })).toMatchObject({
      kvs: [],
      more: false,
      count: 2,
    });
  });

  test('keys come in the order of their bytes, not of UTF-16', async () => {
    const names = ['a', 'z', 'ü', '한', '\uffee', '😀'];
    await write(current(), ...[...names].reverse().map((name) => put(k(name), name)));
    const { kvs } = await current().kv.range(all(current()));
    expect(kvs.map((kv) => kv.value)).toEqual(names);
    const { kvs: between } = await current().kv.range({ key: k('\uffee'), rangeEnd: current().end });
    expect(between.map((kv) => kv.value)).toEqual(['\uffee', '😀']);
  });

  test('the range end itself is outside, and an inverted range is empty', async () => {
    await write(current(), put(k('a')), put(k('b')), put(k('c')));
    const range = (from: string, to: string): Promise<number> =>
      current()
        .kv.range({ key: k(from), rangeEnd: k(to) })
        .then(({ count }) => count);
    expect([await range('a', 'c'), await range('b', 'b'), await range('c', 'a')]).toEqual([2, 0, 0]);
  });

  test('a range end of NUL means everything from the key on', async () => {
    await write(current(), put(k('y')), put(k('z')));
    const { kvs } = await current().kv.range({ key: k('y'), rangeEnd: '\0', limit: 2 });
    expect(kvs.map((kv) => kv.key)).toEqual([k('y'), k('z')]);
  });

  test('a pinned revision shows the past, page by page', async () => {
    const then = await write(current(), put(k('a'), '1'), put(k('b'), '1'), put(k('d'), '1'));
    await write(current(), put(k('a'), '2'), del(k('b')), put(k('c'), '2'));
    const first = await current().kv.range({ ...all(current()), revision: then, limit: 2 });
    expect(first.kvs.map((kv) => [kv.key, kv.value])).toEqual([
      [k('a'), '1'],
      [k('b'), '1'],
    ]);
    expect(first).toMatchObject({ more: true, count: 3 });
    expect(first.revision).toBeGreaterThan(then);
    const rest = await current().kv.range({ key: `${k('b')}\0`, rangeEnd: current().end, revision: then });
    expect(rest.kvs.map((kv) => kv.key)).toEqual([k('d')]);
  });

  test('a revision that is not there yet is refused', async () => {
    const { revision } = await current().kv.range({ key: k('a') });
    expect(await codeOf(current().kv.range({ key: k('a'), revision: revision + 1_000_000n }))).toBe('future-revision');
  });

  test('values and keys keep every character', async () => {
    const text = 'NUL \0, tab \t, ü, 한국어, 😀, "quotes"';
    await write(current(), put(k(text), text));
    const { kvs } = await current().kv.range({ key: k(text) });
    expect(kvs[0]).toMatchObject({ key: k(text), value: text });
  });
}

function compareSuite(current: Current): void {
  const k = (name: string): string => key(current, name);
  const holds = async (...compare: readonly Compare[]): Promise<boolean> =>
    (await current().kv.txn({ compare, success: [] })).succeeded;

  test('an absent key is 0 everywhere, and no value compare on it is true', async () => {
    for (const target of ['create', 'mod', 'version', 'lease'] as const) {
      expect(await holds({ key: k('a'), target, value: 0n })).toBe(true);
      expect(await holds({ key: k('a'), target, op: '>', value: 0n })).toBe(false);
    }
    for (const op of ['=', '!=', '>', '<'] as const) {
      expect(await holds({ key: k('a'), target: 'value', op, value: '' })).toBe(false);
    }
  });

  test('each target compares with each operator', async () => {
    const revision = await write(current(), put(k('a'), 'm'));
    const outcomes = async (target: 'create' | 'mod' | 'version' | 'lease', value: bigint): Promise<string> => {
      const names = ['=', '!=', '>', '<'] as const;
      const results = await Promise.all(names.map((op) => holds({ key: k('a'), target, op, value })));
      return names.filter((_, index) => results[index]).join(' ');
    };
    expect(await outcomes('create', revision)).toBe('=');
    expect(await outcomes('mod', revision + 1n)).toBe('!= <');
    expect(await outcomes('version', 0n)).toBe('!= >');
    expect(await outcomes('lease', 0n)).toBe('=');
    expect(await holds({ key: k('a'), target: 'value', value: 'm' })).toBe(true);
    expect(await holds({ key: k('a'), target: 'value', op: '<', value: 'ü' })).toBe(true);
    expect(await holds({ key: k('a'), target: 'value', op: '>', value: 'a' })).toBe(true);
    expect(await holds({ key: k('a'), target: 'value', op: '!=', value: 'm' })).toBe(false);
  });

  test('create revision 0 over a range is true exactly when the range is empty', async () => {
    const empty: Compare = { ...all(current()), target: 'create', value: 0n };
    expect(await holds(empty)).toBe(true);
    await write(current(), put(k('a')));
    expect(await holds(empty)).toBe(false);
    await write(current(), del(k('a')));
    expect(await holds(empty)).toBe(true);
  });

  test('a range compare holds only if it holds for every key', async () => {
    await write(current(), put(k('a'), 'x'), put(k('b'), 'x'));
    await write(current(), put(k('b'), 'x'));
    expect(await holds({ ...all(current()), target: 'value', value: 'x' })).toBe(true);
    expect(await holds({ ...all(current()), target: 'version', value: 1n })).toBe(false);
    expect(await holds({ ...all(current()), target: 'version', op: '<', value: 3n })).toBe(true);
  });

  test('all compares must hold', async () => {
    await write(current(), put(k('a')));
    expect(await holds(absent(k('b')), { key: k('a'), target: 'version', value: 1n })).toBe(true);
    expect(await holds(absent(k('b')), absent(k('a')))).toBe(false);
  });
}

function transactionSuite(current: Current): void {
  const k = (name: string): string => key(current, name);
  const keysNow = async (): Promise<string[]> =>
    (await current().kv.range(all(current()))).kvs.map((kv) => kv.key.slice(current().prefix.length));

  test('a failed compare runs the failure branch and nothing else', async () => {
    await write(current(), put(k('a'), 'there'));
    const result = await current().kv.txn({
      compare: [absent(k('a'))],
      success: [put(k('b'))],
      failure: [{ kind: 'range', key: k('a') }],
    });
    expect(result.succeeded).toBe(false);
    expect(result.results).toMatchObject([{ kind: 'range', count: 1, kvs: [{ value: 'there' }] }]);
    expect(await keysNow()).toEqual(['a']);
  });

  test('nested transactions each have their own outcome', async () => {
    await write(current(), put(k('taken')));
    const result = await current().kv.txn({
      compare: [],
      success: ['free', 'taken', 'open'].map((name) => nested([absent(k(name))], [put(k(name), 'mine')])),
    });
    expect(result.succeeded).toBe(true);
    expect(result.results).toEqual([
      { kind: 'txn', succeeded: true, results: [{ kind: 'put' }] },
      { kind: 'txn', succeeded: false, results: [] },
      { kind: 'txn', succeeded: true, results: [{ kind: 'put' }] },
    ]);
    expect(await keysNow()).toEqual(['free', 'open', 'taken']);
  });

  test('all compares are made on the state before the request: write skew is possible', async () => {
    const result = await current().kv.txn({
      compare: [],
      success: [nested([absent(k('x'))], [put(k('y'))]), nested([absent(k('y'))], [put(k('x'))])],
    });
    expect(result.results.map((each) => each.kind === 'txn' && each.succeeded)).toEqual([true, true]);
    expect(await keysNow()).toEqual(['x', 'y']);
  });

  test('operations see earlier writes of the request, also across nested transactions', async () => {
    await write(current(), put(k('b/1')), put(k('b/2')), put(k('b/3')));
    const left: Op = { kind: 'range', key: k('b/'), rangeEnd: k('b0'), countOnly: true };
    const { results } = await current().kv.txn({
      compare: [],
      success: [nested([], [del(k('b/1')), left]), nested([], [del(k('b/2')), left]), put(k('b/4')), left],
    });
    const counts = results.flatMap((each) => (each.kind === 'txn' ? each.results : [each]));
    expect(counts.flatMap((each) => (each.kind === 'range' ? [each.count] : []))).toEqual([2, 1, 2]);
  });

  test('what an earlier operation put is read back with the revision it will have', async () => {
    const { results, revision } = await current().kv.txn({
      compare: [],
      success: [put(k('a'), 'new'), { kind: 'range', key: k('a') }],
    });
    expect(results[1]).toMatchObject({
      kvs: [{ value: 'new', createRevision: revision, modRevision: revision, version: 1n }],
    });
  });

  test('all writes of a request share one revision', async () => {
    const { revision } = await current().kv.txn({
      compare: [],
      success: [put(k('a')), nested([], [put(k('b'))]), nested([], [nested([], [put(k('c'))])])],
    });
    const { kvs } = await current().kv.range(all(current()));
    expect(kvs.map((kv) => kv.modRevision)).toEqual([revision, revision, revision]);
  });

  test('a delete says how many keys it deleted', async () => {
    await write(current(), put(k('a')), put(k('b')), put(k('c')));
    const { results } = await current().kv.txn({
      compare: [],
      success: [del(k('a'), k('c')), del(k('a')), del(k('c'))],
    });
    expect(results).toEqual([
      { kind: 'delete', deleted: 2 },
      { kind: 'delete', deleted: 0 },
      { kind: 'delete', deleted: 1 },
    ]);
  });

  test('a later nested transaction may delete what an earlier one put', async () => {
    const { results } = await current().kv.txn({
      compare: [],
      success: [nested([], [put(k('a'))]), nested([], [del(k('a'))])],
    });
    expect(results[1]).toMatchObject({ results: [{ kind: 'delete', deleted: 1 }] });
    expect(await keysNow()).toEqual([]);
  });

  test('the two branches of one transaction may put the same key', async () => {
    const either: Op = nested([absent(k('a'))], [put(k('a'), 'then')], [put(k('a'), 'else')]);
    await write(current(), either);
    await write(current(), either);
    const { kvs } = await current().kv.range({ key: k('a') });
    expect(kvs[0]?.value).toBe('else');
  });

  test('a transaction without compares succeeds, and one without operations too', async () => {
    expect(await current().kv.txn({ compare: [], success: [] })).toMatchObject({ succeeded: true, results: [] });
  });
}

function refusalSuite(current: Current): void {
  const k = (name: string): string => key(current, name);
  const refused = (...success: readonly Op[]): Promise<string> => codeOf(current().kv.txn({ compare: [], success }));

  test('two puts to one key are refused as a whole', async () => {
    expect(await refused(put(k('a')), put(k('b')), put(k('a')))).toBe('duplicate-key');
    expect((await current().kv.range(all(current()))).count).toBe(0);
  });

  test('two nested transactions that put one key are refused, also when their compares exclude each other', async () => {
    const both = (first: Compare, second: Compare): Promise<string> =>
      refused(nested([first], [put(k('a'))]), nested([second], [put(k('a'))]));
    expect(await both(absent(k('x')), { key: k('x'), target: 'create', op: '>', value: 0n })).toBe('duplicate-key');
    expect(await refused(put(k('a')), nested([], [put(k('a'))]))).toBe('duplicate-key');
    expect(await refused(nested([], [], [put(k('a'))]), nested([], [put(k('a'))]))).toBe('duplicate-key');
  });

  test('a put under a range that is deleted beside it or before it is refused', async () => {
    expect(await refused(put(k('b')), del(k('b')))).toBe('duplicate-key');
    expect(await refused(del(k('a'), k('c')), put(k('b')))).toBe('duplicate-key');
    expect(await refused(nested([], [del(k('b'))]), nested([], [put(k('b'))]))).toBe('duplicate-key');
    expect(await refused(nested([], [put(k('b'))]), del(k('a'), k('c')))).toBe('duplicate-key');
    expect(await refused(put(k('b')), nested([], [], [del(k('b'))]))).toBe('duplicate-key');
    expect(await refused(del(k('a'), k('b')), put(k('b')))).toBe('no error');
  });

  test('the failure branch is checked as the success branch is, apart from it', async () => {
    const check = (txn: Txn): Promise<string> => codeOf(current().kv.txn(txn));
    expect(await check({ compare: [], success: [], failure: [put(k('a')), put(k('a'))] })).toBe('duplicate-key');
    expect(await check({ compare: [], success: [put(k('a'))], failure: [put(k('a'))] })).toBe('no error');
  });

  test.each([
    { subs: 64, ops: 64, fits: true },
    { subs: 120, ops: 8, fits: true },
    { subs: 100, ops: 28, fits: true },
    { subs: 127, ops: 1, fits: true },
    { subs: 128, ops: 1, fits: false },
    { subs: 100, ops: 29, fits: false },
    { subs: 65, ops: 64, fits: false },
  ])('$subs nested transactions of $ops operations: fits $fits', async ({ subs, ops, fits }) => {
    const success = Array.from({ length: subs }, (_, sub) =>
      nested(
        [],
        Array.from({ length: ops }, (__, op) => put(k(`${sub}/${op}`))),
      ),
    );
    expect(await refused(...success)).toBe(fits ? 'no error' : 'too-many-operations');
  });

  test('compares and failure branches count against the limit as operations do', async () => {
    const reads = (count: number): Op[] => Array.from({ length: count }, () => ({ kind: 'range', key: k('a') }));
    const compares = (count: number): Compare[] => Array.from({ length: count }, () => absent(k('a')));
    const check = (txn: Txn): Promise<string> => codeOf(current().kv.txn(txn));
    expect(await check({ compare: compares(128), success: reads(128), failure: reads(128) })).toBe('no error');
    expect(await check({ compare: compares(129), success: [] })).toBe('too-many-operations');
    expect(await check({ compare: [], success: [], failure: reads(129) })).toBe('too-many-operations');
    expect(await check({ compare: compares(100), success: [nested(compares(29), [])] })).toBe('too-many-operations');
    expect(await check({ compare: compares(100), success: [nested(compares(28), [])] })).toBe('no error');
  });

  test('an empty key is refused', async () => {
    expect(await codeOf(current().kv.range({ key: '' }))).toBe('invalid');
    expect(await refused(put(''))).toBe('invalid');
    expect(await codeOf(current().kv.txn({ compare: [absent('')], success: [] }))).toBe('invalid');
  });

  test('a request above the size limit is refused unsent, and one just below it is taken', async () => {
    const room = 1_572_864 - 600 - current().prefix.length;
    const big = await current()
      .kv.txn({ compare: [], success: [put(k('a'), 'x'.repeat(1_572_864))] })
      .catch((error: unknown) => error);
    expect(big).toMatchObject({ code: 'too-large', ambiguous: false });
    expect(await refused(put(k('a'), 'x'.repeat(room)))).toBe('no error');
    expect((await current().kv.range({ key: k('a') })).kvs[0]?.value.length).toBe(room);
  });

  test('a refused request leaves the revision alone', async () => {
    const before = await write(current(), put(k('a')));
    await refused(put(k('b')), put(k('b')));
    expect(await write(current(), put(k('a')))).toBeGreaterThan(before);
    expect((await current().kv.range(all(current()))).count).toBe(1);
  });
}

function leaseSuite(current: Current): void {
  const k = (name: string): string => key(current, name);
  const NO_LEASE = 4_611_686_018_427_387_905n;

  test('a lease id and a lease time survive the trip, and 2 seconds is the least', async () => {
    const { kv } = current();
    const short = await kv.leaseGrant(1);
    expect(short.ttlS).toBe(2);
    const lease = await kv.leaseGrant(60);
    expect(lease.ttlS).toBe(60);
    await kv.txn({ compare: [], success: [{ kind: 'put', key: k('a'), value: '', lease: lease.id }] });
    const { kvs } = await kv.range({ key: k('a') });
    expect(kvs[0]?.lease).toBe(lease.id);
    const same = await kv.txn({ compare: [{ key: k('a'), target: 'lease', value: lease.id }], success: [] });
    expect(same.succeeded).toBe(true);
    await kv.leaseRevoke(lease.id);
    await kv.leaseRevoke(short.id);
  });

  test('the keys of a lease go in one revision when it is revoked, and a second revoke does no harm', async () => {
    const { kv } = current();
    const { id } = await kv.leaseGrant(60);
    const revision = await write(
      current(),
      ...['😀', 'a', '\uffee'].map((name): Op => ({ kind: 'put', key: k(name), value: '', lease: id })),
    );
    const watch = record(kv, { ...all(current()), startRevision: revision + 1n });
    expect(await kv.leaseStatus(id)).toMatchObject({ id, grantedTtlS: 60, keys: [k('a'), k('\uffee'), k('😀')] });
    await kv.leaseRevoke(id);
    await watch.until(() => watch.events.length === 3);
    expect(watch.events.map(({ type, kv: gone }) => [type, gone.key])).toEqual([
      ['delete', k('a')],
      ['delete', k('\uffee')],
      ['delete', k('😀')],
    ]);
    expect(new Set(watch.events.map((event) => event.kv.modRevision)).size).toBe(1);
    await kv.leaseRevoke(id);
    expect(await kv.leaseStatus(id)).toEqual({ id, ttlS: -1, grantedTtlS: 0, keys: [] });
    expect(await kv.leaseKeepAlive(id)).toEqual({ ttlS: 0 });
  });

  test('a put without the lease detaches the key, and a put with another moves it', async () => {
    const { kv } = current();
    const [first, second] = [await kv.leaseGrant(60), await kv.leaseGrant(60)];
    const leased = (name: string, lease: bigint): Op => ({ kind: 'put', key: k(name), value: '', lease });
    await write(current(), leased('a', first.id), leased('b', first.id), leased('c', first.id));
    await write(current(), put(k('a')), leased('b', second.id));
    expect((await kv.leaseStatus(first.id)).keys).toEqual([k('c')]);
    await kv.leaseRevoke(first.id);
    expect((await kv.range(all(current()))).kvs.map((each) => each.key)).toEqual([k('a'), k('b')]);
    await kv.leaseRevoke(second.id);
    expect((await kv.range(all(current()))).kvs.map((each) => each.key)).toEqual([k('a')]);
  });

  test('a put that names a lost lease refuses the whole request, also from a nested transaction', async () => {
    const dead: Op = { kind: 'put', key: k('b'), value: '', lease: NO_LEASE };
    for (const success of [
      [put(k('a')), dead],
      [put(k('a')), nested([], [dead])],
    ]) {
      expect(await codeOf(current().kv.txn({ compare: [], success }))).toBe('lease-not-found');
    }
    expect((await current().kv.range(all(current()))).count).toBe(0);
  });

  test('a lost lease in a branch that is not taken does no harm', async () => {
    const dead: Op = { kind: 'put', key: k('b'), value: '', lease: NO_LEASE };
    const result = await current().kv.txn({
      compare: [absent(k('a'))],
      success: [put(k('a')), nested([absent(k('a'))], [], [dead])],
      failure: [dead],
    });
    expect(result.succeeded).toBe(true);
  });

  test('a lease ends by itself, with its keys, when nobody renews it; one that is renewed lives on', async () => {
    const { kv, passTime } = current();
    const [left, renewed] = [await kv.leaseGrant(2), await kv.leaseGrant(2)];
    await write(
      current(),
      { kind: 'put', key: k('left'), value: '', lease: left.id },
      { kind: 'put', key: k('renewed'), value: '', lease: renewed.id },
    );
    for (let step = 0; step < 5; step += 1) {
      await passTime(1000);
      expect(await kv.leaseKeepAlive(renewed.id)).toEqual({ ttlS: 2 });
    }
    expect((await kv.range(all(current()))).kvs.map((each) => each.key)).toEqual([k('renewed')]);
    expect(await kv.leaseKeepAlive(left.id)).toEqual({ ttlS: 0 });
    expect((await kv.leaseStatus(left.id)).ttlS).toBe(-1);
    await kv.leaseRevoke(renewed.id);
  });

  test('many keepalives at once each get their own answer', async () => {
    const { kv } = current();
    const leases = await Promise.all([10, 20, 30].map((ttlS) => kv.leaseGrant(ttlS)));
    const ids = [...leases.map(({ id }) => id), NO_LEASE];
    const answers = await Promise.all([...ids, ...ids].map((id) => kv.leaseKeepAlive(id)));
    expect(answers.map(({ ttlS }) => ttlS)).toEqual([10, 20, 30, 0, 10, 20, 30, 0]);
    for (const { id } of leases) await kv.leaseRevoke(id);
  });
}

function watchSuite(current: Current): void {
  const k = (name: string): string => key(current, name);
  const watchAll = (startRevision: bigint, more: Partial<WatchRequest> = {}): Recording =>
    record(current().kv, { ...all(current()), startRevision, ...more });
  const told = (watch: Recording): string[] =>
    watch.events.map(({ type, kv }) => `${type} ${kv.key.slice(current().prefix.length)} ${kv.value}`.trimEnd());

  test('a watch starts in the past and goes on into the future, in order, once each', async () => {
    const first = await write(current(), put(k('a'), '1'));
    await write(current(), put(k('b'), '2'));
    const watch = watchAll(first);
    await watch.until(() => watch.events.length === 2);
    await write(current(), put(k('a'), '3'));
    await write(current(), del(k('a')));
    await watch.until(() => watch.events.length === 4);
    expect(told(watch)).toEqual(['put a 1', 'put b 2', 'put a 3', 'delete a']);
  });

  test('the events of one request come whole, in one message, in the order of its operations', async () => {
    const from = await write(current(), put(k('z')), put(k('y')));
    const watch = watchAll(from + 1n);
    const revision = await write(
      current(),
      put(k('c')),
      nested([], [put(k('b')), del(k('y'), `${k('z')}\0`)]),
      put(k('a')),
    );
    await watch.until(() => watch.events.length > 0);
    const message = watch.messages.find((each) => each.kind === 'events');
    expect(message).toMatchObject({ kind: 'events', revision });
    expect(told(watch)).toEqual(['put c', 'put b', 'delete y', 'delete z', 'put a']);
    expect(watch.events.every((event) => event.kv.modRevision === revision)).toBe(true);
  });

  test('a put and its delete in one request are both told', async () => {
    const from = await write(current(), put(k('other')));
    const watch = watchAll(from + 1n, { prevKv: true });
    await write(current(), nested([], [put(k('a'), 'short')]), nested([], [del(k('a'))]));
    await watch.until(() => watch.events.length === 2);
    expect(told(watch)).toEqual(['put a short', 'delete a']);
    expect(watch.events.map((event) => event.prev)).toEqual([undefined, undefined]);
  });

  test('a delete is told with the key and the revision of the deletion only', async () => {
    await write(current(), put(k('a'), 'value'));
    const revision = await write(current(), del(k('a')));
    const watch = watchAll(revision);
    await watch.until(() => watch.events.length === 1);
    expect(watch.events[0]).toEqual({
      type: 'delete',
      kv: { key: k('a'), value: '', createRevision: 0n, modRevision: revision, version: 0n, lease: 0n },
    });
  });

  test('prevKv brings the pair as it was before', async () => {
    const first = await write(current(), put(k('a'), '1'));
    const second = await write(current(), put(k('a'), '2'));
    await write(current(), del(k('a')));
    const watch = watchAll(first, { prevKv: true });
    await watch.until(() => watch.events.length === 3);
    expect(watch.events.map((event) => event.prev)).toEqual([
      undefined,
      { key: k('a'), value: '1', createRevision: first, modRevision: first, version: 1n, lease: 0n },
      { key: k('a'), value: '2', createRevision: first, modRevision: second, version: 2n, lease: 0n },
    ]);
  });

  test('filters leave out puts or deletes', async () => {
    const first = await write(current(), put(k('a')), put(k('b')));
    await write(current(), del(k('a')));
    await write(current(), put(k('c')));
    await write(current(), del(k('c')));
    const deletes = watchAll(first, { filter: 'no-put' });
    const puts = watchAll(first, { filter: 'no-delete' });
    await deletes.until(() => deletes.events.length === 2);
    await puts.until(() => puts.events.length === 3);
    expect(told(deletes)).toEqual(['delete a', 'delete c']);
    expect(told(puts)).toEqual(['put a', 'put b', 'put c']);
  });

  test('a watch of one key tells nothing of its neighbours', async () => {
    const from = await write(current(), put(k('b')));
    const watch = record(current().kv, { key: k('a'), startRevision: from });
    await write(current(), put(k('a/1')), put(k('A')), put(k('a'), 'me'));
    await watch.until(() => watch.events.length === 1);
    expect(told(watch)).toEqual(['put a me']);
  });

  test('a watch of an empty range is closed as invalid', async () => {
    const watch = record(current().kv, { key: k('b'), rangeEnd: k('b'), startRevision: 1n });
    await watch.until(() => watch.messages.length > 0);
    expect(watch.messages).toMatchObject([{ kind: 'closed', cause: { code: 'invalid' } }]);
  });

  test('progress comes on request and is never ahead of the events', async () => {
    const from = await write(current(), put(k('a')));
    const watch = watchAll(from);
    const last = await write(current(), put(k('b')));
    await watch.until(() => watch.events.length === 2);
    const progress = (): bigint[] =>
      watch.messages.flatMap((each) => (each.kind === 'progress' ? [each.revision] : []));
    while (progress().length === 0) {
      watch.requestProgress();
      await Promise.race([watch.until(() => progress().length > 0), current().passTime(200)]);
    }
    expect(progress()[0]).toBeGreaterThanOrEqual(last);
  });

  test('a closed watch is silent, also when it is closed from its own message', async () => {
    const from = await write(current(), put(k('a')));
    const silent = watchAll(from);
    silent.close();
    silent.close();
    silent.requestProgress();
    let seen = 0;
    await new Promise<void>((resolve) => {
      const handle = current().kv.watch({ ...all(current()), startRevision: from }, () => {
        seen += 1;
        handle.close();
        resolve();
      });
    });
    const witness = watchAll(from);
    await write(current(), put(k('b')));
    await witness.until(() => witness.events.length === 2);
    expect({ seen, silent: silent.messages }).toEqual({ seen: 1, silent: [] });
  });

  test('messages never come while the call that opened the watch is running', async () => {
    const from = await write(current(), put(k('a')));
    let during = true;
    const duringOpening = await new Promise<boolean>((resolve) => {
      const handle = current().kv.watch({ ...all(current()), startRevision: from }, () => {
        resolve(during);
        if (!during) handle.close();
      });
      during = false;
    });
    expect(duringOpening).toBe(false);
  });

  test('2,500 revisions of catching up arrive complete and in order', async () => {
    const from = await write(current(), put(k('start')));
    for (let batch = 0; batch < 25; batch += 1) {
      await Promise.all(Array.from({ length: 100 }, () => write(current(), put(k('n')))));
    }
    const watch = watchAll(from + 1n);
    await watch.until(() => watch.events.length >= 2500);
    const revisions = watch.events.map((event) => event.kv.modRevision);
    expect(watch.events.map((event) => event.kv.version)).toEqual(
      Array.from({ length: 2500 }, (_, n) => BigInt(n + 1)),
    );
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => (a < b ? -1 : 1)));
  });
}

function closingSuite(current: Current): void {
  test('after close every call fails with closed, and watches end with it', async () => {
    const { kv, prefix } = current();
    const from = await write(current(), put(`${prefix}a`));
    const watch = record(kv, { ...all(current()), startRevision: from });
    await watch.until(() => watch.events.length === 1);
    await kv.close();
    await kv.close();
    await watch.until(() => watch.messages.at(-1)?.kind === 'closed');
    expect(watch.messages.at(-1)).toMatchObject({ cause: { code: 'closed' } });
    const late = record(kv, { ...all(current()), startRevision: from });
    expect(late.messages).toEqual([]);
    await late.until(() => late.messages.length === 1);
    expect(late.messages).toMatchObject([{ kind: 'closed', cause: { code: 'closed' } }]);
    const calls = [
      kv.range({ key: prefix }),
      kv.txn({ compare: [], success: [] }),
      kv.leaseGrant(10),
      kv.leaseKeepAlive(1n),
      kv.leaseRevoke(1n),
      kv.leaseStatus(1n),
      kv.compact(1n),
      kv.status(),
      kv.members(),
      kv.alarms(),
    ];
    expect(new Set(await Promise.all(calls.map(codeOf)))).toEqual(new Set(['closed']));
  });

  test('an aborted call fails with timeout, and one that was aborted before is not sent', async () => {
    const { kv, prefix } = current();
    const txn: Txn = { compare: [], success: [put(`${prefix}a`)] };
    const unsent = await kv.txn(txn, { signal: AbortSignal.abort() }).catch((error: unknown) => error);
    expect(unsent).toMatchObject({ code: 'timeout', ambiguous: false });
    expect((await kv.range({ key: `${prefix}a` })).count).toBe(0);
    const giveUp = new AbortController();
    const inFlight = kv.txn(txn, { signal: giveUp.signal }).catch((error: unknown) => error);
    giveUp.abort();
    expect(await inFlight).toMatchObject({ code: 'timeout' });
    const read = new AbortController();
    const reading = kv.range({ key: prefix }, { signal: read.signal }).catch((error: unknown) => error);
    read.abort();
    expect(await reading).toMatchObject({ code: 'timeout', ambiguous: false });
  });

  test('the status tells the cluster, the release and the revision', async () => {
    const { kv, prefix } = current();
    const revision = await write(current(), put(`${prefix}a`));
    const status = await kv.status();
    expect(status.revision).toBeGreaterThanOrEqual(revision);
    expect(status.version).toMatch(/^3\.\d+\.\d+/);
    expect([status.clusterId, status.memberId, status.leaderId].every((id) => /^[0-9a-f]+$/.test(id))).toBe(true);
    expect((await kv.members()).map(({ id }) => id)).toContain(status.memberId);
    expect(await kv.alarms()).toEqual([]);
  });
}

/** Needs a store of its own: compaction is of everything. */
export function compactionSuite(open: OpenTarget): void {
  let target: Target;
  beforeEach(() => {
    target = open();
  });
  afterEach(() => target.kv.close());

  describe('compaction', () => {
    const k = (name: string): string => `${target.prefix}${name}`;

    test('a request that writes nothing uses no revision', async () => {
      const revision = await write(target, put(k('a')));
      const idle: Txn[] = [
        { compare: [absent(k('a'))], success: [put(k('b'))] },
        { compare: [], success: [{ kind: 'range', key: k('a') }] },
        { compare: [], success: [del(k('missing'))] },
        { compare: [], success: [nested([absent(k('a'))], [put(k('b'))])] },
      ];
      for (const txn of idle) expect((await target.kv.txn(txn)).revision).toBe(revision);
      const lease = await target.kv.leaseGrant(60);
      await target.kv.leaseRevoke(lease.id);
      expect(await write(target, put(k('a')))).toBe(revision + 1n);
    });

    test('below the floor the past is gone, at the floor it is there', async () => {
      const first = await write(target, put(k('a'), '1'), put(k('b'), '1'));
      const second = await write(target, put(k('a'), '2'), del(k('b')));
      const third = await write(target, put(k('a'), '3'));
      await target.kv.compact(second);
      expect(await codeOf(target.kv.range({ ...all(target), revision: first }))).toBe('compacted');
      const at = await target.kv.range({ ...all(target), revision: second });
      expect(at.kvs).toMatchObject([{ key: k('a'), value: '2', version: 2n }]);
      const now = await target.kv.range({ ...all(target), revision: third });
      expect(now.kvs).toMatchObject([{ key: k('a'), value: '3', version: 3n, createRevision: first }]);
    });

    test('compacting again, or below the floor, does no harm; the future cannot be compacted', async () => {
      const revision = await write(target, put(k('a')));
      await target.kv.compact(revision);
      await target.kv.compact(revision);
      await target.kv.compact(revision - 1n);
      expect(await codeOf(target.kv.compact(revision + 100n))).toBe('future-revision');
    });

    test('a watch that starts below the floor is told the floor, as its last word', async () => {
      const first = await write(target, put(k('a')));
      const floor = await write(target, put(k('a')));
      await target.kv.compact(floor);
      const watch = record(target.kv, { ...all(target), startRevision: first });
      await watch.until(() => watch.messages.length > 0);
      expect(watch.messages).toEqual([{ kind: 'compacted', compactRevision: floor }]);
    });

    test('a live watch loses nothing to a compaction', async () => {
      const first = await write(target, put(k('a'), '1'));
      const watch = record(target.kv, { ...all(target), startRevision: first });
      await watch.until(() => watch.events.length === 1);
      const floor = await write(target, put(k('a'), '2'));
      await watch.until(() => watch.events.length === 2);
      await target.kv.compact(floor);
      await write(target, put(k('a'), '3'));
      await watch.until(() => watch.events.length === 3);
      expect(watch.events.map((event) => event.kv.value)).toEqual(['1', '2', '3']);
      expect(watch.messages.every((message) => message.kind === 'events')).toBe(true);
    });

    test('a watch that starts at the floor gets what was put there, without what was before', async () => {
      await write(target, put(k('a'), '1'));
      const floor = await write(target, put(k('a'), '2'));
      await target.kv.compact(floor);
      const watch = record(target.kv, { ...all(target), startRevision: floor, prevKv: true });
      await watch.until(() => watch.messages.length > 0);
      expect(watch.events.map(({ kv, prev }) => [kv.value, prev])).toEqual([['2', undefined]]);
    });

    test('a compare over a range that is empty is a compare with an absent key', async () => {
      const holds = async (value: bigint): Promise<boolean> =>
        (await target.kv.txn({ compare: [{ ...all(target), target: 'version', value }], success: [] })).succeeded;
      expect([await holds(0n), await holds(1n)]).toEqual([true, false]);
    });

    test('a watch that starts just above the floor gets everything, with prev where it is kept', async () => {
      await write(target, put(k('a'), '1'));
      const floor = await write(target, put(k('a'), '2'));
      await write(target, put(k('a'), '3'));
      await write(target, del(k('a')));
      await target.kv.compact(floor);
      const watch = record(target.kv, { ...all(target), startRevision: floor + 1n, prevKv: true });
      await watch.until(() => watch.events.length === 2);
      expect(watch.events.map((event) => event.prev?.value)).toEqual(['2', '3']);
    });
  });
}
