import { KvError, type KeyValue, type KvEvent, type LeaseId, type RangeRequest, type Revision } from './kv.js';
import { byteOrder, SortedMap } from './sorted-map.js';
import { intervalOf, type Interval } from './txn-check.js';

/**
 * The memory twin's multi-version store: live keys, the history of every key, and the log of revisions.
 *
 * 1. A request's writes share one revision, `revision + 1`, which exists for readers only after `commit`.
 * 2. A request that wrote nothing uses no revision.
 * 3. History below the compaction floor is dropped, as are deleted keys with nothing above it: memory is bounded by
 *    live keys plus what was written since the last compaction.
 * 4. `KeyValue` objects are never changed once made, so they are handed out as they are.
 */
export interface LoggedEvent {
  /** The key as a byte string. */
  readonly at: string;
  readonly event: KvEvent;
  /** The pair as it was before the request. */
  readonly prev: KeyValue | undefined;
}

export interface LoggedRevision {
  readonly revision: Revision;
  readonly events: readonly LoggedEvent[];
}

/** What a key was from `revision` on; undefined: deleted. */
interface Version {
  readonly revision: Revision;
  readonly kv: KeyValue | undefined;
}

export interface RangeRead {
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly count: number;
}

const VERSION_BYTES = 64;

export class Mvcc {
  /** A new etcd stands at 1. */
  #revision: Revision = 1n;
  #compacted: Revision = 0n;
  #live = new SortedMap<KeyValue>();
  #history = new SortedMap<Version[]>();
  #log: LoggedRevision[] = [];
  #pending: LoggedEvent[] = [];
  #bytes = 0;

  get revision(): Revision {
    return this.#revision;
  }

  get compacted(): Revision {
    return this.#compacted;
  }

  /** The size of all that is kept, history included; a model of etcd's database size, not a measure of memory. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): KeyValue | undefined {
    return this.#live.get(byteOrder(key));
  }

  /** Every live pair of the interval, until `visit` returns false. */
  scan({ from, to }: Interval, visit: (kv: KeyValue) => boolean | void): void {
    this.#live.scan(from, to, visit);
  }

  put(key: string, value: string, lease: LeaseId): { readonly before: LeaseId } {
    const at = byteOrder(key);
    const old = this.#live.get(at);
    const revision = this.#revision + 1n;
    const kv: KeyValue = {
      key,
      value,
      createRevision: old?.createRevision ?? revision,
      modRevision: revision,
      version: (old?.version ?? 0n) + 1n,
      lease,
    };
    this.#pending.push({ at, event: { type: 'put', kv }, prev: this.#before(at, old) });
    this.#live.set(at, kv);
    this.#remember(at, kv, revision);
    return { before: old?.lease ?? 0n };
  }

  /** Deletes the live keys of the interval, in order, and returns them. */
  delete({ from, to }: Interval): readonly KeyValue[] {
    const gone: { at: string; kv: KeyValue }[] = [];
    this.#live.scan(from, to, (kv, at) => void gone.push({ at, kv }));
    const revision = this.#revision + 1n;
    for (const { at, kv } of gone) {
      const tombstone = { key: kv.key, value: '', createRevision: 0n, modRevision: revision, version: 0n, lease: 0n };
      this.#pending.push({ at, event: { type: 'delete', kv: tombstone }, prev: this.#before(at, kv) });
      this.#live.delete(at);
      this.#remember(at, undefined, revision);
    }
    return gone.map(({ kv }) => kv);
  }

