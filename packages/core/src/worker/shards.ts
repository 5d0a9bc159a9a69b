/**
 * Which shards of a queue a node watches. Pure; every node that sees the same nodes comes to the same answer. While nodes
 * see different ones, a shard may have two owners or none for a moment: claims are guarded, and idle nodes steal, so
 * correctness never depends on this.
 *
 * A node's shards are one contiguous range, so that one watch covers them.
 */
import { hash32, SHARDS } from '../model/order.js';

export interface ShardSpan {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** The shards of `me` among the nodes that serve the queue. Nodes beyond the number of shards share one. */
export function shardsOf(me: string, nodes: readonly string[], shards: number = SHARDS): ShardSpan {
  const ranked = [...new Set([...nodes, me])].sort((a, b) => hash32(a) - hash32(b) || (a < b ? -1 : 1));
  const rank = ranked.indexOf(me);
  const count = ranked.length;
  if (count <= shards) {
    return { from: Math.floor((rank * shards) / count), to: Math.floor(((rank + 1) * shards) / count) };
  }
  const shard = Math.floor((rank * shards) / count);
  return { from: shard, to: shard + 1 };
}

/** Every shard: an ordered queue is one line, whatever the number of its nodes. */
export const ALL_SHARDS: ShardSpan = Object.freeze({ from: 0, to: SHARDS });

export function sameSpan(a: ShardSpan, b: ShardSpan): boolean {
  return a.from === b.from && a.to === b.to;
}

/** The shards outside a span. */
export function othersOf(span: ShardSpan, shards: number = SHARDS): readonly number[] {
  return Array.from({ length: shards }, (_, shard) => shard).filter((shard) => shard < span.from || shard >= span.to);
}
