/** How full the store is, as this process last saw it; asked before new work is taken in. */
import type { Kv } from '../kv/kv.js';
import { LeaseholdError } from '../model/errors.js';
import { judgeStorage, STORAGE_DEFAULTS, type StorageLimits, type StorageReport } from '../model/storage.js';

export interface StorageMeterOptions extends Partial<StorageLimits> {
  /** How long a measurement is good for, ms. Default 5000. */
  readonly freshMs?: number;
  /** Monotonic ms. */
  readonly now?: () => number;
}

const FRESH_MS = 5_000;

/**
 * Measures at most once in a while, however often it is asked. A store that does not answer is not called full: the
 * submission itself will find out.
 */
export class StorageMeter {
  /** As set; the quota as etcd tells it, when none was set, is in the report. */
  readonly limits: StorageLimits;
  readonly #quotaBytes: number | undefined;
  readonly #kv: Kv;
  readonly #freshMs: number;
  readonly #now: () => number;
  #last: { readonly report: StorageReport; readonly at: number } | undefined;
  #measuring: Promise<StorageReport> | undefined;

  /** @throws LeaseholdError `invalid`. */
  constructor(kv: Kv, options: StorageMeterOptions = {}) {
    const { freshMs = FRESH_MS, now = () => performance.now(), ...limits } = options;
    this.limits = checkLimits({ ...STORAGE_DEFAULTS, ...limits });
    this.#quotaBytes = options.quotaBytes;
    this.#kv = kv;
    this.#freshMs = freshMs;
    this.#now = now;
  }

  /** The last report, measured anew when it is old. @throws KvError when the store does not answer. */
  report(): Promise<StorageReport> {
    const last = this.#last;
    if (last !== undefined && this.#now() - last.at < this.#freshMs) return Promise.resolve(last.report);
    this.#measuring ??= this.#measure().finally(() => (this.#measuring = undefined));
    return this.#measuring;
  }

  get last(): StorageReport | undefined {
    return this.#last?.report;
  }

  /** Whether new work is taken in. Never waits for longer than the first measurement. */
  async admits(): Promise<boolean> {
    const measuring = this.report();
    const last = this.#last;
    if (last === undefined) return measuring.then(({ full }) => !full).catch(() => true);
    measuring.catch(() => undefined);
    return !last.report.full;
  }

  /** @throws LeaseholdError `storage-full`: nothing was acknowledged. */
  async admit(): Promise<void> {
    if (await this.admits()) return;
    const {
      sizeBytes = 0,
      inUseBytes = 0,
      quotaBytes,
      alarms = [],
    } = { quotaBytes: this.limits.quotaBytes, ...this.last };
    const percent = Math.round((100 * inUseBytes) / quotaBytes);
    const limit = Math.round(100 * this.limits.softShare);
    throw new LeaseholdError(
      'storage-full',
      `the store is ${percent} % full (limit for new work: ${limit} % of ${quotaBytes} bytes); running work goes on. ` +
        'Lower the retention, wait for the janitor, defragment etcd, or raise its quota and quotaBytes',
      { sizeBytes, inUseBytes, quotaBytes, alarms },
    );
  }

  async #measure(): Promise<StorageReport> {
    const [status, alarms] = await Promise.all([this.#kv.status(), this.#kv.alarms()]);
    const measured = {
      sizeBytes: status.dbSizeBytes,
      inUseBytes: status.dbSizeInUseBytes,
      alarms: [...new Set(alarms.map(({ alarm }) => alarm))],
    };
    const quotaBytes = this.#quotaBytes ?? status.quotaBytes ?? this.limits.quotaBytes;
    const report = judgeStorage(measured, { ...this.limits, quotaBytes });
    this.#last = { report, at: this.#now() };
    return report;
  }
}

function checkLimits(limits: StorageLimits): StorageLimits {
  const { quotaBytes, softShare, historyMs, minHistoryMs } = limits;
  const wrong = (field: string, value: number, rule: string): LeaseholdError =>
    new LeaseholdError('invalid', `${field}: ${value} is not ${rule}`, { field, value });
  if (!(quotaBytes > 0)) throw wrong('quotaBytes', quotaBytes, 'a number of bytes above 0');
  if (!(softShare > 0 && softShare <= 0.9)) throw wrong('softShare', softShare, 'above 0 and at most 0.9');
  if (!(minHistoryMs >= 60_000)) throw wrong('minHistoryMs', minHistoryMs, 'at least 60000 ms');
  if (!(historyMs >= minHistoryMs)) throw wrong('historyMs', historyMs, `at least minHistoryMs (${minHistoryMs} ms)`);
  return Object.freeze(limits);
}
