/** The main thread's side of the keepalive thread. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { EtcdOptions } from '../kv/etcd-kv.js';
import { LeaseholdError } from '../model/errors.js';
import type { TrustWindow } from '../model/trust.js';
import { KeepaliveMemory, processMs } from './keepalive-shared.js';
import type { ThreadData, ThreadOrder } from './keepalive-thread.js';
import type { RenewedLease, Renewer, RenewerSource } from './renewer.js';

export interface ThreadRenewerOptions {
  /** The thread connects by itself. */
  readonly etcd: EtcdOptions;
  /** A main thread that makes no progress for so long loses the lease. Default 60000 ms. */
  readonly stallMs?: number;
}

const PROGRESS_EVERY_MS = 500;

/** Renews from a thread of its own, which a blocked main thread does not stop. */
export function threadRenewer({ etcd, stallMs = 60_000 }: ThreadRenewerOptions): RenewerSource {
  if (!(stallMs >= 1_000)) {
    throw new LeaseholdError('invalid', `stallMs: ${stallMs} is not at least 1000`, {
      field: 'stallMs',
      value: stallMs,
    });
  }
  return async () => {
    const memory = new KeepaliveMemory();
    memory.progress();
    const workerData: ThreadData = { etcd, memory: memory.buffer, stallMs };
    const thread = new Worker(threadFile(), { workerData, name: 'leasehold-keepalive' });
    await untilReady(thread);
    return new ThreadRenewer(thread, memory);
  };
}

class ThreadRenewer implements Renewer {
  readonly #thread: Worker;
  readonly #memory: KeepaliveMemory;
  readonly #progress: NodeJS.Timeout;
  /** This thread's monotonic clock minus the process-wide one. */
  readonly #offsetMs = performance.now() - processMs();
  readonly #exited: Promise<void>;
  #marginMs = 0;
  #died = false;

  constructor(thread: Worker, memory: KeepaliveMemory) {
    this.#thread = thread;
    this.#memory = memory;
    this.#progress = setInterval(() => memory.progress(), PROGRESS_EVERY_MS);
    this.#progress.unref();
    this.#exited = new Promise((resolve) => thread.once('exit', () => resolve()));
    // Without its thread the lease is not renewed: trust ends by time, as with any other silence.
    thread.on('error', () => (this.#died = true));
    thread.unref();
  }

  begin({ id, window }: RenewedLease): void {
    this.#marginMs = window.marginMs;
    const sentAtMs = window.sentAtMs - this.#offsetMs;
    this.#memory.renewed(sentAtMs, window.ttlMs);
    this.#send({ kind: 'begin', lease: id.toString(), sentAtMs, ttlMs: window.ttlMs, marginMs: window.marginMs });
  }

  get window(): TrustWindow {
    return { sentAtMs: this.#memory.sentAtMs + this.#offsetMs, ttlMs: this.#memory.ttlMs, marginMs: this.#marginMs };
  }

  get gone(): boolean {
    return this.#memory.gone;
  }

  async close(): Promise<void> {
    clearInterval(this.#progress);
    if (this.#died) return;
    this.#send({ kind: 'close' });
    const late = setTimeout(() => void this.#thread.terminate(), 1_000);
    await this.#exited;
    clearTimeout(late);
  }

  #send(order: ThreadOrder): void {
    this.#thread.postMessage(order);
  }
}

function untilReady(thread: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown): void =>
      reject(new LeaseholdError('unavailable', 'the keepalive thread did not start', {}, { cause }));
    thread.once('message', () => {
      thread.off('error', failed);
      thread.off('exit', failed);
      resolve();
    });
    thread.once('error', failed);
    thread.once('exit', failed);
  });
}

/** Threads run built code: started from sources (in tests), the build beside them is used. */
function threadFile(): URL {
  const source = import.meta.url.endsWith('.ts');
  const base = source ? import.meta.url.replace(/\/src\/(?!.*\/src\/)/, '/dist/') : import.meta.url;
  const file = new URL('./keepalive-thread.js', base);
  if (existsSync(file)) return file;
  throw new LeaseholdError('unavailable', `${fileURLToPath(file)} is missing; build @leasehold/core first`, {
    file: fileURLToPath(file),
  });
}
