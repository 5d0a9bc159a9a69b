/**
 * A namespace's history as the checker reads it: what was there at one revision, and all events of every later one, whole
 * revisions at a time. Read from the store while it is still there, or from a file that was recorded before.
 */
import {
  KvError,
  prefixEnd,
  type Kv,
  type KeyValue,
  type KvEvent,
  type Revision,
  type WatchHandle,
  type WatchMessage,
} from '../kv/kv.js';
import { LeaseholdError } from '../model/errors.js';
import type { Keys } from '../model/keys.js';

/** All events of one revision, in the order in which the store gave them. */
export interface HistoryRevision {
  readonly revision: Revision;
  readonly events: readonly KvEvent[];
}

/** The state that a history continues: every key of the namespace as of `revision`. */
export interface HistoryStart {
  readonly revision: Revision;
  readonly kvs: readonly KeyValue[];
}

export interface History {
  readonly start: HistoryStart;
  readonly revisions: AsyncIterable<HistoryRevision>;
  /** The last revision that is covered. */
  readonly until: Revision;
}

export interface ReadOptions {
  /** The first revision whose changes are checked. Default: the oldest that the store still has. */
  readonly from?: Revision;
  /** Default: the newest at the time of the call. */
  readonly until?: Revision;
  readonly signal?: AbortSignal;
}

/** Events in order, cut into their revisions. */
export function byRevision(events: readonly KvEvent[]): HistoryRevision[] {
  const out: { revision: Revision; events: KvEvent[] }[] = [];
  for (const event of events) {
    const last = out.at(-1);
    if (last?.revision === event.kv.modRevision) last.events.push(event);
    else out.push({ revision: event.kv.modRevision, events: [event] });
  }
  return out;
}

const PAGE = 500;

/**
 * Reads a namespace's history from the store.
 * @throws KvError `compacted` when `from` is not there any more; `unavailable` when the store stays away.
 */
export async function readHistory(kv: Kv, keys: Keys, options: ReadOptions = {}): Promise<History> {
  const head = await kv.range({ key: keys.epoch(), keysOnly: true });
  const until = options.until ?? head.revision;
  const oldest = options.from === undefined ? await oldestRevision(kv, keys) : options.from - 1n;
  const start = await readState(kv, keys, oldest > until ? until : oldest);
  return { start, until, revisions: follow(kv, keys, start.revision + 1n, until, options.signal) };
}

/** The oldest revision that can still be read; 0 for a store that was never compacted. */
function oldestRevision(kv: Kv, keys: Keys): Promise<Revision> {
  return new Promise((resolve, reject) => {
    const watch = kv.watch({ key: keys.prefix, rangeEnd: prefixEnd(keys.prefix), startRevision: 1n }, (message) => {
      watch.close();
      if (message.kind === 'closed') reject(message.cause);
      else resolve(message.kind === 'compacted' ? message.compactRevision : 0n);
    });
    watch.requestProgress();
  });
}

/** Everything under the prefix as of a revision; nothing for 0. */
async function readState(kv: Kv, keys: Keys, revision: Revision): Promise<HistoryStart> {
  if (revision <= 0n) return { revision: 0n, kvs: [] };
  const kvs: KeyValue[] = [];
  for (let key = keys.prefix; ;) {
    const page = await kv.range({ key, rangeEnd: prefixEnd(keys.prefix), limit: PAGE, revision });
    kvs.push(...page.kvs);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return { revision, kvs };
    key = `${last.key}\0`;
  }
}

const ASK_AGAIN_MS = 200;
const REOPENINGS = 20;

async function* follow(
  kv: Kv,
  keys: Keys,
  from: Revision,
  until: Revision,
  signal?: AbortSignal,
): AsyncGenerator<HistoryRevision> {
  let next = from;
  for (let opened = 0; next <= until; opened++) {
    if (opened > REOPENINGS) throw new KvError('unavailable', `the history could not be read beyond revision ${next}`);
    const mail = new Mail(kv, keys, next);
    try {
      while (next <= until) {
        signal?.throwIfAborted();
        const message = await mail.take();
        if (message.kind === 'closed') break;
        if (message.kind === 'compacted') {
          const lost = `history below ${message.compactRevision} was compacted while it was read; ${next} is gone`;
          throw new KvError('compacted', lost);
        }
        if (message.kind === 'events') yield* byRevision(message.events).filter(({ revision }) => revision <= until);
        next = message.revision + 1n;
      }
    } finally {
      mail.close();
    }
  }
}

