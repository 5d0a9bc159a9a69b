import { decodeTask } from '@leasehold/core/model';
import type { Store } from '@leasehold/core/store';

/** The queue and name of a task, which never change; undefined when there is none. */
export async function placeOfTask(
  store: Store,
  id: string,
): Promise<{ readonly queue: string; readonly name: string } | undefined> {
  const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
  if (kv === undefined) return undefined;
  const { queue, name } = decodeTask(kv.value);
  return { queue, name };
}
