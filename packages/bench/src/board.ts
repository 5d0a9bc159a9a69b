/**
 * The board under load: many tasks, many changes a second on a real etcd, the real dashboard, the task list in Chromium.
 * From a commit's reply to its row in the page; what the page's main thread and the gateway do meanwhile; what one viewer
 * is sent; fifty viewers.
 */
import { loadavg } from 'node:os';
import { BoardPage } from './board-page.js';
import { BoardProcess } from './board-process.js';
import { record, Seed, type SeededTask } from './board-seed.js';
import { Viewers } from './board-viewers.js';
import type { Bench } from './bench.js';
import { percentile, type Figure } from './figures.js';
import { etcdConditions, machineConditions, openStage, type Stage } from './stage.js';

const NAMESPACE = 'bench';
const BATCHES_A_SECOND = 20;
const VIEWERS = 50;

interface Size {
  readonly live: number;
  readonly ended: number;
  readonly changesPerS: number;
  readonly seconds: number;
}

const FULL: Size = { live: 100_000, ended: 100_000, changesPerS: 1_000, seconds: 20 };
const QUICK: Size = { live: 5_000, ended: 5_000, changesPerS: 200, seconds: 5 };

type Add = (metric: string, value: number, unit: string) => void;

export const board: Bench = {
  name: 'board',
  about: 'the dashboard in Chromium with 100 000 live and as many ended tasks, 1 000 changes/s, 50 viewers',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const size = quick ? QUICK : FULL;
    const stage = await openStage();
    const figures: Figure[] = [];
    const conditions = {
      ...machineConditions(),
      ...etcdConditions(stage.etcd),
      'live tasks': size.live,
      'ended tasks': size.ended,
      'changes/s': size.changesPerS,
      // Others on the machine make every time longer: a reader should know.
      'load average': Number((loadavg()[0] ?? 0).toFixed(1)),
    };
    const add: Add = (metric, value, unit) => {
      figures.push({ bench: 'board', metric, value, unit, conditions });
      progress(`${metric}: ${value.toFixed(1)} ${unit}`);
    };
    try {
      await measure(stage, size, add, progress);
    } finally {
      await stage.end();
    }
    return figures;
  },
};

async function measure(stage: Stage, size: Size, add: Add, progress: (text: string) => void): Promise<void> {
  const seed = new Seed(stage.kv, NAMESPACE);
  progress(`writing ${size.live + size.ended} tasks`);
  const tasks = await seed.write(size.live, size.ended, Date.now());
  const began = performance.now();
  const dashboard = await BoardProcess.start(stage.endpoints, NAMESPACE);
  try {
    await listed(dashboard.url, tasks.length);
    add('start until all tasks are listed', performance.now() - began, 'ms');
    const idle = await dashboard.cost();
    add('gateway, longest block while listing', idle.blockedMs, 'ms');
    add('gateway, RSS peak while listing', idle.rssPeakBytes / 1024 ** 2, 'MiB');
    add('gateway, RSS', idle.rssBytes / 1024 ** 2, 'MiB');
    const page = await BoardPage.open(dashboard.url);
    try {
      add('page, first rows', page.firstRowsMs, 'ms');
      add('page, rows in the DOM', await page.rows(), 'rows');
      await underLoad('one viewer', { page, dashboard, seed, tasks, size }, add);
      const viewers = await Viewers.open(dashboard.url, VIEWERS - 1);
      await underLoad(`${VIEWERS} viewers`, { page, dashboard, seed, tasks, size }, add);
      add(`${VIEWERS} viewers, watches in etcd`, await watches(stage), 'watches');
      viewers.close();
    } finally {
      await page.close();
    }
  } finally {
    await dashboard.stop();
  }
}

interface Load {
  readonly page: BoardPage;
  readonly dashboard: BoardProcess;
  readonly seed: Seed;
  readonly tasks: readonly SeededTask[];
  readonly size: Size;
}

/** Every batch changes one row that is in view, so that its way can be timed, and as many others as make up the rate. */
async function underLoad(what: string, { page, dashboard, seed, tasks, size }: Load, add: Add): Promise<void> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const visible = (await page.ids()).flatMap((id) => byId.get(id) ?? []);
  const perBatch = size.changesPerS / BATCHES_A_SECOND;
  const commits = new Map<string, number>();
  await page.read();
  page.bytes();
  const before = await dashboard.cost();
  const began = performance.now();
  const sending: Promise<void>[] = [];
  for (let n = 0; n < size.seconds * BATCHES_A_SECOND; n++) {
    const mark = `mark-${n}${Math.floor(performance.now())}`;
    const records = Array.from({ length: perBatch - 1 }, (_, i) => {
      const task = tasks[(n * 7_919 + i * 104_729) % tasks.length] as SeededTask;
      return record(task, n + i, (n + i) % 2 === 0 ? 'STARTED' : 'PENDING');
    });
    const marked = visible[n % visible.length];
    const kept = new Map(records.filter(({ id }) => id !== marked?.id).map((each) => [each.id, each]));
    const batch = marked === undefined ? [...kept.values()] : [record(marked, n, 'STARTED', mark), ...kept.values()];
    sending.push(seed.put(batch).then(() => void commits.set(mark, Date.now())));
    await new Promise((resolve) =>
      setTimeout(resolve, began + ((n + 1) * 1_000) / BATCHES_A_SECOND - performance.now()),
    );
  }
  await Promise.all(sending);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const seconds = (performance.now() - began) / 1_000;
  const after = await dashboard.cost();
  const reading = await page.read();
  const delays = [...commits].flatMap(([mark, atMs]) => {
    const shown = reading.marks[mark];
    return shown === undefined ? [] : [Math.max(0, shown - atMs)];
  });
  add(`${what}, commit to row p50`, percentile(delays, 0.5), 'ms');
  add(`${what}, commit to row p95`, percentile(delays, 0.95), 'ms');
  add(`${what}, marks that came into the page`, (delays.length / commits.size) * 100, '%');
  add(`${what}, tasks of the main thread > 50 ms`, reading.long.length, 'tasks');
  add(`${what}, the longest of them`, Math.max(0, ...reading.long), 'ms');
  add(`${what}, gateway CPU`, ((after.cpuMs - before.cpuMs) / (seconds * 1_000)) * 100, '% of a core');
  add(`${what}, gateway, longest block`, after.blockedMs, 'ms');
  add(`${what}, gateway, RSS`, after.rssBytes / 1024 ** 2, 'MiB');
  add(`${what}, bytes to a viewer`, page.bytes() / seconds / 1_000, 'kB/s');
}

/** The API answers only when the first list is whole. */
async function listed(url: string, tasks: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/api/v1/tasks?limit=1`).catch(() => undefined);
    const body = answer?.ok === true ? ((await answer.json()) as { readonly total: number }) : undefined;
    if ((body?.total ?? 0) >= tasks) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function watches(stage: Stage): Promise<number> {
  const text = await (await fetch(`${stage.endpoints[0]}/metrics`)).text();
  return Number(/^etcd_debugging_mvcc_watcher_total (\d+)/m.exec(text)?.[1] ?? Number.NaN);
}
