/** What waits: by pages, so that a long queue costs no memory. */
import { prefixEnd } from '../kv/kv.js';
import { SHARDS } from '../model/order.js';
import type { TaskRecord } from '../model/task.js';
import { seen } from '../store/claim.js';
import { pages } from '../store/pages.js';
import { found, get, type Store } from '../store/store.js';

const PAGE = 100;

interface Entry {
  /** Order (or time) and id: what its index sorts by. */
  readonly place: string;
  readonly id: string;
}

/** PENDING tasks of a queue, the next one first: the shards of the queue, merged by their order. */
export async function* pendingTasks(store: Store, queue: string): AsyncGenerator<TaskRecord> {
  const shards = Array.from({ length: SHARDS }, (_, shard) => entries(store, store.keys.readyShard(queue, shard)));
  for await (const task of records(store, merged(shards))) if (task.state === 'PENDING') yield task;
}

/** SCHEDULED and RETRY tasks, the next one first. */
export function scheduledTasks(store: Store): AsyncGenerator<TaskRecord> {
  return records(store, entries(store, store.keys.kind('due')));
}

async function* entries(store: Store, prefix: string): AsyncGenerator<Entry> {
  for await (const page of pages(
    store,
    { key: prefix, rangeEnd: prefixEnd(prefix) },
    { limit: PAGE, keysOnly: true },
  )) {
    for (const { key } of page) yield { place: key.slice(prefix.length), id: key.slice(key.lastIndexOf('/') + 1) };
  }
}

async function* merged(sources: readonly AsyncGenerator<Entry>[]): AsyncGenerator<Entry> {
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    let first = -1;
    heads.forEach((head, i) => {
      const best = heads[first];
      if (head.done !== true && (best === undefined || best.done === true || head.value.place < best.value.place))
        first = i;
    });
    const [head, source] = [heads[first], sources[first]];
    if (head === undefined || source === undefined || head.done === true) return;
    yield head.value;
    heads[first] = await source.next();
  }
}

async function* records(store: Store, source: AsyncGenerator<Entry>): AsyncGenerator<TaskRecord> {
  let batch: string[] = [];
  const read = async (): Promise<readonly TaskRecord[]> => {
    const ops = batch.map((id) => get(store.keys.task(id)));
    batch = [];
    if (ops.length === 0) return [];
    const { results } = await store.kv.txn({ compare: [], success: ops });
    return ops.flatMap((_, i) => seen(found(results, i)).map(({ task }) => task));
  };
  for await (const { id } of source) {
    if (batch.push(id) >= PAGE) yield* await read();
  }
  yield* await read();
}
