import { startEtcd, startProxy, type Proxy, type RunningEtcd } from '@leasehold/etcd-local';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectEtcd, KvError, type EtcdOptions, type Kv, type Op, type Txn } from '../../src/kv/index.js';
import { codeOf, freshKeys, record } from './target.js';

/** What `etcd3` itself got wrong when the network or the server failed, held against the real thing. */
const put = (key: string, value = ''): Op => ({ kind: 'put', key, value });

/** The call's error, which must be a `KvError`. */
async function failure(call: Promise<unknown>): Promise<KvError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof KvError)) throw new Error(`expected a KvError, got ${String(error)}`);
  return error;
}

/** Keeps a connection reset until `ended` settles. */
async function killEvery(ms: number, proxy: Proxy, during: () => Promise<void>): Promise<void> {
  const timer = setInterval(() => proxy.killConnections(), ms);
  try {
    await during();
  } finally {
    clearInterval(timer);
  }
}

describe.each([
  { name: 'etcd, the newest', prefer: undefined },
  { name: 'etcd 3.4', prefer: '3.4' },
])('with $name behind a bad network', ({ prefer }) => {
  let etcd: RunningEtcd;
  let proxy: Proxy;
  let direct: Kv;
  const clients: Kv[] = [];
  const connect = (options: Partial<EtcdOptions> = {}): Kv => {
    const kv = connectEtcd({ endpoints: [proxy.url], defaultTimeoutMs: 2000, ...options });
    clients.push(kv);
    return kv;
  };

  beforeAll(async () => {
    etcd = await startEtcd({ unsafeNoFsync: true, ...(prefer === undefined ? undefined : { prefer }) });
    direct = connectEtcd({ endpoints: etcd.endpoints });
  });
  beforeEach(async () => {
    proxy = await startProxy(Number(new URL(etcd.endpoints[0] ?? '').port));
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((kv) => kv.close()));
    await proxy.close();
  });
  afterAll(async () => {
    await direct.close();
    await etcd.stop();
  });

  test('a consumer that resumes by the contract misses nothing and sees nothing twice, however often it is cut', async () => {
    const { prefix, end } = freshKeys();
    const consumer = connect();
    const first = (await direct.txn({ compare: [], success: [put(`${prefix}n`, '0')] })).revision;
    const seen: string[] = [];
    let opened = 0;
    let next = first;
    const consume = (): Promise<void> =>
      new Promise((resolve) => {
        const open = (): void => {
          opened += 1;
          const handle = consumer.watch({ key: prefix, rangeEnd: end, startRevision: next }, (message) => {
            if (message.kind === 'closed') setTimeout(open, 10);
            if (message.kind !== 'events') return;
            next = message.revision + 1n;
            seen.push(...message.events.map(({ kv }) => kv.value));
            if (seen.at(-1) !== 'last') return;
            handle.close();
            resolve();
          });
        };
        open();
      });
    const produce = async (): Promise<void> => {
      for (let n = 1; n <= 2000; n += 1) await direct.txn({ compare: [], success: [put(`${prefix}n`, `${n}`)] });
      await direct.txn({ compare: [], success: [put(`${prefix}n`, 'last')] });
    };
    await killEvery(150, proxy, async () => void (await Promise.all([consume(), produce()])));
    expect(seen).toEqual([...Array.from({ length: 2001 }, (_, n) => `${n}`), 'last']);
    expect(opened).toBeGreaterThan(2);
  });

  test('one revision of more than 4 MiB of events is joined from its fragments', async () => {
    const { prefix, end } = freshKeys();
    const from = (await direct.txn({ compare: [], success: [put(`${prefix}0`)] })).revision;
    const big = 'x'.repeat(12_000);
    for (let n = 0; n < 500; n += 100) {
      const success = Array.from({ length: 100 }, (_, m) => put(`${prefix}${n + m}`, big));
      await direct.txn({ compare: [], success });
    }
    // The deletes carry the values they end: six megabytes in one revision.
    const gone = await direct.txn({ compare: [], success: [{ kind: 'delete', key: prefix, rangeEnd: end }] });
    const watch = record(connect(), { key: prefix, rangeEnd: end, startRevision: from + 1n, prevKv: true });
    await watch.until(() => watch.events.length >= 1000);
    const last = watch.messages.at(-1);
    expect(last).toMatchObject({ kind: 'events', revision: gone.revision });
    const deletes = watch.events.filter(({ type }) => type === 'delete');
    expect(deletes.length).toBe(500);
    expect(deletes.every(({ prev }) => prev?.value === big)).toBe(true);
    const perMessage = watch.messages.map((m) =>
      m.kind === 'events' ? m.events.filter((e) => e.type === 'delete').length : 0,
    );
    expect(perMessage.filter((count) => count > 0)).toEqual([500]);
  });

  test('a range of more than 4 MiB is read', async () => {
    const { prefix, end } = freshKeys();
    for (let n = 0; n < 5; n += 1)
      await direct.txn({ compare: [], success: [put(`${prefix}${n}`, 'x'.repeat(1_200_000))] });
    expect((await connect().range({ key: prefix, rangeEnd: end })).kvs.length).toBe(5);
    await direct.txn({ compare: [], success: [{ kind: 'delete', key: prefix, rangeEnd: end }] });
  });

  test('a write whose answer is lost is ambiguous, was applied once, and is not sent again', async () => {
    const { prefix } = freshKeys();
    const kv = connect();
    await kv.range({ key: prefix });
    proxy.blackhole('to-client');
    const create: Txn = { compare: [{ key: `${prefix}a`, target: 'create', value: 0n }], success: [put(`${prefix}a`)] };
    const lost = failure(kv.txn(create));
    const appended = failure(kv.txn({ compare: [], success: [put(`${prefix}b`)] }));
    while ((await direct.range({ key: `${prefix}b` })).count === 0) await sleep(10);
    proxy.killConnections();
    expect(await lost).toMatchObject({ code: 'unavailable', ambiguous: true });
    expect(await appended).toMatchObject({ code: 'unavailable', ambiguous: true });
    proxy.resume();
    await expectRecovery(kv, prefix);
    expect((await direct.range({ key: `${prefix}a` })).kvs).toMatchObject([{ version: 1n }]);
    expect((await direct.range({ key: `${prefix}b` })).kvs).toMatchObject([{ version: 1n }]);
    // The rule for the doubtful: send the same guarded transaction again and read who won.
    const again = await kv.txn({ ...create, failure: [{ kind: 'range', key: `${prefix}a` }] });
    expect(again).toMatchObject({ succeeded: false, results: [{ count: 1 }] });
  });

  test('a grant and a renewal whose answers are lost time out', async () => {
    const kv = connect();
    const { id } = await kv.leaseGrant(60);
    proxy.blackhole('to-client');
    const lost = failure(kv.leaseGrant(60, { timeoutMs: 300 }));
    expect(await lost).toMatchObject({ code: 'timeout', ambiguous: true });
    expect(await failure(kv.leaseKeepAlive(id, { timeoutMs: 300 }))).toMatchObject({ code: 'timeout' });
    proxy.resume();
    await expectRecovery(kv, 'x');
    await kv.leaseRevoke(id);
  });

  test('a call that could not be sent is not ambiguous, and a read never is', async () => {
    const { prefix } = freshKeys();
    await proxy.refuse(true);
    const kv = connect();
    const unsent = await failure(kv.txn({ compare: [], success: [put(`${prefix}a`)] }));
    expect(unsent).toMatchObject({ code: 'unavailable', ambiguous: false });
    expect(await failure(kv.range({ key: prefix }))).toMatchObject({ code: 'unavailable', ambiguous: false });
    await proxy.refuse(false);
    await expectRecovery(kv, prefix);
  });

  test('a watch on a server that is away is closed, not thrown', async () => {
    await proxy.refuse(true);
    const watch = record(connect(), { key: 'a', startRevision: 1n });
    await watch.until(() => watch.messages.length > 0);
    expect(watch.messages).toMatchObject([{ kind: 'closed', cause: { code: 'unavailable' } }]);
  });

  test('one request that is refused for its size does not disturb the others', async () => {
    const { prefix } = freshKeys();
    const kv = connect();
    const watch = record(kv, { key: `${prefix}a`, startRevision: 1n });
    const small = Array.from({ length: 50 }, (_, n) => kv.txn({ compare: [], success: [put(`${prefix}a`, `${n}`)] }));
    const big = 'x'.repeat(5 * 1024 * 1024);
    const codes = await Promise.all([
      ...Array.from({ length: 5 }, () => codeOf(kv.txn({ compare: [], success: [put(`${prefix}b`, big)] }))),
      // Only transactions are measured before they are sent; this one the server refuses.
      ...Array.from({ length: 5 }, () => codeOf(kv.range({ key: 'k'.repeat(3 * 1024 * 1024) }))),
    ]);
    expect(new Set(codes)).toEqual(new Set(['too-large']));
    expect((await Promise.all(small)).every(({ succeeded }) => succeeded)).toBe(true);
    await watch.until(() => watch.events.length === 50);
    expect(await kv.range({ key: `${prefix}a` })).toMatchObject({ count: 1 });
  });

  test('a lease is renewed over a stream that is cut again and again', async () => {
    const kv = connect();
    const { id } = await kv.leaseGrant(60);
    let renewed = 0;
    const failed: string[] = [];
    await killEvery(100, proxy, async () => {
      const until = Date.now() + 1500;
      while (Date.now() < until) {
        await kv.leaseKeepAlive(id).then(
          ({ ttlS }) => void (renewed += ttlS === 60 ? 1 : 0),
          (error: KvError) => void failed.push(error.code),
        );
        await sleep(5);
      }
    });
    expect(renewed).toBeGreaterThan(10);
    expect(new Set(failed)).toEqual(new Set(['unavailable']));
    await expectRecovery(kv, 'x');
    expect(await kv.leaseKeepAlive(id)).toEqual({ ttlS: 60 });
    await kv.leaseRevoke(id);
  });

  test('a late answer to a keepalive that was given up is not taken for the next one', async () => {
    const kv = connect({ defaultTimeoutMs: 20_000 });
    const [long, short] = [await kv.leaseGrant(90), await kv.leaseGrant(30)];
    expect(await kv.leaseKeepAlive(long.id)).toEqual({ ttlS: 90 });
    proxy.pause();
    const givenUp = new AbortController();
    const first = failure(kv.leaseKeepAlive(long.id, { signal: givenUp.signal }));
    givenUp.abort();
    expect(await first).toMatchObject({ code: 'timeout' });
    const second = kv.leaseKeepAlive(short.id);
    proxy.resume();
    expect(await second).toEqual({ ttlS: 30 });
    for (const { id } of [long, short]) await kv.leaseRevoke(id);
  });

  test('close ends the calls in flight', async () => {
    const { prefix } = freshKeys();
    const kv = connect({ defaultTimeoutMs: 20_000 });
    await kv.range({ key: prefix });
    proxy.pause();
    const write = failure(kv.txn({ compare: [], success: [put(`${prefix}a`)] }));
    const renewal = failure(kv.leaseKeepAlive(1n));
    await sleep(50);
    await kv.close();
    expect(await write).toMatchObject({ code: 'closed', ambiguous: true });
    expect(await renewal).toMatchObject({ code: 'closed' });
    proxy.resume();
  });

  test('an abort ends a call in flight', async () => {
    const { prefix } = freshKeys();
    const kv = connect({ defaultTimeoutMs: 20_000 });
    await kv.range({ key: prefix });
    proxy.pause();
    const abort = new AbortController();
    const write = failure(kv.txn({ compare: [], success: [put(`${prefix}a`)] }, { signal: abort.signal }));
    await sleep(50);
    abort.abort();
    expect(await write).toMatchObject({ code: 'timeout', ambiguous: true });
    proxy.resume();
  });

  test('with two endpoints, calls stick to one and go to the other when it fails', async () => {
    const { prefix } = freshKeys();
    const kv = connect({ endpoints: [proxy.url, ...etcd.endpoints] });
    await kv.range({ key: prefix });
    proxy.killConnections();
    await proxy.refuse(true);
    expect(await codeOf(kv.range({ key: prefix }))).toBe('no error');
    expect(await codeOf(kv.txn({ compare: [], success: [put(`${prefix}a`)] }))).toBe('no error');
    expect(await codeOf(kv.leaseKeepAlive(1n))).toBe('no error');
    await proxy.refuse(false);
    expect(proxy.connections).toBe(0);
  });

  test('with two endpoints, a write that never left goes to the other', async () => {
    const { prefix } = freshKeys();
    await proxy.refuse(true);
    const fresh = connect({ endpoints: [proxy.url, ...etcd.endpoints] });
    expect(await codeOf(fresh.txn({ compare: [], success: [put(`${prefix}a`)] }))).toBe('no error');
    await proxy.refuse(false);
  });

  test('with two endpoints, a write that may have been applied is not sent to the other', async () => {
    const { prefix } = freshKeys();
    const kv = connect({ endpoints: [proxy.url, ...etcd.endpoints] });
    await kv.range({ key: prefix });
    proxy.blackhole('to-client');
    const lost = failure(kv.txn({ compare: [], success: [put(`${prefix}b`)] }));
    while ((await direct.range({ key: `${prefix}b` })).count === 0) await sleep(10);
    proxy.killConnections();
    expect(await lost).toMatchObject({ code: 'unavailable', ambiguous: true });
    expect((await direct.range({ key: `${prefix}b` })).kvs).toMatchObject([{ version: 1n }]);
  });
});

