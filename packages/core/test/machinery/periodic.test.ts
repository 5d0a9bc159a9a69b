/** RegisterPeriodicTask and its kind: what Machinery never tested, and the faults of its section 9. */
import { describe, expect, it } from 'vitest';
import { chain, defineTask, group, handle, type Workflow } from '../../src/index.js';
import { deleteSchedule, readSchedule, upsertSchedule } from '../../src/store/index.js';
import { add, handleAdd, handleMultiply, multiply } from './tasks.js';
import { worlds } from './world.js';

const tick = defineTask('tick');

describe.each(worlds)('periodic tasks on $on', ({ open, real }) => {
  it('two schedulers, one fire: however many processes there are, each instant is submitted once', async () => {
    const world = open();
    const { store } = world.client;
    const fires: string[] = [];
    const handlers = [handle(tick, (_args, { id }) => void fires.push(id))];
    const processes = [];
    for (let i = 0; i < 2; i++) processes.push(await world.start({ handlers }));
    await world.wait(
      upsertSchedule(store, world.client.call(), {
        id: 'every-second',
        spec: '@every 1s',
        workflow: { kind: 'task', signature: tick.signature([]) },
      }),
    );
    const fired = async (): Promise<number> => (await readSchedule(store, 'every-second'))?.record.fired ?? 0;
    const until = async (count: number): Promise<void> => {
      for (let i = 0; i < 200 && (await fired()) < count; i++) await world.pass(100);
    };
    await until(2);
    // The one that leads goes; the other goes on from the stored last instant.
    const leader = processes.find(({ node }) => node.elected);
    await leader?.stop();
    await until(real ? 3 : 20);
    await world.wait(deleteSchedule(store, world.client.call(), 'every-second'));
    await world.pass(300);
    const instants = (await world.tasks()).map(({ id }) => id);
    expect(instants.length).toBeGreaterThanOrEqual(real ? 3 : 20);
    expect([...fires].sort()).toEqual(instants.sort());
    // No instant was left out either: they are one second apart.
    const times = instants.map((id) => Number(/(\d{13,})/.exec(id)?.[1]));
    expect(times.slice(1).map((time, i) => time - (times[i] ?? 0))).toEqual(times.slice(1).map(() => 1_000));
    await world.close();
  });

  it('each run has an id of its own; a chain keeps the user’s callbacks, and a group is whole', async () => {
    const world = open();
    const { store } = world.client;
    const kept: unknown[] = [];
    const note = defineTask('note', { variadic: 'int64' });
    await world.start({ handlers: [handleAdd, handleMultiply, handle(note, (values) => void kept.push(values))] });
    const noted: Workflow = { kind: 'task', signature: note.partial([]) };
    const workflow = chain([
      group([add.signature([1n, 1n]), add.signature([2n, 2n])]),
      multiply.partial([2n], { onSuccess: [noted] }),
    ]);
    await world.wait(
      upsertSchedule(store, world.client.call(), { id: 'twice', spec: '@every 1s', workflow, count: 2 }),
    );
    for (let i = 0; i < 200 && kept.length < 2; i++) await world.pass(100);
    expect(kept).toEqual([[16n], [16n]]);
    const parents = new Set((await world.tasks()).flatMap((task) => task.workflow?.id ?? []));
    expect(parents.size).toBe(2);
    await world.close();
  });

  it('a signature with an id or a date of its own is refused: its runs would overwrite each other', async () => {
    const world = open();
    const { store } = world.client;
    for (const own of [{ id: 'mine' }, { etaMs: world.clock.now() + 60_000 }]) {
      const workflow: Workflow = { kind: 'task', signature: tick.signature([], own) };
      const refused = upsertSchedule(store, world.client.call(), { id: 's', spec: '@every 1s', workflow });
      await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    }
    await world.close();
  });
});
