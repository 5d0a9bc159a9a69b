/**
 * Promotion: tasks whose time has come move from the due index to the ready index, in batches.
 *
 * P1  Level-triggered: a pass reads what is due now and moves it. Nothing is remembered between passes, so a new leader
 *     continues where the last one stopped, and tasks due far in the future never enter anybody's memory.
 * P2  One task is one guarded sub-transaction on the record it was decided on; a lost race (a cancel, an operator) leaves
 *     it to whoever won.
 * P3  A due entry that its record does not imply (I1) is removed, under the same guard; it must never be looked at again
 *     and again, nor hide what is behind it.
 */
import { decodeTask } from '../model/codec.js';
import { placesOf } from '../model/places.js';
import type { TaskRecord } from '../model/task.js';
import { due } from '../model/transition.js';
import { edgeOps } from './edge.js';
import { LEADER_CALL, type Leadership } from './leadership.js';
import { pages, readKeys } from './pages.js';
import { del, modIs, takenBy, type Store } from './store.js';
import { answered } from './submit.js';

export interface PromoteOptions {
  /** Told how late each promoted task was, ms, when its promotion was acknowledged. */
  readonly onPromoted?: (latenessMs: number) => void;
  /** Ends the pass early; what is left is found by the next one. */
  readonly signal?: AbortSignal;
}

export interface Promoted {
  readonly promoted: number;
  /** Due entries without a record that implies them, removed. */
  readonly strays: number;
  /** Ids whose records this version cannot read; they stay. */
  readonly unreadable: readonly string[];
}

const PAGE = 512;

/**
 * Moves everything that is due to the ready index.
 * @throws LeaseholdError `session-lost` when this leader's term is over.
 */
export async function promoteDue(store: Store, leader: Leadership, options: PromoteOptions = {}): Promise<Promoted> {
  const span = { key: store.keys.kind('due'), rangeEnd: store.keys.dueUntil(store.now()) };
  const unreadable: string[] = [];
  let [promoted, strays] = [0, 0];
  let committing: Promise<readonly Moved[]> = Promise.resolve([]);
  const count = (moved: readonly Moved[]): void => {
    for (const outcome of moved) {
      if (outcome === 'promoted') promoted++;
      else if (outcome === 'stray') strays++;
    }
  };
  for await (const page of pages(store, span, { limit: PAGE, keysOnly: true })) {
    const entries = await readEntries(store, page, unreadable);
    // The next page is read while this one is written.
    count(await committing);
    committing = Promise.all(entries.map((entry) => move(store, leader, entry, options)));
    committing.catch(() => undefined);
    if (options.signal?.aborted === true) break;
  }
  count(await committing);
  return { promoted, strays, unreadable };
}

interface DueEntry {
  readonly key: string;
  readonly id: string;
  /** 0n when there is no record. */
  readonly revision: bigint;
  readonly task?: TaskRecord;
}

async function readEntries(
  store: Store,
  page: readonly { readonly key: string }[],
  unreadable: string[],
): Promise<readonly DueEntry[]> {
  const parsed = page.flatMap(({ key }) => {
    const entry = store.keys.parse(key);
    return entry?.kind === 'due' ? [{ key, id: entry.id }] : [];
  });
  const records = await readKeys(
    store,
    parsed.map(({ id }) => store.keys.task(id)),
  );
  return parsed.flatMap(({ key, id }, i): DueEntry[] => {
    const kv = records[i];
    if (kv === undefined) return [{ key, id, revision: 0n }];
    try {
      return [{ key, id, revision: kv.modRevision, task: decodeTask(kv.value) }];
    } catch {
      unreadable.push(id);
      return [];
    }
  });
}

type Moved = 'promoted' | 'stray' | 'changed';

async function move(store: Store, leader: Leadership, entry: DueEntry, options: PromoteOptions): Promise<Moved> {
  const { task } = entry;
  const guard = modIs(store.keys.task(entry.id), entry.revision);
  if (task === undefined || !placesOf(store.keys, task, () => '').has(entry.key)) {
    await answered(store, leader.fence, LEADER_CALL, { compare: [guard], success: [del(entry.key)] });
    return 'stray';
  }
  const next = due(task, takenBy(store, leader.actor));
  const result = await answered(store, leader.fence, LEADER_CALL, {
    compare: [guard],
    success: edgeOps(store.keys, task, next),
  });
  // After a lost reply a fallen guard may be our own success (C4): either way it has moved.
  if (!result.succeeded && !result.resent) return 'changed';
  options.onPromoted?.(Math.max(0, store.now() - (task.dueMs ?? 0)));
  return 'promoted';
}

/**
 * The first time after `afterMs` at which something is due, if it is within `horizonMs`. Bounded, because the price of a
 * read is all that lies in its range, whatever its limit.
 */
export async function nextDueMs(store: Store, afterMs: number, horizonMs: number): Promise<number | undefined> {
  return firstTime(store, store.keys.dueUntil(afterMs), store.keys.dueUntil(afterMs + horizonMs));
}

/** The time of the first entry of a time index within a span. */
export async function firstTime(store: Store, key: string, rangeEnd: string): Promise<number | undefined> {
  const answer = await store.kv.range({ key, rangeEnd, limit: 1, keysOnly: true });
  const entry = answer.kvs[0] === undefined ? undefined : store.keys.parse(answer.kvs[0].key);
  return entry !== undefined && 'timeMs' in entry ? entry.timeMs : undefined;
}
