import { startEtcd, startProxy, type Proxy, type RunningEtcd } from '@leasehold/etcd-local';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectEtcd, type Kv, type KvEvent, type KeyValue } from '../../src/kv/index.js';
import { silentLogger, systemClock } from '../../src/runtime/index.js';
import { Feed, type FeedBatch, type FeedOptions, type FeedSnapshot } from '../../src/store/feed.js';
import { freshKeys } from '../kv/target.js';
import { until } from './stores.js';

/** What a consumer was told, event by event, and the model it made of it. */
class Heard {
  readonly model = new Map<string, KeyValue>();
  readonly events: KvEvent[] = [];
  readonly reasons: string[] = [];
  split = 0;
  #last = 0n;

  replace({ kvs, reason, revision }: FeedSnapshot): void {
    this.model.clear();
    for (const kv of kvs) this.model.set(kv.key, kv);
    this.reasons.push(reason);
    this.#last = revision;
  }

  change({ events }: FeedBatch): void {
    for (const event of events) {
      this.events.push(event);
      if (event.type === 'put') this.model.set(event.kv.key, event.kv);
      else this.model.delete(event.kv.key);
    }
    const first = events[0]?.kv.modRevision ?? 0n;
    if (first <= this.#last) this.split += 1;
    this.#last = events.at(-1)?.kv.modRevision ?? this.#last;
  }
}

/** These compact, so they have an etcd of their own. */
describe('a feed on etcd', () => {
  let etcd: RunningEtcd;
  let proxy: Proxy;
  const closing: (() => Promise<unknown> | void)[] = [];

  beforeAll(async () => {
    etcd = await startEtcd({ unsafeNoFsync: true });
    proxy = await startProxy(Number(new URL(etcd.endpoints[0] ?? '').port));
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    proxy.resume();
  });
  afterAll(async () => {
    await proxy.close();
    await etcd.stop();
  });

  function connect(url = etcd.endpoints[0] ?? ''): Kv {
    const kv = connectEtcd({ endpoints: [url], defaultTimeoutMs: 2_000 });
    closing.push(() => kv.close());
    return kv;
  }

  async function follow(
    options: Partial<FeedOptions> & Pick<FeedOptions, 'ranges'>,
  ): Promise<{ feed: Feed; heard: Heard }> {
    const heard = new Heard();
    const feed = new Feed(
      {
        kv: connect(proxy.url),
        clock: systemClock,
        logger: silentLogger,
        name: 'test',
        quietMs: 500,
        silentMs: 1_500,
        ...options,
      },
      heard,
    );
    closing.push(() => feed.stop());
    await feed.start();
    await feed.ready();
    return { feed, heard };
  }

  /** Cuts connections for as long as the returned function is not called. */
  function cutting(everyMs: number): () => void {
    const timer = setInterval(() => proxy.killConnections(), everyMs);
    return () => clearInterval(timer);
  }

  async function inStore(kv: Kv, range: { prefix: string; end: string }): Promise<Map<string, bigint>> {
    const { kvs } = await kv.range({ key: range.prefix, rangeEnd: range.end });
    return new Map(kvs.map(({ key, modRevision }) => [key, modRevision]));
  }

  const modelOf = (heard: Heard): Map<string, bigint> =>
    new Map([...heard.model].map(([key, { modRevision }]) => [key, modRevision]));

  it('loses none of 6000 events and hands none on twice while its connection is cut again and again (report E52)', async () => {
    const writer = connect();
    const range = freshKeys();
    const { feed, heard } = await follow({ ranges: [{ prefix: range.prefix }] });
    const stop = cutting(150);
    let last = 0n;
    for (let i = 0; i < 600; i++) {
      const success = Array.from({ length: 10 }, (_, n) => ({
        kind: 'put' as const,
        key: `${range.prefix}${(i * 10 + n) % 1_500}`,
        value: `${i}`,
      }));
      last = (await writer.txn({ compare: [], success })).revision;
    }
    stop();
    await feed.reached(last);
    expect(heard.reasons).toEqual(['start']);
    expect(heard.events.length).toBe(6_000);
    expect(new Set(heard.events.map(({ kv }) => `${kv.key}@${kv.modRevision}`)).size).toBe(6_000);
    expect(heard.split).toBe(0);
    expect(modelOf(heard)).toEqual(await inStore(writer, range));
  });

  it('keeps transactions over several ranges whole, through the cuts (I10)', async () => {
    const writer = connect();
    const [a, b] = [freshKeys(), freshKeys()];
    const { feed, heard } = await follow({ ranges: [{ prefix: a.prefix }, { prefix: b.prefix }] });
    const stop = cutting(200);
    let last = 0n;
    for (let i = 0; i < 400; i++) {
      const success = [a, b].map(({ prefix }) => ({ kind: 'put' as const, key: `${prefix}${i}`, value: '' }));
      last = (await writer.txn({ compare: [], success })).revision;
    }
    stop();
    await feed.reached(last);
    expect(heard.events.length).toBe(800);
    expect(heard.split).toBe(0);
    const revisions = new Map<bigint, number>();
    for (const { kv } of heard.events) revisions.set(kv.modRevision, (revisions.get(kv.modRevision) ?? 0) + 1);
    expect([...revisions.values()].every((count) => count === 2)).toBe(true);
  });

  it('lists again when its history was compacted while it was cut off', async () => {
    const writer = connect();
    const range = freshKeys();
    const put = (key: string) =>
      writer.txn({ compare: [], success: [{ kind: 'put', key: `${range.prefix}${key}`, value: '' }] });
    for (let i = 0; i < 50; i++) await put(`old${i}`);
    const { feed, heard } = await follow({ ranges: [{ prefix: range.prefix }], pageSize: 7 });
    expect(heard.model.size).toBe(50);
    await proxy.refuse(true);
    proxy.killConnections();
    await writer.txn({ compare: [], success: [{ kind: 'delete', key: range.prefix, rangeEnd: range.end }] });
    const { revision } = await put('new');
    await writer.compact(revision);
    await put('newer');
    await until('it says that it is stale', () => feed.status.phase === 'stale');
    await proxy.refuse(false);
    await until('it has listed again', () => heard.reasons.length === 2);
    const { revision: now } = await put('newest');
    await feed.reached(now);
    expect(heard.reasons).toEqual(['start', 'compacted']);
    expect(modelOf(heard)).toEqual(await inStore(writer, range));
  });

  it('notices a connection that is silently dead, and says so meanwhile (report B16)', async () => {
    const writer = connect();
    const range = freshKeys();
    const { feed, heard } = await follow({ ranges: [{ prefix: range.prefix }] });
    proxy.blackhole('both');
    const { revision } = await writer.txn({
      compare: [],
      success: [{ kind: 'put', key: `${range.prefix}x`, value: '' }],
    });
    await until('it says that it is stale', () => feed.status.phase === 'stale');
    expect(heard.model.size).toBe(0);
    proxy.resume();
    await feed.reached(revision);
    expect(heard.model.size).toBe(1);
    expect(feed.status.phase).toBe('live');
  });
});
