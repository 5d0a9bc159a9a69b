/** A claimer leaves to the expirer what is past its time, also when it has it in its window. */
import { expect, it } from 'vitest';
import { pause, resume } from '../../src/store/index.js';
import { call, handling, submit, taskOf, workerRig } from './rig.js';

it.each(['expiresMs', 'deadlineMs'] as const)(
  'a task whose %s passed while its queue was paused is not begun',
  async (limit) => {
    const rig = workerRig();
    const { store, clock } = rig;
    const ran: string[] = [];
    const made = await rig.start({ handlers: [handling('work', ({ id }) => void ran.push(id))] });
    await pause(store, call(), { queue: 'default' });
    await rig.advance(250);
    const late = await submit(store, 'work', { [limit]: clock.now() + 1_000 });
    const fresh = await submit(store, 'work', { [limit]: clock.now() + 60_000 });
    await rig.advance(2_000);
    await resume(store, call(), { queue: 'default' });
    await rig.advance(2_000);
    expect(ran).toEqual([fresh]);
    expect((await taskOf(store, late)).state).toBe('PENDING');
    await Promise.all([made.stop(), rig.advance(3_000)]);
  },
);
