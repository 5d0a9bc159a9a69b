import { describe, expect, it } from 'vitest';
import { decodeRecord } from '../../src/model/codec.js';
import type { NodeRecord } from '../../src/model/records.js';
import { silentLogger } from '../../src/runtime/index.js';
import { Membership } from '../../src/store/membership.js';
import { loopRenewer } from '../../src/store/renewer.js';
import { leaseTimes, openSession, type Session } from '../../src/store/session.js';
import { put, type Store } from '../../src/store/store.js';
import { memoryRig, NODE, type MemoryRig } from './stores.js';

function open(rig: MemoryRig, store: Store, ttlMs = 10_000): Promise<Session> {
  return openSession({ store, clock: rig.clock, logger: silentLogger, renewer: loopRenewer, node: NODE, ttlMs });
}

async function nodeRecord(store: Store, id: string): Promise<{ record: NodeRecord; lease: bigint } | undefined> {
  const [kv] = (await store.kv.range({ key: store.keys.node(id) })).kvs;
  return kv === undefined ? undefined : { record: decodeRecord<NodeRecord>(kv.value, 'node'), lease: kv.lease };
}

/** Whether a write under the session's fence commits. */
async function writes(store: Store, session: Session): Promise<boolean> {
  const result = await store.committer.submit(session.fence, { compare: [], success: [put('probe', 'x')] });
  return result.kind === 'answered' && result.succeeded;
}

describe('a session', () => {
  it('puts its node record under its lease, and keeps the lease as long as it lives', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const session = await open(rig, store);
    const node = await nodeRecord(store, session.id);
    expect(node?.lease).toBe(session.lease);
    expect(node?.record).toMatchObject({
      id: session.id,
      host: 'here',
      leaseTtlMs: 10_000,
      leaseId: String(session.lease),
    });
    await rig.advance(120_000);
    expect(session.isTrusted()).toBe(true);
    expect(await writes(store, session)).toBe(true);
    await session.revoke();
    expect(await nodeRecord(store, session.id)).toBeUndefined();
    expect(session.signal.aborted).toBe(true);
    expect(rig.clock.pending).toBe(0);
  });

  it('stops trusting its lease before etcd would end it, counted from when the renewal was sent', async () => {
    const rig = memoryRig();
    const { store, kv } = rig.process();
    const session = await open(rig, store);
    await rig.advance(3_500);
    kv.disconnect('blackhole');
    // The last renewal was sent at 3.333 s; ten seconds less the margin of one later it is over.
    await rig.clock.advance(8_700);
    expect(session.isTrusted()).toBe(true);
    await rig.clock.advance(200);
    expect(session.signal.aborted).toBe(true);
    expect(session.end).toBe('expired');
    expect((await rig.process().store.kv.leaseStatus(session.lease)).ttlS).toBeGreaterThanOrEqual(0);
  });

  it('is over for good once trust has ended, even if a renewal would still succeed', async () => {
    const rig = memoryRig();
    const { store, kv } = rig.process();
    const session = await open(rig, store);
    kv.disconnect('blackhole');
    await rig.clock.advance(9_100);
    kv.heal();
    rig.memory.changeLeader();
    await rig.advance(30_000);
    expect(session.isTrusted()).toBe(false);
    expect(await nodeRecord(rig.process().store, session.id)).toBeUndefined();
  });

  it('finds out at once that etcd ended its lease', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const session = await open(rig, store);
    rig.memory.revoke(session.lease);
    expect(await writes(store, session)).toBe(false);
    await session.check();
    expect(session.end).toBe('fenced');
  });

  it('writes nothing more after a restore raised the epoch, although its node key is still there', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const session = await open(rig, store);
    expect(session.epoch).toBe(0n);
    const other = rig.process().store;
    await other.kv.txn({ compare: [], success: [put(store.keys.epoch(), '1')] });
    expect(await writes(store, session)).toBe(false);
    await session.check();
    expect(session.isTrusted()).toBe(false);
    const next = await open(rig, store);
    expect(next.epoch).toBe(1n);
    expect(await writes(store, next)).toBe(true);
  });

  it('changes its record only under its own lease, the last change for sure', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const session = await open(rig, store);
    await Promise.all([
      session.update({ draining: true }),
      session.update({ labels: { zone: 'a' } }),
      session.update({ draining: false }),
    ]);
    const node = await nodeRecord(store, session.id);
    expect(node?.record).toMatchObject({ draining: false, labels: { zone: 'a' } });
    expect(node?.lease).toBe(session.lease);
    rig.memory.revoke(session.lease);
    await session.update({ draining: true });
    expect(await nodeRecord(store, session.id)).toBeUndefined();
  });

  it('does not take a lost answer for a lost session', async () => {
    const rig = memoryRig();
    const { store, kv } = rig.process();
    let lost = false;
    kv.intercept = ({ method }) => {
      if (method !== 'txn' || lost) return 'pass';
      lost = true;
      return 'drop-after';
    };
    const opening = open(rig, store);
    await rig.advance(2_000);
    const session = await opening;
    expect(lost).toBe(true);
    expect(await writes(store, session)).toBe(true);
  });

  it.each([
    [{ ttlMs: 1_000 }, /ttlMs: 1000/],
    [{ ttlMs: 2_500 }, /ttlMs: 2500/],
    [{ ttlMs: 2_000, marginMs: 1_500 }, /marginMs: 1500/],
  ])('refuses %j, naming the option and its limit', (options, message) => {
    expect(() => leaseTimes(options)).toThrow(message);
  });
});

