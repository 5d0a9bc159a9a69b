import { randomBytes } from 'node:crypto';
import type { Kv } from '../kv/kv.js';
import { idGenerator } from '../model/ids.js';
import { Keys } from '../model/keys.js';
import { LIMITS } from '../model/signature.js';
import { Committer, type CommitterOptions } from './commit.js';
import type { Store, StoreLimits } from './store.js';

export interface StoreOptions {
  /** Default `default`. Several schedulers share one etcd under different namespaces. */
  readonly namespace?: string;
  readonly limits?: Partial<StoreLimits>;
  readonly commit?: CommitterOptions;
  readonly now?: () => number;
  readonly random?: () => number;
  readonly randomBytes?: (count: number) => Uint8Array;
}

/** Random bytes from a pool: one system call for hundreds of ids. Each byte is handed out once. */
function pooledBytes(): (count: number) => Uint8Array {
  let pool = randomBytes(8_192);
  let used = 0;
  return (count) => {
    if (used + count > pool.length) [pool, used] = [randomBytes(Math.max(8_192, count)), 0];
    used += count;
    return pool.subarray(used - count, used);
  };
}

/** The store of a namespace on a connection. Closing it is closing its committer; the connection is the caller's. */
export function createStore(kv: Kv, options: StoreOptions = {}): Store {
  const now = options.now ?? Date.now;
  const nextId = idGenerator(options.randomBytes ?? pooledBytes());
  return {
    kv,
    keys: new Keys(options.namespace ?? 'default'),
    committer: new Committer(kv, options.commit ?? {}),
    now,
    random: options.random ?? Math.random,
    newId: () => nextId(now()),
    limits: {
      payloadBytes: options.limits?.payloadBytes ?? LIMITS.payloadBytes,
      workflowTasks: options.limits?.workflowTasks ?? LIMITS.workflowTasks,
    },
  };
}
