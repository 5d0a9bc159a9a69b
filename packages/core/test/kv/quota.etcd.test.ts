import { startEtcd } from '@leasehold/etcd-local';
import { expect, it } from 'vitest';
import { connectEtcd } from '../../src/kv/index.js';
import { until } from '../store/stores.js';

it('the status of a real etcd tells the quota it was started with, soon after it was first asked', async () => {
  const quotaBackendBytes = 3 * 1024 ** 3;
  const etcd = await startEtcd({ unsafeNoFsync: true, quotaBackendBytes });
  const kv = connectEtcd({ endpoints: [...etcd.endpoints] });
  await until('it is known', async () => (await kv.status()).quotaBytes !== undefined);
  expect((await kv.status()).quotaBytes).toBe(quotaBackendBytes);
  await kv.close();
  await etcd.stop();
});
