/**
 * The body of the keepalive thread. It has an event loop and an etcd connection of its own, so a handler that blocks the
 * main thread does not cost the lease. But a main thread that makes no progress for `stallMs` is given up: the lease
 * then ends, and others take over its tasks.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { connectEtcd, type EtcdOptions } from '../kv/etcd-kv.js';
import { systemClock } from '../runtime/clock.js';
import { KeepaliveMemory, processMs } from './keepalive-shared.js';
import { LoopRenewer } from './renewer.js';

/** What the thread is made with. */
export interface ThreadData {
  readonly etcd: EtcdOptions;
  readonly memory: SharedArrayBuffer;
  readonly stallMs: number;
}

export type ThreadOrder =
  | {
      readonly kind: 'begin';
      readonly lease: string;
      readonly sentAtMs: number;
      readonly ttlMs: number;
      readonly marginMs: number;
    }
  | { readonly kind: 'close' };

function run({ etcd, memory: buffer, stallMs }: ThreadData): void {
  const memory = new KeepaliveMemory(buffer);
  const kv = connectEtcd(withBuffers(etcd));
  const clock = { monotonic: processMs, setTimer: systemClock.setTimer.bind(systemClock) };
  const renewer = new LoopRenewer(clock, kv, {
    mayRenew: () => processMs() - memory.progressAtMs < stallMs,
    onChange: () => {
      if (renewer.gone) memory.ended();
      else memory.renewed(renewer.window.sentAtMs, renewer.window.ttlMs);
    },
  });
  parentPort?.on('message', (order: ThreadOrder) => {
    if (order.kind === 'begin') {
      const { lease, sentAtMs, ttlMs, marginMs } = order;
      renewer.begin({ id: BigInt(lease), window: { sentAtMs, ttlMs, marginMs } });
      return;
    }
    void renewer.close();
    void kv.close();
    parentPort?.close();
  });
  parentPort?.postMessage('ready');
}

/** Buffers arrive as plain byte arrays. */
function withBuffers(options: EtcdOptions): EtcdOptions {
  const { credentials } = options;
  if (credentials === undefined) return options;
  const { rootCertificate, privateKey, certChain } = credentials;
  return {
    ...options,
    credentials: {
      rootCertificate: Buffer.from(rootCertificate),
      ...(privateKey === undefined ? {} : { privateKey: Buffer.from(privateKey) }),
      ...(certChain === undefined ? {} : { certChain: Buffer.from(certChain) }),
    },
  };
}

if (parentPort !== null) run(workerData as ThreadData);