describe('with a server that hangs', () => {
  let etcd: RunningEtcd;
  let kv: Kv;
  beforeAll(async () => {
    etcd = await startEtcd({ unsafeNoFsync: true });
    kv = connectEtcd({ endpoints: etcd.endpoints, keepAliveMs: 1000, keepAliveTimeoutMs: 500 });
  });
  afterAll(async () => {
    await kv.close();
    await etcd.stop();
  });

  test('calls time out, watches are closed, and all goes on when it wakes', async () => {
    const { prefix } = freshKeys();
    const member = etcd.members[0];
    if (member === undefined) throw new Error('no member');
    const { revision } = await kv.txn({ compare: [], success: [put(`${prefix}a`)] });
    const lease = await kv.leaseGrant(60);
    const watch = record(kv, { key: `${prefix}a`, startRevision: revision });
    await watch.until(() => watch.events.length === 1);
    member.pause();
    try {
      const from = Date.now();
      const write = failure(kv.txn({ compare: [], success: [put(`${prefix}a`)] }, { timeoutMs: 300 }));
      const read = failure(kv.range({ key: prefix }, { timeoutMs: 300 }));
      const renewal = failure(kv.leaseKeepAlive(lease.id, { timeoutMs: 300 }));
      expect(await write).toMatchObject({ code: 'timeout', ambiguous: true });
      expect(await read).toMatchObject({ code: 'timeout', ambiguous: false });
      expect(await renewal).toMatchObject({ code: 'timeout' });
      expect(Date.now() - from).toBeLessThan(2000);
      await watch.until(() => watch.messages.at(-1)?.kind === 'closed');
      expect(watch.messages.at(-1)).toMatchObject({ cause: { code: 'unavailable' } });
    } finally {
      member.resume();
    }
    await expectRecovery(kv, prefix);
    expect(await kv.leaseKeepAlive(lease.id)).toEqual({ ttlS: 60 });
  });
});

/** Reads until it works; gRPC waits a little between attempts to connect. */
async function expectRecovery(kv: Kv, key: string): Promise<void> {
  const until = Date.now() + 10_000;
  while ((await codeOf(kv.range({ key }, { timeoutMs: 1000 }))) !== 'no error') {
    expect(Date.now()).toBeLessThan(until);
    await sleep(50);
  }
}
