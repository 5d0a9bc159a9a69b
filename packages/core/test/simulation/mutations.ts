/**
 * Guards broken on purpose, by changing what is sent and nothing in the product. Each has to be caught by the checker (or by
 * the store's own refusal); a guard whose loss nobody notices is either not needed or not tested.
 *
 * Many guards back each other up: then the mutation takes away all that stand for one promise, and says so.
 */
import type { Compare, Op, RangeRequest, Txn } from '../../src/kv/kv.js';
import { prefixEnd } from '../../src/kv/kv.js';
import { decodeTask } from '../../src/model/codec.js';
import { Keys, type KeyKind } from '../../src/model/keys.js';
import type { TaskRecord } from '../../src/model/task.js';
import type { Invariant } from '../../src/verify/index.js';
import { mergeConflicts } from './merging.js';
import type { Alter } from './network.js';
import { USUAL, type Profile } from './plan.js';
import { NAMESPACE } from './world.js';

export interface Mutation {
  readonly name: string;
  /** Any of these tells of it; `refused`: the store refuses the request as wrong. */
  readonly caughtAs: readonly (Invariant | 'refused')[];
  /** For one process. */
  readonly alter: () => Alter;
  readonly profile?: Partial<Profile>;
}

const keys = new Keys(NAMESPACE);

type Keyed = { readonly key: string };

const under =
  (...kinds: readonly KeyKind[]) =>
  ({ key }: Keyed): boolean =>
    kinds.some((kind) => key.startsWith(keys.kind(kind)) || key === `${keys.prefix}${kind}`);

const keyed = (op: Op): Keyed => (op.kind === 'txn' ? { key: '' } : op);
const puts = (sub: Txn, kind: KeyKind): boolean => sub.success.some((op) => op.kind === 'put' && under(kind)(op));
const deletes = (sub: Txn, kind: KeyKind): boolean => sub.success.some((op) => op.kind === 'delete' && under(kind)(op));

/** The task records that a sub-transaction writes. */
function written(sub: Txn): TaskRecord[] {
  return sub.success.flatMap((op) => (op.kind === 'put' && under('tasks')(op) ? [decodeTask(op.value)] : []));
}

const isClaim = (sub: Txn): boolean => puts(sub, 'locks');
/** By its worker, not by an operator or a lease's end. */
const isSettle = (sub: Txn): boolean => deletes(sub, 'locks') && written(sub)[0]?.by.startsWith('node:') === true;
const causes =
  (...wanted: readonly TaskRecord['cause'][]) =>
  (sub: Txn): boolean =>
    written(sub).some(({ cause }) => wanted.includes(cause));

/** Every transition of a request: those that it nests, or itself. */
function eachSub(txn: Txn, change: (sub: Txn) => Txn): Txn {
  if (!txn.success.some(({ kind }) => kind === 'txn')) return change(txn);
  return { ...txn, success: txn.success.map((op) => (op.kind === 'txn' ? { kind: 'txn', txn: change(op.txn) } : op)) };
}

function nested(txn: Txn): readonly Txn[] {
  return txn.success.flatMap((op) => (op.kind === 'txn' ? [op.txn] : []));
}

type Is = (sub: Txn) => boolean;
type Of<T> = (item: T, sub: Txn) => boolean;
const all = (): boolean => true;

/** Leaves compares out of certain transitions. */
const without = (is: Is, compare: Of<Compare>) => (): Alter => ({
  txn: (txn) =>
    eachSub(txn, (sub) => (is(sub) ? { ...sub, compare: sub.compare.filter((one) => !compare(one, sub)) } : sub)),
});

/** Leaves operations out of certain transitions. */
const unwritten = (is: Is, op: Of<Op>) => (): Alter => ({
  txn: (txn) =>
    eachSub(txn, (sub) =>
      is(sub) ? { ...sub, success: sub.success.map((one) => (op(one, sub) ? NOTHING : one)) } : sub,
    ),
});

/** Takes the place of what is left out: positions of results stay. */
const NOTHING: Op = { kind: 'range', key: `${keys.prefix}nothing`, countOnly: true };

/** The fence of requests that hold such a transition. */
const unfenced = (txn: Txn, is: Is): Txn => (nested(txn).some(is) ? { ...txn, compare: [] } : txn);

