import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type {} from '../../../tooling/vitest/provided.d.ts';
import type { TypedValue, Workflow } from '../../src/model/signature.js';
import type { Holder } from '../../src/store/claim.js';
import { advance } from '../../src/store/drive.js';
import { cancelWorkflow, retryTask, retryWorkflow } from '../../src/store/operate.js';
import { settle } from '../../src/store/settle.js';
import type { Store } from '../../src/store/store.js';
import { submitWorkflow } from '../../src/store/submit.js';
import { memberId } from '../../src/model/ids.js';
import {
  CLIENT,
  LEADER,
  call,
  claimable,
  claimOne,
  dump,
  etcdWorld,
  int,
  memoryWorld,
  openHolder,
  readTask,
  readWorkflowRecord,
  runHeld,
  task,
  text,
  workAll,
} from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let holder: Holder;
let broken: Set<string>;
let calls: string[];

/** add sums its arguments, multiply multiplies them; a name in `broken` fails. */
function handler(args: readonly TypedValue[], { name }: { name: string }): readonly TypedValue[] {
  calls.push(
    `${name}(${args.map((arg) => (arg.type === 'json' ? JSON.stringify(arg.value) : String(arg.value))).join(',')})`,
  );
  if (broken.has(name)) throw new Error(`${name} is broken`);
  const numbers = (): bigint[] => args.map((arg) => BigInt(arg.value as string));
  if (name === 'add') return [int(numbers().reduce((a, b) => a + b, 0n))];
  if (name === 'multiply') return [int(numbers().reduce((a, b) => a * b, 1n))];
  return args;
}

const work = (): Promise<string[]> => workAll(store, clock, holder, handler);
const submit = async (workflow: Workflow): Promise<string> => {
  const { id } = await submitWorkflow(store, CLIENT, workflow);
  await advance(store, CLIENT, id);
  return id;
};
const state = async (id: string): Promise<string> => (await readWorkflowRecord(store, id)).state;
const states = async (id: string, n: number): Promise<string[]> =>
  Promise.all(Array.from({ length: n }, async (_, i) => (await readTask(store, memberId(id, i))).state));
const add = (...values: number[]): Workflow => task('add', values.map(int));

async function leftovers(): Promise<string[]> {
  const kinds = ['ready', 'due', 'locks', 'barriers', 'joins', 'chores', 'staged', 'slots'] as const;
  const dumps = await Promise.all(
    kinds.map(async (kind) => [...(await dump(store, kind)).keys()].map((key) => `${kind}/${key}`)),
  );
  return dumps.flat();
}

const worlds = [
  { on: 'the memory twin', open: memoryWorld },
  { on: 'a real etcd', open: () => etcdWorld(inject('etcd')) },
];

