/** Which revision it was at which time: `clock/` samples of the leader, about every half minute; and how far back history goes. */
import { prefixEnd } from '@leasehold/core/kv';
import type { Store } from '@leasehold/core/store';

export interface Sample {
  readonly revision: bigint;
  readonly atMs: number;
}

/** Samples that are looked at: a day's worth. */
const SAMPLES = 3_000;

/** Oldest first. */
export async function readSamples(store: Store): Promise<readonly Sample[]> {
  const key = store.keys.kind('clock');
  const day = store.keys.clock(Math.max(0, store.now() - SAMPLES * 30_000));
  const { kvs } = await store.kv.range({ key: day, rangeEnd: prefixEnd(key), keysOnly: true, limit: SAMPLES });
  return kvs.flatMap((kv) => {
    const parsed = store.keys.parse(kv.key);
    return parsed?.kind === 'clock' ? [{ revision: kv.createRevision, atMs: parsed.timeMs }] : [];
  });
}

/** The newest sample at or below a revision. */
export async function sampleAt(store: Store, revision: bigint): Promise<Sample | undefined> {
  return (await readSamples(store)).findLast((sample) => sample.revision <= revision);
}

const FLOOR_MS = 1_000;

/** No call asks etcd for it, but a watch from the first revision is refused with it. Any key will do. `0n`: nothing was compacted. */
export function compactionFloor(store: Store): Promise<bigint | undefined> {
  return new Promise((resolve) => {
    const finish = (floor: bigint | undefined): void => {
      clearTimeout(timer);
      queueMicrotask(() => watch.close());
      resolve(floor);
    };
    const timer = setTimeout(() => finish(undefined), FLOOR_MS);
    const watch = store.kv.watch({ key: store.keys.leader(), startRevision: 1n }, (message) => {
      finish(message.kind === 'compacted' ? message.compactRevision : message.kind === 'closed' ? undefined : 0n);
    });
    watch.requestProgress();
  });
}
