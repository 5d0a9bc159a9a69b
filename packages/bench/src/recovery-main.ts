/** The process that is killed; see `recovery.ts`. It claims, says so, and never ends anything. */
import { handle, silentLogger, startNode } from '@leasehold/core';
import { held } from './recovery.js';

const [endpoint = '', ttlMs = '10000'] = process.argv.slice(2);
await startNode({
  etcd: { endpoints: [endpoint] },
  namespace: 'bench',
  leader: false,
  concurrency: 100,
  leaseTtlMs: Number(ttlMs),
  logger: silentLogger,
  handlers: [
    handle(held, () => {
      process.send?.('began');
      return new Promise(() => undefined);
    }),
  ],
});
