/**
 * Workflows: the hop from one step of a chain to the next, against one bare put to etcd; and members a second of groups of
 * growing size with a chord's callback. Time per member is to stay flat: nothing reads all members for each member.
 */
import {
  chain,
  chord,
  connect,
  defineTask,
  handle,
  silentLogger,
  startNode,
  type Client,
  type SchedulerNode,
} from '@leasehold/core';
import type { Bench } from './bench.js';
import { medianOfRounds, metricName, percentile, type Figure, type Readings, type Variant } from './figures.js';
import { etcdConditions, machineConditions, openStage, readEtcdVersion, type Stage } from './stage.js';

const step = defineTask('step', { queue: 'bench', args: ['int64'], variadic: 'int64', results: ['int64'] });
const count = defineTask('count', { queue: 'bench', variadic: 'int64', results: ['int64'] });
const PUT = 'one bare put to etcd';

interface Rig {
  readonly stage: Stage;
  readonly node: SchedulerNode;
  readonly client: Client;
  close(): Promise<void>;
}

async function openRig(): Promise<Rig> {
  const stage = await openStage();
  const node = await startNode({
    etcd: { endpoints: stage.endpoints },
    namespace: 'bench',
    concurrency: 256,
    logger: silentLogger,
    handlers: [handle(step, ([n]) => n), handle(count, (values) => BigInt(values.length))],
  });
  const client = connect({ kv: stage.kv, namespace: 'bench' });
  // The first task waits for session, shards and leader; the rest does not.
  await (await client.submit(step.signature([0n]))).result({ timeoutMs: 30_000 });
  return {
    stage,
    node,
    client,
    close: async () => {
      await node.stop({ deadlineMs: 0 });
      await client.close();
      await stage.end();
    },
  };
}

function withRig(name: string, measure: (rig: Rig) => Promise<Readings>): Variant {
  return {
    name,
    run: async () => {
      const rig = await openRig();
      try {
        return await measure(rig);
      } finally {
        await rig.close();
      }
    },
  };
}

/** Steps one after another on an idle system: nothing else to batch with. */
function chainOf(steps: number): Variant {
  return withRig(`chain of ${steps}`, async ({ client }) => {
    const began = performance.now();
    const workflow = chain(
      Array.from({ length: steps }, (_, i) => (i === 0 ? step.signature([1n]) : step.partial([1n]))),
    );
    await (await client.submit(workflow)).result({ timeoutMs: 600_000 });
    return { 'a hop': (performance.now() - began) / steps };
  });
}

function groupOf(members: number): Variant {
  return withRig(`group of ${members} with a chord`, async ({ client }) => {
    const began = performance.now();
    const header = Array.from({ length: members }, (_, i) => step.signature([BigInt(i)]));
    const handleOn = await client.submit(chord(header, count.partial([])));
    const acknowledged = performance.now() - began;
    const [seen] = await handleOn.result({ timeoutMs: 600_000 });
    if (seen !== BigInt(members)) throw new Error(`the callback saw ${String(seen)} of ${members} results`);
    const all = performance.now() - began;
    return { 'a member': all / members, 'members a second': (members / all) * 1000, 'submitted after': acknowledged };
  });
}

function barePut(samples: number): Variant {
  return {
    name: PUT,
    run: async () => {
      const stage = await openStage();
      try {
        const times: number[] = [];
        for (let n = 0; n < samples; n++) {
          const began = performance.now();
          await stage.kv.txn({ compare: [], success: [{ kind: 'put', key: `/put/${n}`, value: 'x'.repeat(300) }] });
          times.push(performance.now() - began);
        }
        return { '': percentile(times, 0.5) };
      } finally {
        await stage.end();
      }
    },
  };
}

export const chains: Bench = {
  name: 'chain',
  about: 'the hop from one step of a chain to the next, against one bare put',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const sizes = quick ? [10, 50] : [10, 100, 1_000];
    const rounds = quick ? 1 : 3;
    const medians = await medianOfRounds([barePut(quick ? 100 : 400), ...sizes.map(chainOf)], rounds, progress);
    const put = medians.get(PUT) ?? Number.NaN;
    const conditions = {
      ...machineConditions(),
      ...etcdConditions({ version: await readEtcdVersion(), members: [] }),
      members: 1,
      rounds,
    };
    return [...medians].map(([metric, value]) => ({
      bench: 'chain',
      metric,
      value,
      unit: 'ms',
      ratioTo: PUT,
      ratio: value / put,
      conditions,
    }));
  },
};

export const groups: Bench = {
  name: 'group',
  about: 'time per member of groups of growing size, with a chord: flat is what is wanted',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    // A chord's callback counts towards the limit of 10 000 tasks.
    const sizes = quick ? [10, 200] : [10, 1_000, 9_999];
    const rounds = quick ? 1 : 3;
    const medians = await medianOfRounds(sizes.map(groupOf), rounds, progress);
    const middle = metricName(`group of ${sizes[1] ?? 0} with a chord`, 'a member');
    const conditions = {
      ...machineConditions(),
      ...etcdConditions({ version: await readEtcdVersion(), members: [] }),
      members: 1,
      rounds,
    };
    return [...medians].map(([metric, value]): Figure => {
      const base = { bench: 'group', metric, value, conditions };
      if (metric.endsWith('members a second')) return { ...base, unit: 'members/s' };
      if (!metric.endsWith('a member')) return { ...base, unit: 'ms' };
      return { ...base, unit: 'ms', ratioTo: middle, ratio: value / (medians.get(middle) ?? Number.NaN) };
    });
  },
};
