import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { TASK_STATES } from '@leasehold/core/model';
import { TaskHistogram } from '@leasehold/wire';
import { histogramOf, type Dated } from '../src/projection/histogram.js';
import { openWorld } from './world.js';

const NOW = 1_800_000_000_000;
const sum = (states: TaskHistogram['states']): number =>
  Object.values(states).reduce((all, counts) => all + (counts ?? []).reduce((a, b) => a + b, 0), 0);

describe('the histogram', () => {
  test('every task is in a bucket or counted as earlier, buckets are aligned and at most 120', () => {
    const dated = fc.record({
      createdMs: fc.integer({ min: NOW - 10 * 86_400_000, max: NOW }),
      state: fc.constantFrom(...TASK_STATES),
    });
    fc.assert(
      fc.property(fc.array(dated, { maxLength: 300 }), (tasks) => {
        const histogram = histogramOf(tasks, NOW);
        expect(sum(histogram.states) + histogram.earlier).toBe(tasks.length);
        expect(histogram.fromMs % histogram.stepMs).toBe(0);
        for (const counts of Object.values(histogram.states)) expect(counts?.length ?? 0).toBeLessThanOrEqual(120);
      }),
    );
  });

  test('one task of last year does not flatten the last minute', () => {
    const recent: Dated[] = Array.from({ length: 99 }, (_, i) => ({ createdMs: NOW - i * 500, state: 'SUCCESS' }));
    const old: Dated = { createdMs: NOW - 365 * 86_400_000, state: 'FAILURE' };
    const histogram = histogramOf([...recent, old], NOW);
    expect(histogram.stepMs).toBeLessThanOrEqual(1_000);
    expect(histogram.earlier).toBeGreaterThanOrEqual(1);
  });

  test('the route counts what the filter matches, whatever its times', async () => {
    const world = await openWorld();
    try {
      await world.submit('a', [], { queue: 'one' });
      await world.submit('b', [], { queue: 'two' });
      await world.caughtUp();
      const answer = await world.call('GET', '/tasks-histogram?queue=one&from=1&to=2');
      expect(answer.status).toBe(200);
      const histogram = TaskHistogram.parse(answer.body);
      expect(histogram.total).toBe(1);
      expect(Object.keys(histogram.states)).toEqual(['PENDING']);
    } finally {
      await world.close();
    }
  });
});
