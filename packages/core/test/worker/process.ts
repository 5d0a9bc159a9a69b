/**
 * A worker in a process of its own, for tests that kill and stop it. Told by its environment what to do, it sends a message
 * for every handler that begins or ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger, systemClock } from '../../src/runtime/index.js';
import { threadRenewer } from '../../src/store/keepalive.js';
import { createWorker } from '../../src/worker/index.js';
import { etcdStore } from '../store/stores.js';
import { handling } from './rig.js';

export interface ProcessMessage {
  readonly kind: 'up' | 'began' | 'ended';
  readonly id?: string;
  readonly attempt?: number;
  readonly node?: string;
}

const { ENDPOINT = '', NAMESPACE = '', WORK_MS = '0', CONCURRENCY = '10' } = process.env;
const send = (message: ProcessMessage): void => void process.send?.(message);

const { store } = etcdStore(ENDPOINT, NAMESPACE);
const worker = createWorker(store, {
  handlers: [
    handling('t', async ({ id, attempt }) => {
      send({ kind: 'began', id, attempt });
      if (WORK_MS !== '0') await sleep(Number(WORK_MS));
      send({ kind: 'ended', id, attempt });
    }),
  ],
  concurrency: Number(CONCURRENCY),
  leaseTtlMs: 2_000,
  renewer: threadRenewer({ etcd: { endpoints: [ENDPOINT] } }),
  clock: systemClock,
  logger: silentLogger,
});
process.once('SIGTERM', () => void worker.stop({ deadlineMs: 0 }).then(() => process.exit(0)));
await worker.start();
while (worker.status.node === undefined) await sleep(20);
send({ kind: 'up', node: worker.status.node });
