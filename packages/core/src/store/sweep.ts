/** Deleting many keys in small requests: one huge delete stalls the whole store (430 ms for 80 000 keys, measured). */
import type { Compare, KeyValue } from '../kv/kv.js';
import { LEADER_CALL, type Leadership } from './leadership.js';
import { pages, type Span } from './pages.js';
import { del, modIs, type Store } from './store.js';
import { answered } from './submit.js';

/** Keys of one sub-transaction: each is compared and deleted. */
const CHUNK = 50;

type Doomed = Pick<KeyValue, 'key' | 'modRevision'>;

/**
 * Deletes keys that are still as they were seen, as long as `guards` hold; a chunk of which one has changed is left for the
 * next time. Gives how many were deleted.
 */
export async function deleteSeen(
  store: Store,
  leader: Leadership,
  kvs: readonly Doomed[],
  guards: readonly Compare[] = [],
): Promise<number> {
  const chunks: Doomed[][] = [];
  for (let at = 0; at < kvs.length; at += CHUNK) chunks.push(kvs.slice(at, at + CHUNK));
  const deleted = await Promise.all(
    chunks.map(async (chunk) => {
      const result = await answered(store, leader.fence, LEADER_CALL, {
        compare: [...guards, ...chunk.map(({ key, modRevision }) => modIs(key, modRevision))],
        success: chunk.map(({ key }) => del(key)),
      });
      return result.succeeded || result.resent ? chunk.length : 0;
    }),
  );
  return deleted.reduce((sum, n) => sum + n, 0);
}

/** Deletes a whole span, page by page. */
export async function deleteSpan(
  store: Store,
  leader: Leadership,
  span: Span,
  guards: readonly Compare[] = [],
): Promise<number> {
  let total = 0;
  for await (const page of pages(store, span, { limit: 500, keysOnly: true })) {
    total += await deleteSeen(store, leader, page, guards);
  }
  return total;
}
