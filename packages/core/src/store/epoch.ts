/**
 * The epoch: which history of etcd this is. A restore from a snapshot takes etcd back; revisions that were used after the
 * snapshot are used again, for other things. Every session's fence compares the epoch, and every fencing token begins with
 * it: raised once before anything else is written, it shuts out whatever was begun before the restore.
 */
import { prefixEnd, type Kv } from '../kv/kv.js';
import { decodeName, ROOT } from '../model/keys.js';
import { act, type Operated } from './operate.js';
import { put, type OperatorCall, type Store } from './store.js';

/** 0n where no restore was ever told of. */
export async function readEpoch(store: Store): Promise<bigint> {
  const [kv] = (await store.kv.range({ key: store.keys.epoch() })).kvs;
  return BigInt(kv?.value ?? '0');
}

/**
 * To be called after a restore, before workers and submitters are let in again. Sessions opened before it end at their
 * next word with etcd, and nothing of them is written any more; what they ran is run again when their leases have ended.
 *
 * The new epoch is the time in ms, because a mere count might be one that was used in the history that is lost.
 * @throws LeaseholdError `conflict`, `unavailable`.
 */
export async function raiseEpoch(store: Store, call: OperatorCall): Promise<Operated & { readonly epoch: bigint }> {
  let epoch = 0n;
  const operated = await act(
    store,
    call,
    'epoch.raise',
    { key: store.keys.epoch(), id: 'epoch', what: 'the' },
    (kv) => {
      const before = BigInt(kv?.value ?? '0');
      const now = BigInt(store.now());
      epoch = now > before ? now : before + 1n;
      return { compare: [], ops: [put(store.keys.epoch(), String(epoch))], detail: { epoch: String(epoch) } };
    },
  );
  return { ...operated, epoch: operated.done ? epoch : await readEpoch(store) };
}

/** The namespaces that hold anything, in order. One short read each. */
export async function listNamespaces(kv: Kv): Promise<readonly string[]> {
  const found: string[] = [];
  for (let key = ROOT; ;) {
    const [first] = (await kv.range({ key, rangeEnd: prefixEnd(ROOT), limit: 1, keysOnly: true })).kvs;
    if (first === undefined) return found;
    const [name = ''] = first.key.slice(ROOT.length).split('/');
    found.push(decodeName(name));
    key = prefixEnd(`${ROOT}${name}/`);
  }
}
