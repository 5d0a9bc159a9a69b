/**
 * Deleting one ended task by hand: what retention would do later, done now, within retention's own rules. It is no edge:
 * there is no record any more; the audit record says what was there.
 */
import { prefixEnd, type Compare, type Op } from '../kv/kv.js';
import { decodeTask } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { placesOf } from '../model/places.js';
import { mayDelete } from '../model/retention.js';
import type { TaskRecord } from '../model/task.js';
import { act, type Operated } from './operate.js';
import { absent, del, modIs, type OperatorCall, type Store } from './store.js';

/**
 * @throws LeaseholdError `not-found`; `wrong-state` (not ended, ended less than ten minutes ago, a member of a workflow,
 * pinned); `conflict`.
 */
export function deleteTask(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  const { keys } = store;
  return act(store, call, 'task.delete', { key: keys.task(id), id, what: 'task' }, async (kv) => {
    if (kv === undefined) throw new LeaseholdError('not-found', `there is no task ${id}`, { id });
    const task = decodeTask(kv.value);
    const why = mayDelete(task, store.now());
    if (why !== undefined)
      throw new LeaseholdError('wrong-state', why.message, { id, state: task.state, ...why.fields });
    const [pin] = (await store.kv.range({ key: keys.pin(id) })).kvs;
    if (pin !== undefined) {
      throw new LeaseholdError('wrong-state', `task ${id} is pinned as evidence; unpin it first`, {
        id,
        state: task.state,
      });
    }
    const places = await ownPlaces(store, task);
    return {
      compare: [absent(keys.pin(id)), ...places.compare],
      ops: [del(kv.key), del(keys.args(id)), del(keys.progress(id)), ...places.ops, ...spans(store, id)],
      detail: { name: task.name, from: task.state, attempt: task.attempt },
    };
  });
}

function spans(store: Store, id: string): Op[] {
  const prefixes = [store.keys.results(id), store.keys.logs(id)];
  return prefixes.map((key): Op => ({ kind: 'delete', key, rangeEnd: prefixEnd(key) }));
}

/** Its entries in the indexes. The unique key may be another's by now: it is left then, and its entry is the expirer's. */
async function ownPlaces(store: Store, task: TaskRecord): Promise<{ compare: Compare[]; ops: Op[] }> {
  const places = [...placesOf(store.keys, task, () => '').keys()];
  if (task.unique === undefined) return { compare: [], ops: places.map(del) };
  const key = store.keys.unique(task.unique.key);
  if (!places.includes(key)) return { compare: [], ops: places.map(del) };
  const [holder] = (await store.kv.range({ key })).kvs;
  const compare = [modIs(key, holder?.modRevision ?? 0n)];
  return { compare, ops: places.filter((place) => place !== key || holder?.value === task.id).map(del) };
}
