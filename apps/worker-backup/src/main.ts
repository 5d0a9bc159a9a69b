#!/usr/bin/env node
/** The backup worker as a program: settings from the environment, a graceful stop on SIGTERM. */
import { startNode } from '@leasehold/core';
import path from 'node:path';
import { makeSamples } from './samples.js';
import { backupHandlers } from './serve.js';
import { etcdFromEnvironment } from '@leasehold/core/kv';

const { env } = process;
const dataDir = path.resolve(env['LEASEHOLD_DATA_DIR'] ?? '.leasehold/data/work');
makeSamples(path.join(dataDir, 'backup'));
const node = await startNode({
  etcd: { endpoints: (env['LEASEHOLD_ETCD_ENDPOINTS'] ?? '127.0.0.1:2379').split(','), ...etcdFromEnvironment(env) },
  namespace: env['LEASEHOLD_NAMESPACE'] ?? 'default',
  handlers: backupHandlers({ folder: dataDir }),
  concurrency: 1,
  stopDeadlineMs: 15_000,
});

let stopping = false;
async function stop(deadlineMs?: number): Promise<void> {
  // Asked again: whoever asks will not wait any longer.
  if (stopping) deadlineMs = 0;
  stopping = true;
  await node.stop(deadlineMs === undefined ? {} : { deadlineMs });
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
// Started by a supervisor that is gone now, and perhaps etcd with it: there is nobody to be graceful for.
process.on('disconnect', () => {
  setTimeout(() => process.exit(1), 3_000).unref();
  void stop(0);
});
process.send?.({ ready: true });