/** The messages of one watch, taken one by one. */
class Mail {
  readonly #watch: WatchHandle;
  readonly #messages: WatchMessage[] = [];
  #wake: (() => void) | undefined;

  constructor(kv: Kv, keys: Keys, startRevision: Revision) {
    const range = { key: keys.prefix, rangeEnd: prefixEnd(keys.prefix) };
    this.#watch = kv.watch({ ...range, startRevision, prevKv: true }, (message) => {
      this.#messages.push(message);
      this.#wake?.();
    });
  }

  async take(): Promise<WatchMessage> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      // Nothing may ever come for this prefix: progress is asked for until it proves that there is nothing.
      this.#watch.requestProgress();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ASK_AGAIN_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  close(): void {
    this.#watch.close();
  }
}

type StoredKv = readonly [key: string, value: string, create: string, mod: string, version: string, lease: string];

function storeKv(kv: KeyValue): StoredKv {
  return [
    kv.key,
    kv.value,
    ...[kv.createRevision, kv.modRevision, kv.version, kv.lease].map(String),
  ] as unknown as StoredKv;
}

function loadKv([key, value, create, mod, version, lease]: StoredKv): KeyValue {
  return {
    key,
    value,
    createRevision: BigInt(create),
    modRevision: BigInt(mod),
    version: BigInt(version),
    lease: BigInt(lease),
  };
}

/** A recording, line by line (JSON Lines): the state first, then one line a revision. */
export async function* recordLines({ start, revisions }: History): AsyncGenerator<string> {
  yield JSON.stringify({ start: String(start.revision), kvs: start.kvs.map(storeKv) });
  for await (const { revision, events } of revisions) {
    const stored = events.map(({ type, kv, prev }) => [
      type,
      storeKv(kv),
      ...(prev === undefined ? [] : [storeKv(prev)]),
    ]);
    yield JSON.stringify({ revision: String(revision), events: stored });
  }
}

/** @throws LeaseholdError `unreadable` for what is no recording. */
export async function readRecording(lines: AsyncIterable<string> | Iterable<string>): Promise<History> {
  const revisions: HistoryRevision[] = [];
  let start: HistoryStart | undefined;
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const parsed = parseLine(line);
    if ('start' in parsed) start = { revision: BigInt(parsed.start), kvs: parsed.kvs.map(loadKv) };
    else revisions.push({ revision: BigInt(parsed.revision), events: parsed.events.map(loadEvent) });
  }
  if (start === undefined)
    throw new LeaseholdError('unreadable', 'a recording begins with the state that it continues');
  return { start, until: revisions.at(-1)?.revision ?? start.revision, revisions: inOrder(revisions) };
}

type StoredEvent = readonly ['put' | 'delete', StoredKv, StoredKv?];
type StoredLine =
  | { readonly start: string; readonly kvs: readonly StoredKv[] }
  | { readonly revision: string; readonly events: readonly StoredEvent[] };

function parseLine(line: string): StoredLine {
  try {
    return JSON.parse(line) as StoredLine;
  } catch (cause) {
    throw new LeaseholdError('unreadable', `not a line of a recording: ${line.slice(0, 80)}`, {}, { cause });
  }
}

function loadEvent([type, kv, prev]: StoredEvent): KvEvent {
  return { type, kv: loadKv(kv), ...(prev === undefined ? {} : { prev: loadKv(prev) }) };
}

// eslint-disable-next-line typescript/require-await
async function* inOrder(revisions: readonly HistoryRevision[]): AsyncGenerator<HistoryRevision> {
  yield* revisions;
}
