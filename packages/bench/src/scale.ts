/**
 * What grows, and what it does to the rest: ended tasks that are retained, tasks that wait, worker processes, workers that
 * have nothing to do, and the memory of a worker over many tasks. Each on a fresh etcd, each against the smallest of its
 * kind in the same run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.js';
import { Crew } from './crew.js';
import { medianOfRounds, metricName, type Figure, type Readings, type Variant } from './figures.js';
import { leaseholdSystem, type LeaseholdOptions } from './leasehold.js';
import { retainEnded } from './retained.js';
import { etcdCpuMs, machineConditions, readEtcdVersion } from './stage.js';
import type { OpenSystem } from './system.js';

interface Sizes {
  readonly tasks: number;
  readonly retained: readonly number[];
  readonly waiting: readonly number[];
  readonly processes: readonly number[];
  readonly idle: readonly number[];
  readonly idleForMs: number;
  readonly memory: { readonly tasks: number; readonly looks: number };
  readonly rounds: number;
}

const FULL: Sizes = {
  tasks: 20_000,
  retained: [0, 100_000, 1_000_000],
  waiting: [20_000, 100_000],
  processes: [1, 2, 4, 8, 16],
  idle: [1, 20, 200],
  idleForMs: 15_000,
  memory: { tasks: 1_000_000, looks: 10 },
  rounds: 3,
};
const QUICK: Sizes = {
  tasks: 2_000,
  retained: [0, 5_000],
  waiting: [2_000, 6_000],
  processes: [1, 2],
  idle: [1, 8],
  idleForMs: 3_000,
  memory: { tasks: 6_000, looks: 3 },
  rounds: 1,
};

const CONCURRENCY = 256;
const LIMIT_MS = 1_200_000;
/** Many idle workers share a process, so that what is measured is etcd and not the machine's memory. */
const WORKERS_A_PROCESS = 25;

export const scale: Bench = {
  name: 'scale',
  about: 'throughput beside retained and waiting tasks, with 1 to 16 processes; idle workers; memory',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const sizes = quick ? QUICK : FULL;
    const etcdVersion = await readEtcdVersion();
    const base: LeaseholdOptions = { tasks: sizes.tasks, etcdVersion, concurrency: CONCURRENCY };
    const repeated: readonly Variant[] = [
      ...sizes.retained.map((count) => retained(base, count)),
      ...sizes.waiting.map((count) => waiting(base, count)),
      ...sizes.processes.map((count) => processes(base, count)),
      ...sizes.idle.map((count) => idle(base, count, sizes.idleForMs)),
    ];
    const medians = new Map(await medianOfRounds(repeated, sizes.rounds, progress));
    // One long round says more about memory than three short ones.
    for (const [metric, value] of await medianOfRounds([memory(base, sizes)], 1, progress)) medians.set(metric, value);
    const conditions = { ...machineConditions(), etcd: etcdVersion, ...sizesText(sizes), concurrency: CONCURRENCY };
    const bases = [
      [' ended tasks retained', retainedName(sizes.retained[0] ?? 0), ''],
      [' tasks waiting', waitingName(sizes.waiting[0] ?? 0), ''],
      [' worker process', processesName(sizes.processes[1] ?? 1), ''],
      ['after ', memoryName, 'heap MiB after the first part'],
    ] as const;
    return [...medians].map(([metric, value]): Figure => {
      const figure = { bench: 'scale', metric, value, unit: unitOf(metric), conditions };
      const against = bases.find(([part]) => metric.includes(part));
      if (against === undefined) return figure;
      const ratioTo = metricName(against[1], against[2]);
      return { ...figure, ratioTo, ratio: value / (medians.get(ratioTo) ?? Number.NaN) };
    });
  },
};

function sizesText({ tasks, rounds, memory: { tasks: many } }: Sizes): Record<string, number> {
  return { tasks, rounds, 'tasks for memory': many };
}

function unitOf(metric: string): string {
  if (metric.includes('MiB')) return 'MiB';
  if (metric.includes('share')) return '% of one core';
  if (metric.includes('CPU')) return 'ms/s';
  return 'tasks/s';
}

