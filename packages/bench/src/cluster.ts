/**
 * Three members of etcd instead of one, all on this machine: every commit goes over the network to a majority and to two
 * disks more. Figures of one machine say what the protocol costs, not what three machines give.
 */
import type { Bench } from './bench.js';
import { Crew } from './crew.js';
import { medianOfRounds, metricName, percentile, type Figure, type Readings, type Variant } from './figures.js';
import { leaseholdSystem } from './leasehold.js';
import { machineConditions, openStage, readEtcdVersion } from './stage.js';

const MEMBERS = [1, 3] as const;
const CONCURRENCY = 256;
const LIMIT_MS = 300_000;
const WARM_UP = 20;

export const cluster: Bench = {
  name: 'cluster',
  about: 'throughput, latency and one bare put with three members of etcd, against one',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const tasks = quick ? 2_000 : 20_000;
    const samples = quick ? 40 : 300;
    const rounds = quick ? 1 : 3;
    const etcdVersion = await readEtcdVersion();
    const variants = MEMBERS.map((members): Variant => {
      const system = leaseholdSystem({ tasks, etcdVersion, concurrency: CONCURRENCY, members });
      return {
        name: nameOf(members),
        run: async (): Promise<Readings> => {
          const open = await system.open();
          const crew = await Crew.start(open.job, 1);
          try {
            crew.go();
            const starts: number[] = [];
            for (let n = 0; n < WARM_UP + samples; n++) {
              const began = process.hrtime.bigint();
              const started = await open.one();
              if (n >= WARM_UP) starts.push(Number(started - began) / 1e6);
            }
            // Reports come a little later than results.
            await crew.ended(WARM_UP + samples, LIMIT_MS);
            const began = performance.now();
            const all = crew.ended(tasks, LIMIT_MS);
            await Promise.all([open.submit(tasks), all]);
            const rate = (tasks * 1_000) / (performance.now() - began);
            return { 'tasks a second': rate, 'submit to start, idle, p50': percentile(starts, 0.5) };
          } finally {
            await crew.stop();
            await open.close();
          }
        },
      };
    });
    const medians = await medianOfRounds(
      [...MEMBERS.map((m) => putVariant(m, samples)), ...variants],
      rounds,
      progress,
    );
    const conditions = { ...machineConditions(), etcd: etcdVersion, tasks, samples, rounds, concurrency: CONCURRENCY };
    return [...medians].map(([metric, value]): Figure => {
      const ratioTo = metric.replace(nameOf(3), nameOf(1));
      const unit = metric.endsWith('second') ? 'tasks/s' : 'ms';
      return {
        bench: 'cluster',
        metric,
        value,
        unit,
        ratioTo,
        ratio: value / (medians.get(ratioTo) ?? NaN),
        conditions,
      };
    });
  },
};

const nameOf = (members: number): string => `${members} member${members === 1 ? '' : 's'}`;

function putVariant(members: 1 | 3, samples: number): Variant {
  return {
    name: nameOf(members),
    run: async (): Promise<Readings> => {
      const stage = await openStage(members);
      try {
        const times: number[] = [];
        for (let n = 0; n < samples + WARM_UP; n++) {
          const began = performance.now();
          await stage.kv.txn({ compare: [], success: [{ kind: 'put', key: `/put/${n}`, value: 'x'.repeat(300) }] });
          if (n >= WARM_UP) times.push(performance.now() - began);
        }
        return { [metricName('one bare put', 'p50')]: percentile(times, 0.5) };
      } finally {
        await stage.end();
      }
    },
  };
}
