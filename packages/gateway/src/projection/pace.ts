/** The windows of rate limits as of the board's revision: which is open, what was taken, and when there is room again. */
import {
  decodeRecord,
  rateUntilMs,
  type RateLimit,
  type RateUnitRecord,
  type WindowRecord,
} from '@leasehold/core/model';
import type { KeyValue } from '@leasehold/core/kv';

interface RateKey {
  readonly limit: string;
  readonly window: number;
  readonly n: number;
}

interface Pace {
  open: { readonly window: number; readonly record: WindowRecord } | undefined;
  /** `<window>/<n>` to the time at which it was taken, by its node's clock. */
  readonly taken: Map<string, { readonly window: number; readonly atMs: number }>;
}

export class RateWindows {
  readonly #paces = new Map<string, Pace>();

  put({ limit, window, n }: RateKey, kv: KeyValue): void {
    let pace = this.#paces.get(limit);
    if (pace === undefined) this.#paces.set(limit, (pace = { open: undefined, taken: new Map() }));
    if (n === 0) pace.open = { window, record: decodeRecord<WindowRecord>(kv.value, 'rate window') };
    else {
      const { atMs } = decodeRecord<RateUnitRecord>(kv.value, 'rate unit');
      pace.taken.set(`${window}/${n}`, { window, atMs });
    }
  }

  remove({ limit, window, n }: RateKey): void {
    const pace = this.#paces.get(limit);
    if (pace === undefined) return;
    if (n > 0) pace.taken.delete(`${window}/${n}`);
    else if (pace.open?.window === window) pace.open = undefined;
    if (pace.open === undefined && pace.taken.size === 0) this.#paces.delete(limit);
  }

  clear(): void {
    this.#paces.clear();
  }

  /** Until when nothing begins under this limit, about; undefined while there is room. */
  untilMs(limit: string, rate: RateLimit, nowMs: number): number | undefined {
    const { open, taken } = this.#paces.get(limit) ?? {};
    return rateUntilMs(rate, open, [...(taken?.values() ?? [])], nowMs);
  }
}
