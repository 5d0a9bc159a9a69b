/** Reads of the ready index and what a claimer needs beside it, each bounded. */
import { prefixEnd, type KeyValue, type Revision } from '../kv/kv.js';
import { isLeaseholdError } from '../model/errors.js';
import type { Seen } from './claim.js';
import { seen } from './claim.js';
import { createdAt, del, found, get, type Store } from './store.js';

export interface ReadyPage {
  readonly kvs: readonly KeyValue[];
  readonly revision: Revision;
  /** There is nothing behind the page within the range that was asked for. */
  readonly done: boolean;
}

/** Entries of one shard from a key on; `until` bounds what etcd has to look at. */
export async function readReady(
  store: Store,
  range: { readonly from: string; readonly until: string },
  limit: number,
): Promise<ReadyPage> {
  const { kvs, revision, more } = await store.kv.range({ key: range.from, rangeEnd: range.until, limit });
  return { kvs, revision, done: !more };
}

export function shardRange(
  store: Store,
  queue: string,
  shard: number,
): { readonly from: string; readonly until: string } {
  const from = store.keys.readyShard(queue, shard);
  return { from, until: prefixEnd(from) };
}

/** Records of tasks, in one request for each 64. Absent for one that is gone, or that nobody here can read. */
export async function readTasks(store: Store, ids: readonly string[]): Promise<readonly (Seen | undefined)[]> {
  const all: (Seen | undefined)[] = [];
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    const part = ids.slice(at, at + READ_AT_ONCE);
    const { results } = await store.kv.txn({ compare: [], success: part.map((id) => get(store.keys.task(id))) });
    for (let i = 0; i < part.length; i++) all.push(readable(found(results, i)));
  }
  return all;
}

/** One record that cannot be read must not keep the others that were asked for with it. */
function readable(kv: KeyValue | undefined): Seen | undefined {
  try {
    return seen(kv)[0];
  } catch (error) {
    if (isLeaseholdError(error, 'unreadable')) return undefined;
    throw error;
  }
}

/** Which of these tasks are locked. */
export async function whichLocked(store: Store, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const locked = new Set<string>();
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    const part = ids.slice(at, at + READ_AT_ONCE);
    const ops = part.map((id) => ({ kind: 'range' as const, key: store.keys.lock(id), countOnly: true }));
    const { results } = await store.kv.txn({ compare: [], success: ops });
    part.forEach((id, i) => {
      const result = results[i];
      if (result?.kind === 'range' && result.count > 0) locked.add(id);
    });
  }
  return locked;
}

/** Every lock there is, by task id, as of one revision. */
export async function readLocks(
  store: Store,
): Promise<{ readonly ids: ReadonlySet<string>; readonly revision: Revision }> {
  const prefix = store.keys.kind('locks');
  const rangeEnd = prefixEnd(prefix);
  const ids = new Set<string>();
  let revision: Revision | undefined;
  for (let key: string | undefined = prefix; key !== undefined;) {
    const pinned = revision === undefined ? {} : { revision };
    const page = await store.kv.range({ key, rangeEnd, keysOnly: true, limit: LOCKS_PAGE, ...pinned });
    revision ??= page.revision;
    for (const kv of page.kvs) ids.add(kv.key.slice(prefix.length));
    const last = page.kvs[page.kvs.length - 1];
    key = page.more && last !== undefined ? `${last.key}\0` : undefined;
  }
  return { ids, revision: revision ?? 0n };
}

/** Takes an order away that was carried out; one that was given anew meanwhile stays. */
export async function finishOrder(
  store: Store,
  fence: Parameters<Store['committer']['submit']>[0],
  order: KeyValue,
): Promise<void> {
  await store.committer.submit(fence, {
    compare: [createdAt(order.key, order.createRevision)],
    success: [del(order.key)],
  });
}

const READ_AT_ONCE = 64;
const LOCKS_PAGE = 5_000;
