/**
 * The driver of one workflow: everything that is not a success handed straight to the next step. Whoever sees that there
 * is something to do calls `advance`; after a crash the leader does. It reads what is there and takes the steps that are
 * due, each an idempotent guarded transaction, until nothing is left to do.
 *
 * D1  A chore is deleted only together with, or after, everything it stands for.
 * D2  A join completes once per generation: its marker is compared and deleted by the completion (I6).
 * D3  Nothing is released under a version of the workflow record that is not the current one.
 * D4  A WAITING member is ended only when what it waits for is over without success (W1), so the workflow ends last.
 * D5  Passes that find the same to do again and again get nowhere (a chore that this version does not know, say). After
 *     `STALLED_PASSES` of them it fails, naming what is left; it does not go round for ever.
 */
import { prefixEnd } from '../kv/kv.js';
import { decodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import type { Actor, Chore } from '../model/records.js';
import { isWorkflowEnded } from '../model/state.js';
import { NO_FENCE, type Fence } from './commit.js';
import { chunks, type DriveContext, type SeenChore } from './drive-context.js';
import { applyChore } from './drive-chores.js';
import { completeJoin } from './drive-joins.js';
import { readGraph, readWorkflow } from './graph.js';
import type { Drive } from './settle.js';
import { takenBy, type Store } from './store.js';

interface Running {
  done: Promise<void>;
  again: Set<number> | undefined;
}

const running = new WeakMap<Store, Map<string, Running>>();

/** D5. Others at work on the same workflow may make some passes vain, but not so many in a row. */
const STALLED_PASSES = 100;

/**
 * Brings a workflow as far as it can go now. @throws LeaseholdError `conflict` when it gets nowhere (D5), `session-lost`.
 *
 * Calls for one workflow are joined within a process. A plain id looks at
 * every open join (after a crash); a `Drive` only at those that may have become complete.
 */
export function advance(store: Store, actor: Actor, drive: Drive | string, fence: Fence = NO_FENCE): Promise<void> {
  const id = typeof drive === 'string' ? drive : drive.workflow;
  const joins = typeof drive === 'string' ? [ALL_JOINS] : drive.joins;
  let mine = running.get(store);
  if (mine === undefined) running.set(store, (mine = new Map()));
  const current = mine.get(id);
  if (current !== undefined) {
    current.again = new Set([...(current.again ?? []), ...joins]);
    return current.done;
  }
  const entry: Running = { done: Promise.resolve(), again: new Set(joins) };
  mine.set(id, entry);
  const own = mine;
  entry.done = (async () => {
    try {
      while (entry.again !== undefined) {
        const look = entry.again;
        entry.again = undefined;
        await drivePasses(store, actor, id, look, fence);
      }
    } finally {
      own.delete(id);
    }
  })();
  return entry.done;
}

const ALL_JOINS = -1;

async function drivePasses(store: Store, actor: Actor, id: string, look: Set<number>, fence: Fence): Promise<void> {
  let joins = look;
  let [before, vain] = ['', 0];
  for (;;) {
    // Chores first: a chore must not be carried out under a record from before it (a reopening raises the generation).
    const chores = await readChores(store, id);
    if (joins.has(ALL_JOINS)) joins = await openJoins(store, id);
    const workflow = await readWorkflow(store, id);
    if (workflow === undefined) return;
    const graph = await readGraph(store, id);
    if (graph === undefined) return;
    if (chores.length === 0 && joins.size === 0) return;
    const left = leftToDo(chores, joins, workflow.revision);
    vain = left === before ? vain + 1 : 0;
    before = left;
    if (vain >= STALLED_PASSES) throw stalled(id, chores, joins);
    const taken = takenBy(store, actor);
    const context: DriveContext = { store, fence, taken, graph, workflow, joins: new Set(joins), stop: new Map() };
    for (const batch of chunks(chores, 64)) await Promise.all(batch.map((chore) => applyChore(context, chore)));
    joins = await completeJoins(context);
  }
}

function leftToDo(chores: readonly SeenChore[], joins: ReadonlySet<number>, revision: bigint): string {
  return [revision, ...chores.map((chore) => `${chore.key}@${chore.revision}`), ...joins].join(' ');
}

function stalled(id: string, chores: readonly SeenChore[], joins: ReadonlySet<number>): LeaseholdError {
  const what = [...chores.map(({ key }) => key), ...[...joins].map((join) => `join ${join}`)].slice(0, 5).join(', ');
  const message = `workflow ${id} gets nowhere: ${what} stays undone; if a newer version wrote it, run that version's leader`;
  return new LeaseholdError('conflict', message, { id, chores: chores.length, joins: joins.size });
}

/** Completes what is complete, from the inside out; returns the joins to be looked at in the next pass. */
async function completeJoins(context: DriveContext): Promise<Set<number>> {
  if (isWorkflowEnded(context.workflow.record.state)) return new Set();
  const next = new Set<number>();
  // Larger numbers are further inside: a join that leaves its parent makes the parent worth a look in the same pass.
  while (context.joins.size > 0) {
    const join = Math.max(...context.joins);
    context.joins.delete(join);
    const outcome = await completeJoin(context, join);
    if (outcome === 'again') next.add(join);
  }
  return next;
}

async function openJoins(store: Store, id: string): Promise<Set<number>> {
  const prefix = store.keys.joins(id);
  const open = new Set<number>();
  for (let key = prefix; ;) {
    const page = await store.kv.range({ key, rangeEnd: prefixEnd(prefix), limit: 1_000, keysOnly: true });
    for (const kv of page.kvs) {
      const parsed = store.keys.parse(kv.key);
      if (parsed?.kind === 'joins') open.add(parsed.join);
    }
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return open;
    key = `${last.key}\0`;
  }
}

async function readChores(store: Store, id: string): Promise<readonly SeenChore[]> {
  const prefix = store.keys.chores(id);
  const page = await store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix), limit: 512 });
  return page.kvs.map((kv) => ({
    key: kv.key,
    revision: kv.modRevision,
    chore: decodeRecord<Chore>(kv.value, 'chore'),
  }));
}
