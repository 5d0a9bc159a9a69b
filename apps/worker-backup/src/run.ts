/**
 * Runs a copy in a thread of its own: SQLite blocks its thread for seconds on a large file, and meanwhile the worker has
 * to keep its lease and hear of a cancel.
 */
import { Worker } from 'node:worker_threads';
import type { Copied, CopyJob } from './copy.js';
import { DamagedDatabaseError, UnprovenBackupError } from './errors.js';

export type ThreadMessage =
  | { readonly kind: 'step'; readonly step: number }
  | { readonly kind: 'copied'; readonly copied: Copied }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string };

export type RunCopy = (job: CopyJob, signal: AbortSignal, onStep: (done: number) => void) => Promise<Copied>;

export const copyInThread: RunCopy = async (job, signal, onStep) => {
  signal.throwIfAborted();
  const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: job });
  const stop = (): void => void thread.terminate();
  signal.addEventListener('abort', stop, { once: true });
  let last: ThreadMessage | undefined;
  thread.on('message', (message: ThreadMessage) => {
    if (message.kind === 'step') onStep(message.step);
    else last = message;
  });
  try {
    // Also after `terminate`, so that nobody touches the files any more when this returns.
    await new Promise((resolve, reject) => thread.once('exit', resolve).once('error', reject));
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  if (last?.kind === 'copied') return last.copied;
  throw last?.kind === 'failed' ? revive(last) : new Error('the copying thread ended without a word');
};

/** Classes do not survive the way between threads; their names do. */
function revive({ name, message }: { readonly name: string; readonly message: string }): Error {
  if (name === 'DamagedDatabaseError') return new DamagedDatabaseError(message);
  if (name === 'UnprovenBackupError') return new UnprovenBackupError(message);
  return Object.assign(new Error(message), { name });
}
