import { expect, it } from 'vitest';
import { defineTask, handle } from '../../src/index.js';
import { createTestScheduler } from '../../src/testing/index.js';

it('a retry policy of listed delays is stored and kept: each try comes when its delay says', async () => {
  const began: number[] = [];
  const task = defineTask('t', { retry: { count: 3, delaysMs: [2_000, 10_000] } });
  const scheduler = await createTestScheduler({
    handlers: [
      handle(task, () => {
        began.push(scheduler.clock.now());
        throw new Error('again');
      }),
    ],
  });
  await scheduler.submit(task.signature([]));
  await scheduler.settle();
  const waits = began.slice(1).map((at, i) => Math.round((at - (began[i] ?? 0)) / 1_000));
  expect(waits).toEqual([2, 10, 10]);
  expect(await scheduler.tasks()).toMatchObject([
    { state: 'FAILURE', failures: 4, retry: { backoff: 'custom', delaysMs: [2_000, 10_000] } },
  ]);
  await scheduler.stop();
});
