/** The thread in which a database is copied; see `run.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { copyDatabase, type CopyJob } from './copy.js';
import type { ThreadMessage } from './run.js';

const tell = (message: ThreadMessage): void => parentPort?.postMessage(message);

try {
  const copied = copyDatabase(workerData as CopyJob, (step) => tell({ kind: 'step', step }));
  tell({ kind: 'copied', copied });
} catch (error) {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  tell({ kind: 'failed', name, message });
}
