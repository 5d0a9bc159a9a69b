#!/usr/bin/env node
/** The orders worker as a program: settings from the environment, a graceful stop on SIGTERM. */
import { startNode } from '@leasehold/core';
import path from 'node:path';
import { ordersHandlers } from './serve.js';
import { openShop } from './shop.js';
import { etcdFromEnvironment } from '@leasehold/core/kv';

const { env } = process;
const dataDir = path.resolve(env['LEASEHOLD_DATA_DIR'] ?? '.leasehold/data/work');
const shop = openShop(path.join(dataDir, 'orders/shop.db'));
const node = await startNode({
  etcd: { endpoints: (env['LEASEHOLD_ETCD_ENDPOINTS'] ?? '127.0.0.1:2379').split(','), ...etcdFromEnvironment(env) },
  namespace: env['LEASEHOLD_NAMESPACE'] ?? 'default',
  handlers: ordersHandlers(shop),
  concurrency: 8,
  stopDeadlineMs: 15_000,
});

let stopping = false;
async function stop(deadlineMs?: number): Promise<void> {
  // Asked again: whoever asks will not wait any longer.
  if (stopping) deadlineMs = 0;
  stopping = true;
  await node.stop(deadlineMs === undefined ? {} : { deadlineMs });
  shop.close();
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
// Started by a supervisor that is gone now, and perhaps etcd with it: there is nobody to be graceful for.
process.on('disconnect', () => {
  setTimeout(() => process.exit(1), 3_000).unref();
  void stop(0);
});
process.send?.({ ready: true });
