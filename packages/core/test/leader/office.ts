/** A leader for tests of the leader's store functions: elected under a holder's lease, as a node would be. */
import type { CallOptions, Kv, Txn } from '../../src/kv/index.js';
import { campaign, type Leadership } from '../../src/store/leadership.js';
import type { Holder } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { openHolder } from '../store/plain-worker.js';

export async function elect(store: Store, holder?: Holder): Promise<Leadership> {
  const outcome = await campaign(store, holder ?? (await openHolder(store, `leader-${store.newId()}`, 3_600)));
  if (outcome.kind !== 'elected') throw new Error(`not elected: ${outcome.kind}`);
  return outcome.leadership;
}

/** The same handle, but after every plain read in a transaction `meanwhile` runs before the reader has its answer. */
export function afterReads(kv: Kv, meanwhile: () => Promise<unknown>): Kv {
  return new Proxy(kv, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'txn') return member.bind(target) as unknown;
      return async (txn: Txn, options?: CallOptions) => {
        const answer = await target.txn(txn, options);
        if (txn.compare.length === 0 && txn.success.every(({ kind }) => kind === 'range')) await meanwhile();
        return answer;
      };
    },
  });
}
