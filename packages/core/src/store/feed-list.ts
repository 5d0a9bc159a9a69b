import { KvError, type Kv, type KeyValue, type Revision } from '../kv/kv.js';

interface KeyRange {
  readonly key: string;
  readonly rangeEnd?: string;
}

/**
 * All keys of the ranges as of one revision, read in pages. With `take`, each page is given away as it comes, and none is
 * kept. @throws KvError `compacted` when it took too long.
 */
export async function listRanges(
  kv: Kv,
  ranges: readonly KeyRange[],
  pageSize: number,
  signal: AbortSignal,
  take?: (page: readonly KeyValue[]) => void,
): Promise<{ readonly revision?: Revision; readonly kvs: readonly KeyValue[] }> {
  const kvs: KeyValue[] = [];
  let revision: Revision | undefined;
  let limit = pageSize;
  for (const range of ranges) {
    let from: string | undefined = range.key;
    while (from !== undefined && !signal.aborted) {
      try {
        const page = await kv.range(
          {
            key: from,
            limit,
            ...(range.rangeEnd === undefined ? {} : { rangeEnd: range.rangeEnd }),
            ...(revision === undefined ? {} : { revision }),
          },
          { signal, timeoutMs: PAGE_TIMEOUT_MS },
        );
        revision ??= page.revision;
        if (take !== undefined) take(page.kvs);
        else for (const kv of page.kvs) kvs.push(kv);
        const last = page.kvs[page.kvs.length - 1];
        from = page.more && last !== undefined ? `${last.key}\0` : undefined;
      } catch (error) {
        // Few large values can be more than one reply may hold.
        if (!(error instanceof KvError && error.code === 'too-large') || limit <= 1) throw error;
        limit = Math.max(1, Math.floor(limit / 8));
      }
    }
  }
  return revision === undefined ? { kvs } : { revision, kvs };
}

const PAGE_TIMEOUT_MS = 20_000;
