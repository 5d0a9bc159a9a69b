/**
 * What a task costs: CPU time of worker, submitter and etcd for 1000 tasks, and what is sent for a transition. Unlike a
 * rate it hardly changes with what else the machine does, so one change to the engine can be told from another by it.
 */
import type { Bench } from './bench.js';
import { Crew, type Usage } from './crew.js';
import { medianOfRounds, type Figure, type Readings, type Variant } from './figures.js';
import { leaseholdSystem } from './leasehold.js';
import { etcdCpuMs, machineConditions, readEtcdVersion, type Stage } from './stage.js';
import type { OpenSystem, System } from './system.js';

const ROUND_LIMIT_MS = 180_000;
const CONCURRENCY = 256;
const PROCESSES = [1, 2];
/** Beside the usual size, which is what the first variants use. */
const BATCHES = [8, 32, 100];
/** The first tasks run code that is not compiled yet. */
const WARM_UP = 2_000;

export const cost: Bench = {
  name: 'cost',
  about: 'CPU time of worker, submitter and etcd for 1000 no-op tasks, and bytes for a transition',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const tasks = quick ? 3_000 : 20_000;
    const rounds = quick ? 1 : 3;
    const base = { tasks, etcdVersion: await readEtcdVersion(), concurrency: CONCURRENCY };
    const system = leaseholdSystem(base);
    const variants: readonly Variant[] = [
      ...PROCESSES.map((processes) => ({
        name: `${processes} worker process${processes === 1 ? '' : 'es'}`,
        run: () => measure(system, processes),
      })),
      ...BATCHES.map((batch) => ({
        name: `at most ${batch} transitions a request`,
        run: () => measure(leaseholdSystem({ ...base, batch }), 1),
      })),
    ];
    const medians = await medianOfRounds(variants, rounds, progress);
    const conditions = { ...machineConditions(), ...system.conditions, tasks, rounds };
    return [...medians].map(([metric, value]) => ({ bench: 'cost', metric, value, unit: unitOf(metric), conditions }));
  },
};

async function measure(system: System, processes: number): Promise<Readings> {
  const open = await system.open();
  const crew = await Crew.start(open.job, processes);
  try {
    crew.go();
    await run(open, crew, WARM_UP);
    const before = await used(crew, open.stage);
    const began = performance.now();
    await run(open, crew, system.tasks);
    const seconds = (performance.now() - began) / 1_000;
    const after = await used(crew, open.stage);
    const forThousand = (what: keyof Used): number => ((after[what] - before[what]) * 1_000) / system.tasks;
    const transitions = after.transitions - before.transitions;
    return {
      'worker CPU': forThousand('workerMs'),
      'submitter CPU': forThousand('submitterMs'),
      'etcd CPU': forThousand('etcdMs'),
      'bytes a transition': (after.sentBytes - before.sentBytes) / transitions,
      'transitions a request': transitions / (after.requests - before.requests),
      'tasks a second': system.tasks / seconds,
    };
  } finally {
    await crew.stop();
    await open.close();
  }
}

async function run(open: OpenSystem, crew: Crew, tasks: number): Promise<void> {
  const all = crew.ended(tasks, ROUND_LIMIT_MS);
  await Promise.all([open.submit(tasks), all]);
}

interface Used extends Pick<Usage, 'requests' | 'transitions' | 'sentBytes'> {
  readonly workerMs: number;
  readonly submitterMs: number;
  readonly etcdMs: number;
}

async function used(crew: Crew, stage: Stage | undefined): Promise<Used> {
  const workers = await crew.usage();
  const sum = (of: (usage: Usage) => number): number => workers.reduce((total, usage) => total + of(usage), 0);
  const own = process.cpuUsage();
  return {
    workerMs: sum(({ cpuMs }) => cpuMs),
    submitterMs: (own.user + own.system) / 1_000,
    etcdMs: (stage === undefined ? undefined : etcdCpuMs(stage)) ?? Number.NaN,
    requests: sum(({ requests }) => requests),
    transitions: sum(({ transitions }) => transitions),
    sentBytes: sum(({ sentBytes }) => sentBytes),
  };
}

function unitOf(metric: string): string {
  if (metric.endsWith('CPU')) return 'ms/1000 tasks';
  if (metric.endsWith('second')) return 'tasks/s';
  return metric.endsWith('bytes a transition') ? 'bytes' : 'transitions';
}