const WORKERS: readonly Mutation[] = [
  {
    name: 'a settle looks neither at its lock nor at its session',
    caughtAs: ['I2'],
    alter: () => ({
      txn: (txn) => unfenced(without(isSettle, under('locks'))().txn?.(txn) ?? txn, isSettle),
    }),
    profile: { events: [4, 8], eventWeights: { freeze: 1 } },
  },
  {
    name: 'a settle does not look at the record it was decided on',
    caughtAs: ['I2', 'I3', 'I7'],
    alter: without(isSettle, (compare, sub) => compare.key === keys.task(written(sub)[0]?.id ?? '')),
    profile: { acts: [10, 20], actWeights: { cancel: 1 }, partWeights: { task: 1 } },
  },
  { name: 'a claim does not look for a lock', caughtAs: ['I3'], alter: without(isClaim, under('locks')) },
  {
    name: 'a claim does not look at the record it was decided on',
    caughtAs: ['I2', 'I3', 'I7'],
    alter: without(isClaim, under('tasks')),
  },
  {
    name: 'a claim does not look at the settings',
    caughtAs: ['I9'],
    alter: without(isClaim, under('queues', 'names', 'all')),
    profile: { acts: [8, 12], actWeights: { pause: 1 } },
  },
  {
    name: 'a claim does not look at its workflow',
    caughtAs: ['I2'],
    alter: without(isClaim, under('workflows')),
    profile: { acts: [6, 12], actWeights: { 'cancel-workflow': 2, 'retry-workflow': 1 } },
  },
  {
    name: 'a claim does not look whether its slots are free',
    caughtAs: ['I1'],
    alter: without(isClaim, under('slots')),
    profile: { parts: [6, 8], partWeights: { limited: 1 } },
  },
  {
    name: 'a session does not look at the epoch',
    caughtAs: ['I2', 'I3'],
    alter: () => ({ txn: (txn) => ({ ...txn, compare: txn.compare.filter((one) => !under('epoch')(one)) }) }),
    profile: { events: [2, 6], eventWeights: { epoch: 1 } },
  },
  { name: 'a settle keeps its lock', caughtAs: ['I1'], alter: unwritten(isSettle, (op) => under('locks')(keyed(op))) },
  {
    name: 'a settle keeps its slots',
    caughtAs: ['I1'],
    alter: unwritten(isSettle, (op) => op.kind === 'delete' && under('slots')(op)),
    profile: { partWeights: { limited: 1 } },
  },
  {
    name: 'an end keeps its unique key',
    caughtAs: ['I1'],
    alter: unwritten(isSettle, (op) => op.kind === 'delete' && under('unique')(op)),
    profile: { partWeights: { unique: 1 } },
  },
  {
    name: 'an end forgets its large results',
    caughtAs: ['I4'],
    alter: unwritten(isSettle, (op) => under('results')(keyed(op))),
  },
];

const WORKFLOWS: readonly Mutation[] = [
  {
    name: 'a hand-off does not look at its workflow',
    caughtAs: ['I2'],
    alter: without(isSettle, under('workflows')),
    profile: { acts: [6, 12], actWeights: { 'cancel-workflow': 1 }, partWeights: { workflow: 1 } },
  },
  {
    name: 'a release does not look at the member',
    caughtAs: ['I2', 'I3', 'I6', 'I7'],
    alter: without(causes('released'), under('tasks')),
    profile: { partWeights: { workflow: 1 } },
  },
  {
    name: 'a join is completed without looking at its barrier',
    caughtAs: ['I6'],
    alter: () => ({
      txn: (txn) =>
        eachSub(txn, (sub) => ({
          ...sub,
          compare: sub.compare.filter((one) => one.rangeEnd === undefined || !under('barriers')(one)),
          success: sub.success.map((op) => (op.kind === 'range' && under('barriers')(op) ? NOTHING : op)),
        })),
    }),
    profile: { partWeights: { workflow: 1 } },
  },
  {
    name: 'a member takes the whole barrier with it',
    caughtAs: ['I6'],
    alter: () => ({
      txn: (txn) => eachSub(txn, (sub) => (isSettle(sub) ? { ...sub, success: sub.success.map(whole) } : sub)),
    }),
    profile: { partWeights: { workflow: 1 } },
  },
  {
    name: 'a member does not leave its barrier',
    caughtAs: ['I4'],
    alter: unwritten(isSettle, (op) => op.kind === 'delete' && under('barriers')(op)),
    profile: { partWeights: { workflow: 1 } },
  },
  {
    name: 'a failure is not told to its workflow',
    caughtAs: ['I4'],
    alter: unwritten(isSettle, (op) => under('chores')(keyed(op))),
    profile: { partWeights: { workflow: 1 } },
  },
  {
    name: 'an end forgets its callbacks',
    caughtAs: ['I4'],
    // The ids of callbacks begin with that of their task.
    alter: unwritten(isSettle, (op, sub) => /\.[se]\d/.test(keyed(op).key.split(written(sub)[0]?.id ?? '?')[1] ?? '')),
    profile: { partWeights: { callbacks: 1 } },
  },
  {
    name: 'unfolding does not look whether it is still due',
    caughtAs: ['I5', 'I6'],
    alter: without((sub) => puts(sub, 'joins') || puts(sub, 'barriers'), under('chores')),
    profile: { parts: [3, 4], partWeights: { large: 1 } },
  },
];

