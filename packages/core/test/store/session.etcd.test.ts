import { startProxy } from '@leasehold/etcd-local';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { silentLogger, systemClock } from '../../src/runtime/index.js';
import { threadRenewer } from '../../src/store/keepalive.js';
import { openSession, type Session } from '../../src/store/session.js';
import { etcdStore, NODE, until } from './stores.js';

const endpoint = inject('etcd');
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(options: { stallMs?: number; threadEndpoint?: string } = {}): Promise<Session> {
  const { store, kv } = etcdStore(endpoint);
  const { stallMs = 60_000, threadEndpoint = endpoint } = options;
  const renewer = threadRenewer({ etcd: { endpoints: [threadEndpoint] }, stallMs });
  const session = await openSession({
    store,
    clock: systemClock,
    logger: silentLogger,
    renewer,
    node: NODE,
    ttlMs: 2_000,
  });
  closing.push(
    () => kv.close(),
    () => session.revoke(),
  );
  return session;
}

/** Blocks this thread's event loop, as a handler does that computes. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function ttlS(session: Session): Promise<number> {
  const { kv } = etcdStore(endpoint);
  closing.push(() => kv.close());
  return (await kv.leaseStatus(session.lease)).ttlS;
}

describe('a session whose lease is kept by its own thread', () => {
  it('keeps the lease while the event loop is blocked for much longer than the TTL (report E23)', async () => {
    const session = await open();
    block(6_000);
    expect(session.isTrusted()).toBe(true);
    expect(await ttlS(session)).toBeGreaterThanOrEqual(0);
  });

  it('does not keep the lease for ever when the event loop never comes back (report E23)', async () => {
    const session = await open({ stallMs: 1_000 });
    block(6_000);
    // Known at once, before any message or timer had its turn.
    expect(session.isTrusted()).toBe(false);
    expect(session.signal.aborted).toBe(true);
    expect(await ttlS(session)).toBe(-1);
  });

  it('ends before its lease when the thread loses its connection', async () => {
    const proxy = await startProxy(Number(new URL(endpoint).port));
    closing.push(() => proxy.close());
    const session = await open({ threadEndpoint: proxy.url });
    await until('a renewal came through', () => session.trustedUntilMs > performance.now() + 1_500);
    proxy.blackhole('both');
    await until('trust ends', () => session.signal.aborted, 5_000);
    expect(session.end).toBe('expired');
    expect(await ttlS(session)).toBeGreaterThanOrEqual(0);
  });

  it('survives cuts that are shorter than its trust', async () => {
    const proxy = await startProxy(Number(new URL(endpoint).port));
    closing.push(() => proxy.close());
    const session = await open({ threadEndpoint: proxy.url });
    const end = performance.now() + 6_000;
    while (performance.now() < end) {
      proxy.killConnections();
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    expect(session.isTrusted()).toBe(true);
  });

  it('revokes the lease and its thread ends', async () => {
    const session = await open();
    await session.revoke();
    expect(await ttlS(session)).toBe(-1);
  });
});
