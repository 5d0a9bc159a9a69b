import { expect, test } from 'vitest';
import type { TaskRow } from '@leasehold/wire';
import { placeNodes } from '../src/workflow/layout-nodes';
import { NODE_WIDTH_PX } from '../src/workflow/layout-shape';
import { spansOf, ticksOf } from '../src/workflow/spans';
import { nextNode } from '../src/workflow/steer';

const diamond = {
  ids: ['a', 'b', 'c', 'd'],
  edges: [
    ['a', 'b'],
    ['a', 'c'],
    ['b', 'd'],
    ['c', 'd'],
  ] as const,
};

test('what comes after stands to the right, and no two boxes overlap', () => {
  const places = new Map(placeNodes(diamond).map((place) => [place.id, place]));
  for (const [from, to] of diamond.edges)
    expect(places.get(to)?.x ?? 0).toBeGreaterThanOrEqual((places.get(from)?.x ?? 0) + NODE_WIDTH_PX);
  expect(Math.abs((places.get('b')?.y ?? 0) - (places.get('c')?.y ?? 0))).toBeGreaterThanOrEqual(44);
});

test('500 nodes are laid out', () => {
  const ids = Array.from({ length: 500 }, (_, i) => `n${i}`);
  const edges = ids.slice(1).map((id, i) => [ids[Math.floor(i / 3)] ?? 'n0', id] as const);
  expect(new Set(placeNodes({ ids, edges }).map(({ x, y }) => `${x} ${y}`)).size).toBe(500);
});

test('arrows follow edges, stay in their column, and stop where there is no way on', () => {
  const places = placeNodes(diamond);
  const go = (from: string | null, arrow: 'after' | 'before' | 'above' | 'below') =>
    nextNode(places, diamond.edges, from, arrow);
  expect(go(null, 'after')).toBe('a');
  expect(['b', 'c']).toContain(go('a', 'after'));
  expect(new Set([go('b', 'below'), go('b', 'above')])).toEqual(new Set(['b', 'c']));
  expect(go('d', 'after')).toBe('d');
  expect(go('d', 'before')).not.toBe('d');
});

const row = (more: Partial<TaskRow>): TaskRow => ({
  id: 'x',
  name: 'x',
  state: 'SUCCESS',
  cause: 'succeeded',
  queue: 'q',
  priority: 0,
  attempt: { n: 1, max: 1 },
  createdMs: 1_000,
  updatedMs: 5_000,
  scheduleMs: 1_000,
  args: '',
  revision: '1',
  ...more,
});

test('a bar is wait, then run; what runs still grows, and a clock that is ahead makes no negative bar', () => {
  const [done, open, ahead] = spansOf(
    [
      row({ id: 'done', startedMs: 2_000, endedMs: 4_000 }),
      row({ id: 'open', state: 'STARTED', startedMs: 3_000 }),
      row({ id: 'ahead', state: 'STARTED', startedMs: 99_000 }),
    ],
    10_000,
  );
  expect(done).toMatchObject({ waitFromMs: 1_000, runFromMs: 2_000, toMs: 4_000 });
  expect(open).toMatchObject({ runFromMs: 3_000, toMs: 10_000 });
  expect(ahead).toMatchObject({ runFromMs: 99_000, toMs: 99_000 });
});

test('ticks are whole steps of the clock inside the span', () => {
  expect(ticksOf(1_234, 9_000, 6)).toEqual([2_000, 4_000, 6_000, 8_000]);
  for (const spanMs of [3, 70, 999, 12_345, 3_600_001, 86_400_000 * 90]) {
    const ticks = ticksOf(500, 500 + spanMs, 6);
    expect(ticks.length).toBeLessThanOrEqual(7);
    expect(ticks.every((ms) => ms >= 500 && ms <= 500 + spanMs)).toBe(true);
  }
});
