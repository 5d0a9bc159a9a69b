/** Where benchmarks run: a fresh etcd each time, on a real disk, with fsync. */
import { ensureEtcd, startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import { connectEtcd, type Kv } from '@leasehold/core/kv';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import path from 'node:path';
import type { Conditions } from './figures.js';

/** Not the temporary folder: on many machines that is memory, where fsync costs nothing and proves nothing. */
export function benchFolder(): string {
  const folder = path.resolve('.leasehold/bench');
  mkdirSync(folder, { recursive: true });
  return folder;
}

export interface Stage {
  readonly etcd: RunningEtcd;
  readonly endpoints: readonly string[];
  readonly kv: Kv;
  end(): Promise<void>;
}

export async function openStage(members: 1 | 3 = 1, extraArgs: readonly string[] = []): Promise<Stage> {
  const dataDir = mkdtempSync(path.join(benchFolder(), 'etcd-'));
  const etcd = await startEtcd({ dataDir, members, extraArgs });
  const kv = connectEtcd({ endpoints: etcd.endpoints });
  return {
    etcd,
    endpoints: etcd.endpoints,
    kv,
    end: async () => {
      await kv.close();
      await etcd.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export function machineConditions(): Conditions {
  return {
    node: process.version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
  };
}

export function etcdConditions(etcd: Pick<RunningEtcd, 'version' | 'members'>): Conditions {
  return { etcd: etcd.version, members: etcd.members.length, 'etcd fsync': 'on' };
}

export async function readEtcdVersion(): Promise<string> {
  return (await ensureEtcd()).version;
}
