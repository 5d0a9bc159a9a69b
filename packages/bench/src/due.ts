/** How late tasks begin that are all due at one instant: by the promoter's count, and at their handlers. */
import { connect, defineTask, handle, silentLogger, startNode } from '@leasehold/core';
import type { Bench } from './bench.js';
import { medianOfRounds, percentile, type Figure, type Readings } from './figures.js';
import { each } from './pace.js';
import { etcdConditions, machineConditions, openStage, readEtcdVersion } from './stage.js';

const CONCURRENCY = 256;
/** Time to submit them all before they are due: to begin with, and for each thousand. */
const AHEAD_MS = { start: 5_000, thousand: 1_000 };

const ring = defineTask('ring', { queue: 'bench', args: ['int64'] });

export const due: Bench = {
  name: 'due',
  about: 'lateness of 10 000 tasks that are all due at one instant',
  run: ({ quick, progress }) => lateness('due', quick ? 1_000 : 10_000, quick ? 1 : 3, progress),
};

export const dueMany: Bench = {
  name: 'due-100k',
  about: 'the same of 100 000',
  run: ({ quick, progress }) => lateness('due-100k', quick ? 2_000 : 100_000, 1, progress),
};

async function lateness(
  bench: string,
  tasks: number,
  rounds: number,
  progress: (message: string) => void,
): Promise<readonly Figure[]> {
  const variants = [{ name: 'lateness', run: () => measure(tasks) }];
  const medians = await medianOfRounds(variants, rounds, progress);
  const conditions = {
    ...machineConditions(),
    ...etcdConditions({ version: await readEtcdVersion(), members: [] }),
    members: 1,
    tasks,
    rounds,
    nodes: 1,
    concurrency: CONCURRENCY,
  };
  return [...medians].map(([metric, value]): Figure => {
    const unit = metric.endsWith('rate') ? 'tasks/s' : 'ms';
    return { bench, metric, value, unit, conditions };
  });
}

async function measure(tasks: number): Promise<Readings> {
  const stage = await openStage();
  const late: number[] = [];
  let all: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (all = resolve));
  const node = await startNode({
    etcd: { endpoints: stage.endpoints },
    namespace: 'bench',
    concurrency: CONCURRENCY,
    logger: silentLogger,
    handlers: [handle(ring, ([dueMs]) => void late.push(Date.now() - Number(dueMs)))],
    hooks: { after: () => void (late.length === tasks && all()) },
  });
  const client = connect({ kv: stage.kv, namespace: 'bench' });
  try {
    const dueMs = Date.now() + AHEAD_MS.start + Math.ceil(tasks / 1_000) * AHEAD_MS.thousand;
    await each(tasks, 1_000, async () => void (await client.submit(ring.signature([dueMs], { etaMs: dueMs }))));
    if (Date.now() >= dueMs) throw new Error('the tasks were not submitted before they were due');
    await ended;
    const health = node.leaderHealth;
    return {
      'promoter p50': health?.lateP50Ms ?? Number.NaN,
      'promoter p99': health?.lateP99Ms ?? Number.NaN,
      'handler p50': percentile(late, 0.5),
      'handler p99': percentile(late, 0.99),
      'handler last': late.reduce((most, ms) => Math.max(most, ms), 0),
      rate: tasks / (late.reduce((most, ms) => Math.max(most, ms), 0) / 1_000),
    };
  } finally {
    await node.stop({ deadlineMs: 0 });
    await client.close();
    await stage.end();
  }
}
