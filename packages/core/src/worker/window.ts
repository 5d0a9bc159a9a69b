/**
 * The window of one queue: the ready entries of the owned shards that may be claimed, in order, and what is known of the
 * others. Fed by a watch over all of it and by bounded reads from each shard's head on, so that a backlog of millions is
 * never held in memory.
 *
 * W1  Only claimable entries count. Those that are locked, or blocked by a limit or a paused name, are kept as bare ids,
 *     unknown names and other nodes' labels not at all; reading goes on past them (5,000 running tasks hide nothing).
 * W2  An entry is judged by its mod revision: older news about it changes nothing, newer news makes it claimable again (a
 *     hand-back and a force-release rewrite it).
 * W3  Up to a shard's `horizon` every entry is known; behind it nothing is, and news of unknown entries there is dropped,
 *     because reading will come past them. While a read is under way all news of its shard waits, and is applied to the
 *     page as it came: neither a page nor the news can hide the other.
 * W4  An entry that somebody holds is remembered by (key, mod revision) until it is deleted, rewritten, or known to be
 *     unlocked.
 * W5  For an ordered queue everything is kept, in a `Line`: what comes first is known only to who knows all. Beyond the first
 *     thousands an entry is a bare id too.
 */
import type { Keys } from '../model/keys.js';
import { decodeReady, type ReadyEntry } from '../store/edge.js';
import type { Seen } from '../store/claim.js';
import type { KeyValue, KvEvent, Revision } from '../store/feed.js';
import { Heap } from './heap.js';
import { Line, type Sorted } from './line.js';
import type { ShardSpan } from './shards.js';

export type Place = 'ready' | 'taken' | 'held' | 'parked' | 'gone';

/** One ready entry. Those that cannot be claimed now are kept without `ready`; it is read again when they can. */
export interface Entry {
  readonly key: string;
  readonly shard: number;
  readonly order: number;
  readonly priority: number;
  /** Create revision of the entry: the commit that made the task ready. */
  readonly created: Revision;
  readonly id: string;
  revision: Revision;
  ready: ReadyEntry | undefined;
  /** The record, when it was read apart from the entry. */
  seen?: Seen | undefined;
  place: Place;
  /** What it waits for while parked. */
  reason: string;
  /** News came while it was taken: whatever the claim's outcome, it is looked at again. */
  renewed: boolean;
}

interface Shard {
  readonly shard: number;
  /** Last key that was read; undefined before the first page. */
  horizon: string | undefined;
  exhausted: boolean;
  /** News that waits for the end of a read. */
  waiting: KvEvent[] | undefined;
  ready: number;
}

export interface WindowOptions {
  readonly keys: Keys;
  /** W1: an entry that is refused here is forgotten. */
  readonly accepts: (entry: ReadyEntry) => boolean;
  /** Claimable entries of one shard at most, about. */
  readonly shardCapacity?: number;
  readonly maxParked?: number;
}

/** W5 */
const KEPT_WHOLE = 10_000;

const before = (a: Entry, b: Entry): boolean => a.order < b.order || (a.order === b.order && a.id < b.id);

export class Window {
  readonly #keys: Keys;
  readonly #accepts: (entry: ReadyEntry) => boolean;
  readonly #shardCapacity: number;
  readonly #maxParked: number;
  readonly #entries = new Map<string, Entry>();
  #ordered = false;
  #heap: Sorted<Entry> = new Heap<Entry>(before);
  readonly #parked = new Map<string, Sorted<Entry>>();
  #shards = new Map<number, Shard>();
  #locked: { readonly ids: ReadonlySet<string>; readonly revision: Revision } | undefined;
  #parkedCount = 0;
  #generation = 0;

  constructor(options: WindowOptions) {
    this.#keys = options.keys;
    this.#accepts = options.accepts;
    this.#shardCapacity = options.shardCapacity ?? 512;
    this.#maxParked = options.maxParked ?? 100_000;
  }