describe.each(worlds)('workflows on $on', ({ open }) => {
  beforeEach(async () => {
    ({ store, clock } = open());
    holder = await openHolder(store, 'n1', 300);
    broken = new Set();
    calls = [];
  });

  afterEach(() => store.kv.close());

  it('testSendChain: results are appended to own args: 60', async () => {
    const id = await submit({ kind: 'chain', steps: [add(2, 2), add(5, 6), task('multiply', [int(4)])] });
    await work();
    expect((await readTask(store, memberId(id, 2))).results).toEqual([int(60)]);
    expect(await state(id)).toBe('SUCCESS');
    expect(await leftovers()).toEqual([]);
  });

  it('testSendChord: the callback gets all results in member order: 88', async () => {
    const id = await submit({ kind: 'chord', header: [add(1, 1), add(2, 2), add(5, 6)], callback: task('multiply') });
    await workAll(store, clock, holder, handler, (ready) => ready - 1);
    expect(calls.at(-1)).toBe('multiply(2,4,11)');
    expect((await readTask(store, memberId(id, 3))).results).toEqual([int(88)]);
    expect(await state(id)).toBe('SUCCESS');
    expect(await leftovers()).toEqual([]);
  });

  it('an empty group fires its callback with nothing', async () => {
    const id = await submit({ kind: 'chord', header: [], callback: task('callback', [text('own')]) });
    await work();
    expect(calls).toEqual(['callback(own)']);
    expect(await state(id)).toBe('SUCCESS');
    const nested = await submit({ kind: 'chain', steps: [add(1), { kind: 'group', members: [] }, task('after')] });
    await work();
    expect(calls.slice(-2)).toEqual(['add(1)', 'after()']);
    expect(await state(nested)).toBe('SUCCESS');
    expect(await leftovers()).toEqual([]);
  });

  it('nests: a chain of groups, a group of chains, a chord in a chain', async () => {
    const id = await submit({
      kind: 'chain',
      steps: [
        { kind: 'group', members: [{ kind: 'chain', steps: [add(1), add(1)] }, add(5)] },
        { kind: 'chord', header: [add(), add(1)], callback: add() },
        task('multiply', [int(2)]),
      ],
    });
    await work();
    // Group: 2 and 5; both header members get both: 7 and 8; their sum 15; doubled 30.
    expect(calls.at(-1)).toBe('multiply(2,15)');
    expect(await state(id)).toBe('SUCCESS');
    expect(await leftovers()).toEqual([]);
  });

  it("Immutable on a finishing task keeps its results to itself; on a callback it refuses the group's", async () => {
    await submit({ kind: 'chain', steps: [task('add', [int(1)], { immutable: true }), task('echo', [text('x')])] });
    await submit({ kind: 'chord', header: [add(1)], callback: task('callback', [text('y')], { immutable: true }) });
    await work();
    expect(calls).toContain('echo(x)');
    expect(calls).toContain('callback(y)');
  });

  it('stop: a failing member ends the rest with the reason, and the workflow ends (reports E4, E25)', async () => {
    broken.add('bad');
    const id = await submit({
      kind: 'chord',
      header: [task('bad'), { kind: 'chain', steps: [task('slow'), task('never')] }, task('slow')],
      callback: task('callback'),
      onError: task('tell'),
    });
    await runHeld(store, holder, await claimOne(store, holder, memberId(id, 0)), handler);
    expect(await states(id, 5)).toEqual(['FAILURE', 'CANCELLED', 'CANCELLED', 'CANCELLED', 'CANCELLED']);
    expect((await readTask(store, memberId(id, 4))).error?.message).toContain('bad did not succeed');
    expect(await readWorkflowRecord(store, id)).toMatchObject({
      state: 'FAILURE',
      failures: [{ name: 'bad', attempt: 1 }],
    });
    await work();
    expect(calls.at(-1)).toContain('tell([{"task_id"');
    expect(calls.at(-1)).toContain('bad is broken');
    expect(await leftovers()).toEqual([]);
  });

  it('stop: a running member is asked to stop, and the workflow ends when it has', async () => {
    broken.add('bad');
    const id = await submit({ kind: 'group', members: [task('bad'), task('running')] });
    const running = await claimOne(store, holder, memberId(id, 1));
    await runHeld(store, holder, await claimOne(store, holder, memberId(id, 0)), handler);
    expect(await state(id)).toBe('RUNNING');
    expect((await readTask(store, memberId(id, 1))).cancelRequested?.reason).toContain('bad did not succeed');
    const result = await settle(store, holder, running, { kind: 'cancelled', reason: 'stop' });
    if (result.kind !== 'settled' || result.drive === undefined) throw new Error('not settled');
    await advance(store, LEADER, result.drive);
    expect(await state(id)).toBe('FAILURE');
    expect(await leftovers()).toEqual([]);
  });

  it('wait-all: every member runs, then it fails; ignore: the callback runs with what there is', async () => {
    broken.add('bad');
    const header = [add(1), task('bad'), add(2)];
    const waits = await submit({ kind: 'chord', header, callback: task('cb1'), onFailure: 'wait-all' });
    const ignores = await submit({ kind: 'chord', header, callback: task('cb2'), onFailure: 'ignore' });
    await work();
    expect(await states(waits, 4)).toEqual(['SUCCESS', 'FAILURE', 'SUCCESS', 'CANCELLED']);
    expect(await state(waits)).toBe('FAILURE');
    expect(await states(ignores, 4)).toEqual(['SUCCESS', 'FAILURE', 'SUCCESS', 'SUCCESS']);
    expect(calls).toContain('cb2(1,2)');
    expect(await state(ignores)).toBe('SUCCESS');
    expect(await leftovers()).toEqual([]);
  });

  it('a chain that ignores failures goes on without results', async () => {
    broken.add('bad');
    const id = await submit({
      kind: 'chain',
      steps: [add(1), task('bad'), task('echo', [text('z')])],
      onFailure: 'ignore',
    });
    await work();
    expect(calls.at(-1)).toBe('echo(z)');
    expect(await state(id)).toBe('SUCCESS');
  });

  it("report E11: a member's own callbacks are kept; OnError gets the error text first", async () => {
    broken.add('bad');
    await submit({
      kind: 'chain',
      steps: [
        task('add', [int(4)], { onSuccess: [task('noted', [text('own')])] }),
        task('bad', [], { onError: [task('oops', [text('own')])] }),
      ],
    });
    await work();
    expect(calls).toContain('noted(own,4)');
    expect(calls).toContain('oops(bad is broken,own)');
  });

  it('retry of a failed workflow runs only what failed and what never ran; results of the rest are kept', async () => {
    broken.add('bad');
    const id = await submit({
      kind: 'chord',
      header: [add(1), task('bad', [int(7)]), add(2)],
      callback: task('multiply'),
      onFailure: 'wait-all',
    });
    await work();
    expect(await state(id)).toBe('FAILURE');
    broken.clear();
    calls = [];
    const { drive } = await retryWorkflow(store, call('mended'), id);
    await advance(store, LEADER, drive ?? id);
    await work();
    expect(calls).toEqual(['bad(7)', 'multiply(1,7,2)']);
    expect(await state(id)).toBe('SUCCESS');
    expect(await readTask(store, memberId(id, 1))).toMatchObject({ attempt: 2, state: 'SUCCESS' });
    expect(await leftovers()).toEqual([]);
  });

  it('retry from a chosen step runs it and everything after it again', async () => {
    const id = await submit({ kind: 'chain', steps: [add(1), add(2), add(3)] });
    await work();
    calls = [];
    const { drive } = await retryWorkflow(store, call('recount'), id, { from: 1 });
    await advance(store, LEADER, drive ?? id);
    await work();
    expect(calls).toEqual(['add(2,1)', 'add(3,3)']);
    expect(await state(id)).toBe('SUCCESS');
  });

  it('retry of one member of a stopped chain takes what was stopped with it', async () => {
    broken.add('bad');
    const id = await submit({ kind: 'chain', steps: [task('bad', [int(1)]), add(2), add(3)] });
    await work();
    expect(await states(id, 3)).toEqual(['FAILURE', 'CANCELLED', 'CANCELLED']);
    broken.clear();
    const { drive } = await retryTask(store, call('mended'), memberId(id, 0));
    await advance(store, LEADER, drive ?? id);
    await work();
    expect(await states(id, 3)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
    expect((await readTask(store, memberId(id, 2))).results).toEqual([int(6)]);
    expect(await state(id)).toBe('SUCCESS');
  });

  it('cancel of a workflow: from that revision on nothing starts, whatever a claimer had decided', async () => {
    const id = await submit({ kind: 'group', members: Array.from({ length: 20 }, () => task('slow')) });
    const ready = await claimable(store);
    const running = await claimOne(store, holder);
    const cancelled = await cancelWorkflow(store, call('wrong'), id);
    await expect(claimOne(store, holder, ready[5]?.record.id)).rejects.toThrow('blocked');
    await advance(store, LEADER, cancelled.drive ?? id);
    expect(await state(id)).toBe('CANCELLING');
    // Its handler finished all the same: that success counts, and nothing follows it.
    const result = await settle(store, holder, running, { kind: 'success', results: [] });
    if (result.kind !== 'settled' || result.drive === undefined) throw new Error('not settled');
    await advance(store, LEADER, result.drive);
    expect(await state(id)).toBe('CANCELLED');
    expect((await states(id, 20)).filter((one) => one === 'CANCELLED')).toHaveLength(19);
    expect(await leftovers()).toEqual([]);
  });

  it('a group of 1 000 is staged, sealed and unfolded; its callback gets a thousand results in order', async () => {
    const header = Array.from({ length: 1_000 }, (_, i) => add(i));
    const id = await submit({ kind: 'chord', header, callback: task('add') });
    expect(await claimable(store)).toHaveLength(1_000);
    await fastWork();
    expect(calls.at(-1)).toBe(`add(${Array.from({ length: 1_000 }, (_, i) => i).join(',')})`);
    expect(await state(id)).toBe('SUCCESS');
    expect(await leftovers()).toEqual([]);
  }, 120_000);

  it('I5: a staged workflow whose submitter died is invisible, and one that was sealed is unfolded by anybody', async () => {
    const header = Array.from({ length: 200 }, (_, i) => add(i));
    // Sealed, then the submitter died: nobody advanced it.
    const { id } = await submitWorkflow(store, CLIENT, { kind: 'group', members: header });
    expect(await claimable(store)).toHaveLength(0);
    expect(await dump(store, 'tasks')).toEqual(new Map());
    await advance(store, LEADER, id);
    expect(await claimable(store)).toHaveLength(200);
  });
});

/** `workAll` reads everything again for each task; this one takes what is ready in one go. */
async function fastWork(): Promise<void> {
  for (let ready = await claimable(store); ready.length > 0; ready = await claimable(store)) {
    for (const { record, revision } of ready) {
      const { claim } = await import('../../src/store/claim.js');
      const claimed = await claim(store, holder, {
        task: record,
        revision,
        settings: { queue: 0n, name: 0n, all: 0n },
        slots: [],
      });
      if (claimed.kind === 'claimed') await runHeld(store, holder, claimed.held, handler);
    }
  }
}
