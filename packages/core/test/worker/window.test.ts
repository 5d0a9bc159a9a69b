import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Keys } from '../../src/model/keys.js';
import type { KvEvent, KeyValue } from '../../src/store/feed.js';
import { Window, type Entry } from '../../src/worker/window.js';
import { othersOf, shardsOf } from '../../src/worker/shards.js';

const keys = new Keys('w');
const NO_LOCKS = { ids: new Set<string>(), revision: 0n };

function kv(id: string, order: number, revision: number, { shard = 0, name = 't' } = {}): KeyValue {
  const modRevision = BigInt(revision);
  const key = keys.ready('q', shard, order, id);
  return { key, value: JSON.stringify({ name }), createRevision: modRevision, modRevision, version: 1n, lease: 0n };
}

const putOf = (pair: KeyValue): KvEvent => ({ type: 'put', kv: pair });
const deleteOf = (pair: KeyValue, revision: number): KvEvent => ({
  type: 'delete',
  kv: { ...pair, value: '', modRevision: BigInt(revision), version: 0n },
});

function windowOf(options: { shardCapacity?: number } = {}): Window {
  const window = new Window({ keys, accepts: ({ name }) => name === 't', ...options });
  window.reset({ from: 0, to: 1 }, NO_LOCKS);
  return window;
}

const END = keys.readyShard('q', 1);
function read(window: Window, pairs: readonly KeyValue[], done = true): void {
  const finish = window.reading(0);
  if (done) window.reachedEnd(0);
  finish({ kvs: pairs, done, until: END });
}

function takeAll(window: Window): string[] {
  const ids: string[] = [];
  for (let entry = window.take(); entry !== undefined; entry = window.take()) ids.push(entry.id);
  return ids;
}

