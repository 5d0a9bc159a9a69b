#!/usr/bin/env node
/** The crawl worker as a program: settings from the environment, a graceful stop on SIGTERM. */
import { startNode } from '@leasehold/core';
import { readAllowed } from './allowed.js';
import { Crawler } from './crawl.js';
import { startDemoSite } from './demo-site.js';
import { crawlHandlers } from './serve.js';
import { etcdFromEnvironment } from '@leasehold/core/kv';

const { env } = process;
// The same port every time if it is free, so that a URL that somebody noted stays good.
const site = await startDemoSite(7_118);
console.log(`the demo site is at ${site.url}`);
const crawler = new Crawler({ allowed: readAllowed(env['LEASEHOLD_CRAWL_HOSTS']), base: site.url });
const node = await startNode({
  etcd: { endpoints: (env['LEASEHOLD_ETCD_ENDPOINTS'] ?? '127.0.0.1:2379').split(','), ...etcdFromEnvironment(env) },
  namespace: env['LEASEHOLD_NAMESPACE'] ?? 'default',
  handlers: crawlHandlers(crawler),
  concurrency: 8,
  stopDeadlineMs: 15_000,
});

let stopping = false;
async function stop(deadlineMs?: number): Promise<void> {
  // Asked again: whoever asks will not wait any longer.
  if (stopping) deadlineMs = 0;
  stopping = true;
  await node.stop(deadlineMs === undefined ? {} : { deadlineMs });
  await site.close();
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
// Started by a supervisor that is gone now, and perhaps etcd with it: there is nobody to be graceful for.
process.on('disconnect', () => {
  setTimeout(() => process.exit(1), 3_000).unref();
  void stop(0);
});
process.send?.({ ready: true });
