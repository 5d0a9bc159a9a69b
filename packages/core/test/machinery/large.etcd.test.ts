/** Large workflows on a real etcd: right, and without reading anything again and again. */
import { afterEach, expect, it } from 'vitest';
import { chain, chord, isEnded } from '../../src/index.js';
import { add, sum, testHandlers } from './tasks.js';
import { etcdWorld, type World } from './world.js';

const FULL = process.env['LEASEHOLD_FULL'] === '1';
/** With its callback a chord of 9 999 is as large as a workflow may be. */
const MEMBERS = FULL ? 9_999 : 999;
const STEPS = FULL ? 1_000 : 100;

let world: World;
afterEach(() => world.close());

/** What one run costs a worker and its client for each task. */
async function cost(size: number): Promise<number> {
  world = etcdWorld();
  const worker = await world.start({ handlers: testHandlers(Date.now), concurrency: 500 });
  const header = Array.from({ length: size }, (_, n) => add.signature([BigInt(n)]));
  const before = worker.counts.keysRead;
  // The worker's own client submits, so that what it reads is counted as well.
  const submitted = await worker.node.client.submit(chord(header, add.partial([])), { giveUpMs: 120_000 });
  expect(await submitted.result()).toEqual([BigInt(size * (size - 1)) / 2n]);
  const members: string[] = [];
  for await (const task of worker.node.client.members(submitted.id)) {
    expect(isEnded(task.state)).toBe(true);
    members.push(task.id);
  }
  expect(new Set(members).size).toBe(size + 1);
  return (worker.counts.keysRead - before) / size;
}

it(`a group of ${MEMBERS} with a chord callback: the result is right, and a member costs no more than one of a tenth of it`, async () => {
  const small = await cost(Math.ceil(MEMBERS / 10));
  await world.close();
  const large = await cost(MEMBERS);
  // Machinery reads all N states after each success: ten times the members would be ten times the cost of each.
  expect(large).toBeLessThan(small * 2 + 5);
}, 600_000);

it(`a chain of ${STEPS}: the result is right, and a step costs a few reads`, async () => {
  world = etcdWorld();
  const worker = await world.start({ handlers: testHandlers(Date.now) });
  const steps = Array.from({ length: STEPS }, (_, n) => (n === 0 ? add.signature([1n]) : add.partial([1n])));
  const before = worker.counts.keysRead;
  const submitted = await worker.node.client.submit(chain(steps));
  expect(await submitted.result()).toEqual([BigInt(STEPS)]);
  expect((worker.counts.keysRead - before) / STEPS).toBeLessThan(10);
  expect(await worker.node.client.getWorkflow(submitted.id)).toMatchObject({ state: 'SUCCESS', tasks: STEPS });
}, 600_000);

it('a handle of a group yields all results in order, and members as they end', async () => {
  world = etcdWorld();
  const lists = [[1n], [2n, 3n], []];
  const submitted = await world.client.submit({
    kind: 'group',
    members: lists.map((list) => ({ kind: 'task', signature: sum.signature([list]) })),
  });
  const seen = (async () => {
    const ids: string[] = [];
    for await (const { id } of world.client.members(submitted.id)) ids.push(id);
    return ids;
  })();
  await world.start({ handlers: testHandlers(Date.now) });
  expect(await submitted.result()).toEqual([[1n], [5n], [0n]]);
  expect((await seen).sort()).toEqual([0, 1, 2].map((n) => `${submitted.id}.0000${n}`));
});
