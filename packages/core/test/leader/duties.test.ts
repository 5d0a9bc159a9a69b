import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { normalizeSignature } from '../../src/model/validate.js';
import type { Signature } from '../../src/model/signature.js';
import type { TaskState } from '../../src/model/state.js';
import type { Holder } from '../../src/store/claim.js';
import { settle } from '../../src/store/settle.js';
import { advance } from '../../src/store/drive.js';
import { put } from '../../src/store/store.js';
import { submitTask, submitWorkflow } from '../../src/store/submit.js';
import { claimOne, CLIENT, dump, openHolder, readTask, readWorkflowRecord, sig, task } from '../store/plain-worker.js';
import { makeWorld, type World } from './world.js';

let world: World;

beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.close());

const submit = (signature: Signature): Promise<unknown> =>
  submitTask(world.store, CLIENT, normalizeSignature(signature, {}, world.clock.now()));
const is = (id: string, state: TaskState) => async (): Promise<boolean> =>
  (await readTask(world.store, id)).state === state;
const leading = async (name = 'a', options = {}) => {
  const node = await world.addNode(name, options);
  await world.until(() => node.leader.elected);
  return node;
};
const die = (holder: Holder): void => world.memory.revoke(holder.lease);

describe('the promoter', () => {
  it('promotes at the moment a task is due, also when a later one was known before', async () => {
    const { leader } = await leading();
    const start = world.clock.now();
    await submit(sig('work', [], { id: 'later', etaMs: start + 10_000 }));
    await world.clock.advance(1_000);
    await submit(sig('work', [], { id: 'sooner', etaMs: start + 3_000 }));
    await world.clock.advance(1_990);
    expect((await readTask(world.store, 'sooner')).state).toBe('SCHEDULED');
    await world.clock.advance(20);
    expect((await readTask(world.store, 'sooner')).state).toBe('PENDING');
    await world.clock.advance(7_000);
    expect((await readTask(world.store, 'later')).state).toBe('PENDING');
    expect(leader.health()).toMatchObject({ promoted: 2, lateP99Ms: 0 });
  });

  it('report E31, E46: what came due while nobody led is promoted by the next leader', async () => {
    const a = await leading('a');
    await submit(sig('work', [], { id: 'x', etaMs: world.clock.now() + 5_000 }));
    await world.clock.advance(1_000);
    await a.die();
    await world.clock.advance(60_000);
    const b = await leading('b');
    await world.until(is('x', 'PENDING'));
    expect(b.leader.health()?.lateP50Ms).toBeGreaterThanOrEqual(56_000);
  });

  it('thousands due in one second are promoted once each, though the leader dies in the middle; the far future waits', async () => {
    const a = await leading('a');
    const start = world.clock.now();
    const count = 3_000;
    const due = Array.from({ length: count }, (_, n) =>
      submit(sig('work', [], { id: `t${n}`, etaMs: start + 5_000 + (n % 1_000) })),
    );
    const decades = start + 30 * 365 * 86_400_000;
    await Promise.all([...due, submit(sig('work', [], { id: 'far', etaMs: decades }))]);
    let writes = 0;
    a.kv.intercept = ({ method, request }) => {
      if (method === 'txn' && request.compare.length > 0 && world.clock.now() >= start + 5_000 && ++writes === 12)
        a.pause();
      return 'pass';
    };
    await world.clock.advance(8_000);
    const half = (await dump(world.store, 'ready')).size;
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(count);
    const b = await leading('b');
    await world.until(async () => (await dump(world.store, 'ready')).size === count, 10_000);
    expect(b.leader.health()?.promoted).toBe(count - half);
    expect([...(await dump(world.store, 'due')).keys()]).toEqual([expect.stringMatching(/\/far$/)]);
    // Each record was written twice: by its submission, and by one promotion.
    const prefix = world.store.keys.kind('tasks');
    const { kvs } = await world.store.kv.range({ key: prefix, rangeEnd: `${prefix.slice(0, -1)}0` });
    expect(kvs.filter(({ version }) => version !== 2n).map(({ key }) => key)).toEqual([world.store.keys.task('far')]);
    a.wakeUp();
    await world.clock.advance(60_000);
  });

  it('report E31: it goes on after the store was away', async () => {
    const a = await leading('a');
    await submit(sig('work', [], { id: 'x', etaMs: world.clock.now() + 5_000 }));
    a.kv.disconnect();
    await world.clock.advance(10_000);
    expect((await readTask(world.store, 'x')).state).toBe('SCHEDULED');
    a.kv.heal();
    await world.until(is('x', 'PENDING'), 20_000);
  });
});

describe('the expirer', () => {
  it('ends what has not started by the time it expires', async () => {
    await leading();
    await submit(sig('work', [], { id: 'x', expiresMs: world.clock.now() + 4_000 }));
    await world.clock.advance(3_900);
    expect((await readTask(world.store, 'x')).state).toBe('PENDING');
    await world.clock.advance(200);
    expect((await readTask(world.store, 'x')).cause).toBe('expired');
  });
});

