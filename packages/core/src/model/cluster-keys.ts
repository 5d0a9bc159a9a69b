/** Keys of the whole etcd cluster, outside every namespace: who compacts its history, and how much of it each one needs. */
import { decodeName, encodeName } from './keys.js';

export const CLUSTER_ROOT = '/leasehold-cluster/';

export const clusterKeys = Object.freeze({
  /** The node that compacts, under its lease. */
  compactor: `${CLUSTER_ROOT}compactor`,
  /** All windows. */
  windows: `${CLUSTER_ROOT}windows/`,
  window: (namespace: string): string => `${CLUSTER_ROOT}windows/${encodeName(namespace)}`,
  parseWindow(key: string): string | undefined {
    const prefix = `${CLUSTER_ROOT}windows/`;
    return key.startsWith(prefix) ? decodeName(key.slice(prefix.length)) : undefined;
  },
});
