/** Machinery's `testAll`, call by call, with its names. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chain, chord, group } from '../../src/index.js';
import { add, delayTest, multiply, panic, returnJustError, returnMultipleValues, sum, testHandlers } from './tasks.js';
import { worlds, type World } from './world.js';

const three = [add.signature([1n, 1n]), add.signature([2n, 2n]), add.signature([5n, 6n])];

describe.each(worlds)('testAll on $on', ({ open }) => {
  let world: World;
  beforeAll(async () => {
    world = open();
    await world.start({ handlers: testHandlers(() => world.clock.now()) });
  });
  afterAll(() => world.close());

  it('testSendTask', async () => {
    expect(await world.run(add.signature([1n, 1n]))).toEqual([2n]);
    expect(await world.run(sum.signature([[1n, 2n]]))).toEqual([3n]);
  });

  it.each([0, 2])('testSendGroup(%i)', async (concurrency) => {
    const results = await world.run(group(three, { concurrency }));
    // In member order; Machinery had to sort.
    expect(results).toEqual([[2n], [4n], [11n]]);
  });

  it('testSendChord', async () => {
    expect(await world.run(chord(three, multiply.partial([]), { concurrency: 10 }))).toEqual([88n]);
  });

  it('testSendChain', async () => {
    const steps = [add.signature([2n, 2n]), add.partial([5n, 6n]), multiply.partial([4n])];
    expect(await world.run(chain(steps))).toEqual([60n]);
  });

  it('testReturnJustError', async () => {
    const failing = await world.client.submit(returnJustError.signature(['Test error', true]));
    await expect(world.wait(failing.result())).rejects.toMatchObject({
      code: 'task-failed',
      fields: { error: { message: 'Test error' } },
    });
    expect((await world.client.get(failing.id))?.results).toBeUndefined();
    expect(await world.run(returnJustError.signature(['Test error', false]))).toEqual([]);
  });

  it('testReturnMultipleValues', async () => {
    expect(await world.run(returnMultipleValues.signature(['foo', 'bar', false]))).toEqual(['foo', 'bar']);
    const failing = await world.client.submit(returnMultipleValues.signature(['foo', 'bar', true]));
    await expect(world.wait(failing.result())).rejects.toMatchObject({ code: 'task-failed' });
    expect((await world.client.get(failing.id))?.results).toBeUndefined();
  });

  it('testPanic', async () => {
    const failing = await world.client.submit(panic.signature([]));
    await expect(world.wait(failing.result())).rejects.toMatchObject({ fields: { error: { message: 'oops' } } });
    expect((await world.client.get(failing.id))?.results).toBeUndefined();
  });

  it('testDelay', async () => {
    const etaMs = world.clock.now() + 100;
    const [at] = (await world.run(delayTest.signature([], { etaMs }))) as [bigint];
    expect(at).toBeGreaterThanOrEqual(BigInt(etaMs) * 1_000_000n);
  });
});
