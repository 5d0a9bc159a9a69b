import type { EventPage, StreamEvent } from '@leasehold/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, text, type World } from './world.js';

describe('the change stream', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.close());

  const read = async (search: string): Promise<EventPage> =>
    (await world.call('GET', `/events?${search}`)).body as unknown as EventPage;
  const keysOf = (page: EventPage): string[] => page.groups.flatMap(({ events }) => events.map(({ key }) => key));

  it('begins with what history still has, and groups whole transactions by revision', async () => {
    const { id } = await world.submit('mail', [text('a')]);
    const page = await read('');
    const group = page.groups.find(({ events }) => events.some(({ key }) => key === `tasks/${id}`));
    expect(group?.events.map(({ kind }) => kind).sort()).toEqual(['ready', 'tasks']);
    const revisions = page.groups.map(({ revision }) => BigInt(revision));
    expect(revisions).toEqual([...revisions].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('waits for the next change and hands on only what comes after the revision named', async () => {
    await world.submit('mail');
    const { revision } = await read('');
    const waiting = read(`after=${revision}&waitMs=10000`);
    const { id } = await world.submit('mail');
    const page = await waiting;
    expect(keysOf(page)).toContain(`tasks/${id}`);
    expect(page.groups.every((group) => BigInt(group.revision) > BigInt(revision))).toBe(true);
    expect(page.missed).toBe(false);
  });

  it('filters by kind, by key and by task, and says how much of a transaction is hidden', async () => {
    const first = await world.submit('mail');
    await world.submit('mail');
    const byTask = await read(`task=${first.id}&kind=tasks`);
    expect(keysOf(byTask)).toEqual([`tasks/${first.id}`]);
    expect(byTask.groups[0]?.hidden).toBeGreaterThan(0);
    expect(
      new Set((await read('prefix=ready/')).groups.flatMap(({ events }) => events.map(({ kind }) => kind))),
    ).toEqual(new Set(['ready']));
  });

  it('redacts arguments by declaration and by name, and shows no payload key', async () => {
    await world.joinNode('n1');
    await world.caughtUp();
    await world.submit('mail', [text('kim@example.org'), text('hunter2')]);
    await world.submit('other', [text('s3cr3t', 'api_key')]);
    await world.submit('mail', [text('x'.repeat(5_000)), text('hunter2')]);
    const page = await read('');
    const all = JSON.stringify(page);
    expect(all).toContain('kim@example.org');
    expect(all).not.toContain('hunter2');
    expect(all).not.toContain('s3cr3t');
    const payloads = page.groups.flatMap(({ events }) => events).filter(({ kind }) => kind === 'args');
    expect(payloads.length).toBeGreaterThan(0);
    expect(payloads.every((event: StreamEvent) => event.value === undefined && event.bytes > 0)).toBe(true);
  });

  it('says that changes were missed when it no longer holds them', async () => {
    await world.submit('mail');
    await read('');
    expect((await read('after=0')).missed).toBe(false);
    const { revision } = await world.kv.range({ key: world.store.keys.leader() });
    for (let i = 0; i < 20; i++) {
      const puts = Array.from({ length: 100 }, (_, n) => ({
        kind: 'put' as const,
        key: world.store.keys.progress(`p${i}-${n}`),
        value: '{}',
      }));
      await world.kv.txn({ compare: [], success: puts });
      for (let again = 0; again < 3; again++) await world.kv.txn({ compare: [], success: puts });
    }
    const { revision: last } = await world.kv.range({ key: world.store.keys.leader() });
    await expect.poll(async () => BigInt((await read(`after=${last}`)).revision)).toBeGreaterThanOrEqual(last);
    expect((await read(`after=${revision}&limit=1`)).missed).toBe(true);
  });
});
