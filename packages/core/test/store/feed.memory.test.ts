import { describe, expect, it } from 'vitest';
import { MemoryStore, type Kv, type KeyValue, type MemoryConnection } from '../../src/kv/index.js';
import { FakeClock, silentLogger } from '../../src/runtime/index.js';
import { Feed, type FeedBatch, type FeedOptions, type FeedStatus, type RelistReason } from '../../src/store/feed.js';

/** A consumer that keeps a model of what it was told, and how it was told. */
class Model {
  readonly keys = new Map<string, string>();
  readonly replaces: RelistReason[] = [];
  readonly batches: FeedBatch[] = [];
  readonly statuses: FeedStatus[] = [];
  revision = 0n;
  failNext = false;

  replace({ revision, kvs, reason }: { revision: bigint; kvs: readonly KeyValue[]; reason: RelistReason }): void {
    this.keys.clear();
    for (const { key, value } of kvs) this.keys.set(key, value);
    this.replaces.push(reason);
    this.revision = revision;
  }

  change(batch: FeedBatch): void {
    if (this.failNext) {
      this.failNext = false;
      throw new Error('the consumer has a bug');
    }
    this.batches.push(batch);
    expect(batch.revision).toBeGreaterThan(this.revision);
    this.revision = batch.revision;
    for (const { type, kv } of batch.events) {
      if (type === 'put') this.keys.set(kv.key, kv.value);
      else this.keys.delete(kv.key);
    }
  }

  status(status: FeedStatus): void {
    this.statuses.push(status);
  }
}

interface Rig {
  readonly clock: FakeClock;
  readonly store: MemoryStore;
  readonly kv: MemoryConnection;
  readonly writer: Kv;
  readonly model: Model;
  readonly feed: Feed;
}

function rig(options: Partial<FeedOptions> = {}): Rig {
  const clock = new FakeClock();
  const store = new MemoryStore({ now: () => clock.monotonic(), schedule: clock.schedule });
  const kv = store.connect();
  const model = new Model();
  const feed = new Feed(
    { kv, clock, logger: silentLogger, name: 'test', ranges: [{ prefix: 'a/' }], random: () => 0.5, ...options },
    model,
  );
  return { clock, store, kv, writer: store.connect(), model, feed };
}

async function put(kv: Kv, ...keys: string[]): Promise<bigint> {
  const result = await kv.txn({ compare: [], success: keys.map((key) => ({ kind: 'put', key, value: `v${key}` })) });
  return result.revision;
}

async function inStore(kv: Kv, key: string, rangeEnd: string): Promise<Map<string, string>> {
  const { kvs } = await kv.range({ key, rangeEnd });
  return new Map(kvs.map((found) => [found.key, found.value]));
}

