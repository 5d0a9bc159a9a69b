/** Workflows that have something to do: chores, or open joins that await nobody. */
import { prefixEnd, type KeyValue, type Op } from '../kv/kv.js';
import { pages } from './pages.js';
import type { Store } from './store.js';

export async function hasChores(store: Store, workflowId: string): Promise<boolean> {
  const prefix = store.keys.chores(workflowId);
  const answer = await store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix), limit: 1, keysOnly: true });
  return answer.kvs.length > 0;
}

/** Ids by pages; one may come more than once. */
export async function* findUndriven(store: Store): AsyncGenerator<readonly string[]> {
  const chores = store.keys.kind('chores');
  for await (const page of pages(store, { key: chores, rangeEnd: prefixEnd(chores) }, { keysOnly: true })) {
    yield distinct(page.flatMap(({ key }) => workflowOf(store, key)));
  }
  const joins = store.keys.kind('joins');
  for await (const page of pages(store, { key: joins, rangeEnd: prefixEnd(joins) }, { keysOnly: true })) {
    const complete = await completeJoins(store, page);
    if (complete.length > 0) yield distinct(complete);
  }
}

const COUNTS = 100;

/** Workflows of the joins that await nobody. */
async function completeJoins(store: Store, page: readonly KeyValue[]): Promise<readonly string[]> {
  const joins = page.flatMap(({ key }) => {
    const parsed = store.keys.parse(key);
    return parsed?.kind === 'joins' ? [parsed] : [];
  });
  const complete: string[] = [];
  for (let at = 0; at < joins.length; at += COUNTS) {
    const batch = joins.slice(at, at + COUNTS);
    const success = batch.map(({ id, join }): Op => {
      const key = store.keys.barrierOf(id, join);
      return { kind: 'range', key, rangeEnd: prefixEnd(key), countOnly: true };
    });
    const { results } = await store.kv.txn({ compare: [], success });
    batch.forEach(({ id }, i) => {
      const result = results[i];
      if (result?.kind === 'range' && result.count === 0) complete.push(id);
    });
  }
  return complete;
}

function workflowOf(store: Store, key: string): string[] {
  const parsed = store.keys.parse(key);
  return parsed?.kind === 'chores' ? [parsed.id] : [];
}

function distinct(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)];
}
