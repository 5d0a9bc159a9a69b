/** Pure: how full a store is, and what follows from that. */
export interface StorageLimits {
  /** etcd's `--quota-backend-bytes`. Left out: what etcd's metrics say, or else its own default, 2 GiB. */
  readonly quotaBytes: number;
  /** Share of the quota above which new work is refused. */
  readonly softShare: number;
  /** How much history is kept, ms, and the least of it when room is short. */
  readonly historyMs: number;
  readonly minHistoryMs: number;
}

export const STORAGE_DEFAULTS: StorageLimits = Object.freeze({
  quotaBytes: 2 * 1024 ** 3,
  softShare: 0.6,
  historyMs: 1_800_000,
  minHistoryMs: 300_000,
});

export interface StorageReport {
  /** Of the file, which only defragmentation makes smaller. */
  readonly sizeBytes: number;
  /** Of what is in it, history included. */
  readonly inUseBytes: number;
  readonly quotaBytes: number;
  /** New work is refused; completions never are. */
  readonly full: boolean;
  readonly alarms: readonly string[];
  readonly advice: 'none' | 'defragment' | 'make-room';
}

/** Above this share of the quota the file itself is the danger: etcd counts the file, not what is in it. */
const FILE_SHARE = 0.9;

export function judgeStorage(
  measured: { readonly sizeBytes: number; readonly inUseBytes: number; readonly alarms: readonly string[] },
  limits: StorageLimits,
): StorageReport {
  const { quotaBytes, softShare } = limits;
  const { sizeBytes, inUseBytes, alarms } = measured;
  const crowded = inUseBytes >= softShare * quotaBytes;
  const full = crowded || sizeBytes >= FILE_SHARE * quotaBytes || alarms.includes('nospace');
  // A large file with little in it: the free pages are used again, but only defragmentation gives them back.
  const hollow = sizeBytes >= softShare * quotaBytes && !crowded;
  return {
    sizeBytes,
    inUseBytes,
    quotaBytes,
    full,
    alarms,
    advice: crowded ? 'make-room' : hollow ? 'defragment' : 'none',
  };
}

/** Less history the fuller the store is: all of it below two thirds of the soft limit, the least at the limit. */
export function historyFor(report: Pick<StorageReport, 'inUseBytes'>, windowMs: number, limits: StorageLimits): number {
  const soft = limits.softShare * limits.quotaBytes;
  const from = (soft * 2) / 3;
  const share = Math.min(1, Math.max(0, (report.inUseBytes - from) / (soft - from)));
  const least = Math.min(windowMs, limits.minHistoryMs);
  return Math.round(windowMs - share * (windowMs - least));
}
