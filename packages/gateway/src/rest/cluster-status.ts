/** etcd and the feed that the board lives on. */
import { judgeStorage, STORAGE_DEFAULTS } from '@leasehold/core/model';
import type { Store } from '@leasehold/core/store';
import type { ClusterStatus } from '@leasehold/wire';
import type { RouteContext } from './route.js';

export async function clusterStatus({ board, store }: RouteContext): Promise<ClusterStatus> {
  const options = { timeoutMs: 3_000 };
  const [status, members, alarms, floor] = await Promise.all([
    store.kv.status(options),
    store.kv.members(options),
    store.kv.alarms(options),
    compactionFloor(store),
  ]);
  const { quotaBytes: known, ...told } = status;
  const { quotaBytes, full, advice } = judgeStorage(
    {
      sizeBytes: status.dbSizeBytes,
      inUseBytes: status.dbSizeInUseBytes,
      alarms: alarms.map(({ alarm }) => alarm),
    },
    { ...STORAGE_DEFAULTS, quotaBytes: known ?? STORAGE_DEFAULTS.quotaBytes },
  );
  const { phase, revision, verifiedAtMs = 0 } = board.status;
  return {
    ...told,
    revision: status.revision.toString(),
    members: members.map(({ id, name, clientUrls, isLearner }) => ({
      id,
      name,
      clientUrls: [...clientUrls],
      isLearner,
    })),
    alarms: alarms.map((alarm) => ({ ...alarm })),
    namespace: store.keys.namespace,
    quotaBytes,
    quotaKnown: known !== undefined,
    softLimitBytes: Math.round(STORAGE_DEFAULTS.softShare * quotaBytes),
    full,
    advice,
    ...(floor === undefined ? {} : { compactedRevision: floor.toString() }),
    feed: {
      state: phase,
      revision: revision.toString(),
      verifiedMs: verifiedAtMs,
      generation: board.generation,
      relists: board.relists,
      rows: board.state.tasks.size,
      dropped: board.state.dropped,
    },
  };
}

const FLOOR_MS = 1_000;

/** No call asks etcd for it, but a watch from the first revision is refused with it. Any key will do. */
function compactionFloor(store: Store): Promise<bigint | undefined> {
  return new Promise((resolve) => {
    const finish = (floor: bigint | undefined): void => {
      clearTimeout(timer);
      queueMicrotask(() => watch.close());
      resolve(floor);
    };
    const timer = setTimeout(() => finish(undefined), FLOOR_MS);
    const watch = store.kv.watch({ key: store.keys.leader(), startRevision: 1n }, (message) => {
      finish(message.kind === 'compacted' ? message.compactRevision : undefined);
    });
    watch.requestProgress();
  });
}
