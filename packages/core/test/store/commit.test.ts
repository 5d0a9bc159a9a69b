import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KvError, MemoryStore, type Compare, type Fate, type Kv, type Op, type Txn } from '../../src/kv/index.js';
import { Committer, NO_FENCE, type SubTxn } from '../../src/store/commit.js';

const put = (key: string, value = 'v'): Op => ({ kind: 'put', key, value });
const free = (key: string): Compare => ({ key, target: 'create', value: 0n });
const make = (key: string, value?: string): SubTxn => ({
  compare: [free(key)],
  success: [put(key, value)],
  failure: [{ kind: 'range', key }],
});
const now = { sleep: () => Promise.resolve() };

/** Counts requests on the way to a store, and can lose them. */
function tap(kv: Kv): { kv: Kv; requests: Txn[] } {
  const requests: Txn[] = [];
  const tapped = Object.create(kv) as Kv;
  tapped.txn = (txn, options) => {
    requests.push(txn);
    return kv.txn(txn, options);
  };
  return { kv: tapped, requests };
}

describe('the committer', () => {
  it('sends what is ready together in one request, each with its own outcome', async () => {
    const { kv, requests } = tap(new MemoryStore().connect());
    const committer = new Committer(kv, now);
    await committer.submit(NO_FENCE, make('taken'));
    requests.length = 0;
    const results = await Promise.all(['a', 'taken', 'b'].map((key) => committer.submit(NO_FENCE, make(key))));
    expect(requests).toHaveLength(1);
    expect(results.map((result) => result.kind === 'answered' && result.succeeded)).toEqual([true, false, true]);
  });

  it('adds no delay when idle, and batches what arrives while requests are in flight', async () => {
    const { kv, requests } = tap(new MemoryStore().connect());
    const committer = new Committer(kv, { ...now, inFlight: 1 });
    const first = committer.submit(NO_FENCE, make('k0'));
    await Promise.resolve();
    const later = Array.from({ length: 50 }, (_, i) => committer.submit(NO_FENCE, make(`k${i + 1}`)));
    await Promise.all([first, ...later]);
    expect(requests.map((request) => request.success.length)).toEqual([1, 50]);
  });

  it('C1: a fence that does not hold refuses its own group only', async () => {
    const kv = new MemoryStore().connect();
    const committer = new Committer(kv, now);
    const fence = { id: 'gone', compare: [{ key: 'session', target: 'create', value: 7n }] } as const;
    const [fenced, other] = await Promise.all([
      committer.submit(fence, make('a')),
      committer.submit(NO_FENCE, make('b')),
    ]);
    expect(fenced).toEqual({ kind: 'fenced', resent: false });
    expect(other).toMatchObject({ kind: 'answered', succeeded: true });
  });

  it('C2: write skew is impossible: of "if no X put Y" and "if no Y put X" one wins', async () => {
    const committer = new Committer(new MemoryStore().connect(), now);
    const results = await Promise.all([
      committer.submit(NO_FENCE, { compare: [free('x')], success: [put('y')] }),
      committer.submit(NO_FENCE, { compare: [free('y')], success: [put('x')] }),
    ]);
    expect(results.filter((result) => result.kind === 'answered' && result.succeeded)).toHaveLength(1);
  });

  it('C3: a transition that can never fit is refused before it is sent', async () => {
    const { kv, requests } = tap(new MemoryStore().connect());
    const committer = new Committer(kv, now);
    await expect(committer.submit(NO_FENCE, make('big', 'x'.repeat(1_600_000)))).rejects.toMatchObject({
      code: 'too-large',
    });
    const wide = { compare: [], success: Array.from({ length: 128 }, (_, i) => put(`w${i}`)) };
    await expect(committer.submit(NO_FENCE, wide)).rejects.toMatchObject({ code: 'too-many-operations' });
    expect(requests).toHaveLength(0);
  });

  it('C3: many large transitions are cut into requests that fit', async () => {
    const { kv, requests } = tap(new MemoryStore().connect());
    const committer = new Committer(kv, now);
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) => committer.submit(NO_FENCE, make(`k${i}`, 'x'.repeat(200_000)))),
    );
    expect(results.every((result) => result.kind === 'answered' && result.succeeded)).toBe(true);
    expect(requests.length).toBeGreaterThanOrEqual(8);
  });

  it('C4: after a lost answer the same transition is sent again, and its owner is told', async () => {
    const fates: Fate[] = ['drop-after', 'drop-before', 'pass'];
    const kv = new MemoryStore().connect({ intercept: () => fates.shift() ?? 'pass' });
    const result = await new Committer(kv, now).submit(NO_FENCE, make('a', 'mine'));
    expect(result).toMatchObject({
      kind: 'answered',
      succeeded: false,
      resent: true,
      results: [{ kvs: [{ value: 'mine' }] }],
    });
  });

  it('gives up after a while, and says that the outcome is unknown', async () => {
    let clock = 0;
    const kv = new MemoryStore().connect({ intercept: () => 'drop-after' });
    const committer = new Committer(kv, { now: () => clock, sleep: (ms) => Promise.resolve(void (clock += ms)) });
    const attempt = committer.submit(NO_FENCE, make('a'), { giveUpMs: 5_000 });
    await expect(attempt).rejects.toMatchObject({ ambiguous: true });
    await expect(attempt).rejects.toBeInstanceOf(KvError);
  });

  it('after close nothing is sent', async () => {
    const committer = new Committer(new MemoryStore().connect(), now);
    committer.close();
    await expect(committer.submit(NO_FENCE, make('a'))).rejects.toMatchObject({ code: 'closed' });
  });

  it('C2, property: whatever is submitted together, the outcome is that of some order one by one', async () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const compare = fc.oneof(
      key.map(free),
      fc.record({
        key: fc.constant('a'),
        rangeEnd: fc.constantFrom('b', 'c', 'e'),
        target: fc.constant('create' as const),
        value: fc.constant(0n),
      }),
    );
    const op = fc.oneof(
      key.map((k) => put(k)),
      key.map((k): Op => ({ kind: 'delete', key: k })),
      fc.constant<Op>({ kind: 'delete', key: 'b', rangeEnd: 'd' }),
    );
    const sub = fc
      .record({
        compare: fc.array(compare, { minLength: 1, maxLength: 2 }),
        success: fc.array(op, { minLength: 1, maxLength: 2 }),
      })
      .filter(({ success }) => !selfConflict(success));
    await fc.assert(
      fc.asyncProperty(fc.array(sub, { minLength: 2, maxLength: 4 }), async (subs) => {
        const together = await outcome((committer) => Promise.all(subs.map((one) => committer.submit(NO_FENCE, one))));
        const orders = await Promise.all(
          permutations(subs.map((_, i) => i)).map((order) =>
            outcome(async (committer) => {
              const results = new Map<number, Awaited<ReturnType<Committer['submit']>>>();
              for (const i of order) results.set(i, await committer.submit(NO_FENCE, subs[i] as SubTxn));
              return subs.map((_, i) => results.get(i) as Awaited<ReturnType<Committer['submit']>>);
            }),
          ),
        );
        expect(orders).toContainEqual(together);
      }),
      { numRuns: process.env['LEASEHOLD_FULL'] === '1' ? 3_000 : 300 },
    );
  });
});

function selfConflict(ops: readonly Op[]): boolean {
  const keys = ops.flatMap((op) => (op.kind === 'put' || op.kind === 'delete' ? [op.key] : []));
  const range = ops.some((op) => op.kind === 'delete' && op.rangeEnd !== undefined);
  return new Set(keys).size < keys.length || (range && ops.length > 1);
}

async function outcome(
  run: (committer: Committer) => Promise<readonly Awaited<ReturnType<Committer['submit']>>[]>,
): Promise<unknown> {
  const kv = new MemoryStore().connect();
  const results = await run(new Committer(kv, now));
  const { kvs } = await kv.range({ key: 'a', rangeEnd: 'z' });
  return {
    won: results.map((result) => result.kind === 'answered' && result.succeeded),
    keys: kvs.map((one) => one.key),
  };
}

function permutations(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, i) =>
    permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]),
  );
}
