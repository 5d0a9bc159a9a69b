/**
 * etcd's quota of its file. No call of its API tells it before version 3.6; its metrics do, on the same port. Asked in the
 * background and seldom: who wants the status does not wait for it, and a metrics page that is not served, or needs a
 * certificate, only leaves the quota unknown.
 */
const FRESH_MS = 600_000;
const RETRY_MS = 60_000;
const TIMEOUT_MS = 2_000;
const LINE = /^etcd_server_quota_backend_bytes (\S+)$/m;

/** The quota that a metrics page tells, bytes. 0 there means etcd's own default of 2 GiB. */
export function quotaOf(metrics: string): number | undefined {
  const value = Number(LINE.exec(metrics)?.[1] ?? NaN);
  if (!Number.isFinite(value) || value < 0) return undefined;
  return value === 0 ? 2 * 1024 ** 3 : value;
}

export class Quota {
  #bytes: number | undefined;
  #askAt = -Infinity;
  readonly #closing = new AbortController();

  /** As last told; undefined while unknown. Asks again when that is long ago. */
  bytes(address: string): number | undefined {
    const now = performance.now();
    if (now >= this.#askAt && !this.#closing.signal.aborted) {
      this.#askAt = now + RETRY_MS;
      void this.#ask(address);
    }
    return this.#bytes;
  }

  close(): void {
    this.#closing.abort();
  }

  async #ask(address: string): Promise<void> {
    if (address.startsWith('https://')) return;
    const host = address.replace(/^http:\/\//, '');
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const answer = await fetch(`http://${host}/metrics`, { signal, redirect: 'error' });
      const quota = answer.ok ? quotaOf(await answer.text()) : undefined;
      if (quota === undefined) return;
      this.#bytes = quota;
      this.#askAt = performance.now() + FRESH_MS;
    } catch {
      // Unknown; asked again later.
    }
  }
}
