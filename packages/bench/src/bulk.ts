/** Many failed tasks retried as one bulk: what a runner does in a second, and how long others wait beside it. */
import {
  cancelTask,
  createBulk,
  createStore,
  readBulk,
  runChunk,
  submitTask,
  takeRunner,
  type SeenBulk,
  type Store,
} from '@leasehold/core/store';
import { normalizeSignature, type Actor, type BulkTarget } from '@leasehold/core/model';
import type { Bench } from './bench.js';
import { medianOfRounds, percentile, type Figure, type Readings } from './figures.js';
import { each } from './pace.js';
import { etcdConditions, machineConditions, openStage, readEtcdVersion } from './stage.js';

const ACTOR: Actor = { kind: 'operator', name: 'bench' };

export const bulk: Bench = {
  name: 'bulk',
  about: 'tasks retried by one bulk, and reads beside it',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const tasks = quick ? 1_000 : 10_000;
    const rounds = quick ? 1 : 3;
    const medians = await medianOfRounds([{ name: 'bulk', run: () => measure(tasks) }], rounds, progress);
    const etcd = etcdConditions({ version: await readEtcdVersion(), members: [] });
    const conditions = { ...machineConditions(), ...etcd, members: 1, tasks, rounds };
    return [...medians].map(([metric, value]): Figure => {
      return { bench: 'bulk', metric, value, unit: metric.endsWith('rate') ? 'tasks/s' : 'ms', conditions };
    });
  },
};

async function measure(tasks: number): Promise<Readings> {
  const stage = await openStage();
  const store = createStore(stage.kv, { namespace: 'bench' });
  try {
    const targets = await endedTasks(store, tasks);
    const { id: lease } = await stage.kv.leaseGrant(3_600);
    const fence = await takeRunner(store, lease);
    if (fence === undefined) throw new Error('the runner’s office is taken');
    const call = { actor: ACTOR, operationId: store.newId() };
    await createBulk(store, call, { action: 'retry', filter: {}, snapshot: 0n, targets });
    const reads = beside(store);
    const began = performance.now();
    let seen = await readBulk(store, call.operationId);
    while (seen !== undefined && seen.record.endedMs === undefined) {
      seen = (await runChunk(store, fence, seen)).bulk;
    }
    const seconds = (performance.now() - began) / 1_000;
    const waits = await reads.end();
    requireAll(seen, tasks);
    return { rate: tasks / seconds, 'read p50': percentile(waits, 0.5), 'read p99': percentile(waits, 0.99) };
  } finally {
    store.committer.close();
    await stage.end();
  }
}

function requireAll(seen: SeenBulk | undefined, tasks: number): void {
  if (seen?.record.done !== tasks) throw new Error(`${seen?.record.done ?? 0} of ${tasks} tasks were retried`);
}

async function endedTasks(store: Store, tasks: number): Promise<BulkTarget[]> {
  const targets: BulkTarget[] = [];
  await each(tasks, 256, async () => {
    const id = store.newId();
    await submitTask(store, ACTOR, normalizeSignature({ name: 'work', args: [], id }, {}, store.now()));
    const { revision } = await cancelTask(store, { actor: ACTOR, operationId: store.newId() }, id);
    targets.push([id, revision.toString()]);
  });
  return targets;
}

/** Somebody who looks at one record every few milliseconds. */
function beside(store: Store): { end(): Promise<readonly number[]> } {
  const waits: number[] = [];
  const stopping = new AbortController();
  const reading = (async () => {
    while (!stopping.signal.aborted) {
      const began = performance.now();
      await store.kv.range({ key: store.keys.leader() });
      waits.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    end: async () => {
      stopping.abort();
      await reading;
      return waits;
    },
  };
}
