/**
 * `npm run soak -- [--minutes N] [--rate N] [--json]`: the same load for long, and nothing may grow: memory and handles of
 * worker processes, and what etcd has in use. What has ended is kept for ten minutes here and history for one, so the
 * first quarter of an hour is growth by design; what is compared comes after it. Exit code 1 when something grew.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEtcd } from '@leasehold/etcd-local';
import { connectEtcd } from '../../src/kv/index.js';
import { Random } from '../simulation/random.js';
import { Load } from './load.js';

const FILE = fileURLToPath(new URL('child-node.ts', import.meta.url));
const WORKERS = 2;
const WARM_MS = 15 * 60_000;
const EVERY_MS = 30_000;

interface Sample {
  readonly atMs: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly handles: number;
  readonly etcdBytes: number;
  readonly acknowledged: number;
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});
const durationMs = Number(values.minutes) * 60_000;
const etcd = await startEtcd({});
const namespace = 'soak';
const kv = connectEtcd({ endpoints: etcd.endpoints });
const children = Array.from({ length: WORKERS }, () =>
  fork(FILE, [etcd.endpoints.join(','), namespace, '10000', 'soak'], {
    execArgv: ['--expose-gc', '--import', 'tsx', '--conditions=leasehold-source'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  }),
);
const load = new Load({
  door: { endpoints: etcd.endpoints },
  namespace,
  random: new Random('soak'),
  seed: 1,
  rate: Number(values.rate),
  operators: true,
});
const samples: Sample[] = [];
const began = performance.now();
while (performance.now() - began < durationMs) {
  await delay(EVERY_MS);
  const sample = await take();
  samples.push(sample);
  if (values.json) process.stdout.write(`${JSON.stringify(sample)}\n`);
  else process.stdout.write(`${line(sample)}\n`);
}
const grown = verdict();
process.stdout.write(`${grown.length === 0 ? 'nothing grew' : grown.join('\n')}\n`);
for (const child of children) child.kill('SIGKILL');
await kv.close();
await etcd.stop();
process.exit(grown.length === 0 ? 0 : 1);

async function sampleOf(child: ChildProcess): Promise<{ rss: number; heapUsed: number; handles: number }> {
  child.send({ sample: true });
  for (;;) {
    const [message] = (await once(child, 'message')) as [
      { sample?: { rss: number; heapUsed: number; handles: number } },
    ];
    if (message.sample !== undefined) return message.sample;
  }
}

async function take(): Promise<Sample> {
  const told = await Promise.all(children.map(sampleOf));
  const { dbSizeInUseBytes } = await kv.status();
  const sum = (of: (one: (typeof told)[number]) => number): number => told.reduce((total, one) => total + of(one), 0);
  return {
    atMs: Math.round(performance.now() - began),
    heapBytes: sum(({ heapUsed }) => heapUsed),
    rssBytes: sum(({ rss }) => rss),
    handles: sum(({ handles }) => handles),
    etcdBytes: dbSizeInUseBytes,
    acknowledged: load.acknowledged.length,
  };
}

/** The last quarter against the first one after the warm-up. */
function verdict(): string[] {
  const steady = samples.filter(({ atMs }) => atMs >= Math.min(WARM_MS, durationMs / 2));
  const quarter = Math.max(1, Math.floor(steady.length / 4));
  const mean = (part: readonly Sample[], of: (sample: Sample) => number): number =>
    part.reduce((total, sample) => total + of(sample), 0) / part.length;
  const limits: readonly (readonly [string, (sample: Sample) => number, number, number])[] = [
    ['heap of the workers', ({ heapBytes }) => heapBytes, 1.1, 4 * 2 ** 20],
    ['handles of the workers', ({ handles }) => handles, 1.1, 4],
    ['etcd in use', ({ etcdBytes }) => etcdBytes, 1.15, 4 * 2 ** 20],
  ];
  return limits.flatMap(([what, of, ratio, slack]) => {
    const [first, last] = [mean(steady.slice(0, quarter), of), mean(steady.slice(-quarter), of)];
    return last <= first * ratio + slack ? [] : [`${what} grew from ${Math.round(first)} to ${Math.round(last)}`];
  });
}

function line({ atMs, heapBytes, rssBytes, handles, etcdBytes, acknowledged }: Sample): string {
  const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return [
    `${(atMs / 60_000).toFixed(1)} min`,
    `heap ${mib(heapBytes)}`,
    `rss ${mib(rssBytes)}`,
    `${handles} handles`,
    `etcd ${mib(etcdBytes)}`,
    `${acknowledged} submitted`,
  ].join('  ');
}
