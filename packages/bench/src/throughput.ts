/**
 * No-op tasks with two typed arguments, retries set, results recorded: how many a second, from the first submission to
 * the last recorded result (`at once`), and submitting and working each on its own (`apart`).
 */
import type { Bench, BenchOptions } from './bench.js';
import { Crew } from './crew.js';
import { medianOfRounds, metricName, type Figure, type Readings, type Variant } from './figures.js';
import { leaseholdSystem } from './leasehold.js';
import { naiveSystem } from './naive.js';
import { bullmqSystem } from './peers/bullmq.js';
import { findRedis, type RedisProgram } from './peers/redis.js';
import { machineConditions, readEtcdVersion } from './stage.js';
import type { System } from './system.js';

const PROCESSES = [1, 2, 4];
const READINGS = ['at once', 'submit only', 'work only'];
const OWN_NAME = 'leasehold';
const ROUND_LIMIT_MS = 180_000;
const CONCURRENCIES = [16, 64, 200];
const OWN_CONCURRENCY = 256;

export const throughput: Bench = {
  name: 'throughput',
  about: 'no-op tasks/s end to end, with 1, 2 and 4 worker processes, beside the naive pattern and BullMQ',
  async run(options): Promise<readonly Figure[]> {
    const systems = await listSystems(options);
    const processes = options.quick ? [1] : PROCESSES;
    const variants = processes.flatMap((count) => systems.map((system) => makeVariant(system, count)));
    const rounds = options.quick ? 1 : 3;
    const medians = await medianOfRounds(variants, rounds, options.progress);
    return systems.flatMap((system) =>
      processes.flatMap((count) =>
        figuresOf(
          system,
          count,
          medians,
          rounds,
          systems.filter((other) => other !== system),
        ),
      ),
    );
  },
};

const processesText = (count: number): string => `${count} worker process${count === 1 ? '' : 'es'}`;
const variantName = (system: System, processes: number): string => `${system.name}, ${processesText(processes)}`;

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
  const etcdVersion = await readEtcdVersion();
  const [few, some, many] = quick ? [400, 1_000, 3_000] : [2_000, 4_000, 20_000];
  const own = [
    leaseholdSystem({ tasks: many, etcdVersion, concurrency: OWN_CONCURRENCY }),
    leaseholdSystem({ tasks: some, etcdVersion, concurrency: OWN_CONCURRENCY, batch: 1 }),
    naiveSystem(few, etcdVersion),
  ];
  const redis = await findRedis(progress);
  if (typeof redis === 'string') {
    progress(`no comparison with BullMQ: ${redis}`);
    return own;
  }
  const concurrency = quick ? 64 : await bestConcurrency(redis, progress);
  return [...own, bullmqSystem(redis, 'always', many, concurrency), bullmqSystem(redis, 'everysec', many, concurrency)];
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
  peers: readonly System[],
): readonly Figure[] {
  const conditions = { ...machineConditions(), tasks: system.tasks, processes, rounds, ...system.conditions };
  const median = (of: System, reading: string): number | undefined =>
    medians.get(metricName(variantName(of, processes), reading));
  return READINGS.flatMap((reading) => {
    const value = median(system, reading);
    if (value === undefined) return [];
    const metric = metricName(variantName(system, processes), reading);
    const figure: Figure = { bench: 'throughput', metric, value, unit: 'tasks/s', conditions };
    if (system.name !== OWN_NAME) return [figure];
    // Our own figure once for each peer under the same conditions, in proportion to it.
    const others = peers.flatMap((peer) => {
      const other = median(peer, reading);
      return other === undefined ? [] : [{ ...figure, ratioTo: peer.name, ratio: value / other }];
    });
    return others.length === 0 ? [figure] : others;
  });
}
