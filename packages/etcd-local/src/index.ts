export { EtcdLocalError, type Attempt, type EtcdErrorCode } from './errors.js';
export { findEtcd, type EtcdBinary, type FindOptions, type FindResult } from './find.js';
export { ensureEtcd, type EnsureOptions } from './fetch.js';
