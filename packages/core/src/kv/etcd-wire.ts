import type { WatchRequest } from './kv.js';

/**
 * etcd's rarer messages as `etcd3`'s proto loader reads and writes them: bytes as buffers, 64-bit integers as decimal
 * strings. Enums are sent as NUMBERS: a name that the bundled proto does not know silently becomes 0. Those of the hot
 * path (ranges, transactions, what a watch receives) are in `etcd-encode.ts` and `etcd-decode.ts`.
 */
export interface WireHeader {
  readonly cluster_id: string;
  readonly member_id: string;
  readonly revision: string;
  readonly raft_term: string;
}

/** Values of etcd's protocol, not of a library; a test compares them with what `etcd3` exports. */
export const COMPARE_RESULT = { '=': 0, '>': 1, '<': 2, '!=': 3 } as const;
export const COMPARE_TARGET = { version: 0, create: 1, mod: 2, value: 3, lease: 4 } as const;
export const WATCH_FILTER = { 'no-put': 0, 'no-delete': 1 } as const;

export function encodeWatch(request: WatchRequest, watchId: number): object {
  return {
    create_request: {
      key: Buffer.from(request.key),
      ...(request.rangeEnd === undefined ? {} : { range_end: Buffer.from(request.rangeEnd) }),
      start_revision: request.startRevision.toString(),
      watch_id: watchId,
      fragment: true,
      progress_notify: true,
      prev_kv: request.prevKv ?? false,
      filters: request.filter === undefined ? [] : [WATCH_FILTER[request.filter]],
    },
  };
}

/** Ids of members and clusters are unsigned 64-bit numbers, shown in hexadecimal as etcdctl does. */
export function hexId(decimal: string): string {
  return BigInt(decimal).toString(16);
}
