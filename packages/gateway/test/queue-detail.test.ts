import { pause } from '@leasehold/core/store';
import type { QueueDetail } from '@leasehold/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, type World } from './world.js';

describe('one queue by task name', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.close());

  const detailOf = async (queue: string, rev?: string): Promise<QueueDetail> => {
    await world.caughtUp();
    const answer = await world.call('GET', `/queues/${queue}/detail${rev === undefined ? '' : `?rev=${rev}`}`);
    expect(answer.status).toBe(200);
    return answer.body as unknown as QueueDetail;
  };

  it('counts what has not ended, and says which live nodes know each name', async () => {
    const holder = await world.joinNode('n1', { names: ['mail', 'idle'] });
    const first = await world.submit('mail');
    await world.submit('mail');
    await world.submit('stranger');
    await world.submit('mail', [], { queue: 'other' });
    await world.succeed(holder, await world.start(holder, first.id));
    const { names, ended } = await detailOf('default');
    expect(names.map(({ name, states, nodes }) => [name, states, nodes])).toEqual([
      ['mail', { PENDING: 1 }, ['n1']],
      ['stranger', { PENDING: 1 }, []],
      ['idle', {}, ['n1']],
    ]);
    expect(ended.reduce((sum, n) => sum + n, 0)).toBe(1);
  });

  it('shows the pauses of a name and of everything, with the revision that a resume sends', async () => {
    await world.submit('mail');
    const call = { actor: { kind: 'operator', name: 'kim' }, reason: 'night' } as const;
    const named = await pause(world.store, { ...call, operationId: world.store.newId() }, { name: 'mail' });
    await pause(world.store, { ...call, operationId: world.store.newId() }, 'all');
    const { names, everything } = await detailOf('default');
    expect(names[0]?.settings).toMatchObject({ revision: named.revision.toString(), paused: { reason: 'night' } });
    expect(everything.paused?.reason).toBe('night');
  });

  it('knows how long a name usually runs from what had ended before anybody watched', async () => {
    const holder = await world.joinNode('n1');
    const done = await world.submit('mail');
    await world.succeed(holder, await world.start(holder, done.id));
    await world.submit('mail');
    await world.caughtUp();
    // A board of the past has seen no change happen, as one that was just started.
    const { names } = await detailOf('default', world.gateway.board.revision);
    expect(names[0]?.run?.count).toBe(1);
  });

  it('answers for a queue that is not there that there is none', async () => {
    expect((await world.call('GET', '/queues/nowhere/detail')).status).toBe(404);
  });
});
