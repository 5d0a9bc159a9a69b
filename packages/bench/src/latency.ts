/**
 * From submission to the start of the handler, and to the result at the submitter, who waits for it by a watch or an
 * event: on an idle system, and beside a steady load of half of what the system can do. One bare put to etcd is the
 * measure for ours.
 */
import type { Bench, BenchOptions } from './bench.js';
import { Crew } from './crew.js';
import { medianOfRounds, metricName, percentile, type Figure, type Readings, type Variant } from './figures.js';
import { leaseholdSystem } from './leasehold.js';
import { bullmqSystem } from './peers/bullmq.js';
import { findRedis } from './peers/redis.js';
import { machineConditions, openStage, readEtcdVersion } from './stage.js';
import type { OpenSystem, System } from './system.js';

const PUT = 'one bare put to etcd';
const CONCURRENCY = 64;
const WARM_UP = 30;
const TICK_MS = 10;

export const latency: Bench = {
  name: 'latency',
  about: 'from submission to handler start and to the result, idle and at half load',
  async run(options): Promise<readonly Figure[]> {
    const systems = await listSystems(options);
    const samples = options.quick ? 60 : 400;
    const rounds = options.quick ? 1 : 3;
    const variants: Variant[] = [putVariant(samples), ...systems.map((system) => variant(system, samples))];
    const medians = await medianOfRounds(variants, rounds, options.progress);
    const conditions = { ...machineConditions(), samples, rounds, 'worker processes': 1, concurrency: CONCURRENCY };
    const put = medians.get(metricName(PUT, 'p50')) ?? Number.NaN;
    return [...medians].map(([metric, value]): Figure => {
      const base = { bench: 'latency', metric, value, conditions };
      if (metric.endsWith('load')) return { ...base, unit: 'tasks/s' };
      return { ...base, unit: 'ms', ratioTo: `p50 of ${PUT}`, ratio: value / put };
    });
  },
};

async function listSystems({ quick, progress }: BenchOptions): Promise<readonly System[]> {
  const tasks = quick ? 2_000 : 8_000;
  const own = leaseholdSystem({ tasks, etcdVersion: await readEtcdVersion(), concurrency: CONCURRENCY });
  const redis = await findRedis(progress);
  if (typeof redis === 'string') {
    progress(`no comparison with BullMQ: ${redis}`);
    return [own];
  }
  return [own, ...(['always', 'everysec'] as const).map((fsync) => bullmqSystem(redis, fsync, tasks, CONCURRENCY))];
}

function putVariant(samples: number): Variant {
  return {
    name: PUT,
    run: async (): Promise<Readings> => {
      const stage = await openStage();
      try {
        const times: number[] = [];
        for (let n = 0; n < samples + WARM_UP; n++) {
          const began = performance.now();
          await stage.kv.txn({ compare: [], success: [{ kind: 'put', key: `/put/${n}`, value: 'x'.repeat(300) }] });
          if (n >= WARM_UP) times.push(performance.now() - began);
        }
        return summary('', times);
      } finally {
        await stage.end();
      }
    },
  };
}

function variant(system: System, samples: number): Variant {
  return {
    name: system.name,
    run: async (): Promise<Readings> => {
      const open = await system.open();
      const crew = await Crew.start(open.job, 1);
      try {
        crew.go();
        for (let n = 0; n < WARM_UP; n++) await open.one();
        const idle = await sample(open, samples);
        const rate = (await capacity(open, crew, system.tasks)) / 2;
        const load = startLoad(open, rate);
        const busy = await sample(open, samples);
        const submitted = await load.stop();
        await crew.ended(submitted + busy.count, 60_000);
        return {
          ...summary('idle, to start', idle.starts),
          ...summary('idle, to result', idle.results),
          ...summary('half load, to start', busy.starts),
          ...summary('half load, to result', busy.results),
          load: rate,
        };
      } finally {
        await crew.stop();
        await open.close();
      }
    },
  };
}

interface Samples {
  readonly starts: readonly number[];
  readonly results: readonly number[];
  readonly count: number;
}

/** One after another, each with a short rest, so that one does not ride on the other's commit. */
async function sample(open: OpenSystem, count: number): Promise<Samples> {
  const starts: number[] = [];
  const results: number[] = [];
  for (let n = 0; n < count; n++) {
    const began = process.hrtime.bigint();
    const started = await open.one();
    results.push(milliseconds(process.hrtime.bigint() - began));
    starts.push(milliseconds(started - began));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { starts, results, count };
}

async function capacity(open: OpenSystem, crew: Crew, tasks: number): Promise<number> {
  // What has ended before counts for nobody.
  crew.forget();
  const began = performance.now();
  const all = crew.ended(tasks, 120_000);
  await Promise.all([open.submit(tasks), all]);
  return tasks / ((performance.now() - began) / 1000);
}

/** Submits in small, regular portions; a portion is not waited for. */
function startLoad(open: OpenSystem, rate: number): { stop(): Promise<number> } {
  const under: Promise<void>[] = [];
  let submitted = 0;
  let due = 0;
  const timer = setInterval(() => {
    due += (rate * TICK_MS) / 1000;
    const portion = Math.floor(due);
    due -= portion;
    submitted += portion;
    if (portion > 0) under.push(open.submit(portion));
  }, TICK_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(under);
      return submitted;
    },
  };
}

function milliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e6;
}

function summary(what: string, times: readonly number[]): Readings {
  const shares = { p50: 0.5, p95: 0.95, p99: 0.99 };
  return Object.fromEntries(
    Object.entries(shares).map(([name, share]) => [what === '' ? name : `${what} ${name}`, percentile(times, share)]),
  );
}
