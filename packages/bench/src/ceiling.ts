/** What etcd alone does on this machine, through our seam: every other figure can be read as a share of it. */
import type { Kv, Op, Txn } from '@leasehold/core/kv';
import type { Bench } from './bench.js';
import { medianOfRounds, metricName, type Figure, type Readings, type Variant } from './figures.js';
import { keepBusy } from './pace.js';
import { etcdConditions, machineConditions, openStage } from './stage.js';

const PUT_LANES = [1, 16, 64, 256];
const BATCHES = [1, 8, 32, 64, 100];
/** Two requests under way, as the committer has. */
const NESTED_LANES = 2;
const VALUE = 'x'.repeat(300);

export const ceiling: Bench = {
  name: 'ceiling',
  about: 'puts/s and nested transactions/s of a bare etcd, by batch size',
  async run({ quick, progress }): Promise<readonly Figure[]> {
    const stage = await openStage();
    try {
      const forMs = quick ? 700 : 3_000;
      const rounds = quick ? 1 : 3;
      const names = new Names();
      const variants: readonly Variant[] = [
        ...PUT_LANES.map((lanes) => puts(stage.kv, lanes, forMs, names)),
        ...BATCHES.map((batch) => nested(stage.kv, batch, forMs, names)),
      ];
      await keepBusy(8, 300, () => put(stage.kv, names.next()));
      const medians = await medianOfRounds(variants, rounds, progress);
      const conditions = {
        ...machineConditions(),
        ...etcdConditions(stage.etcd),
        'value bytes': VALUE.length,
        seconds: forMs / 1000,
        rounds,
      };
      const best = Math.max(...PUT_LANES.map((lanes) => medians.get(metricName(putName(lanes), '')) ?? 0));
      return [...medians].map(([metric, value]) => {
        if (metric.includes('p50')) return { bench: 'ceiling', metric, value, unit: 'ms', conditions };
        const ratio = { ratioTo: 'best bare puts', ratio: value / best };
        return {
          bench: 'ceiling',
          metric,
          value,
          unit: metric.startsWith('put') ? 'puts/s' : 'txns/s',
          ...ratio,
          conditions,
        };
      });
    } finally {
      await stage.end();
    }
  },
};

class Names {
  #n = 0;
  next(): string {
    return `/bench/${String(this.#n++).padStart(12, '0')}`;
  }
}

const putName = (lanes: number): string => `puts, ${lanes} at once`;

function puts(kv: Kv, lanes: number, forMs: number, names: Names): Variant {
  return {
    name: putName(lanes),
    run: async (): Promise<Readings> => {
      const began: number[] = [];
      const { done, seconds } = await keepBusy(lanes, forMs, async () => {
        const at = performance.now();
        const count = await put(kv, names.next());
        began.push(performance.now() - at);
        return count;
      });
      if (lanes > 1) return { '': done / seconds };
      return { '': done / seconds, 'p50 of one': began.toSorted((a, b) => a - b)[began.length >> 1] ?? 0 };
    },
  };
}

async function put(kv: Kv, key: string): Promise<number> {
  await kv.txn({ compare: [], success: [{ kind: 'put', key, value: VALUE }] });
  return 1;
}

/**
 * Sub-transactions shaped like a transition: three compares, two puts and a delete, on keys of their own. One counts
 * each; a batch of one is what an unbatched scheduler could do at best with so few requests under way.
 */
function nested(kv: Kv, batch: number, forMs: number, names: Names): Variant {
  return {
    name: `transitions, ${batch} in a request`,
    run: async (): Promise<Readings> => {
      const { done, seconds } = await keepBusy(NESTED_LANES, forMs, async () => {
        const success = Array.from({ length: batch }, (): Op => ({ kind: 'txn', txn: transition(names.next()) }));
        const answer = await kv.txn({ compare: [], success });
        return answer.results.filter((result) => result.kind === 'txn' && result.succeeded).length;
      });
      return { '': done / seconds };
    },
  };
}

function transition(key: string): Txn {
  const absent = (suffix: string) => ({ key: key + suffix, target: 'create', value: 0n }) as const;
  return {
    compare: [absent(''), absent('/lock'), absent('/settings')],
    success: [
      { kind: 'put', key, value: VALUE },
      { kind: 'put', key: `${key}/ready`, value: 'x'.repeat(80) },
      { kind: 'delete', key: `${key}/lock` },
    ],
  };
}
