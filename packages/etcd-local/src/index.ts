export { EtcdLocalError, type Attempt, type EtcdErrorCode } from './errors.js';
export { findEtcd, type EtcdBinary, type FindOptions, type FindResult } from './find.js';
export { ensureEtcd, type EnsureOptions } from './fetch.js';
export { startEtcd, type RunningEtcd, type StartOptions } from './start.js';
export type { EtcdMember } from './member.js';
export type { MemberPorts } from './ports.js';
export { startProxy, type BlackholeDirection, type Proxy } from './proxy.js';
