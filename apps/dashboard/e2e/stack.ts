/** What every browser test runs on: a real etcd, the dashboard and real workers, each a process of its own. */
import { test as base, expect } from '@playwright/test';
import { startEtcd, startProxy, type Proxy, type RunningEtcd } from '@leasehold/etcd-local';
import { connectEtcd, type Kv } from '@leasehold/core/kv';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export interface Worker {
  readonly process: ChildProcess;
  /** Ends it as a crash would: its lease runs out by itself. */
  kill(): Promise<void>;
}

export interface Stack {
  readonly url: string;
  readonly etcd: RunningEtcd;
  readonly dataDir: string;
  readonly boardPid: number;
  /** Between the board and etcd; workers and tests do not go through it. */
  readonly link: Proxy;
  /** Another client of the same etcd. */
  readonly kv: Kv;
  /** Starts an example worker, or a script of this folder. */
  worker(name: 'orders' | 'media' | 'crawl' | 'backup' | 'gate' | 'doomed'): Promise<Worker>;
}

function spawn(file: string, env: Readonly<Record<string, string>>): ChildProcess {
  // Output is kept for the failure: inherited only when asked for.
  const stdio = process.env['LEASEHOLD_E2E_OUTPUT'] === '1' ? 'inherit' : 'pipe';
  return fork(path.join(ROOT, file), [], { env: { ...process.env, ...env }, stdio: [stdio, stdio, stdio, 'ipc'] });
}

/** The first message with `ready`; the exit before it is the failure. */
function untilReady(child: ChildProcess, what: string): Promise<void> {
  let output = '';
  child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr?.on('data', (data: Buffer) => (output += data.toString()));
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${what} ended with ${code}: ${output}`)));
    child.on('message', (message) => {
      if (typeof message === 'object' && message !== null && 'ready' in message) resolve();
    });
  });
}

/** The board says its address on its first line. */
function addressOf(child: ChildProcess): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    const read = (data: Buffer): void => {
      output += data.toString();
      const match = /Leasehold: (http:\/\/\S+)/.exec(output);
      if (match?.[1] !== undefined) resolve(match[1]);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`the board ended with ${code}: ${output}`)));
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** `more`: settings of the board beside those of every stack. */
export async function openStack(
  more: Readonly<Record<string, string>> = {},
): Promise<{ stack: Stack; close: () => Promise<void> }> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'leasehold-e2e-'));
  const etcd = await startEtcd({ unsafeNoFsync: true });
  const link = await startProxy(Number(new URL(etcd.endpoints[0] ?? '').port));
  const kv = connectEtcd({ endpoints: etcd.endpoints });
  const env = {
    LEASEHOLD_ETCD_ENDPOINTS: etcd.endpoints.join(','),
    LEASEHOLD_NAMESPACE: 'shop',
    LEASEHOLD_ENVIRONMENT: 'e2e',
    LEASEHOLD_DATA_DIR: dataDir,
  };
  const children: ChildProcess[] = [];
  const board = fork(path.join(ROOT, 'apps/dashboard/dist/main.js'), [], {
    env: { ...process.env, ...env, LEASEHOLD_ETCD_ENDPOINTS: link.url, ...more, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(board);
  const url = await addressOf(board);
  const worker: Stack['worker'] = async (name) => {
    const own = name === 'gate' || name === 'doomed';
    const file = own ? `apps/dashboard/e2e/${name}-worker.mjs` : `apps/worker-${name}/dist/main.js`;
    const child = spawn(file, env);
    children.push(child);
    await untilReady(child, `worker ${name}`);
    return { process: child, kill: () => end(child, 'SIGKILL') };
  };
  const close = async (): Promise<void> => {
    await Promise.all(children.map((child) => end(child, child === board ? 'SIGTERM' : 'SIGKILL')));
    await kv.close();
    await link.close();
    await etcd.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { stack: { url, etcd, dataDir, boardPid: board.pid ?? 0, link, kv, worker }, close };
}

export const test = base.extend<object, { stack: Stack; workers: Readonly<Record<'orders' | 'media', Worker>> }>({
  stack: [
    async ({}, use) => {
      const { stack, close } = await openStack();
      await use(stack);
      await close();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  workers: [
    async ({ stack }, use) => {
      const [orders, media] = await Promise.all([stack.worker('orders'), stack.worker('media')]);
      await use({ orders, media });
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: async ({ stack }, use) => use(stack.url),
});

export { expect };
