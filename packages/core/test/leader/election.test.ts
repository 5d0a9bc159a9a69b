import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { normalizeSignature } from '../../src/model/validate.js';
import { promoteDue } from '../../src/store/promote.js';
import { readLeader } from '../../src/store/leadership.js';
import { submitTask } from '../../src/store/submit.js';
import { CLIENT, readTask, sig } from '../store/plain-worker.js';
import { makeWorld, type World } from './world.js';

let world: World;

beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.close());

const elected = (...nodes: { leader: { elected: boolean } }[]): boolean[] => nodes.map(({ leader }) => leader.elected);

describe('election', () => {
  it('one of several candidates is elected, and all know who', async () => {
    const nodes = [await world.addNode('a'), await world.addNode('b'), await world.addNode('c')];
    await world.until(() => nodes.every(({ leader }) => leader.seen !== undefined));
    expect(elected(...nodes).filter(Boolean)).toHaveLength(1);
    const { leader } = await readLeader(world.store);
    for (const node of nodes) expect(node.leader.seen?.record.node).toBe(leader?.record.node);
    expect(nodes.find((node) => node.leader.elected)?.leader.health()).toMatchObject({ promoted: 0, rescued: 0 });
  });

  it('a leader that stops resigns, and the next one follows at once', async () => {
    const a = await world.addNode('a');
    await world.until(() => a.leader.elected);
    const b = await world.addNode('b');
    await world.until(() => b.leader.seen !== undefined);
    expect(elected(a, b)).toEqual([true, false]);
    await a.leader.stop();
    await world.until(() => b.leader.elected, 100);
    expect(a.leader.elected).toBe(false);
    expect(a.leader.health()).toBeUndefined();
    await a.leader.stop();
  });

  it('E1: when the lease of the leader ends another one is elected', async () => {
    const a = await world.addNode('a');
    await world.until(() => a.leader.elected);
    const b = await world.addNode('b');
    await a.die();
    await world.until(() => b.leader.elected, 1_000);
    const { leader } = await readLeader(world.store);
    expect(leader?.record.node).toBe('b');
  });

  it('I8: a paused ex-leader that goes on writes nothing, and steps down when it learns of it', async () => {
    const a = await world.addNode('a');
    await world.until(() => a.leader.elected);
    const term = (await readLeader(world.store)).leader?.term ?? 0n;
    const b = await world.addNode('b', { candidate: () => true });
    a.pause();
    await world.until(() => b.leader.elected, 5_000);
    await b.leader.stop();
    // Nobody promotes now but the ex-leader, which still believes in its term.
    expect(a.leader.elected).toBe(true);
    a.kv.heal();
    const etaMs = world.clock.now() + 100;
    await submitTask(
      world.store,
      CLIENT,
      normalizeSignature(sig('work', [], { id: 'x', etaMs }), {}, world.clock.now()),
    );
    await world.clock.advance(1_000);
    expect((await readTask(world.store, 'x')).state).toBe('SCHEDULED');
    expect(a.leader.elected).toBe(false);
    const stale = { node: 'a', sinceMs: 0, term, lease: a.holder.lease, actor: { kind: 'leader', name: 'a' } as const };
    const fence = {
      id: 'stale',
      compare: [{ key: world.store.keys.leader(), target: 'create', value: term }],
    } as const;
    await expect(promoteDue(a.store, { ...stale, fence })).rejects.toMatchObject({ code: 'session-lost' });
  });

  it('a session that ends takes the duties with it before anybody else can be elected', async () => {
    const a = await world.addNode('a');
    await world.until(() => a.leader.elected);
    a.wakeUp();
    await world.clock.settle();
    expect(a.leader.elected).toBe(false);
    // The office itself ends with the lease.
    expect((await readLeader(world.store)).leader?.record.node).toBe('a');
  });

  it('a node that is no candidate leads only when it becomes one', async () => {
    let candidate = false;
    const a = await world.addNode('a', { candidate: () => candidate });
    await world.clock.advance(20_000);
    expect(a.leader.elected).toBe(false);
    candidate = true;
    await world.until(() => a.leader.elected, 10_000);
  });

  it('an election whose answer is lost is no loss: the key shows whose it is', async () => {
    let lost = 0;
    const a = await world.addNode('a', { candidate: () => true });
    a.kv.intercept = ({ method, request }) => {
      const put =
        method === 'txn' &&
        JSON.stringify(request, (_, v: unknown) => (typeof v === 'bigint' ? '' : v)).includes('"put"');
      return put && lost++ === 0 ? 'drop-after' : 'pass';
    };
    await world.until(() => a.leader.elected, 5_000);
    expect(lost).toBeGreaterThan(0);
  });

  it('report E8: stopping twice, and starting after a stop, is harmless', async () => {
    const a = await world.addNode('a');
    await Promise.all([a.leader.stop(), a.leader.stop()]);
    await a.leader.stop();
    expect(world.clock.pending).toBe(0);
  });
});
