import { afterEach, describe, expect, it } from 'vitest';
import { chain, chord, defineTask, group, handle, Snooze } from '../../src/index.js';
import { createTestScheduler, type TestScheduler } from '../../src/testing/index.js';

const add = defineTask('add', { variadic: 'int64', results: ['int64'] });
const multiply = defineTask('multiply', { variadic: 'int64', results: ['int64'] });
const flaky = defineTask('flaky', { args: ['string'], results: ['string'], retry: { count: 3 } });

let failures = 0;
const handlers = [
  handle(add, (values) => values.reduce((sum, value) => sum + value, 0n)),
  handle(multiply, (values) => values.reduce((product, value) => product * value, 1n)),
  handle(flaky, ([text], { attempt }) => {
    if (attempt <= failures) throw new Error(`failure ${attempt}`);
    return `${text} after ${attempt}`;
  }),
  handle(defineTask('later'), (_args, { attempt }) => {
    if (attempt < 3) throw new Snooze(60_000);
  }),
];

let scheduler: TestScheduler;
const open = async (): Promise<TestScheduler> => (scheduler = await createTestScheduler({ handlers }));
afterEach(() => scheduler.stop());

describe('the test scheduler', () => {
  it('runs a task and gives its result, without a server', async () => {
    const { run } = await open();
    expect(await run(add.signature([1n, 2n]))).toEqual([3n]);
  });

  it('runs chains, groups and chords', async () => {
    const { run } = await open();
    expect(await run(chain([add.signature([2n, 2n]), add.partial([5n, 6n]), multiply.partial([4n])]))).toEqual([60n]);
    expect(await run(group([add.signature([1n]), add.signature([2n])]))).toEqual([[1n], [2n]]);
    expect(
      await run(
        chord([add.signature([1n, 1n]), add.signature([2n, 2n]), add.signature([5n, 6n])], multiply.partial([])),
      ),
    ).toEqual([88n]);
  });

  it("lets time pass for retries: Machinery's Fibonacci seconds", async () => {
    const { run, clock } = await open();
    failures = 3;
    const startMs = clock.now();
    expect(await run(flaky.signature(['done']))).toEqual(['done after 4']);
    const passedMs = clock.now() - startMs;
    expect(passedMs).toBeGreaterThanOrEqual((1 + 2 + 3) * 1_000);
    expect(passedMs).toBeLessThan(10_000);
  });

  it('snoozes use no retry', async () => {
    const { run, tasks } = await open();
    await run({ name: 'later', args: [] });
    expect((await tasks())[0]).toMatchObject({ state: 'SUCCESS', attempt: 3, failures: 0, snoozes: 2 });
  });

  it('an ETA delays until its time', async () => {
    const { submit, advance, client, clock } = await open();
    const handle = await submit({ ...add.signature([1n]), etaMs: clock.now() + 3_600_000 });
    await advance(3_599_000);
    expect((await client.get(handle.id))?.state).toBe('SCHEDULED');
    await advance(2_000);
    expect((await client.get(handle.id))?.state).toBe('SUCCESS');
  });
});

describe('what a handler is given', () => {
  it('its functions may be taken out of the context', async () => {
    const loud = defineTask('loud', { results: ['string'] });
    const handler = handle(loud, (_args, { progress, log, attempt, retryIn }) => {
      progress(0.5, 'half');
      log('here');
      if (attempt === 1) retryIn(10);
      return 'done';
    });
    scheduler = await createTestScheduler({ handlers: [handler] });
    expect(await scheduler.run(loud.signature([], { retry: { count: 1 } }))).toEqual(['done']);
  });
});

describe('the shape of results', () => {
  it.each([undefined, { name: 'later', args: [] }])(
    'does not depend on whether failures are told (%j)',
    async (told) => {
      const { run } = await open();
      const options = told === undefined ? {} : { onError: told };
      const one = add.signature([1n]);
      expect(await run(chain([one, add.partial([1n])], options))).toEqual([2n]);
      expect(await run(chord([one, one], add.partial([]), options))).toEqual([2n]);
      expect(await run(group([one], options))).toEqual([[1n]]);
      expect(await run(chain([one, group([add.partial([1n])], options)], options))).toEqual([[2n]]);
      expect(await run(chain([group([one, one]), chain([add.partial([3n])], options)], options))).toEqual([5n]);
    },
  );
});
