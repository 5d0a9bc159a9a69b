/** Where benchmarks run: a fresh etcd each time, on a real disk, with fsync. */
import { ensureEtcd, startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import { connectEtcd, type Kv } from '@leasehold/core/kv';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

/** CPU time that the members of etcd have used, ms; undefined where the system does not tell (no /proc). */
export function etcdCpuMs({ etcd }: Stage): number | undefined {
  let ticks = 0;
  for (const { pid } of etcd.members) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name, in parentheses, may hold spaces; user and system time are the 14th and 15th field.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      return undefined;
    }
  }
  return ticks * MS_A_TICK;
}

/** Linux counts CPU time in hundredths of a second. */
const MS_A_TICK = 10;

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
