/**
 * No-op tasks with two typed arguments, retries set, results recorded: how many a second, from the first submission to
 * the last recorded result (`at once`), and submitting and working each on its own (`apart`).
 */
import { readEtcdVersion } from './stage.js';
import type { Bench, BenchOptions } from './bench.js';
import { Crew } from './crew.js';
import { medianOfRounds, metricName, type Figure, type Readings, type Variant } from './figures.js';
import { naiveSystem } from './naive.js';
import { bullmqSystem } from './peers/bullmq.js';
import { findRedis, type RedisProgram } from './peers/redis.js';
import { machineConditions } from './stage.js';
import type { System } from './system.js';

const PROCESSES = [1, 2, 4];
const ROUND_LIMIT_MS = 180_000;
const CONCURRENCIES = [16, 64, 200];

export const throughput: Bench = {
  name: 'throughput',
  about: 'no-op tasks/s end to end, with 1, 2 and 4 worker processes, beside the naive pattern and BullMQ',
  async run(options): Promise<readonly Figure[]> {
    const systems = await listSystems(options);
    const processes = options.quick ? [1] : PROCESSES;
    const variants = processes.flatMap((count) => systems.map((system) => makeVariant(system, count)));
    const rounds = options.quick ? 1 : 3;
    const medians = await medianOfRounds(variants, rounds, options.progress);
    return systems.flatMap((system) => processes.flatMap((count) => figuresOf(system, count, medians, rounds)));
  },
};

const variantName = (system: System, processes: number): string =>
  `${system.name}, ${processes} worker process${processes === 1 ? '' : 'es'}`;

function makeVariant(system: System, processes: number): Variant {
  return {
    name: variantName(system, processes),
    run: async (): Promise<Readings> => ({
      ...(await atOnce(system, processes)),
      ...(await apart(system, processes)),
    }),
  };
}

/** Submits while the workers work. */
async function atOnce(system: System, processes: number): Promise<Readings> {
  const open = await system.open();
  const crew = await Crew.start(open.job, processes);
  try {
    crew.go();
    const began = performance.now();
    const all = crew.ended(system.tasks, ROUND_LIMIT_MS);
    await Promise.all([open.submit(system.tasks), all]);
    return { 'at once': rate(system.tasks, began) };
  } finally {
    await crew.stop();
    await open.close();
  }
}

/** Submits everything, then lets the workers begin. */
async function apart(system: System, processes: number): Promise<Readings> {
  const open = await system.open();
  const crew = await Crew.start(open.job, processes);
  try {
    const submitBegan = performance.now();
    await open.submit(system.tasks);
    const submit = rate(system.tasks, submitBegan);
    const workBegan = performance.now();
    crew.go();
    await crew.ended(system.tasks, ROUND_LIMIT_MS);
    return { 'submit only': submit, 'work only': rate(system.tasks, workBegan) };
  } finally {
    await crew.stop();
    await open.close();
  }
}

function rate(count: number, began: number): number {
  return count / ((performance.now() - began) / 1000);
}

async function listSystems({ quick, progress }: BenchOptions): Promise<readonly System[]> {
  const etcd = { version: await readEtcdVersion() };
  const few = quick ? 400 : 2_000;
  const many = quick ? 3_000 : 20_000;
  const redis = await findRedis(progress);
  if (typeof redis === 'string') {
    progress(`no comparison with BullMQ: ${redis}`);
    return [naiveSystem(few, etcd)];
  }
  const concurrency = quick ? 64 : await bestConcurrency(redis, progress);
  return [
    naiveSystem(few, etcd),
    bullmqSystem(redis, 'always', many, concurrency),
    bullmqSystem(redis, 'everysec', many, concurrency),
  ];
}

/** The peer gets the concurrency that serves it best here. */
async function bestConcurrency(redis: RedisProgram, progress: (message: string) => void): Promise<number> {
  let best = { concurrency: 0, rate: 0 };
  for (const concurrency of CONCURRENCIES) {
    const { 'at once': found = 0 } = await atOnce(bullmqSystem(redis, 'everysec', 8_000, concurrency), 2);
    progress(`bullmq with a concurrency of ${concurrency}: ${Math.round(found)} jobs/s`);
    if (found > best.rate) best = { concurrency, rate: found };
  }
  return best.concurrency;
}

function figuresOf(
  system: System,
  processes: number,
  medians: ReadonlyMap<string, number>,
  rounds: number,
): readonly Figure[] {
  const conditions = { ...machineConditions(), tasks: system.tasks, processes, rounds, ...system.conditions };
  return ['at once', 'submit only', 'work only'].flatMap((reading) => {
    const metric = metricName(variantName(system, processes), reading);
    const value = medians.get(metric);
    return value === undefined ? [] : [{ bench: 'throughput', metric, value, unit: 'tasks/s', conditions }];
  });
}
