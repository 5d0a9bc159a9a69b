/** What a limit costs, and how near one comes to a rate: the same queue without a limit, at most n at once, n a second. */
import { connect, defineTask, handle, silentLogger, startNode } from '@leasehold/core';
import type { Bench } from './bench.js';
import { medianOfRounds, type Figure, type Readings, type Variant } from './figures.js';
import { each } from './pace.js';
import { etcdConditions, machineConditions, openStage, readEtcdVersion } from './stage.js';

const NODES = 2;
const CONCURRENCY = 128;
const RATE = 500;
const noop = defineTask('noop', { queue: 'bench', args: ['int64'] });

interface Limit {
  readonly name: string;
  readonly concurrency?: number;
  readonly rate?: { readonly count: number; readonly intervalMs: number; readonly even?: boolean };
  readonly tasks: number;
}

export const limits: Bench = {
  name: 'limits',
  about: 'throughput of a queue under a global limit and under a rate limit',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const tasks = quick ? 1_000 : 10_000;
    const paced = quick ? 1_500 : 5_000;
    const all: readonly Limit[] = [
      { name: 'no limit', tasks },
      { name: 'at most 64 at once', concurrency: 64, tasks },
      { name: 'at most 8 at once', concurrency: 8, tasks: Math.ceil(tasks / 4) },
      { name: `${RATE} a second`, rate: { count: RATE, intervalMs: 1_000 }, tasks: paced },
      { name: `${RATE} a second, even`, rate: { count: RATE, intervalMs: 1_000, even: true }, tasks: paced },
    ];
    const rounds = quick ? 1 : 3;
    const variants = all.map((limit): Variant => ({ name: limit.name, run: () => measure(limit) }));
    const medians = await medianOfRounds(variants, rounds, progress);
    const conditions = {
      ...machineConditions(),
      ...etcdConditions({ version: await readEtcdVersion(), members: [] }),
      members: 1,
      rounds,
      'nodes in one process': NODES,
      concurrency: CONCURRENCY,
    };
    const free = medians.get('no limit') ?? Number.NaN;
    return [...medians].map(([metric, value]): Figure => {
      const paces = metric.startsWith(String(RATE));
      const [ratioTo, base] = paces ? ['the limit', RATE] : ['no limit', free];
      return { bench: 'limits', metric, value, unit: 'tasks/s', ratioTo, ratio: value / base, conditions };
    });
  },
};

/** From the first end to the last, without what the first window let through: that took no interval. */
async function measure({ concurrency, rate, tasks }: Limit): Promise<Readings> {
  const stage = await openStage();
  const client = connect({ kv: stage.kv, namespace: 'bench' });
  const ends: number[] = [];
  let all: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (all = resolve));
  const after = (): void => {
    ends.push(performance.now());
    if (ends.length === tasks) all();
  };
  try {
    await client.setLimits(
      { queue: 'bench' },
      { ...(concurrency === undefined ? {} : { concurrency }), ...(rate === undefined ? {} : { rate }) },
    );
    await each(tasks, 1_000, async (n) => void (await client.submit(noop.signature([n]))));
    const nodes = await Promise.all(
      Array.from({ length: NODES }, () =>
        startNode({
          etcd: { endpoints: stage.endpoints },
          namespace: 'bench',
          concurrency: CONCURRENCY,
          logger: silentLogger,
          handlers: [handle(noop, () => undefined)],
          hooks: { after },
        }),
      ),
    );
    await ended;
    await Promise.all(nodes.map((node) => node.stop({ deadlineMs: 0 })));
    const [first = 0] = ends;
    const free = rate === undefined || rate.even === true ? 0 : rate.count;
    return { '': (tasks - free) / (((ends.at(-1) ?? 0) - first) / 1_000) };
  } finally {
    await client.close();
    await stage.end();
  }
}
