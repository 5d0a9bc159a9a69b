import { describe, expect, test } from 'vitest';
import { formatNumber, median, medianOfRounds, percentile, table, type Figure } from '../src/figures.js';
import { each, keepBusy } from '../src/pace.js';

test('medians and percentiles', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(percentile([1, 2, 3, 4, 5], 1)).toBe(5);
  expect(percentile([], 0.5)).toBeNaN();
});

test('rounds are taken in turn, and each reading gives its median', async () => {
  const order: string[] = [];
  const variant = (name: string, values: number[]) => ({
    name,
    run: (round: number) => {
      order.push(`${name}${round}`);
      return Promise.resolve({ '': values[round - 1] ?? 0, p50: round });
    },
  });
  const medians = await medianOfRounds([variant('a', [1, 9, 2]), variant('b', [5, 5, 5])], 3, () => undefined);
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
  expect([...medians]).toEqual([
    ['a', 2],
    ['a, p50', 2],
    ['b', 5],
    ['b, p50', 2],
  ]);
});

describe('the table', () => {
  test('shows what holds for all figures once, and ratios where there are any', () => {
    const figures: Figure[] = [
      { bench: 'b', metric: 'slow', value: 10, unit: 'x/s', conditions: { node: 'v1', tasks: 5 } },
      {
        bench: 'b',
        metric: 'quick',
        value: 12_345.6,
        unit: 'x/s',
        ratioTo: 'slow',
        ratio: 1234.56,
        conditions: { node: 'v1', tasks: 7 },
      },
    ];
    expect(table(figures)).toBe('b\n  node: v1\n  slow     10.0 x/s\n  quick  12 346 x/s  1234.56x slow\n');
  });

  test('writes numbers for people', () => {
    expect([0.123, 1.5, 12.34, 1234, 1_234_567].map(formatNumber)).toEqual([
      '0.12',
      '1.50',
      '12.3',
      '1 234',
      '1 234 567',
    ]);
  });
});

test('every call that ends is counted, also when many end at once', async () => {
  let calls = 0;
  const { done } = await keepBusy(16, 20, async () => {
    calls += 1;
    await new Promise(setImmediate);
    return 2;
  });
  expect(done).toBe(2 * calls);
});

test('each number is taken once', async () => {
  const seen: number[] = [];
  await each(100, 7, async (n) => {
    await new Promise(setImmediate);
    seen.push(n);
  });
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
});
