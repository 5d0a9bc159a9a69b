/**
 * Unique keys at submission: what the submitting transaction has to find so that nobody else holds the key.
 *
 * N1  `unique/<key>` is put by the transaction that makes its task, under a guard that it is absent, or that it is still
 *     its old holder's and goes over in this very transaction. So there are never two living holders.
 * N2  `replace` ends only a holder that nobody runs (SCHEDULED, PENDING, RETRY), as CANCELLED. A running one is neither
 *     stopped nor doubled: the newcomer is refused. See docs/decisions/0005-replacing-a-unique-holder.md.
 * N3  A holder that has ended and keeps its key for a window cannot be replaced: its work was done.
 */
import type { Compare, KeyValue, Op } from '../kv/kv.js';
import { LeaseholdError } from '../model/errors.js';
import { uniqueUntilMs } from '../model/places.js';
import { isEnded } from '../model/state.js';
import type { TaskRecord } from '../model/task.js';
import { cancelled, type Taken } from '../model/transition.js';
import { seen } from './claim.js';
import { edgeOps } from './edge.js';
import { absent, found, get, modIs, type Store } from './store.js';

/** How a new task comes by its key: guards, what is written besides, and what to read when it does not work out. */
export interface Way {
  readonly kind: 'way';
  readonly compare: readonly Compare[];
  readonly ops: readonly Op[];
  readonly reads: readonly Op[];
}

/** Nobody holds it. */
export function freeWay(store: Store, task: TaskRecord): Way {
  if (task.unique === undefined) return { kind: 'way', compare: [], ops: [], reads: [] };
  const key = store.keys.unique(task.unique.key);
  return { kind: 'way', compare: [absent(key)], ops: [], reads: [get(key)] };
}

/**
 * Somebody held it when the submission was tried.
 * @throws LeaseholdError `unique-conflict` naming the holder.
 */
export async function resolveUnique(
  store: Store,
  task: TaskRecord,
  holder: KeyValue | undefined,
  taken: Taken,
): Promise<Way | { readonly kind: 'existing'; readonly id: string; readonly revision: bigint }> {
  if (holder === undefined) return freeWay(store, task);
  switch (task.unique?.onConflict) {
    case 'existing':
      return { kind: 'existing', id: holder.value, revision: holder.modRevision };
    case 'replace':
      return replaceWay(store, task, holder, taken);
    default:
      throw conflict(store, task, holder.value, 'wait for it, cancel it, or use another key');
  }
}

async function replaceWay(store: Store, task: TaskRecord, holder: KeyValue, taken: Taken): Promise<Way> {
  const { keys } = store;
  const lockKey = keys.lock(holder.value);
  const answer = await store.kv.txn({
    compare: [],
    success: [get(holder.key), get(keys.task(holder.value)), get(lockKey)],
  });
  const now = found(answer.results, 0);
  // It went to another while this was read.
  if (now === undefined || now.modRevision !== holder.modRevision) return freeWay(store, task);
  const [current] = seen(found(answer.results, 1));
  const refusal = refusalOf(current?.task, found(answer.results, 2) !== undefined);
  if (current === undefined || refusal !== undefined) throw conflict(store, task, holder.value, refusal ?? '');
  const ended = cancelled(current.task, taken, `replaced by task ${task.id}`);
  return {
    kind: 'way',
    compare: [modIs(holder.key, holder.modRevision), modIs(keys.task(holder.value), current.revision), absent(lockKey)],
    // The key is not freed and taken, which one request cannot do, but handed over.
    ops: edgeOps(keys, current.task, ended).filter((op) => op.kind !== 'delete' || op.key !== holder.key),
    reads: [get(holder.key)],
  };
}

/** Why a holder is not replaced; undefined: it is. */
function refusalOf(holder: TaskRecord | undefined, locked: boolean): string | undefined {
  if (holder === undefined) return 'whose record is gone; the key has to be freed by hand';
  if (isEnded(holder.state)) {
    const untilMs = uniqueUntilMs(holder);
    return `which has ended and keeps it${untilMs === undefined ? '' : ` until ${new Date(untilMs).toISOString()}`}`;
  }
  if (locked || holder.state === 'STARTED') return 'which is running: it is not replaced; cancel it, or wait for it';
  return undefined;
}

function conflict(store: Store, task: TaskRecord, holder: string, what: string): LeaseholdError {
  const key = task.unique?.key ?? '';
  return new LeaseholdError('unique-conflict', `unique key "${key}" is held by task ${holder}; ${what}`, {
    key,
    holder,
    namespace: store.keys.namespace,
  });
}
