import { describe, expect, test } from 'vitest';
import { MemoryStore, type Fate, type MemoryCall, type Op, type Txn } from '../../src/kv/index.js';
import { codeOf, record } from './target.js';

/** What the twin can do beyond etcd: lose messages on purpose, stop time, and be looked into. */
const put = (key: string, value = ''): Op => ({ kind: 'put', key, value });
const write = (...success: readonly Op[]): Txn => ({ compare: [], success });
const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A store whose scheduler does nothing until it is told to. */
function steppedStore(): { store: MemoryStore; run: (untilMs?: number) => void } {
  let nowMs = 0;
  let turn = 0;
  const waiting: { at: number; turn: number; run: () => void }[] = [];
  const store = new MemoryStore({
    now: () => nowMs,
    schedule: (run, delayMs) => void waiting.push({ at: nowMs + delayMs, turn: (turn += 1), run }),
  });
  const run = (untilMs = nowMs): void => {
    for (;;) {
      waiting.sort((a, b) => a.at - b.at || a.turn - b.turn);
      const next = waiting[0];
      if (next === undefined || next.at > untilMs) break;
      waiting.shift();
      nowMs = next.at;
      next.run();
    }
    nowMs = untilMs;
  };
  return { store, run };
}

describe('faults of the twin', () => {
  const faulty = async (fate: Fate): Promise<{ error: unknown; applied: boolean }> => {
    const store = new MemoryStore();
    const seen: MemoryCall[] = [];
    const kv = store.connect({
      name: 'one',
      intercept: (call) => {
        seen.push(call);
        return fate;
      },
    });
    const error = await errorOf(kv.txn(write(put('a'))));
    expect(seen).toMatchObject([{ connection: 'one', method: 'txn' }]);
    return { error, applied: (await store.connect().range({ key: 'a' })).count === 1 };
  };

  test('a refused call was not sent and is not ambiguous', async () => {
    expect(await faulty('refuse')).toMatchObject({ error: { code: 'unavailable', ambiguous: false }, applied: false });
  });

  test('a request lost on the way is ambiguous and not applied', async () => {
    expect(await faulty('drop-before')).toMatchObject({
      error: { code: 'unavailable', ambiguous: true },
      applied: false,
    });
  });

  test('a lost answer is ambiguous, and the write is applied', async () => {
    expect(await faulty('drop-after')).toMatchObject({
      error: { code: 'unavailable', ambiguous: true },
      applied: true,
    });
  });

  test('a lost read is never ambiguous', async () => {
    const kv = new MemoryStore().connect({ intercept: () => 'drop-after' });
    expect(await errorOf(kv.range({ key: 'a' }))).toMatchObject({ code: 'unavailable', ambiguous: false });
  });

  test('a request that was given up is applied later all the same', async () => {
    const { store, run } = steppedStore();
    const kv = store.connect({ intercept: () => ({ delayMs: 1000, givenUp: true }) });
    const call = errorOf(kv.txn(write(put('a'))));
    run();
    expect(await call).toMatchObject({ code: 'timeout', ambiguous: true });
    expect(store.revision).toBe(1n);
    run(1000);
    expect(store.revision).toBe(2n);
  });

  test('a request that is slower than its timeout fails at the timeout, one that is not is answered', async () => {
    const { store, run } = steppedStore();
    const kv = store.connect({ intercept: () => ({ delayMs: 300 }) });
    const slow = errorOf(kv.txn(write(put('a')), { timeoutMs: 200 }));
    const patient = kv.txn(write(put('b')), { timeoutMs: 400 });
    run(250);
    expect(await slow).toMatchObject({ code: 'timeout', ambiguous: true });
    run(300);
    expect(await patient).toMatchObject({ succeeded: true });
    expect(store.revision).toBe(3n);
  });
});

describe('outages of the twin', () => {
  test('a disconnected handle refuses calls and ends its watches; other handles go on; healing helps', async () => {
    const store = new MemoryStore();
    const [one, other] = [store.connect(), store.connect()];
    const watch = record(one, { key: 'a', startRevision: 1n });
    const inFlight = errorOf(one.txn(write(put('a'))));
    one.disconnect();
    expect(await inFlight).toMatchObject({ code: 'unavailable', ambiguous: true });
    expect(await errorOf(one.txn(write(put('a'))))).toMatchObject({ code: 'unavailable', ambiguous: false });
    expect(await codeOf(other.txn(write(put('a'))))).toBe('no error');
    await watch.until(() => watch.messages.length > 0);
    expect(watch.messages).toMatchObject([{ kind: 'closed', cause: { code: 'unavailable' } }]);
    const refused = record(one, { key: 'a', startRevision: 1n });
    await refused.until(() => refused.messages.length > 0);
    expect(refused.messages).toMatchObject([{ kind: 'closed' }]);
    one.heal();
    expect(await codeOf(one.range({ key: 'a' }))).toBe('no error');
  });

  test('in a black hole calls time out and watches are silent; afterwards the watch tells all it missed', async () => {
    const { store, run } = steppedStore();
    const [one, other] = [store.connect(), store.connect()];
    const watch = record(one, { key: 'a', startRevision: 1n });
    run();
    one.disconnect('blackhole');
    const lost = errorOf(one.txn(write(put('a', 'lost')), { timeoutMs: 100 }));
    const kept = other.txn(write(put('a', 'kept')));
    run(100);
    expect(await lost).toMatchObject({ code: 'timeout', ambiguous: true });
    await kept;
    expect(watch.messages).toEqual([]);
    one.heal();
    run(100);
    expect(watch.events.map((event) => event.kv.value)).toEqual(['kept']);
  });

  test('a watch held in a black hole over a compaction is told so, if it missed something', async () => {
    const { store, run } = steppedStore();
    const [one, other] = [store.connect(), store.connect()];
    const watch = record(one, { key: 'a', startRevision: 1n });
    run();
    one.disconnect('blackhole');
    const calls = [other.txn(write(put('a', '1'))), other.txn(write(put('a', '2'))), other.compact(3n)];
    run();
    await Promise.all(calls);
    one.heal();
    run();
    expect(watch.messages).toEqual([{ kind: 'compacted', compactRevision: 3n }]);
  });
});

