/** From SIGKILL of a worker process to the start of its tasks in another one, against the lease's time to live. */
import { connect, defineTask, handle, silentLogger, startNode } from '@leasehold/core';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Bench } from './bench.js';
import { medianOfRounds, type Figure, type Readings, type Variant } from './figures.js';
import { etcdConditions, machineConditions, openStage, readEtcdVersion, type Stage } from './stage.js';

const TASKS = 50;
export const held = defineTask('held', { queue: 'bench', args: ['int64'], timeoutMs: 600_000 });

export const recovery: Bench = {
  name: 'recovery',
  about: 'from SIGKILL of a worker to the start of its tasks elsewhere, by lease TTL',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const ttls = quick ? [2_000] : [2_000, 5_000, 10_000];
    const rounds = quick ? 1 : 3;
    const variants = ttls.map((ttlMs): Variant => ({ name: nameOf(ttlMs), run: () => measure(ttlMs) }));
    const medians = await medianOfRounds(variants, rounds, progress);
    const conditions = {
      ...machineConditions(),
      ...etcdConditions({ version: await readEtcdVersion(), members: [] }),
      members: 1,
      'tasks held': TASKS,
      rounds,
    };
    return [...medians].map(([metric, value]): Figure => {
      const ttlMs = ttls.find((ttl) => metric.startsWith(`${nameOf(ttl)},`)) ?? Number.NaN;
      return { bench: 'recovery', metric, value, unit: 'ms', ratioTo: 'the TTL', ratio: value / ttlMs, conditions };
    });
  },
};

const nameOf = (ttlMs: number): string => `TTL ${ttlMs / 1_000} s`;

async function measure(ttlMs: number): Promise<Readings> {
  const stage = await openStage();
  const client = connect({ kv: stage.kv, namespace: 'bench' });
  try {
    for (let n = 0; n < TASKS; n++) await client.submit(held.signature([n]));
    const kill = await startVictim(stage, ttlMs);
    const began: number[] = [];
    let all: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => (all = resolve));
    const survivor = await startNode({
      etcd: { endpoints: stage.endpoints },
      namespace: 'bench',
      concurrency: 100,
      logger: silentLogger,
      handlers: [
        handle(held, () => {
          began.push(performance.now());
          if (began.length === TASKS) all();
        }),
      ],
    });
    try {
      // It has looked around, and found everything taken.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const killedAt = performance.now();
      kill();
      await taken;
      return { first: Math.min(...began) - killedAt, last: Math.max(...began) - killedAt };
    } finally {
      await survivor.stop({ deadlineMs: 0 });
    }
  } finally {
    await client.close();
    await stage.end();
  }
}

/** Resolves when it runs all tasks, with how to kill it. */
function startVictim(stage: Stage, ttlMs: number): Promise<() => void> {
  const file = fileURLToPath(new URL('./recovery-main.js', import.meta.url));
  const child = fork(file, [stage.endpoints[0] ?? '', String(ttlMs)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    let began = 0;
    child.on('message', () => {
      began += 1;
      if (began === TASKS) resolve(() => void child.kill('SIGKILL'));
    });
    child.once('exit', (code) => reject(new Error(`the worker process exited with ${code}`)));
  });
}
