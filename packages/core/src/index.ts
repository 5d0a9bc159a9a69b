/** Leasehold: a distributed task scheduler on etcd. */
export * from './client/index.js';
export * from './model/index.js';
export { connectEtcd, KvError, MemoryStore, type EtcdOptions, type Kv } from './kv/index.js';
