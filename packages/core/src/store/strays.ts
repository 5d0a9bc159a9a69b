/**
 * The stray audit: what etcd says this session holds, against what the process knows. A claim whose answer never came
 * leaves a lock that nobody runs; a force-release leaves a handler that holds nothing.
 */
import { decodeTask } from '../model/codec.js';
import { readHeld, type Held } from './claim.js';
import type { Session } from './session.js';
import { found, get, type Store } from './store.js';

export interface Audit {
  /** Ids of tasks locked under the session's lease. */
  readonly locked: ReadonlySet<string>;
  /** As of about when. */
  readonly revision: bigint;
}

export async function auditLocks(store: Store, session: Session): Promise<Audit> {
  const { revision } = await store.kv.range({ key: store.keys.epoch(), keysOnly: true });
  const { keys } = await store.kv.leaseStatus(session.lease);
  const locked = new Set<string>();
  for (const key of keys) {
    const parsed = store.keys.parse(key);
    if (parsed?.kind === 'locks') locked.add(parsed.id);
  }
  return { locked, revision };
}

/** A lock of this session as something that can be settled; undefined when it is not there any more. */
export async function readStray(store: Store, session: Session, id: string): Promise<Held | undefined> {
  const { results } = await store.kv.txn({
    compare: [],
    success: [get(store.keys.task(id)), get(store.keys.lock(id))],
  });
  const task = found(results, 0);
  const lock = found(results, 1);
  if (task === undefined || lock === undefined || lock.lease !== session.lease) return undefined;
  return readHeld(store, { task: decodeTask(task.value), revision: task.modRevision }, lock.createRevision);
}
