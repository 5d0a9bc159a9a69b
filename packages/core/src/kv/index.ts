export * from './kv.js';
export { connectEtcd, createEtcdUser, type EtcdGrant, type EtcdOptions } from './etcd-kv.js';
export { etcdFromEnvironment, secretFromEnvironment } from './etcd-environment.js';
export { ETCD_ROLES, grantsOf, type EtcdRole } from './etcd-roles.js';
export { MemoryStore, type MemoryStoreOptions } from './memory-kv.js';
export { MemoryConnection, type ConnectOptions, type Fate, type MemoryCall, type Outage } from './memory-connection.js';
export type { Schedule } from './memory-watch.js';
export { opBytes, requireFit, REQUEST_OVERHEAD_BYTES, txnBytes } from './request-size.js';
export { checkTxn } from './txn-check.js';
