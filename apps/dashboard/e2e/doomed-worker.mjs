/** A worker whose one task always fails, so that a test has as many failed tasks as it wants. */
import { defineTask, handle, silentLogger, startNode } from '@leasehold/core';

const { env } = process;

const doomed = handle(defineTask('doomed', { args: { n: 'int64' }, queue: 'doomed' }), ({ n }) => {
  throw new Error(`row ${n} cannot be written: the disk is full`);
});

const node = await startNode({
  etcd: { endpoints: env.LEASEHOLD_ETCD_ENDPOINTS.split(',') },
  namespace: env.LEASEHOLD_NAMESPACE,
  handlers: [doomed],
  concurrency: 256,
  leaseTtlMs: 3_000,
  logger: silentLogger,
});
process.on('SIGTERM', () => void node.stop({ deadlineMs: 0 }).then(() => process.exit(0)));
process.send?.({ ready: true });
