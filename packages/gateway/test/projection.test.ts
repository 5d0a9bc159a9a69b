import { prefixEnd } from '@leasehold/core/kv';
import { describe, expect, test } from 'vitest';
import { fingerprint } from '../src/projection/fingerprint.js';
import { nextTurn } from '../src/projection/slices.js';
import { Durations, PerSecond } from '../src/projection/latency.js';
import { projectionSuite } from './projection.suite.js';
import { openWorld, text } from './world.js';

projectionSuite('the memory twin', () => 'memory', 12, 120);

describe('the board', () => {
  test('a new list keeps the entries of what did not change, so that frozen views survive', async () => {
    const world = await openWorld();
    const { id } = await world.submit('mail', [text('kept')]);
    const { id: other } = await world.submit('mail');
    await world.caughtUp();
    const { state } = world.gateway.board;
    const entry = state.tasks.get(id);
    await world.kv.txn({ compare: [], success: [{ kind: 'delete', key: world.store.keys.task(other) }] });
    const { prefix } = world.store.keys;
    state.beginList(true);
    state.addPage((await world.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix) })).kvs);
    await state.applyList(nextTurn);
    expect([state.tasks.get(id), state.tasks.size, state.counts.names.get('mail')]).toEqual([entry, 1, 1]);
    await world.close();
  });

  test('keeps at most the tasks of its cap, and says how many it left out', async () => {
    const world = await openWorld('memory', { caps: { tasks: 3 } });
    for (let i = 0; i < 5; i++) await world.submit('mail');
    await world.caughtUp();
    expect([world.gateway.board.state.tasks.size, world.gateway.board.state.dropped]).toEqual([3, 2]);
    await world.close();
  });

  test('a record that cannot be read is counted and left out; the others are shown', async () => {
    const world = await openWorld();
    for (const value of ['not json', '[]', '{"v":99}', 'null', '{}']) {
      const key = world.store.keys.task(`bad-${encodeURIComponent(value).length}`);
      await world.kv.txn({ compare: [], success: [{ kind: 'put', key, value }] });
    }
    await world.submit('mail');
    await world.caughtUp();
    expect(world.gateway.board.status.phase).toBe('live');
    expect(world.gateway.board.state.counts.names.get('mail')).toBe(1);
    expect([world.gateway.board.state.unreadable, world.gateway.board.state.tasks.size]).toEqual([5, 1]);
    await world.close();
  });
});

describe('fingerprints', () => {
  test('errors that differ in numbers, ids and quoted values are one kind', () => {
    const one = fingerprint('Error', 'item 99283 of "orders" is gone (0191f3c2-7777-7abc-8def-001122334455)');
    expect(fingerprint('Error', 'item 5 of "stock" is gone (0191f3c2-0000-7abc-8def-99aa22334455)')).toBe(one);
    expect(fingerprint('TypeError', 'item 5 of "stock" is gone')).not.toBe(one);
    expect(fingerprint('Error', 'disk is full')).not.toBe(one);
  });
});

describe('figures', () => {
  test('percentiles are of the last samples', () => {
    const durations = new Durations();
    for (let i = 0; i < 1_000; i++) durations.add(10);
    for (let i = 1; i <= 256; i++) durations.add(i);
    expect(durations.percentiles()).toEqual({ count: 1_256, p50Ms: 129, p95Ms: 244 });
  });

  test('rates forget what is older than a minute, also after a long silence', () => {
    const rate = new PerSecond();
    rate.add(1_000, 5);
    rate.add(3_000, 2);
    expect(rate.series(3_500).slice(-3)).toEqual([5, 0, 2]);
    expect(rate.series(500_000).every((n) => n === 0)).toBe(true);
  });
});

describe('a list of many', () => {
  test('leaves the process its turns, and nobody reads a board that is half of it', async () => {
    const world = await openWorld();
    const template = (await world.kv.range({ key: world.store.keys.task((await world.submit('mail')).id) })).kvs[0];
    const record = JSON.parse(template?.value ?? '{}') as Record<string, unknown>;
    const kvs = Array.from({ length: 6_000 }, (_, i) => {
      const id = `task-${String(i).padStart(5, '0')}`;
      const value = JSON.stringify({ ...record, id });
      return { ...(template as NonNullable<typeof template>), key: world.store.keys.task(id), value };
    });
    const { state } = world.gateway.board;
    const followed = world.gateway.board.views.followTasks({}, { by: 'created', desc: true });
    state.beginList(false);
    state.addPage(kvs);
    expect(state.tasks.size).toBe(1);
    let turns = 0;
    await state.applyList(() => {
      turns++;
      return nextTurn();
    });
    expect(turns).toBeGreaterThan(1);
    expect([state.tasks.size, followed.list.size, state.counts.names.get('mail')]).toEqual([6_000, 6_000, 6_000]);
    followed.release();
    await world.close();
  });

  test('pages of a list that failed count for nothing', async () => {
    const world = await openWorld();
    const { id } = await world.submit('mail');
    await world.caughtUp();
    const { kvs } = await world.kv.range({ key: world.store.keys.task(id) });
    const { state } = world.gateway.board;
    state.beginList(false);
    state.addPage(kvs);
    state.beginList(false);
    await state.applyList(nextTurn);
    expect(state.tasks.size).toBe(0);
    await world.close();
  });
});
