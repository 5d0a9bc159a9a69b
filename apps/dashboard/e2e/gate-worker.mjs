/** A worker whose one task waits until a file appears: a test decides when it may finish, and kills it before. */
import { defineTask, handle, silentLogger, startNode } from '@leasehold/core';
import { existsSync, mkdirSync, watch } from 'node:fs';
import path from 'node:path';

const { env } = process;
const folder = path.join(env.LEASEHOLD_DATA_DIR, 'gates');
mkdirSync(folder, { recursive: true });

const waitAtGate = handle(
  defineTask('waitAtGate', { args: { gate: 'string' }, results: ['string'], queue: 'gates' }),
  ({ gate }, { attempt, signal }) =>
    new Promise((resolve, reject) => {
      const file = path.join(folder, path.basename(gate));
      const look = () => {
        if (!existsSync(file)) return;
        watcher.close();
        resolve(`passed in attempt ${attempt}`);
      };
      const watcher = watch(folder, look);
      signal.addEventListener('abort', () => (watcher.close(), reject(signal.reason)), { once: true });
      look();
    }),
);

const node = await startNode({
  etcd: { endpoints: env.LEASEHOLD_ETCD_ENDPOINTS.split(',') },
  namespace: env.LEASEHOLD_NAMESPACE,
  handlers: [waitAtGate],
  leaseTtlMs: 3_000,
  logger: silentLogger,
});
process.on('SIGTERM', () => void node.stop({ deadlineMs: 0 }).then(() => process.exit(0)));
process.send?.({ ready: true });