  /** Ends a request: its writes, if any, become the next revision. */
  commit(): LoggedRevision | undefined {
    if (this.#pending.length === 0) return undefined;
    this.#revision += 1n;
    const logged = { revision: this.#revision, events: this.#pending };
    this.#log.push(logged);
    this.#pending = [];
    return logged;
  }

  range(request: Omit<RangeRequest, 'serializable'>): RangeRead {
    const pinned = request.revision !== undefined && request.revision > 0n ? request.revision : undefined;
    if (pinned !== undefined && pinned > this.#revision) {
      throw new KvError('future-revision', `revision ${pinned} is newer than ${this.#revision}`);
    }
    if (pinned !== undefined && pinned < this.#compacted) {
      throw new KvError('compacted', `revision ${pinned} is compacted; the floor is ${this.#compacted}`);
    }
    const interval = intervalOf(request.key, request.rangeEnd);
    const historic = pinned !== undefined && pinned < this.#revision;
    return historic ? this.#rangeAt(interval, request, pinned) : this.#rangeLive(interval, request);
  }

  /** Forgets what was overwritten or deleted at or below `revision`. The log keeps `revision` itself. */
  compact(revision: Revision): void {
    if (revision > this.#revision) {
      throw new KvError('future-revision', `cannot compact at ${revision}: the newest revision is ${this.#revision}`);
    }
    if (revision <= this.#compacted) return;
    this.#compacted = revision;
    let dropped = 0;
    for (const logged of this.#log) {
      if (logged.revision > revision) break;
      for (const { at } of logged.events) this.#forget(at, revision);
      if (logged.revision < revision) dropped += 1;
    }
    this.#log.splice(0, dropped);
  }

  /** The logged revisions from `from` on, at most `limit` of them. */
  revisionsFrom(from: Revision, limit: number): readonly LoggedRevision[] {
    let low = 0;
    let high = this.#log.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#log[middle] as LoggedRevision).revision < from) low = middle + 1;
      else high = middle;
    }
    return this.#log.slice(low, low + limit);
  }

  #rangeLive({ from, to }: Interval, { limit = 0, keysOnly, countOnly }: RangeRequest): RangeRead {
    const kvs: KeyValue[] = [];
    const count = this.#live.count(from, to);
    if (countOnly === true || count === 0) return { kvs, more: false, count };
    this.#live.scan(from, to, (kv) => {
      kvs.push(keysOnly === true ? { ...kv, value: '' } : kv);
      return kvs.length !== limit;
    });
    return { kvs, more: count > kvs.length, count };
  }

  #rangeAt({ from, to }: Interval, request: RangeRequest, revision: Revision): RangeRead {
    const { limit = 0, keysOnly, countOnly } = request;
    const kvs: KeyValue[] = [];
    let count = 0;
    this.#history.scan(from, to, (versions) => {
      const kv = versionAt(versions, revision)?.kv;
      if (kv === undefined) return;
      count += 1;
      if (countOnly === true || (limit > 0 && kvs.length >= limit)) return;
      kvs.push(keysOnly === true ? { ...kv, value: '' } : kv);
    });
    return { kvs, more: countOnly !== true && count > kvs.length, count };
  }

  /** The pair as it was before this request, also when the request itself wrote `live`. */
  #before(at: string, live: KeyValue | undefined): KeyValue | undefined {
    if (live === undefined || live.modRevision <= this.#revision) return live;
    return this.#pending.find((logged) => logged.at === at)?.prev;
  }

  #remember(at: string, kv: KeyValue | undefined, revision: Revision): void {
    const versions = this.#history.get(at);
    this.#bytes += versionBytes(at, kv);
    if (versions === undefined) this.#history.set(at, [{ revision, kv }]);
    else versions.push({ revision, kv });
  }

  #forget(at: string, revision: Revision): void {
    const versions = this.#history.get(at);
    if (versions === undefined) return;
    let keep = 0;
    while (keep + 1 < versions.length && (versions[keep + 1] as Version).revision <= revision) keep += 1;
    const oldest = versions[keep] as Version;
    if (oldest.kv === undefined && oldest.revision <= revision) keep += 1;
    for (const version of versions.splice(0, keep)) this.#bytes -= versionBytes(at, version.kv);
    if (versions.length === 0) this.#history.delete(at);
  }
}

function versionAt(versions: readonly Version[], revision: Revision): Version | undefined {
  for (let index = versions.length - 1; index >= 0; index -= 1) {
    const version = versions[index] as Version;
    if (version.revision <= revision) return version;
  }
  return undefined;
}

function versionBytes(at: string, kv: KeyValue | undefined): number {
  return VERSION_BYTES + at.length + (kv?.value.length ?? 0);
}
