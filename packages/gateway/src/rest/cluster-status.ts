/** etcd and the feed that the board lives on. */
import { judgeStorage, STORAGE_DEFAULTS } from '@leasehold/core/model';
import type { ClusterStatus } from '@leasehold/wire';
import { compactionFloor } from '../past/clock-samples.js';
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
    ...(floor === undefined || floor === 0n ? {} : { compactedRevision: floor.toString() }),
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
