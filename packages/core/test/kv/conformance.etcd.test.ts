import { startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { compactionSuite, conformanceSuite } from './conformance.js';
import { etcdTarget } from './target.js';

describe('etcd, the newest', () => {
  conformanceSuite(etcdTarget(inject('etcd')));
});

describe.skipIf(inject('etcd34') === undefined)('etcd 3.4', () => {
  conformanceSuite(etcdTarget(inject('etcd34') ?? ''));
});

/** Compaction is of the whole cluster, so these get an etcd of their own. */
describe.each([
  { name: 'etcd, the newest', prefer: undefined },
  { name: 'etcd 3.4', prefer: '3.4' },
])('$name, alone', ({ prefer }) => {
  let etcd: RunningEtcd;
  beforeAll(async () => {
    etcd = await startEtcd({ unsafeNoFsync: true, ...(prefer === undefined ? undefined : { prefer }) });
  });
  afterAll(() => etcd.stop());
  compactionSuite(() => etcdTarget(etcd.endpoints[0] ?? '')());
});
