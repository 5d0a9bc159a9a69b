/** Reading much without asking for much at once. */
import type { KeyValue } from '../kv/kv.js';
import { found, get, type Store } from './store.js';

export interface Span {
  readonly key: string;
  readonly rangeEnd: string;
}

export interface PageOptions {
  /** Keys a page. etcd counts all that is left of the span for every page, so small pages of a large span are dear. */
  readonly limit?: number;
  readonly keysOnly?: boolean;
}

/** A span in key order, by pages. Each page is as of its own moment: what is decided on it has to be guarded. */
export async function* pages(store: Store, span: Span, options: PageOptions = {}): AsyncGenerator<readonly KeyValue[]> {
  const { limit = 1_000, keysOnly = false } = options;
  for (let { key } = span; ;) {
    const page = await store.kv.range({ key, rangeEnd: span.rangeEnd, limit, keysOnly });
    if (page.kvs.length > 0) yield page.kvs;
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return;
    key = `${last.key}\0`;
  }
}

/** Gets in one transaction; below etcd's limit of 128. */
const GETS = 100;

/** Single keys, in the order asked for; undefined where there is none. */
export async function readKeys(
  store: Store,
  keys: readonly string[],
  options: { readonly keysOnly?: boolean } = {},
): Promise<readonly (KeyValue | undefined)[]> {
  const batches: Promise<readonly (KeyValue | undefined)[]>[] = [];
  for (let at = 0; at < keys.length; at += GETS) batches.push(readBatch(store, keys.slice(at, at + GETS), options));
  return (await Promise.all(batches)).flat();
}

async function readBatch(
  store: Store,
  keys: readonly string[],
  options: { readonly keysOnly?: boolean },
): Promise<readonly (KeyValue | undefined)[]> {
  const success = keys.map((key) => (options.keysOnly === true ? { ...get(key), keysOnly: true } : get(key)));
  const answer = await store.kv.txn({ compare: [], success });
  return keys.map((_, i) => found(answer.results, i));
}
