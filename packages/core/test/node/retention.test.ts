import { afterEach, describe, expect, it } from 'vitest';
import { defineTask, handle, SchedulerNode, type RetentionInput } from '../../src/index.js';
import { createTestScheduler, type TestScheduler } from '../../src/testing/index.js';

const good = defineTask('good');
const bad = defineTask('bad');
const handlers = [
  handle(good, () => undefined),
  handle(bad, () => {
    throw new Error('broken');
  }),
];
const HOUR_MS = 3_600_000;

let scheduler: TestScheduler | undefined;
afterEach(async () => {
  await scheduler?.stop();
  scheduler = undefined;
});

describe('retention as a node is told', () => {
  it('of its own for each state; what is not named stays by default', async () => {
    scheduler = await createTestScheduler({ handlers, retention: { SUCCESS: { ageMs: HOUR_MS } } });
    await scheduler.submit(good.signature([]));
    await scheduler.submit(bad.signature([]));
    await scheduler.settle();
    await scheduler.advance(HOUR_MS / 2);
    expect(await scheduler.tasks()).toHaveLength(2);
    await scheduler.advance(HOUR_MS);
    expect((await scheduler.tasks()).map(({ name }) => name)).toEqual(['bad']);
  });

  it.each([
    [{ SUCCESS: { ageMs: 1_000 } }, 'retention.SUCCESS.ageMs'],
    [{ FAILURE: { count: -1 } }, 'retention.FAILURE.count'],
    [{ CANCELLED: { bytes: Number.NaN } }, 'retention.CANCELLED.bytes'],
    [{ PENDING: {} }, 'retention.PENDING'],
  ] as const)('%j is refused, and says where', (retention, field) => {
    const make = () =>
      new SchedulerNode({ etcd: { endpoints: ['127.0.0.1:1'] }, handlers, retention: retention as RetentionInput });
    expect(make).toThrow(
      expect.objectContaining({ code: 'invalid', fields: expect.objectContaining({ field }) as object }) as Error,
    );
  });
});
