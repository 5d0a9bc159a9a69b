/** Fills a store with ended tasks: copies, under other ids, of everything that one really ended task left there. */
import { prefixEnd, type Kv, type Op } from '@leasehold/core/kv';

const TASKS = '/leasehold/bench/tasks/';
const ENDED = '/leasehold/bench/ended/';
const IN_A_REQUEST = 60;
const REQUESTS_AT_ONCE = 4;
/** Ids end in so many characters that may be any hexadecimal digits. */
const VARIED = 12;

export async function retainEnded(kv: Kv, count: number): Promise<void> {
  if (count === 0) return;
  const [index] = (await kv.range({ key: ENDED, rangeEnd: prefixEnd(ENDED), limit: 1 })).kvs;
  const id = index?.key.split('/').at(-1);
  const [record] = id === undefined ? [] : (await kv.range({ key: TASKS + id })).kvs;
  if (id === undefined || index === undefined || record === undefined) throw new Error('no task has ended yet');
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const first = next;
      next = Math.min(count, first + IN_A_REQUEST);
      const success = Array.from({ length: next - first }, (_, i): Op[] => {
        const other = id.slice(0, -VARIED) + (first + i).toString(16).padStart(VARIED, '0');
        return [record, index].map((kept) => ({
          kind: 'put',
          key: kept.key.replace(id, other),
          value: kept.value.replaceAll(id, other),
        }));
      });
      await kv.txn({ compare: [], success: success.flat() });
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, lane));
}
