/**
 * The witness: one watch past all proxies from which the checker is fed, whole revisions at a time, while the chaos goes
 * on. What it has not seen is never compacted, so its history has no hole.
 */
import { prefixEnd, type Kv, type KvError, type Revision, type WatchHandle } from '../../src/kv/index.js';
import { decodeRecord } from '../../src/model/codec.js';
import { Keys } from '../../src/model/keys.js';
import type { LeaderRecord, NodeRecord, Settings } from '../../src/model/records.js';
import type { LockRecord } from '../../src/model/task.js';
import { byRevision, Checker, type HistoryRevision, type Violation } from '../../src/verify/index.js';

const RING = 20_000;

export class Recorder {
  readonly checker: Checker;
  readonly keys: Keys;
  /** Who holds which task now. */
  readonly locks = new Map<string, string>();
  /** Process ids of live nodes, by node id. */
  readonly pids = new Map<string, number>();
  leader: string | undefined;
  /** Keys of settings that pause something now, and when the last pause ended. */
  readonly paused = new Set<string>();
  resumedMs = Number.NEGATIVE_INFINITY;
  readonly #kv: Kv;
  readonly #ring: HistoryRevision[] = [];
  readonly #listeners = new Set<(revision: HistoryRevision) => void>();
  #watch: WatchHandle | undefined;
  #seen: Revision;
  #closed = false;
  #failure: unknown;

  constructor(kv: Kv, namespace: string, from: Revision) {
    this.#kv = kv;
    this.keys = new Keys(namespace);
    this.checker = new Checker({ namespace });
    this.#seen = from;
    this.#open();
  }

  /** Up to here everything has been checked; compaction may not go further. */
  get seen(): Revision {
    return this.#seen;
  }

  /** Set when the history could not be followed or judged: no verdict then, which is a failure of the run. */
  get failure(): unknown {
    return this.#failure;
  }

  get violations(): readonly Violation[] {
    return this.checker.violations;
  }

  listen(listener: (revision: HistoryRevision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves as soon as `holds` is true, which is looked at after every revision and every progress. */
  until(holds: () => boolean, signal: AbortSignal): Promise<boolean> {
    if (holds()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (value: boolean): void => {
        stop();
        signal.removeEventListener('abort', give);
        resolve(value);
      };
      const give = (): void => end(false);
      const stop = this.listen(() => holds() && end(true));
      signal.addEventListener('abort', give, { once: true });
      if (signal.aborted) give();
    });
  }

  /** The revisions, of those still kept, that touched one of these keys: the story of a violation. */
  story(keys: readonly string[]): readonly string[] {
    const wanted = new Set(keys);
    return this.#ring.flatMap(({ revision, events }) =>
      events.filter(({ kv }) => wanted.has(kv.key)).map(({ type, kv }) => `${revision} ${type} ${kv.key} ${kv.value}`),
    );
  }

  close(): void {
    this.#closed = true;
    this.#watch?.close();
  }

  #open(): void {
    const range = { key: this.keys.prefix, rangeEnd: prefixEnd(this.keys.prefix) };
    this.#watch = this.#kv.watch({ ...range, startRevision: this.#seen + 1n, prevKv: true }, (message) => {
      switch (message.kind) {
        case 'events':
          for (const revision of byRevision(message.events)) this.#apply(revision);
          this.#seen = message.revision;
          return;
        case 'progress':
          if (message.revision > this.#seen) this.#seen = message.revision;
          return;
        case 'compacted':
          this.#failure ??= new Error(`the history was compacted at ${message.compactRevision} before it was seen`);
          return;
        case 'closed':
          return this.#reopen(message.cause);
      }
    });
  }

  #reopen(cause: KvError): void {
    if (this.#closed || cause.code === 'closed') return;
    // The members may all be down just now; a short wait between attempts spares the processor.
    setTimeout(() => this.#closed || this.#open(), 100);
  }

  /** Asks for proof that nothing more has happened. */
  ask(): void {
    this.#watch?.requestProgress();
  }

  #apply(revision: HistoryRevision): void {
    if (this.#failure !== undefined) return;
    try {
      this.checker.apply(revision);
      for (const event of revision.events) this.#note(event);
    } catch (error) {
      this.#failure = error;
    }
    this.#ring.push(revision);
    if (this.#ring.length > RING) this.#ring.splice(0, RING / 2);
    for (const listener of this.#listeners) listener(revision);
  }

  #note({ type, kv }: HistoryRevision['events'][number]): void {
    const parsed = this.keys.parse(kv.key);
    if (parsed?.kind === 'locks') {
      if (type === 'put') this.locks.set(parsed.id, decodeRecord<LockRecord>(kv.value, 'lock').node);
      else this.locks.delete(parsed.id);
    } else if (parsed?.kind === 'nodes') {
      if (type === 'put') this.pids.set(parsed.id, decodeRecord<NodeRecord>(kv.value, 'node').pid);
      else this.pids.delete(parsed.id);
    } else if (parsed?.kind === 'queues' || parsed?.kind === 'names' || parsed?.kind === 'all') {
      const paused = type === 'put' && decodeRecord<Settings>(kv.value, 'settings').paused !== undefined;
      if (paused) this.paused.add(kv.key);
      else if (this.paused.delete(kv.key)) this.resumedMs = performance.now();
    } else if (parsed?.kind === 'leader') {
      this.leader = type === 'put' ? decodeRecord<LeaderRecord>(kv.value, 'leader').node : undefined;
    }
  }
}