  /** Forgets everything. `locks`: who is locked, as read before anything else is. */
  reset(
    span: ShardSpan,
    locks: { readonly ids: ReadonlySet<string>; readonly revision: Revision },
    ordered = false,
  ): void {
    this.#generation += 1;
    this.#ordered = ordered;
    for (const entry of this.#entries.values()) entry.place = 'gone';
    this.#entries.clear();
    this.#heap = this.#sorted((entry) => entry.place === 'ready');
    this.#parked.clear();
    this.#parkedCount = 0;
    this.#locked = locks;
    this.#shards = new Map();
    for (let shard = span.from; shard < span.to; shard++) {
      this.#shards.set(shard, { shard, horizon: undefined, exhausted: false, waiting: undefined, ready: 0 });
    }
  }

  /** Claimable entries that are known. */
  get ready(): number {
    let count = 0;
    for (const { ready } of this.#shards.values()) count += ready;
    return count;
  }

  /** Everything there is in the owned shards is known. */
  get exhausted(): boolean {
    for (const { exhausted } of this.#shards.values()) if (!exhausted) return false;
    return this.#shards.size > 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  get parked(): number {
    return this.#parkedCount;
  }

  /** The claimable entry that comes first; it is the caller's until it says what became of it. */
  take(): Entry | undefined {
    for (let entry = this.#heap.pop(); entry !== undefined; entry = this.#heap.pop()) {
      if (entry.place !== 'ready') continue;
      this.#leave(entry);
      entry.place = 'taken';
      entry.renewed = false;
      return entry;
    }
    return undefined;
  }

  /** A claim found that somebody holds it (perhaps this worker, now), or that it is not to be claimed as it is (W4). */
  held(entry: Entry): void {
    if (entry.place !== 'taken') return;
    if (entry.renewed) return this.again(entry);
    entry.place = 'held';
    forget(entry);
  }

  /** It can be claimed after all. */
  again(entry: Entry): void {
    if (entry.place === 'gone' || entry.place === 'ready') return;
    if (entry.place === 'parked') this.#parkedCount -= 1;
    entry.place = 'ready';
    this.#enter(entry);
  }

  /** It waits for something that has a name: a limit, a setting. */
  park(entry: Entry, reason: string): void {
    if (entry.place !== 'taken') return;
    let heap = this.#parked.get(reason);
    if (heap === undefined) {
      heap = this.#sorted((parked) => parked.place === 'parked' && parked.reason === reason);
      this.#parked.set(reason, heap);
    }
    entry.place = 'parked';
    entry.reason = reason;
    forget(entry);
    this.#parkedCount += 1;
    heap.push(entry);
  }

  /** Those that wait for this can be looked at again, the first `count` of them. */
  unpark(reason: string, count = Infinity): number {
    const heap = this.#parked.get(reason);
    if (heap === undefined) return 0;
    let woken = 0;
    for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
      if (entry.place !== 'parked' || entry.reason !== reason) continue;
      this.again(entry);
      woken += 1;
      if (woken >= count) break;
    }
    if (heap.size === 0) this.#parked.delete(reason);
    return woken;
  }

  parkedReasons(): readonly string[] {
    return [...this.#parked.keys()];
  }

  /** Nodes were lost: what is not locked any more can be claimed. `mine` are held by this worker itself. */
  unlocked(
    locks: { readonly ids: ReadonlySet<string>; readonly revision: Revision },
    mine: (id: string) => boolean,
  ): void {
    this.#locked = locks;
    for (const entry of this.#entries.values()) {
      if (entry.place !== 'held' || locks.ids.has(entry.id) || mine(entry.id)) continue;
      this.again(entry);
    }
  }

  /** News from the watch. */
  change(event: KvEvent): void {
    const parsed = this.#keys.parse(event.kv.key);
    if (parsed?.kind !== 'ready') return;
    const shard = this.#shards.get(parsed.shard);
    if (shard === undefined) return;
    if (shard.waiting === undefined) this.#apply(shard, parsed, event);
    else shard.waiting.push(event);
  }

  /** Shards whose head should be read on, and from where. */
  wanting(): readonly { readonly shard: number; readonly from: string | undefined }[] {
    if (this.#parkedCount >= this.#maxParked && !this.#ordered) return [];
    const enough = this.#ordered ? Infinity : this.#shardCapacity / 2;
    return [...this.#shards.values()]
      .filter(({ exhausted, waiting, ready }) => !exhausted && waiting === undefined && ready < enough)
      .map(({ shard, horizon }) => ({ shard, from: horizon }));
  }

  /** A read of this shard begins (W3). The answer goes to the function it returns; undefined when it failed. */
  reading(shardNumber: number): (page: { kvs: readonly KeyValue[]; done: boolean; until: string } | undefined) => void {
    const generation = this.#generation;
    const shard = this.#shards.get(shardNumber);
    if (shard !== undefined) shard.waiting = [];
    return (page) => {
      if (generation !== this.#generation || shard === undefined) return;
      const news = shard.waiting ?? [];
      shard.waiting = undefined;
      if (page !== undefined) {
        for (const kv of page.kvs) this.#add(shard, kv);
        shard.horizon = page.done ? page.until : (page.kvs[page.kvs.length - 1]?.key ?? page.until);
      }
      for (const event of news) this.change(event);
    };
  }

  /** The last read reached the end of the shard: from now on the watch alone tells of new entries. */
  reachedEnd(shardNumber: number): void {
    const shard = this.#shards.get(shardNumber);
    if (shard !== undefined) shard.exhausted = true;
  }

  #apply(shard: Shard, parsed: { readonly order: number; readonly id: string }, { type, kv }: KvEvent): void {
    const known = this.#entries.get(kv.key);
    if (known !== undefined && known.revision >= kv.modRevision) return;
    if (type === 'delete') {
      if (known !== undefined) this.#remove(known);
      return;
    }
    if (known !== undefined) return this.#renew(known, kv);
    if (!shard.exhausted && (shard.horizon === undefined || kv.key > shard.horizon)) return;
    this.#insert(shard, parsed, kv);
    if (shard.exhausted && shard.ready > this.#shardCapacity * 4 && !this.#ordered) this.#shorten(shard);
  }

  #add(shard: Shard, kv: KeyValue): void {
    const known = this.#entries.get(kv.key);
    if (known !== undefined) {
      if (known.revision < kv.modRevision) this.#renew(known, kv);
      return;
    }
    const parsed = this.#keys.parse(kv.key);
    if (parsed?.kind === 'ready') this.#insert(shard, parsed, kv);
  }

  #insert(shard: Shard, parsed: { readonly order: number; readonly id: string }, kv: KeyValue): void {
    const ready = decodeReady(kv.value);
    if (!this.#accepts(ready)) return;
    const { order, id } = parsed;
    const locked = this.#locked !== undefined && kv.modRevision <= this.#locked.revision && this.#locked.ids.has(id);
    const entry: Entry = {
      key: kv.key,
      shard: shard.shard,
      order,
      priority: priorityOf(ready),
      created: kv.createRevision,
      id,
      revision: kv.modRevision,
      ready: locked || (this.#ordered && this.#entries.size > KEPT_WHOLE) ? undefined : ready,
      place: locked ? 'held' : 'ready',
      reason: '',
      renewed: false,
    };
    this.#entries.set(kv.key, entry);
    if (!locked) this.#enter(entry);
  }

  /** W2 */
  #renew(entry: Entry, kv: KeyValue): void {
    entry.revision = kv.modRevision;
    const ready = decodeReady(kv.value);
    if (!this.#accepts(ready)) return this.#remove(entry);
    entry.ready = ready;
    entry.seen = undefined;
    if (entry.place === 'taken') entry.renewed = true;
    else this.again(entry);
  }

  #sorted(wanted: (entry: Entry) => boolean): Sorted<Entry> {
    return this.#ordered ? new Line<Entry>(wanted) : new Heap<Entry>(before);
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key);
    if (entry.place === 'ready') this.#leave(entry);
    if (entry.place === 'parked') this.#parkedCount -= 1;
    entry.place = 'gone';
  }

  #enter(entry: Entry): void {
    const shard = this.#shards.get(entry.shard);
    if (shard !== undefined) shard.ready += 1;
    this.#heap.push(entry);
  }

  #leave(entry: Entry): void {
    const shard = this.#shards.get(entry.shard);
    if (shard !== undefined) shard.ready -= 1;
  }

  /** Too many came: keep the first, and read the rest again when they are wanted. */
  #shorten(shard: Shard): void {
    const ready = [...this.#entries.values()].filter((entry) => entry.place === 'ready' && entry.shard === shard.shard);
    ready.sort((a, b) => (before(a, b) ? -1 : 1));
    const last = ready[this.#shardCapacity - 1];
    if (last === undefined) return;
    for (const entry of ready.slice(this.#shardCapacity)) this.#remove(entry);
    this.#heap.keep((entry) => entry.place === 'ready');
    shard.horizon = last.key;
    shard.exhausted = false;
  }
}

export function priorityOf(ready: ReadyEntry): number {
  return ready.record?.priority ?? ready.priority ?? 0;
}

function forget(entry: Entry): void {
  entry.ready = undefined;
  entry.seen = undefined;
}