describe('a feed', () => {
  it('lists in pages at one revision, then hands on every change', async () => {
    const { clock, kv, writer, model, feed } = rig({ pageSize: 3 });
    for (let i = 0; i < 10; i++) await put(writer, `a/${i}`);
    await feed.start();
    await clock.settle();
    expect(model.replaces).toEqual(['start']);
    expect(model.keys.size).toBe(10);
    await put(writer, 'a/new', 'b/other');
    await writer.txn({ compare: [], success: [{ kind: 'delete', key: 'a/3' }] });
    await clock.settle();
    expect(model.keys).toEqual(await inStore(kv, 'a/', 'a0'));
    await feed.stop();
    await put(writer, 'a/after');
    await clock.settle();
    expect(model.keys.has('a/after')).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('resumes behind the last event after its connection broke, with no event lost or twice (report E52)', async () => {
    const { clock, kv, writer, model, feed } = rig();
    await feed.start();
    await clock.settle();
    for (let i = 0; i < 200; i++) {
      await put(writer, `a/${i}`);
      if (i % 20 === 0) {
        kv.disconnect();
        await put(writer, `a/cut${i}`);
        kv.heal();
      }
      if (i % 7 === 0) await clock.advance(100);
    }
    await clock.advance(5_000);
    expect(model.replaces).toEqual(['start']);
    const seen = model.batches.flatMap(({ events }) => events.map((event) => event.kv.key));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(210);
    await feed.stop();
  });

  it('lists again when its history was compacted while it was away', async () => {
    const { clock, store, kv, writer, model, feed } = rig();
    await put(writer, 'a/1', 'a/2');
    await feed.start();
    await clock.settle();
    kv.disconnect();
    await writer.txn({ compare: [], success: [{ kind: 'delete', key: 'a/1' }] });
    store.compact(await put(writer, 'a/3'));
    await put(writer, 'a/4');
    kv.heal();
    await clock.advance(5_000);
    expect(model.replaces).toEqual(['start', 'compacted']);
    expect(model.keys).toEqual(await inStore(writer, 'a/', 'a0'));
    await feed.stop();
  });

  it('hands a transaction over several ranges on as one batch (I10)', async () => {
    const { clock, writer, model, feed } = rig({ ranges: [{ prefix: 'a/' }, { prefix: 'c/' }, { key: 'single' }] });
    await feed.start();
    await clock.settle();
    for (let i = 0; i < 30; i++) {
      await put(writer, `a/${i}`, `c/${i}`, 'single');
      if (i % 3 === 0) await put(writer, `a/x${i}`);
    }
    await clock.advance(100);
    const byRevision = new Map<bigint, number>();
    for (const { events } of model.batches) {
      const revisions = new Set(events.map(({ kv }) => kv.modRevision));
      for (const revision of revisions) byRevision.set(revision, (byRevision.get(revision) ?? 0) + 1);
    }
    expect([...byRevision.values()].every((batches) => batches === 1)).toBe(true);
    expect(byRevision.size).toBe(40);
    await feed.stop();
  });

  it('says since when it is stale, and until when it was proven true', async () => {
    const { clock, kv, feed, model } = rig({ quietMs: 1_000, silentMs: 2_000 });
    await feed.start();
    await clock.advance(5_000);
    expect(feed.status.phase).toBe('live');
    const verified = feed.status.verifiedAtMs ?? 0;
    expect(clock.now() - verified).toBeLessThanOrEqual(1_500);
    const before = clock.now();
    kv.disconnect('blackhole');
    await clock.advance(6_000);
    expect(feed.status.phase).toBe('stale');
    expect(feed.status.staleSinceMs ?? Infinity).toBeLessThanOrEqual(before);
    kv.heal();
    await clock.advance(10_000);
    expect(feed.status.phase).toBe('live');
    expect(feed.status.staleSinceMs).toBeUndefined();
    expect(model.statuses.map(({ phase }) => phase)).toEqual(expect.arrayContaining(['live', 'stale', 'live']));
    await feed.stop();
  });

  it('lists again when the epoch was raised by a restore', async () => {
    const { clock, kv, writer, model, feed } = rig({ epochKey: 'epoch' });
    await feed.start();
    await clock.settle();
    await put(writer, 'epoch');
    kv.disconnect();
    kv.heal();
    await clock.advance(2_000);
    expect(model.replaces).toEqual(['start', 'other-epoch']);
    await feed.stop();
  });

  it('lists again when the revision went back (report E52)', async () => {
    const clock = new FakeClock();
    const made = (): MemoryStore => new MemoryStore({ now: () => clock.monotonic(), schedule: clock.schedule });
    const stores = [made(), made()];
    let current = stores[0]?.connect() as MemoryConnection;
    const first = current;
    for (let i = 0; i < 50; i++) await put(first, `a/${i}`);
    const kv = new Proxy({} as Kv, {
      get: (_, name: keyof Kv) => (current[name] as (...args: unknown[]) => unknown).bind(current),
    });
    const model = new Model();
    const feed = new Feed({ kv, clock, logger: silentLogger, name: 'test', ranges: [{ prefix: 'a/' }] }, model);
    await feed.start();
    await clock.settle();
    current = stores[1]?.connect() as MemoryConnection;
    await put(current, 'a/restored');
    first.disconnect();
    await clock.advance(5_000);
    expect(model.replaces).toEqual(['start', 'went-back']);
    expect([...model.keys.keys()]).toEqual(['a/restored']);
    await feed.stop();
  });

  it('gives a consumer that failed a new list', async () => {
    const { clock, kv, writer, model, feed } = rig();
    await feed.start();
    await clock.settle();
    model.failNext = true;
    await put(writer, 'a/1');
    await clock.advance(1_000);
    expect(model.replaces).toEqual(['start', 'consumer-failed']);
    expect(model.keys).toEqual(await inStore(kv, 'a/', 'a0'));
    await feed.stop();
  });

  it('waits for a store that is away at the start', async () => {
    const { clock, kv, writer, model, feed } = rig();
    kv.disconnect();
    await feed.start();
    await clock.advance(10_000);
    expect(model.replaces).toEqual([]);
    expect(feed.status.phase).toBe('starting');
    await put(writer, 'a/1');
    kv.heal();
    await clock.advance(5_000);
    expect(model.keys.has('a/1')).toBe(true);
    await feed.stop();
  });

  it('tells when a revision was reached, also one that touches none of its keys', async () => {
    const { clock, writer, feed } = rig();
    await feed.start();
    await feed.ready();
    const revision = await put(writer, 'elsewhere');
    const reached = feed.reached(revision);
    await clock.advance(100);
    await reached;
    expect(feed.status.revision).toBeGreaterThanOrEqual(revision);
    await feed.stop();
  });

  it('without a list says from where on changes come', async () => {
    const { clock, writer, model, feed } = rig({ list: false });
    await put(writer, 'a/1');
    await feed.start();
    await clock.settle();
    expect(model.keys.size).toBe(0);
    expect(model.revision).toBeGreaterThan(0n);
    await put(writer, 'a/2');
    await clock.settle();
    expect([...model.keys.keys()]).toEqual(['a/2']);
    await feed.stop();
  });

  it('may be started and stopped more than once, in any order', async () => {
    const { clock, feed } = rig();
    await Promise.all([feed.start(), feed.start()]);
    await clock.settle();
    await Promise.all([feed.stop(), feed.stop()]);
    await feed.stop();
    expect(feed.status.phase).toBe('stopped');
    expect(clock.pending).toBe(0);
  });
});