describe('a window', () => {
  it('gives what may be claimed in order, whatever the order it came in', () => {
    const window = windowOf();
    read(
      window,
      [kv('b', 5, 2), kv('a', 9, 1)].sort((x, y) => (x.key < y.key ? -1 : 1)),
    );
    window.change(putOf(kv('c', 1, 3)));
    expect(takeAll(window)).toEqual(['c', 'b', 'a']);
  });

  it('leaves out what is locked, unknown or parked, and reads on past it', () => {
    const window = new Window({ keys, accepts: ({ name }) => name === 't', shardCapacity: 4 });
    window.reset({ from: 0, to: 1 }, { ids: new Set(['l1', 'l2', 'l3', 'l4', 'l5']), revision: 100n });
    const locked = [1, 2, 3, 4, 5].map((n) => kv(`l${n}`, n, n));
    read(window, [...locked, kv('u', 6, 6, { name: 'unknown' })], false);
    expect(window.ready).toBe(0);
    expect(window.wanting()).toEqual([{ shard: 0, from: keys.ready('q', 0, 6, 'u') }]);
    read(window, [kv('x', 7, 7)]);
    expect(takeAll(window)).toEqual(['x']);
  });

  it('looks again at what was held when its entry is rewritten (a hand-back, a force-release)', () => {
    const window = windowOf();
    read(window, [kv('a', 1, 1)]);
    const entry = window.take() as Entry;
    window.held(entry);
    window.change(putOf(kv('a', 1, 1)));
    expect(window.take()).toBeUndefined();
    window.change(putOf(kv('a', 1, 9)));
    expect(window.take()?.revision).toBe(9n);
  });

  it('does not lose news that comes while a claim is under way', () => {
    const window = windowOf();
    read(window, [kv('a', 1, 1)]);
    const entry = window.take() as Entry;
    window.change(putOf(kv('a', 1, 5)));
    window.held(entry);
    expect(window.take()?.revision).toBe(5n);
  });

  it('forgets what is deleted, also while it is taken', () => {
    const window = windowOf();
    read(window, [kv('a', 1, 1), kv('b', 2, 2)]);
    const entry = window.take() as Entry;
    window.change(deleteOf(kv('a', 1, 1), 7));
    window.again(entry);
    expect(takeAll(window)).toEqual(['b']);
    expect(window.size).toBe(1);
  });

  it('frees what was held by nodes that are lost, except what this worker holds itself', () => {
    const window = windowOf();
    read(window, [kv('a', 1, 1), kv('b', 2, 2), kv('c', 3, 3)]);
    for (let entry = window.take(); entry !== undefined; entry = window.take()) window.held(entry);
    window.unlocked({ ids: new Set(['b']), revision: 50n }, (id) => id === 'c');
    expect(takeAll(window)).toEqual(['a']);
  });

  it('wakes of those that wait for a limit as many as asked, in order', () => {
    const window = windowOf();
    read(window, [kv('a', 1, 1), kv('b', 2, 2), kv('c', 3, 3)]);
    for (let entry = window.take(); entry !== undefined; entry = window.take()) window.park(entry, 'limit x');
    expect(window.parked).toBe(3);
    expect(window.unpark('limit x', 2)).toBe(2);
    expect(takeAll(window)).toEqual(['a', 'b']);
    expect(window.parkedReasons()).toEqual(['limit x']);
  });

  it('keeps only so many of a flood, and reads the rest again later', () => {
    const window = windowOf({ shardCapacity: 10 });
    read(window, []);
    for (let i = 0; i < 100; i++) window.change(putOf(kv(`t${String(i).padStart(3, '0')}`, i, i + 1)));
    expect(window.size).toBeLessThan(50);
    expect(window.exhausted).toBe(false);
    const first = takeAll(window);
    expect(first.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, i) => `t00${i}`));
    expect(window.wanting()[0]?.from).toBe(keys.ready('q', 0, first.length - 1, first.at(-1) ?? ''));
  });

  /**
   * W3 against a store: whatever the interleaving of writes, news and reads, in the end the window offers exactly what is
   * there.
   */
  it('offers in the end exactly what is there, however reads and news interleave', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('put' as const), id: fc.nat(20) }),
      fc.record({ kind: fc.constant('delete' as const), id: fc.nat(20) }),
      fc.record({ kind: fc.constant('news' as const), count: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constant('begin' as const) }),
      fc.record({ kind: fc.constant('answer' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const window = windowOf({ shardCapacity: 6 });
        const store = new Map<string, KeyValue>();
        const news: KvEvent[] = [];
        let revision = 0;
        let reading: { finish: ReturnType<Window['reading']>; page: readonly KeyValue[]; done: boolean } | undefined;
        const begin = (): void => {
          const [want] = window.wanting();
          if (want === undefined || reading !== undefined) return;
          const all = [...store.values()].filter(({ key }) => want.from === undefined || key > want.from);
          all.sort((a, b) => (a.key < b.key ? -1 : 1));
          reading = { finish: window.reading(0), page: all.slice(0, 3), done: all.length <= 3 };
        };
        const answer = (): void => {
          if (reading === undefined) return;
          const { finish, page, done } = reading;
          reading = undefined;
          if (done) window.reachedEnd(0);
          finish({ kvs: page, done, until: END });
        };
        const hear = (count: number): void => news.splice(0, count).forEach((event) => window.change(event));
        for (const one of steps) {
          if (one.kind === 'put' || one.kind === 'delete') {
            revision += 1;
            const pair = kv(`t${one.id}`, one.id, revision);
            if (one.kind === 'put') {
              store.set(pair.key, pair);
              news.push(putOf(pair));
            } else if (store.delete(pair.key)) news.push(deleteOf(pair, revision));
          } else if (one.kind === 'news') hear(one.count);
          else if (one.kind === 'begin') begin();
          else answer();
        }
        const offered: string[] = [];
        for (let round = 0; round < 100; round++) {
          answer();
          hear(Infinity);
          for (let entry = window.take(); entry !== undefined; entry = window.take()) {
            offered.push(entry.id);
            window.held(entry);
          }
          if (window.exhausted) break;
          begin();
        }
        expect(offered.length).toBe(store.size);
        expect(new Set(offered)).toEqual(new Set([...store.values()].map(({ key }) => key.split('/').at(-1))));
      }),
      { numRuns: 500 },
    );
  });
});

describe('sharing out shards', () => {
  it('gives every shard to exactly one node, contiguous, evenly, and all nodes agree', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 8 }), (nodes) => {
        const spans = nodes.map((me) => shardsOf(me, [...nodes].reverse()));
        const owners = spans.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));
        expect(owners.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
        const sizes = spans.map(({ from, to }) => to - from);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('with more nodes than shards every node has one, and every shard has an owner', () => {
    const nodes = Array.from({ length: 20 }, (_, i) => `node-${i}`);
    const spans = nodes.map((me) => shardsOf(me, nodes));
    expect(spans.every(({ from, to }) => to === from + 1)).toBe(true);
    expect(new Set(spans.map(({ from }) => from)).size).toBe(8);
    expect(othersOf({ from: 2, to: 4 })).toEqual([0, 1, 4, 5, 6, 7]);
  });
});