describe('the order of things in the twin', () => {
  test('calls take effect in the order of the scheduler, and a watch message comes with its revision whole', async () => {
    const { store, run } = steppedStore();
    const kv = store.connect();
    const watch = record(kv, { key: 'a', rangeEnd: 'c', startRevision: 2n });
    const results = [kv.txn(write(put('a', '1'), put('b', '1'))), kv.txn(write(put('a', '2')))];
    expect(store.revision).toBe(1n);
    run();
    expect((await Promise.all(results)).map(({ revision }) => revision)).toEqual([2n, 3n]);
    expect(watch.messages).toMatchObject([{ kind: 'events', revision: 3n, events: [{}, {}, {}] }]);
  });
});

describe('time in the twin', () => {
  test('leases end only when asked, earliest first, each in a revision of its own', async () => {
    let nowMs = 0;
    const store = new MemoryStore({ now: () => nowMs });
    const kv = store.connect();
    const [later, sooner] = [await kv.leaseGrant(9), await kv.leaseGrant(5)];
    await kv.txn(
      write(
        { kind: 'put', key: 'later', value: '', lease: later.id },
        { kind: 'put', key: 'sooner', value: '', lease: sooner.id },
      ),
    );
    expect(store.nextExpiryMs()).toBe(5000);
    nowMs = 20_000;
    expect(store.revision).toBe(2n);
    expect(await kv.leaseKeepAlive(sooner.id)).toEqual({ ttlS: 0 });
    const watch = record(kv, { key: 'a', rangeEnd: 'z', startRevision: 3n });
    expect(store.tick()).toEqual([sooner.id, later.id]);
    await watch.until(() => watch.events.length === 2);
    expect(watch.events.map((event) => [event.kv.key, event.kv.modRevision])).toEqual([
      ['sooner', 3n],
      ['later', 4n],
    ]);
    expect(store.nextExpiryMs()).toBe(undefined);
  });

  test('a change of leader gives every lease its full time again', async () => {
    let nowMs = 0;
    const store = new MemoryStore({ now: () => nowMs });
    const kv = store.connect();
    const { id } = await kv.leaseGrant(10);
    nowMs = 9000;
    store.changeLeader();
    expect(await kv.leaseStatus(id)).toMatchObject({ ttlS: 10 });
    expect((await kv.status()).raftTerm).toBe('3');
  });
});

describe('space in the twin', () => {
  test('out of space, puts in any branch and grants are refused, deletes and reads are not', async () => {
    const store = new MemoryStore();
    const kv = store.connect();
    await kv.txn(write(put('a')));
    store.setOutOfSpace(true);
    expect(await codeOf(kv.txn(write(put('b'))))).toBe('no-space');
    expect(await codeOf(kv.txn({ compare: [], success: [], failure: [put('b')] }))).toBe('no-space');
    expect(await codeOf(kv.leaseGrant(10))).toBe('no-space');
    expect(await kv.alarms()).toMatchObject([{ alarm: 'nospace' }]);
    expect(await codeOf(kv.txn(write({ kind: 'delete', key: 'a' })))).toBe('no error');
    store.setOutOfSpace(false);
    expect(await codeOf(kv.txn(write(put('b'))))).toBe('no error');
  });

  test('a long life does not grow: compaction gives back what was overwritten and deleted', async () => {
    const store = new MemoryStore();
    const kv = store.connect();
    const size = async (): Promise<number> => (await kv.status()).dbSizeBytes;
    let afterFirst = 0;
    for (let round = 0; round < 20; round += 1) {
      for (let n = 0; n < 200; n += 1) {
        await kv.txn(write(put(`task/${round}/${n}`, 'x'.repeat(100)), put('head', `${round}/${n}`)));
        await kv.txn(write({ kind: 'delete', key: `task/${round}/${n}` }));
      }
      await kv.compact(store.revision);
      afterFirst ||= await size();
    }
    expect(await size()).toBeLessThanOrEqual(afterFirst + 10);
    expect((await kv.range({ key: 'head' })).kvs).toMatchObject([{ version: 4000n }]);
  });

  test('100,000 keys are put, counted, read at the head and deleted in little time', async () => {
    const kv = new MemoryStore({ maxTxnOps: 2000 }).connect();
    const name = (n: number): string => `k/${String((n * 7919) % 100_003).padStart(6, '0')}`;
    const started = performance.now();
    for (let from = 0; from < 100_000; from += 1000) {
      await kv.txn(write(...Array.from({ length: 1000 }, (_, n) => put(name(from + n)))));
    }
    for (let n = 0; n < 1000; n += 1) await kv.range({ key: 'k/', rangeEnd: 'k0', limit: 10 });
    expect((await kv.range({ key: 'k/', rangeEnd: 'k0', countOnly: true })).count).toBe(100_000);
    await kv.txn(write({ kind: 'delete', key: 'k/', rangeEnd: 'k0' }));
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
