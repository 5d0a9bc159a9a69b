/**
 * Rescue: tasks that are STARTED while nobody holds their lock. Their node's lease has ended, and with it the lock.
 *
 * Such a task is claimable as it is, so most are taken over by the next claimer; the rescuer settles those for which no
 * claimer comes (a paused queue, no worker), and those that must not simply run again (a poison task, one that was asked
 * to stop). Liveness is the lease, never a time limit.
 *
 * R1  Level-triggered: what is rescued is found by looking, and looking again finds what an earlier look missed.
 * R2  When a lease ends, its locks vanish in one revision; the revision before it still names them. If that history is
 *     gone, everything is looked at instead.
 */
import { KvError, prefixEnd, type KeyValue, type Revision } from '../kv/kv.js';
import { decodeLock } from '../model/codec.js';
import { lost } from '../model/transition.js';
import type { Leadership } from './leadership.js';
import { pages, readKeys } from './pages.js';
import type { Drive } from './settle.js';
import type { Store } from './store.js';
import { takeStep } from './unheld.js';

export interface Rescued {
  readonly outcome: 'pending' | 'quarantined' | 'cancelled' | 'left';
  readonly drive?: Drive;
}

/** Settles one attempt whose lock is gone; leaves anything else alone. @throws LeaseholdError `session-lost`. */
export async function rescueTask(store: Store, leader: Leadership, id: string): Promise<Rescued> {
  const taking = await takeStep(store, leader, id, ({ task, lock }, taken) =>
    task?.state === 'STARTED' && lock === undefined ? { kind: 'edge', next: lost(task, taken) } : { kind: 'leave' },
  );
  if (taking.step !== 'edge') return { outcome: 'left' };
  const drive = taking.drive === undefined ? {} : { drive: taking.drive };
  switch (taking.after?.state) {
    case 'PENDING':
      return { outcome: 'pending', ...drive };
    case 'CANCELLED':
      return { outcome: 'cancelled', ...drive };
    default:
      return { outcome: 'quarantined', ...drive };
  }
}

const LOCK_PAGE = 2_000;

/**
 * Ids of the tasks whose locks a node lost when its lease ended at `revision` (R2); undefined when that history has been
 * compacted.
 */
export async function locksLostAt(
  store: Store,
  node: string,
  revision: Revision,
): Promise<readonly string[] | undefined> {
  const prefix = store.keys.kind('locks');
  const ids: string[] = [];
  try {
    for (let key = prefix; ;) {
      const page = await store.kv.range({
        key,
        rangeEnd: prefixEnd(prefix),
        limit: LOCK_PAGE,
        revision: revision - 1n,
      });
      ids.push(...page.kvs.flatMap((kv) => lockedBy(store, kv, node)));
      const last = page.kvs.at(-1);
      if (!page.more || last === undefined) return ids;
      key = `${last.key}\0`;
    }
  } catch (error) {
    if (error instanceof KvError && error.code === 'compacted') return undefined;
    throw error;
  }
}

function lockedBy(store: Store, kv: KeyValue, node: string): string[] {
  const parsed = store.keys.parse(kv.key);
  return parsed?.kind === 'locks' && decodeLock(kv.value).node === node ? [parsed.id] : [];
}

const READY_PAGE = 4_000;

/**
 * Every STARTED task without a lock, by pages. A PENDING record and its ready entry were written at one revision; a claim
 * rewrites only the record. So a record that is newer than its entry, and not locked, is the only kind worth reading.
 */
export async function* findUnlocked(store: Store): AsyncGenerator<readonly string[]> {
  const { keys } = store;
  const ready = keys.kind('ready');
  const span = { key: ready, rangeEnd: prefixEnd(ready) };
  for await (const page of pages(store, span, { limit: READY_PAGE, keysOnly: true })) {
    const entries = page.flatMap((kv) => {
      const parsed = keys.parse(kv.key);
      return parsed?.kind === 'ready' ? [{ id: parsed.id, revision: kv.modRevision }] : [];
    });
    const both = entries.flatMap(({ id }) => [keys.task(id), keys.lock(id)]);
    const seen = await readKeys(store, both, { keysOnly: true });
    const unlocked = entries.filter(({ revision }, i) => {
      const record = seen[2 * i];
      return record !== undefined && record.modRevision > revision && seen[2 * i + 1] === undefined;
    });
    if (unlocked.length > 0) yield unlocked.map(({ id }) => id);
  }
}
