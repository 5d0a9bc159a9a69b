#!/usr/bin/env node
/** The media worker as a program: settings from the environment, a graceful stop on SIGTERM. */
import { startNode } from '@leasehold/core';
import path from 'node:path';
import { folderBucket, s3Bucket } from './bucket.js';
import { makePictures } from './pictures.js';
import { mediaHandlers } from './serve.js';
import { etcdFromEnvironment } from '@leasehold/core/kv';

const { env } = process;
const dataDir = path.resolve(env['LEASEHOLD_DATA_DIR'] ?? '.leasehold/data/work');
const folder = path.join(dataDir, 'media');
await makePictures(path.join(folder, 'images'));
const bucketName = env['LEASEHOLD_S3_BUCKET'] ?? '';
const bucket =
  bucketName === ''
    ? folderBucket(path.join(folder, 'bucket'))
    : await s3Bucket({
        bucket: bucketName,
        endpoint: env['LEASEHOLD_S3_ENDPOINT'],
        region: env['LEASEHOLD_S3_REGION'] ?? 'us-east-1',
      });
const node = await startNode({
  etcd: { endpoints: (env['LEASEHOLD_ETCD_ENDPOINTS'] ?? '127.0.0.1:2379').split(','), ...etcdFromEnvironment(env) },
  namespace: env['LEASEHOLD_NAMESPACE'] ?? 'default',
  handlers: mediaHandlers(folder, bucket),
  concurrency: 2,
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
