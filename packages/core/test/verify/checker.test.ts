import { describe, expect, it } from 'vitest';
import { encodeLock, encodeRecord } from '../../src/model/codec.js';
import { pause } from '../../src/store/operate.js';
import { submitWorkflow } from '../../src/store/submit.js';
import { cancelTask } from '../../src/store/operate.js';
import type { Workflow } from '../../src/model/signature.js';
import { checkHistory, type Invariant } from '../../src/verify/index.js';
import { call, CLIENT, claimOne, int, judge, runHeld, tampering, task, type Tampering } from './histories.js';

interface Case {
  readonly what: string;
  readonly invariant: Invariant;
  readonly tamper: (t: Tampering) => Promise<void>;
}

const submit = async ({ store }: Tampering, workflow: Workflow, id: string): Promise<void> => {
  await submitWorkflow(store, CLIENT, workflow, { id });
};
const chain: Workflow = { kind: 'chain', steps: [task('one'), task('two')] };
const put = (key: string, value: string) => ({ kind: 'put', key, value }) as const;
const del = (key: string) => ({ kind: 'delete', key }) as const;

const CASES: readonly Case[] = [
  {
    what: 'a ready entry that is gone',
    invariant: 'I1',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      const prefix = t.store.keys.kind('ready');
      await t.raw([{ kind: 'delete', key: prefix, rangeEnd: `${prefix}~` }]);
    },
  },
  {
    what: 'an entry without a record',
    invariant: 'I1',
    tamper: (t) => t.raw([put(t.store.keys.due(5, 'nobody'), '')]),
  },
  {
    what: 'a lock that vanished while its node lives',
    invariant: 'I1',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      await claimOne(t.store, t.holder);
      await t.raw([del(t.store.keys.lock('a'))]);
    },
  },
  {
    what: 'a slot that nobody runs in',
    invariant: 'I1',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      await t.raw([put(t.store.keys.slot('key/x', 0), 'a')]);
    },
  },
  {
    what: 'a waiting member whose predecessor is gone from the plan',
    invariant: 'I1',
    tamper: async (t) => {
      await submit(t, chain, 'wf');
      await runHeld(t.store, t.holder, await claimOne(t.store, t.holder), () => []);
      await t.edit('wf.00001', { state: 'WAITING', cause: 'retried-by-operator' });
    },
  },
  {
    what: 'an edge that does not exist',
    invariant: 'I2',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      await t.edit('a', { state: 'SUCCESS', cause: 'succeeded', endedMs: 1 });
    },
  },
  {
    what: 'a settle by one who does not hold the lock',
    invariant: 'I2',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      await claimOne(t.store, t.holder);
      await t.edit('a', { state: 'SUCCESS', cause: 'succeeded', by: 'node:n2', endedMs: 1 });
    },
  },
  {
    what: 'a lock written over another',
    invariant: 'I3',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      await claimOne(t.store, t.holder);
      await t.raw([put(t.store.keys.lock('a'), encodeLock({ node: 'n2', attempt: 2, sinceMs: 0 }))]);
    },
  },
  {
    what: 'an end that nobody is told of',
    invariant: 'I4',
    tamper: async (t) => {
      await submit(t, chain, 'wf');
      await claimOne(t.store, t.holder);
      await t.edit('wf.00000', { state: 'FAILURE', cause: 'failed-final', by: 'node:n1', endedMs: 1 });
    },
  },
  {
    what: 'a live task that was deleted',
    invariant: 'I5',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      await t.raw([del(t.store.keys.task('a'))]);
    },
  },
  {
    what: 'a member released before its turn',
    invariant: 'I6',
    tamper: async (t) => {
      await submit(t, { kind: 'chord', header: [task('one')], callback: task('two') }, 'wf');
      await t.edit('wf.00001', { state: 'PENDING', cause: 'released', order: 0 });
    },
  },
  {
    what: 'a join that is over while members are awaited',
    invariant: 'I6',
    tamper: async (t) => {
      await submit(t, chain, 'wf');
      await t.raw([del(t.store.keys.join('wf', 0))]);
    },
  },
  {
    what: 'an ended task that came back by itself',
    invariant: 'I7',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      await cancelTask(t.store, call(), 'a');
      await t.edit('a', { state: 'PENDING', cause: 'retried-by-operator', order: 0 });
    },
  },
  {
    what: 'a write by a leader who is none',
    invariant: 'I8',
    tamper: async (t) => {
      await submit(t, task('one', [], { etaMs: t.clock.nowMs + 1_000 }), 'a');
      await t.edit('a', { state: 'PENDING', cause: 'due', by: 'leader:n1', order: 0 });
    },
  },
  {
    what: 'a claim after a pause',
    invariant: 'I9',
    tamper: async (t) => {
      await submit(t, task('one'), 'a');
      await pause(t.store, call(), 'all');
      await t.raw([
        put(t.store.keys.lock('a'), encodeLock({ node: 'n1', attempt: 1, sinceMs: 0 })),
        { kind: 'delete', key: t.store.keys.node('nobody') },
      ]);
      await t.edit('a', { state: 'STARTED', cause: 'claimed', by: 'node:n1', node: 'n1', attempt: 1 });
    },
  },
  {
    what: 'an instant that fired twice',
    invariant: 'I11',
    tamper: async (t) => {
      const fire = put(t.store.keys.fire('s', 7), encodeRecord({ atMs: 7, passedOver: 'no reason' }));
      await t.raw([fire, put(t.store.keys.schedule('s'), encodeRecord({ id: 's', lastMs: 7 }))]);
      await t.raw([del(t.store.keys.fire('s', 7))]);
      await t.raw([fire, put(t.store.keys.schedule('s'), encodeRecord({ id: 's', lastMs: 7 }))]);
    },
  },
];

describe('the checker', () => {
  it.each(CASES)('$invariant: sees $what', async ({ invariant, tamper }) => {
    const t = await tampering();
    expect(await judge(t.store)).toEqual([]);
    await tamper(t);
    const found = await judge(t.store);
    expect(found.map((violation) => violation.invariant)).toContain(invariant);
    const [first] = found;
    expect(first?.keys.length).toBeGreaterThan(0);
    expect(first?.revision).toBeGreaterThan(1n);
  });

  it('says of an honest history nothing', async () => {
    const t = await tampering();
    await submit(t, chain, 'wf');
    await submit(t, task('three', [int(1)]), 'a');
    for (let i = 0; i < 3; i++) await runHeld(t.store, t.holder, await claimOne(t.store, t.holder), () => [int(i)]);
    expect(await judge(t.store)).toEqual([]);
  });

  it('I5: misses what was acknowledged and is not there, and what is left when all should be over', () => {
    const revision = { revision: 2n, events: [] };
    const found = checkHistory([revision], { namespace: 'n', acknowledged: [{ kind: 'task', id: 'a' }], quiet: true });
    expect(found).toEqual([
      {
        invariant: 'I5',
        revision: 2n,
        keys: ['/leasehold/n/tasks/a'],
        message: 'task a was acknowledged and is not there',
      },
    ]);
  });
});
