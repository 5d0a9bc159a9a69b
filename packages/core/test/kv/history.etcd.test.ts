import { startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectEtcd, MemoryStore, type Kv } from '../../src/kv/index.js';
import { histories, runHistory } from './history.js';
import { freshKeys } from './target.js';

const FULL = process.env['LEASEHOLD_FULL'] === '1';

/** The histories compact, so each etcd is this file's own. */
describe.each([
  { name: 'etcd, the newest', prefer: undefined },
  { name: 'etcd 3.4', prefer: '3.4' },
])('random histories on $name', ({ prefer }) => {
  let etcd: RunningEtcd;
  let real: Kv;
  beforeAll(async () => {
    etcd = await startEtcd({ unsafeNoFsync: true, ...(prefer === undefined ? undefined : { prefer }) });
    real = connectEtcd({ endpoints: etcd.endpoints });
  });
  afterAll(async () => {
    await real.close();
    await etcd.stop();
  });

  test(
    'get the same answers from the twin',
    async () => {
      await fc.assert(
        fc.asyncProperty(histories, async (steps) => {
          const { prefix } = freshKeys();
          const told = await runHistory(real, prefix, steps);
          expect(await runHistory(new MemoryStore().connect(), prefix, steps)).toEqual(told);
        }),
        { numRuns: FULL ? 1500 : 100 },
      );
    },
    FULL ? 900_000 : 60_000,
  );
});