/** One slot's deletion becomes that of all. */
function whole(op: Op): Op {
  if (op.kind !== 'delete' || !under('barriers')(op)) return op;
  const barrier = op.key.slice(0, op.key.lastIndexOf('/') + 1);
  return { kind: 'delete', key: barrier, rangeEnd: prefixEnd(barrier) };
}

const LEADERS: readonly Mutation[] = [
  {
    name: 'a leader writes without its fence',
    caughtAs: ['I8'],
    alter: () => ({
      txn: (txn) => (txn.compare.some(under('leader')) && nested(txn).length > 0 ? { ...txn, compare: [] } : txn),
    }),
    profile: { events: [4, 8], eventWeights: { freeze: 1 } },
  },
  {
    name: 'a promotion does not look at the record',
    caughtAs: ['I1', 'I2', 'I7'],
    alter: without(causes('due'), under('tasks')),
    profile: { acts: [8, 14], actWeights: { cancel: 1, reschedule: 1 }, partWeights: { task: 1 } },
  },
  {
    name: 'a rescue looks neither at the record nor at the lock',
    caughtAs: ['I2', 'I3', 'I7'],
    alter: without(causes('lost', 'quarantined'), under('tasks', 'locks')),
    profile: { parts: [10, 14], partWeights: { task: 1 }, events: [8, 14], eventWeights: { crash: 1, freeze: 2 } },
  },
  {
    name: 'an instant fires without looking whether it has',
    caughtAs: ['I11'],
    alter: without((sub) => puts(sub, 'fires'), all),
    profile: { parts: [4, 8], partWeights: { schedule: 1 } },
  },
];

const CLIENTS: readonly Mutation[] = [
  {
    name: 'what is sent again is taken for new',
    caughtAs: ['I2', 'I3', 'I5', 'I7'],
    alter: () => {
      const sent = new WeakSet<readonly Compare[]>();
      const change = (sub: Txn): Txn => {
        const again = sent.has(sub.compare);
        sent.add(sub.compare);
        return again && causes('submitted')(sub) ? { ...sub, compare: [] } : sub;
      };
      return { txn: (txn) => eachSub(txn, change) };
    },
    profile: { parts: [8, 12] },
  },
  {
    name: 'a submission forgets one of its members',
    caughtAs: ['I5'],
    alter: unwritten(
      (sub) => puts(sub, 'workflows') && causes('submitted')(sub) && written(sub).length > 1,
      (op, sub) => keyed(op).key === keys.task(written(sub).at(-1)?.id ?? ''),
    ),
  },
  {
    name: 'a submission is acknowledged and not written',
    caughtAs: ['I5'],
    alter: unwritten((sub) => causes('submitted')(sub) && sub.compare.some(under('unique')), all),
    profile: { partWeights: { unique: 1 } },
  },
  {
    name: 'a retry takes a unique key that is held',
    caughtAs: ['I1', 'I7'],
    alter: () => ({
      ...without(causes('retried-by-operator'), under('unique'))(),
      range: (request: RangeRequest) =>
        under('unique')(request) ? { key: NOTHING.kind === 'range' ? NOTHING.key : '' } : request,
    }),
    profile: { parts: [6, 8], partWeights: { unique: 1 }, acts: [8, 14], actWeights: { retry: 1 } },
  },
  {
    name: 'a retry is not recorded',
    caughtAs: ['I7'],
    alter: unwritten(causes('retried-by-operator'), (op) => under('audit')(keyed(op))),
    profile: { acts: [6, 12], actWeights: { retry: 1, cancel: 1 } },
  },
  {
    name: 'the committer sends together what excludes each other',
    caughtAs: ['refused', 'I1', 'I2', 'I3', 'I6'],
    alter: () => ({ wrap: mergeConflicts }),
    profile: { parts: [10, 14], partWeights: { limited: 1 } },
  },
];

export const MUTATIONS: readonly Mutation[] = [...WORKERS, ...WORKFLOWS, ...LEADERS, ...CLIENTS];

export function profileOf({ profile }: Mutation): Profile {
  return { ...USUAL, ...profile, name: 'mutated' };
}
