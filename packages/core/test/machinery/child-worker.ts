/** A worker process to be killed: `node child-worker.ts <endpoint> <namespace>`. */
import { silentLogger, startNode } from '../../src/index.js';
import { testHandlers } from './tasks.js';

const [endpoint = '', namespace = ''] = process.argv.slice(2);
await startNode({
  etcd: { endpoints: [endpoint] },
  namespace,
  leaseTtlMs: 2_000,
  concurrency: 8,
  handlers: testHandlers(Date.now),
  // Slow enough to be in the middle of something at any time.
  hooks: { before: () => new Promise((resolve) => setTimeout(resolve, 20)) },
  logger: silentLogger,
});
process.send?.('ready');
