/** Leasehold: a distributed task scheduler on etcd. */
export * from './client/index.js';
export * from './model/index.js';
export * from './node/index.js';
export * from './worker/index.js';
export { connectEtcd, KvError, type EtcdOptions, type Kv } from './kv/index.js';
export { createStore, loopRenewer, Membership, threadRenewer, type Store, type StoreOptions } from './store/index.js';
export { jsonLogger, Loop, silentLogger, systemClock, type Clock, type Logger } from './runtime/index.js';
export { Leader, type LeaderOptions } from './leader/index.js';