describe('the rescuer', () => {
  it('report E37, E41: seconds after its node is gone a task is free again, though no worker comes', async () => {
    const { leader } = await leading();
    const worker = await openHolder(world.store, 'worker');
    await submit(sig('work', [], { id: 'x' }));
    await claimOne(world.store, worker, 'x');
    await world.clock.advance(1_000);
    die(worker);
    await world.clock.advance(500);
    // Claimers come first.
    expect((await readTask(world.store, 'x')).state).toBe('STARTED');
    await world.until(is('x', 'PENDING'), 2_000);
    expect(leader.health()).toMatchObject({ rescued: 1 });
  });

  it('leaves a lost attempt alone that a claimer took over in time', async () => {
    const { leader } = await leading();
    const [one, two] = [await openHolder(world.store, 'one'), await openHolder(world.store, 'two')];
    await submit(sig('work', [], { id: 'x' }));
    await claimOne(world.store, one, 'x');
    die(one);
    await world.clock.advance(200);
    const held = await claimOne(world.store, two, 'x');
    await world.clock.advance(10_000);
    expect(await readTask(world.store, 'x')).toMatchObject({ state: 'STARTED', node: 'two', attempt: 2, losses: 1 });
    expect(leader.health()).toMatchObject({ rescued: 0 });
    expect(await settle(world.store, two, held, { kind: 'success', results: [] })).toMatchObject({ kind: 'settled' });
  });

  it('finds what was lost while nobody led', async () => {
    const worker = await openHolder(world.store, 'worker');
    await submit(sig('work', [], { id: 'x' }));
    await claimOne(world.store, worker, 'x');
    die(worker);
    await leading();
    await world.until(is('x', 'PENDING'), 5_000);
  });
});

describe('the repairer', () => {
  it('report E5, E17: a join whose last member ended is completed though its driver died', async () => {
    await leading('a', { repairer: { scanEveryMs: 10_000 } });
    const worker = await openHolder(world.store, 'worker');
    const chord = { kind: 'chord', header: [task('a'), task('b')], callback: task('sum') } as const;
    await submitWorkflow(world.store, CLIENT, chord, { id: 'w' });
    for (let n = 0; n < 2; n++) {
      // Nobody calls advance: the worker dies right after its settle.
      await settle(world.store, worker, await claimOne(world.store, worker), { kind: 'success', results: [] });
    }
    expect((await readTask(world.store, 'w.00002')).state).toBe('WAITING');
    die(worker);
    await world.until(is('w.00002', 'PENDING'), 3_000);
    expect((await dump(world.store, 'barriers')).size).toBe(1);
  });

  it('does the chores that their author left, after a grace period', async () => {
    const { leader } = await leading();
    const worker = await openHolder(world.store, 'worker');
    const chain = { kind: 'chain', steps: [task('a'), task('b')] } as const;
    await submitWorkflow(world.store, CLIENT, chain, { id: 'w' });
    const error = { type: 'Error', message: 'no', attempt: 1, atMs: 0, final: true };
    await settle(world.store, worker, await claimOne(world.store, worker), { kind: 'failure', error });
    await world.clock.advance(500);
    expect((await readWorkflowRecord(world.store, 'w')).state).toBe('RUNNING');
    await world.until(async () => (await readWorkflowRecord(world.store, 'w')).state === 'FAILURE', 5_000);
    expect(leader.health()?.repaired).toBeGreaterThan(0);
  });

  it('leaves a workflow that it cannot drive on alone, tells of it, and drives the others', async () => {
    const { leader, store } = await leading('a', { repairer: { scanEveryMs: 5_000 } });
    const chain = { kind: 'chain', steps: [task('a'), task('b')] } as const;
    for (const id of ['odd', 'w']) await submitWorkflow(world.store, CLIENT, chain, { id });
    // Of a version that does not exist yet.
    const odd = store.keys.chore('odd', 'weigh');
    await store.kv.txn({ compare: [], success: [put(odd, '{"v":1,"kind":"weigh"}')] });
    await expect(advance(store, CLIENT, 'odd')).rejects.toMatchObject({ code: 'conflict', fields: { id: 'odd' } });
    await world.until(() => leader.health()?.stuck === 1, 20_000);
    const worker = await openHolder(world.store, 'worker');
    const error = { type: 'Error', message: 'no', attempt: 1, atMs: 0, final: true };
    await settle(world.store, worker, await claimOne(world.store, worker, 'w.00000'), { kind: 'failure', error });
    await world.until(async () => (await readWorkflowRecord(world.store, 'w')).state === 'FAILURE', 10_000);
    await store.kv.txn({ compare: [], success: [{ kind: 'delete', key: odd }] });
    await world.until(() => leader.health()?.stuck === 0, 20_000);
  });

  it('unfolds a large workflow whose submitter died after the seal', async () => {
    await leading();
    const members = Array.from({ length: 200 }, (_, i) => task(`t${i}`));
    await submitWorkflow(world.store, CLIENT, { kind: 'group', members }, { id: 'w' });
    await world.until(async () => (await dump(world.store, 'ready')).size === 200, 20_000);
  });
});