const retainedName = (count: number): string => `${count} ended tasks retained`;
const waitingName = (count: number): string => `${count} tasks waiting`;
const processesName = (count: number): string => `${count} worker process${count === 1 ? '' : 'es'}`;
const memoryName = 'memory of one worker';

/** Opens a fresh system with so many worker processes that have not begun. */
async function withCrew(
  options: LeaseholdOptions,
  count: number,
  measure: (open: OpenSystem, crew: Crew) => Promise<Readings>,
): Promise<Readings> {
  const open = await leaseholdSystem(options).open();
  const crew = await Crew.start(open.job, count);
  try {
    return await measure(open, crew);
  } finally {
    await crew.stop();
    await open.close();
  }
}

async function atOnce(open: OpenSystem, crew: Crew, tasks: number): Promise<number> {
  crew.forget();
  const began = performance.now();
  const all = crew.ended(tasks, LIMIT_MS);
  await Promise.all([open.submit(tasks), all]);
  return (tasks * 1_000) / (performance.now() - began);
}

function retained(options: LeaseholdOptions, count: number): Variant {
  return {
    name: retainedName(count),
    run: () =>
      withCrew(options, 1, async (open, crew) => {
        crew.go();
        await atOnce(open, crew, Math.min(500, options.tasks));
        if (open.stage !== undefined) await retainEnded(open.stage.kv, count);
        return { '': await atOnce(open, crew, options.tasks) };
      }),
  };
}

/** How fast the first of a long backlog are worked off. */
function waiting(options: LeaseholdOptions, count: number): Variant {
  return {
    name: waitingName(count),
    run: () =>
      withCrew(options, 1, async (open, crew) => {
        await open.submit(count);
        const began = performance.now();
        crew.go();
        await crew.ended(options.tasks, LIMIT_MS);
        return { '': (options.tasks * 1_000) / (performance.now() - began) };
      }),
  };
}

function processes(options: LeaseholdOptions, count: number): Variant {
  return {
    name: processesName(count),
    run: () =>
      withCrew(options, count, async (open, crew) => {
        crew.go();
        await atOnce(open, crew, Math.min(500, options.tasks));
        return { '': await atOnce(open, crew, options.tasks) };
      }),
  };
}

/** Nothing to do: what etcd and the workers spend on that, once all have begun. */
function idle(options: LeaseholdOptions, count: number, forMs: number): Variant {
  const inProcess = Math.min(count, WORKERS_A_PROCESS);
  return {
    name: `${count} idle worker${count === 1 ? '' : 's'}`,
    run: () =>
      withCrew({ ...options, workers: inProcess }, Math.ceil(count / inProcess), async (open, crew) => {
        crew.go();
        await atOnce(open, crew, 50);
        const { stage } = open;
        const used = async (): Promise<number> => (await crew.usage()).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
        const etcd = (): number => (stage === undefined ? undefined : etcdCpuMs(stage)) ?? Number.NaN;
        // Shards are shared out anew for a moment after the last has come.
        await sleep(2_000);
        const [workersBefore, etcdBefore, began] = [await used(), etcd(), performance.now()];
        await sleep(forMs);
        const seconds = (performance.now() - began) / 1_000;
        return {
          "etcd's share of a core": (etcd() - etcdBefore) / seconds / 10,
          'CPU of one worker': ((await used()) - workersBefore) / seconds / count,
        };
      }),
  };
}

/** The heap after a collection, again and again while one worker does many tasks. */
function memory(options: LeaseholdOptions, { memory: { tasks, looks } }: Sizes): Variant {
  const part = Math.ceil(tasks / looks);
  return {
    name: memoryName,
    run: () =>
      withCrew(options, 1, async (open, crew) => {
        crew.go();
        const heaps: number[] = [];
        for (let look = 0; look < looks; look++) {
          await atOnce(open, crew, part);
          const [usage] = await crew.usage();
          heaps.push((usage?.heapBytes ?? Number.NaN) / 2 ** 20);
        }
        return {
          'heap MiB after the first part': heaps[0] ?? Number.NaN,
          'heap MiB after half': heaps[heaps.length >> 1] ?? Number.NaN,
          'heap MiB after all': heaps.at(-1) ?? Number.NaN,
        };
      }),
  };
}