describe('a renewer', () => {
  it('does not renew a lease that it could not trust any more, although etcd would have it (report E23)', async () => {
    const rig = memoryRig();
    const { store, kv } = rig.process();
    const { id, ttlS } = await store.kv.leaseGrant(10);
    const renewer = await loopRenewer(rig.clock, store.kv);
    renewer.begin({ id, window: { sentAtMs: rig.clock.monotonic(), ttlMs: ttlS * 1_000, marginMs: 1_000 } });
    kv.disconnect('blackhole');
    await rig.clock.advance(9_100);
    rig.memory.changeLeader();
    kv.heal();
    await rig.clock.advance(5_000);
    expect(renewer.window.sentAtMs).toBe(0);
    expect((await store.kv.leaseStatus(id)).ttlS).toBeLessThan(6);
    await renewer.close();
  });
});

describe('a membership', () => {
  it('opens a session under a new id after each loss (an id is never used again)', async () => {
    const rig = memoryRig();
    const { store, kv } = rig.process();
    const seen: string[] = [];
    const membership = new Membership({ store, clock: rig.clock, logger: silentLogger, renewer: loopRenewer });
    membership.join({ opened: ({ id }) => seen.push(id) }, { candidate: true });
    await membership.start();
    await rig.advance(1_000);
    for (let i = 0; i < 3; i++) {
      kv.disconnect('blackhole');
      await rig.advance(15_000);
      expect(membership.session).toBeUndefined();
      kv.heal();
      await rig.advance(30_000);
      expect(membership.session?.id).toBe(seen.at(-1));
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(4);
    const { kvs } = await store.kv.range({ key: store.keys.kind('nodes'), rangeEnd: `${store.keys.kind('nodes')}~` });
    expect(kvs.length).toBe(1);
    await membership.stop();
    await membership.stop();
    expect(rig.clock.pending).toBe(0);
  });

  it('goes on trying when etcd is down at the start', async () => {
    const rig = memoryRig();
    const { store, kv } = rig.process();
    kv.disconnect();
    const membership = new Membership({ store, clock: rig.clock, logger: silentLogger, renewer: loopRenewer });
    await membership.start();
    await rig.advance(60_000);
    expect(membership.session).toBeUndefined();
    kv.heal();
    await rig.advance(11_000);
    expect(membership.session?.isTrusted()).toBe(true);
    await membership.stop();
  });

  it('shows what all its members serve, and draining only when all that serve drain', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const membership = new Membership({ store, clock: rig.clock, logger: silentLogger, renewer: loopRenewer });
    const queue = (name: string) => ({ name, concurrency: 1, weight: 1 });
    const one = membership.join({}, { queues: [queue('a')] });
    membership.join({}, { queues: [queue('b')] });
    membership.join({}, { candidate: true });
    await membership.start();
    await rig.clock.settle();
    const id = membership.session?.id ?? '';
    expect((await nodeRecord(store, id))?.record).toMatchObject({ queues: [queue('a'), queue('b')], candidate: true });
    await one({ queues: [queue('a')], draining: true });
    expect((await nodeRecord(store, id))?.record.draining).toBe(false);
    await one(undefined);
    expect((await nodeRecord(store, id))?.record.queues).toEqual([queue('b')]);
    await membership.stop();
  });
});
