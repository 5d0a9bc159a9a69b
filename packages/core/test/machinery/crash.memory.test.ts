/** A worker dies at every possible moment of a workflow. On the twin each request to the store is such a moment. */
import { describe, expect, it } from 'vitest';
import { chain, chord, defineTask, handle, type Handle } from '../../src/index.js';
import { MemoryConnection, prefixEnd, type MemoryCall } from '../../src/kv/index.js';
import { decodeTask } from '../../src/model/codec.js';
import { add, handleAdd, handleMultiply, multiply } from './tasks.js';
import { memoryWorld, type Process } from './world.js';

type World = ReturnType<typeof memoryWorld>;
type Fate = 'drop-before' | 'drop-after';

/** (1+1) x (2+2 then +5) x (5+6), plus 1: 199. */
const workflow = chain([
  chord(
    [add.signature([1n, 1n]), chain([add.signature([2n, 2n]), add.partial([5n])]), add.signature([5n, 6n])],
    multiply.partial([]),
  ),
  add.partial([1n]),
]);
const handlers = [handleAdd, handleMultiply];

/** A call as text, to look for what it writes. */
function written(call: MemoryCall): string {
  if (call.method !== 'txn') return '';
  const text = JSON.stringify(call.request, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return /"kind":"(put|delete)"/.test(text) ? text : '';
}

/** From the first call that `dies` picks on, nothing of this process reaches the store any more. */
function crashAt(
  { kv }: Process,
  fate: Fate,
  dies: (writes: string, count: number) => boolean,
): { readonly dead: boolean } {
  if (!(kv instanceof MemoryConnection)) throw new TypeError('only on the twin');
  const state = { dead: false };
  let count = 0;
  kv.intercept = (call) => {
    if (state.dead) return 'refuse';
    const writes = written(call);
    if (writes === '' || !dies(writes, ++count)) return 'pass';
    state.dead = true;
    return fate;
  };
  return state;
}

/** Another worker finishes what was left; then everything must be right and nothing left over. */
async function finished(world: World, handle: Handle<readonly unknown[]>): Promise<void> {
  await world.start({ handlers });
  expect(await world.wait(handle.result())).toEqual([199n]);
  await world.pass(5_000);
  const { kv, keys } = world.client.store;
  for (const kind of ['ready', 'due', 'locks', 'barriers', 'joins', 'chores', 'slots'] as const) {
    const prefix = keys.kind(kind);
    const left = await kv.range({ key: prefix, rangeEnd: prefixEnd(prefix), keysOnly: true });
    expect([kind, left.kvs.map(({ key }) => key)]).toEqual([kind, []]);
  }
  const edges = await history(world);
  const each = (cause: string): Record<string, number> => counts(edges.filter((edge) => edge.cause === cause));
  expect(each('succeeded')).toEqual({ '00000': 1, '00001': 1, '00002': 1, '00003': 1, '00004': 1, '00005': 1 });
  // The second step of the inner chain, the callback, the last step: released once, whatever crashed.
  expect(each('released')).toEqual({ '00002': 1, '00004': 1, '00005': 1 });
}

interface Edge {
  readonly task: string;
  readonly cause: string;
}

/** Every write of every task, from the store's own history. */
async function history(world: World): Promise<readonly Edge[]> {
  const { kv, keys } = world.client.store;
  const prefix = keys.kind('tasks');
  const edges: Edge[] = [];
  const watch = kv.watch(
    { key: prefix, rangeEnd: prefixEnd(prefix), startRevision: 1n, filter: 'no-delete' },
    (message) => {
      if (message.kind !== 'events') return;
      for (const { kv: record } of message.events) {
        const { id, cause } = decodeTask(record.value);
        edges.push({ task: id.slice(-5), cause });
      }
    },
  );
  await world.pass(100);
  watch.close();
  return edges;
}

function counts(edges: readonly Edge[]): Record<string, number> {
  const out: Record<string, number> = {};
  for (const { task } of edges) out[task] = (out[task] ?? 0) + 1;
  return out;
}

async function begun(): Promise<{ readonly world: World; readonly victim: Process }> {
  const world = memoryWorld();
  return { world, victim: await world.start({ handlers, leader: false }) };
}

describe('crash of a worker', () => {
  it('mid-task: the task runs again elsewhere, the loss is counted and no retry used', async () => {
    const world = memoryWorld();
    const once = defineTask('once', { results: ['int64'] });
    const victim = await world.start({
      leader: false,
      handlers: [
        handle(once, async () => {
          if (victim.kv instanceof MemoryConnection) victim.kv.disconnect('blackhole');
          await world.sleep(60_000);
          return 1n;
        }),
      ],
    });
    const submitted = await world.wait(world.client.submit(once.signature([])));
    await world.start({ handlers: [handle(once, () => 2n)] });
    expect(await world.wait(submitted.result())).toEqual([2n]);
    // The first one comes to its end, a minute late, and its network is back: its result counts for nothing.
    if (victim.kv instanceof MemoryConnection) victim.kv.heal();
    await world.pass(60_000);
    expect(await world.client.get(submitted.id)).toMatchObject({
      state: 'SUCCESS',
      attempt: 2,
      losses: 1,
      failures: 0,
      results: [{ value: '2' }],
    });
    await world.close();
  });

  it.each<[string, Fate, (writes: string) => boolean]>([
    ['mid-hand-off, nothing of it applied', 'drop-before', (writes) => writes.includes('\\"cause\\":\\"released\\"')],
    ['mid-hand-off, all of it applied', 'drop-after', (writes) => writes.includes('\\"cause\\":\\"released\\"')],
    ['mid-barrier-release, before it', 'drop-before', (writes) => /"delete","key":"[^"]*\/joins\//.test(writes)],
    ['mid-barrier-release, after it', 'drop-after', (writes) => /"delete","key":"[^"]*\/joins\//.test(writes)],
    [
      'after the last member left, before anybody looked',
      'drop-after',
      (writes) => /barriers\/[^"]*\/0*1\/0*2"/.test(writes),
    ],
  ])('%s: the workflow goes on, once', async (_when, fate, dies) => {
    const { world, victim } = await begun();
    const state = crashAt(victim, fate, dies);
    const submitted = await world.wait(world.client.submit(workflow));
    await world.pass(2_000);
    expect(state.dead).toBe(true);
    await finished(world, submitted);
    await world.close();
  });

  it.each<Fate>(['drop-before', 'drop-after'])(
    'at every write it makes (%s): the result is right, each callback is released once',
    async (fate) => {
      for (let nth = 1, crashed = true; crashed; nth++) {
        const { world, victim } = await begun();
        const state = crashAt(victim, fate, (_writes, count) => count === nth);
        const submitted = await world.wait(world.client.submit(workflow));
        await world.pass(2_000);
        crashed = state.dead;
        if (!crashed) expect(nth).toBeGreaterThan(8);
        await finished(world, submitted);
        await world.close();
      }
    },
  );
});
