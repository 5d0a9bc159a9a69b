/**
 * The `leader` key: who may promote, rescue, fire, retain and repair in this namespace.
 *
 * L1  The key is created, never overwritten, by a node under its own session's lease: with the session the office ends.
 * L2  Every write of a leader compares the key's create revision and lease (I8), and all that its session's fence
 *     compares (the epoch, which a restore raises): after the office has ended, also while the process was paused and does
 *     not know it, nothing of it commits.
 */
import type { KeyValue, Revision } from '../kv/kv.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import type { Actor, LeaderRecord } from '../model/records.js';
import type { Holder } from './claim.js';
import type { Fence } from './commit.js';
import { absent, createdAt, del, found, get, leaseIs, put, type Store } from './store.js';

/**
 * How long a leader's write is tried while the store does not answer. Short: every duty looks again, and a leader that
 * stops must not be held up.
 */
export const LEADER_CALL = Object.freeze({ giveUpMs: 5_000 });

/** The office, as its holder has it. */
export interface Leadership {
  readonly node: string;
  readonly sinceMs: number;
  /** Create revision of the `leader` key: every term has another. */
  readonly term: Revision;
  /** Of its node's session. */
  readonly lease: bigint;
  readonly actor: Actor;
  readonly fence: Fence;
}

export interface SeenLeader {
  readonly record: LeaderRecord;
  readonly term: Revision;
  readonly lease: bigint;
}

export type Campaign =
  | { readonly kind: 'elected'; readonly leadership: Leadership; readonly revision: Revision }
  | { readonly kind: 'taken'; readonly leader: SeenLeader; readonly revision: Revision }
  /** The key went away while it was asked for; ask again. */
  | { readonly kind: 'open'; readonly revision: Revision }
  /** The session is over. */
  | { readonly kind: 'fenced' };

/** Takes the office if it is free. A reply that got lost is no loss: the key shows whose it is. */
export async function campaign(store: Store, holder: Holder): Promise<Campaign> {
  const key = store.keys.leader();
  const record: LeaderRecord = { node: holder.node, sinceMs: store.now() };
  const result = await store.committer.submit(holder.fence, {
    compare: [absent(key)],
    success: [put(key, encodeRecord(record), holder.lease)],
    failure: [get(key)],
  });
  if (result.kind === 'fenced') return { kind: 'fenced' };
  const { revision } = result;
  if (result.succeeded) return { kind: 'elected', leadership: office(store, record, revision, holder), revision };
  const kv = found(result.results, 0);
  if (kv === undefined) return { kind: 'open', revision };
  const leader = decodeLeader(kv);
  if (leader.record.node === holder.node && leader.lease === holder.lease) {
    return { kind: 'elected', leadership: office(store, leader.record, leader.term, holder), revision };
  }
  return { kind: 'taken', leader, revision };
}

function office(store: Store, record: LeaderRecord, term: Revision, holder: Holder): Leadership {
  const key = store.keys.leader();
  return {
    node: record.node,
    sinceMs: record.sinceMs,
    term,
    lease: holder.lease,
    actor: { kind: 'leader', name: record.node },
    fence: {
      id: `leader/${term}`,
      compare: [createdAt(key, term), leaseIs(key, holder.lease), ...holder.fence.compare],
    },
  };
}

/** Gives the office up, so that the next leader need not wait for the lease. False when it was over already. */
export async function resign(store: Store, leadership: Leadership): Promise<boolean> {
  const key = store.keys.leader();
  const result = await store.committer.submit(
    leadership.fence,
    { compare: [createdAt(key, leadership.term)], success: [del(key)] },
    { giveUpMs: RESIGN_MS },
  );
  return result.kind === 'answered' && result.succeeded;
}

/** Not worth more time at shutdown: the lease ends soon anyway. */
const RESIGN_MS = 2_000;

export async function readLeader(store: Store): Promise<{ readonly leader?: SeenLeader; readonly revision: Revision }> {
  const answer = await store.kv.range({ key: store.keys.leader() });
  const [kv] = answer.kvs;
  if (kv === undefined) return { revision: answer.revision };
  return { leader: decodeLeader(kv), revision: answer.revision };
}

export function decodeLeader(kv: KeyValue): SeenLeader {
  return { record: decodeRecord<LeaderRecord>(kv.value, 'leader'), term: kv.createRevision, lease: kv.lease };
}
