/** Unique keys: replacing a holder, holding for a window, and that two never hold one at once. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { isLeaseholdError } from '../../src/model/errors.js';
import type { UniqueRule } from '../../src/model/signature.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { claim, type Held, type Holder } from '../../src/store/claim.js';
import { expireDue } from '../../src/store/expire.js';
import type { Leadership } from '../../src/store/leadership.js';
import { cancelTask, retryTask } from '../../src/store/operate.js';
import { deletePast } from '../../src/store/retention.js';
import { settle } from '../../src/store/settle.js';
import type { Store } from '../../src/store/store.js';
import { submitTask, type Submitted } from '../../src/store/submit.js';
import { afterReads, elect } from '../leader/office.js';
import { judge } from '../verify/histories.js';
import {
  call,
  claimable,
  claimOne,
  CLIENT,
  dump,
  FREE,
  memoryWorld,
  openHolder,
  readTask,
  sig,
  task,
} from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let leader: Leadership;
let holder: Holder;
let start: number;

async function begin(): Promise<void> {
  ({ store, clock } = memoryWorld());
  leader = await elect(store);
  holder = await openHolder(store, 'worker', 3_600);
  start = clock.nowMs;
}
beforeEach(begin);

function submit(id: string, rule: Partial<UniqueRule> = {}, etaMs?: number): Promise<Submitted> {
  const unique: UniqueRule = { key: 'k', onConflict: 'reject', ...rule };
  const signature = sig('work', [], { id, unique, ...(etaMs === undefined ? {} : { etaMs }) });
  return submitTask(store, CLIENT, normalizeSignature(signature, {}, clock.nowMs));
}
const done = { kind: 'success', results: [] } as const;
const held = async (): Promise<string | undefined> => (await dump(store, 'unique')).get('k');

describe('onConflict: replace', () => {
  it.each([
    ['ready', undefined],
    ['scheduled', 1_700_000_900_000],
  ])('a holder that is %s is cancelled in the transaction that submits the newcomer', async (_, etaMs) => {
    await submit('old', {}, etaMs);
    const { created, revision } = await submit('new', { onConflict: 'replace' });
    expect(created).toBe(true);
    expect(await readTask(store, 'old')).toMatchObject({
      state: 'CANCELLED',
      cause: 'cancelled',
      error: { message: 'replaced by task new' },
    });
    for (const id of ['old', 'new']) {
      const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
      expect(kv?.modRevision).toBe(revision);
    }
    expect(await held()).toBe('new');
    expect(await judge(store)).toEqual([]);
  });

  it('one that waits for a retry is replaced too', async () => {
    await submit('old');
    const error = { type: 'Error', message: 'no', attempt: 1, atMs: start };
    const outcome = { kind: 'failure', error, retryInMs: 60_000 } as const;
    await settle(store, holder, await claimOne(store, holder, 'old'), outcome);
    expect((await readTask(store, 'old')).state).not.toBe('STARTED');
    await submit('new', { onConflict: 'replace' });
    expect(await held()).toBe('new');
    expect(await judge(store)).toEqual([]);
  });

  it('a running holder is left alone, and the newcomer is refused, naming it', async () => {
    await submit('old');
    const running = await claimOne(store, holder, 'old');
    await expect(submit('new', { onConflict: 'replace' })).rejects.toMatchObject({
      code: 'unique-conflict',
      fields: { holder: 'old' },
    });
    expect((await readTask(store, 'old')).cancelRequested).toBeUndefined();
    expect((await dump(store, 'tasks')).has('new')).toBe(false);
    await settle(store, holder, running, done);
    expect((await submit('new', { onConflict: 'replace' })).created).toBe(true);
  });

  it('sent twice, it is the same submission and replaces nothing more', async () => {
    await submit('old');
    const first = await submit('new', { onConflict: 'replace' });
    expect(await submit('new', { onConflict: 'replace' })).toMatchObject({ created: false, revision: first.revision });
    expect(await held()).toBe('new');
  });
});

it('a callback holds no key: the ending that submits it could not be refused', async () => {
  const signature = sig('work', [], { onSuccess: [task('after', [], { unique: { key: 'k', onConflict: 'reject' } })] });
  expect(() => normalizeSignature(signature, {}, start)).toThrow(/onSuccess\[0\].*submitted on its own/);
  expect(await held()).toBeUndefined();
});

describe('windowMs', () => {
  it('the key outlives a task that ended early, and is freed when the window is over', async () => {
    await submit('a', { windowMs: 10_000 });
    clock.nowMs = start + 1_000;
    await settle(store, holder, await claimOne(store, holder, 'a'), done);
    expect(await held()).toBe('a');
    await expect(submit('b')).rejects.toMatchObject({ code: 'unique-conflict' });
    await expect(submit('b', { onConflict: 'replace' })).rejects.toThrow(/has ended and keeps it until/);
    expect(await submit('b', { onConflict: 'existing' })).toMatchObject({ id: 'a', created: false });
    clock.nowMs = start + 9_999;
    expect(await expireDue(store, leader)).toMatchObject({ freed: 0 });
    clock.nowMs = start + 10_000;
    expect(await expireDue(store, leader)).toMatchObject({ freed: 1, strays: 0 });
    expect(await held()).toBeUndefined();
    expect((await dump(store, 'deadlines')).size).toBe(0);
    expect((await submit('b')).created).toBe(true);
    expect(await judge(store)).toEqual([]);
  });

  it('a task that runs longer than its window frees the key with its end', async () => {
    await submit('a', { windowMs: 10_000 });
    const running = await claimOne(store, holder, 'a');
    clock.nowMs = start + 20_000;
    expect(await expireDue(store, leader)).toMatchObject({ freed: 0 });
    expect(await held()).toBe('a');
    await settle(store, holder, running, done);
    expect(await held()).toBeUndefined();
  });

  it('a cancelled task did no work: its key is free at once', async () => {
    await submit('a', { windowMs: 10_000 });
    await cancelTask(store, call(), 'a');
    expect(await held()).toBeUndefined();
    expect((await submit('b')).created).toBe(true);
  });

  it('I7: a retry within the window keeps the key, one after it takes it again, or conflicts', async () => {
    await submit('a', { windowMs: 10_000 });
    await settle(store, holder, await claimOne(store, holder, 'a'), done);
    await retryTask(store, call(), 'a');
    expect(await held()).toBe('a');
    expect((await dump(store, 'deadlines')).size).toBe(0);
    await settle(store, holder, await claimOne(store, holder, 'a'), done);
    clock.nowMs = start + 10_000;
    await expireDue(store, leader);
    await retryTask(store, call(), 'a');
    expect(await held()).toBe('a');
    await settle(store, holder, await claimOne(store, holder, 'a'), done);
    await submit('b');
    await expect(retryTask(store, call(), 'a')).rejects.toMatchObject({ fields: { holder: 'b' } });
    expect(await judge(store)).toEqual([]);
  });

  it('X4: a freed key that another holds by now is not touched by a late expirer', async () => {
    await submit('a', { windowMs: 10_000 });
    await settle(store, holder, await claimOne(store, holder, 'a'), done);
    clock.nowMs = start + 10_000;
    // Between the read and the write of one expirer, another frees the key and the next task takes it.
    let meanwhile = async (): Promise<void> => {
      meanwhile = () => Promise.resolve();
      await expireDue(store, leader);
      await submit('b');
    };
    await expireDue({ ...store, kv: afterReads(store.kv, () => meanwhile()) }, leader);
    expect(await held()).toBe('b');
  });

  it('retention leaves a record whose window is still open', async () => {
    await submit('a', { windowMs: 3_600_000 });
    await settle(store, holder, await claimOne(store, holder, 'a'), done);
    clock.nowMs = start + 3_500_000;
    const cutoffs = { SUCCESS: clock.nowMs, FAILURE: clock.nowMs, CANCELLED: clock.nowMs };
    expect(await deletePast(store, leader, cutoffs)).toMatchObject({ deletedTasks: 0 });
    clock.nowMs = start + 3_600_000;
    expect(await deletePast(store, leader, cutoffs)).toMatchObject({ deletedTasks: 0 });
    await expireDue(store, leader);
    expect(await deletePast(store, leader, cutoffs)).toMatchObject({ deletedTasks: 1 });
    expect(await held()).toBeUndefined();
  });
});

type Move =
  | { readonly kind: 'submit'; readonly rule: Partial<UniqueRule> }
  | { readonly kind: 'claim' | 'settle' | 'cancel' | 'retry' | 'expire' };

const move: fc.Arbitrary<Move> = fc.oneof(
  fc
    .record({
      onConflict: fc.constantFrom('reject' as const, 'existing' as const, 'replace' as const),
      windowMs: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    })
    .map(({ onConflict, windowMs }): Move => ({
      kind: 'submit',
      rule: { onConflict, ...(windowMs === undefined ? {} : { windowMs }) },
    })),
  fc
    .constantFrom('claim' as const, 'settle' as const, 'cancel' as const, 'retry' as const, 'expire' as const)
    .map((kind): Move => ({ kind })),
);

it('property: in any interleaving at most one living task holds a key, and it is the one the key names', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(move, { minLength: 1, maxLength: 4 }), { maxLength: 12 }), async (rounds) => {
      await begin();
      const mine: Held[] = [];
      for (const [n, round] of rounds.entries()) {
        await Promise.all(round.map((one, i) => make(one, `t${n}.${i}`, mine).catch(unlessRefused)));
        clock.nowMs += 7;
      }
      expect(await judge(store)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

async function make(one: Move, id: string, mine: Held[]): Promise<unknown> {
  const ids = [...(await dump(store, 'tasks')).keys()];
  switch (one.kind) {
    case 'submit':
      return submit(id, one.rule);
    case 'claim': {
      const [next] = await claimable(store);
      if (next === undefined) return undefined;
      const candidate = { task: next.record, revision: next.revision, settings: FREE, slots: [] };
      const result = await claim(store, holder, candidate);
      return result.kind === 'claimed' ? mine.push(result.held) : undefined;
    }
    case 'settle': {
      const running = mine.shift();
      return running === undefined ? undefined : settle(store, holder, running, done);
    }
    case 'cancel':
      return ids.length === 0 ? undefined : cancelTask(store, call(), ids.at(-1) ?? '');
    case 'retry':
      return ids.length === 0 ? undefined : retryTask(store, call(), ids[0] ?? '');
    case 'expire':
      return expireDue(store, leader);
  }
}

function unlessRefused(error: unknown): void {
  if (!isLeaseholdError(error)) throw error;
}
