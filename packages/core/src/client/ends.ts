/** Members of a workflow as they end. One list and one watch, however many members there are; again only when it broke. */
import { KvError, prefixEnd, type Revision, type WatchHandle } from '../kv/kv.js';
import { decodeRecord, decodeTask } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { parseMemberId } from '../model/ids.js';
import type { WorkflowRecord } from '../model/records.js';
import { isEnded } from '../model/state.js';
import type { TaskRecord } from '../model/task.js';
import { readMembers } from '../store/graph.js';
import type { Store } from '../store/store.js';
import type { WaitOptions } from './wait.js';

/**
 * Each member once, in the order in which they end; those that had ended before come first. Ends with the last one.
 * @throws LeaseholdError `not-found`, `timeout`; the signal's reason when aborted.
 */
export async function* membersAsTheyEnd(
  store: Store,
  id: string,
  options: WaitOptions = {},
): AsyncGenerator<TaskRecord> {
  const untilMs = options.timeoutMs === undefined ? undefined : performance.now() + options.timeoutMs;
  const told = new Set<string>();
  for (let failures = 0; ;) {
    try {
      if (yield* listAndWatch(store, id, told, options.signal, untilMs)) return;
      failures = 0;
    } catch (error) {
      if (!isAway(error)) throw error;
      await pause(Math.min(2_000, 50 * 2 ** failures++), options.signal, untilMs);
    }
  }
}

/** True when all have been told; false when the watch broke. */
async function* listAndWatch(
  store: Store,
  id: string,
  told: Set<string>,
  signal: AbortSignal | undefined,
  untilMs: number | undefined,
): AsyncGenerator<TaskRecord, boolean> {
  const answer = await store.kv.range({ key: store.keys.workflow(id) });
  const [kv] = answer.kvs;
  if (kv === undefined) throw new LeaseholdError('not-found', `there is no workflow ${id}`, { id });
  const { tasks } = decodeRecord<WorkflowRecord>(kv.value, 'workflow');
  // The watch begins before the list is read: what ends meanwhile is in both, and told once.
  const ends = new Ends(store, id, answer.revision + 1n);
  try {
    for await (const page of readMembers(store, id, 0, tasks)) {
      for (const { task } of page) if (isEnded(task.state) && isNew(told, task.id)) yield task;
    }
    while (told.size < tasks) {
      const batch = await ends.next(signal, untilMs);
      if (batch === undefined) return false;
      for (const task of batch) if (isNew(told, task.id)) yield task;
    }
    return true;
  } finally {
    ends.close();
  }
}

function isAway(error: unknown): boolean {
  return error instanceof KvError && (error.code === 'unavailable' || error.code === 'timeout');
}

/** Waits before the list is read again, but never beyond the time that the caller has. */
function pause(ms: number, signal: AbortSignal | undefined, untilMs: number | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    wakeable(signal, untilMs, reject, (finish) => setTimeout(() => finish(resolve), ms));
  });
}

/** Rejects on abort and when time is up, unless `finish` is called before. */
function wakeable(
  signal: AbortSignal | undefined,
  untilMs: number | undefined,
  reject: (reason: Error) => void,
  begin: (finish: (act: () => void) => void) => void,
): void {
  const leftMs = untilMs === undefined ? undefined : Math.max(0, untilMs - performance.now());
  const late = (): void => reject(new LeaseholdError('timeout', 'not all members ended in time; they go on'));
  const timer = leftMs === undefined ? undefined : setTimeout(() => finish(late), leftMs);
  const abort = (): void => finish(() => reject(signal?.reason as Error));
  const finish = (act: () => void): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    act();
  };
  if (signal?.aborted === true) return abort();
  signal?.addEventListener('abort', abort, { once: true });
  begin(finish);
}

function isNew(told: Set<string>, id: string): boolean {
  const before = told.size;
  return told.add(id).size > before;
}

class Ends {
  readonly #watch: WatchHandle;
  #waiting: TaskRecord[] = [];
  #broken = false;
  #wake: () => void = () => undefined;

  constructor(store: Store, id: string, startRevision: Revision) {
    const key = store.keys.task(`${id}.`);
    const request = { key, rangeEnd: prefixEnd(key), startRevision, filter: 'no-delete' } as const;
    this.#watch = store.kv.watch(request, (message) => {
      if (message.kind === 'progress') return;
      if (message.kind === 'events') {
        const tasks = message.events.map(({ kv }) => decodeTask(kv.value));
        // Callbacks of members have ids that start alike; they are no members.
        const members = tasks.filter((task) => parseMemberId(task.id)?.workflowId === id);
        this.#waiting.push(...members.filter((task) => isEnded(task.state)));
      } else this.#broken = true;
      if (this.#broken || this.#waiting.length > 0) this.#wake();
    });
  }

  close(): void {
    this.#watch.close();
  }

  /** The next ones; undefined when the watch broke and the list is to be read again. */
  async next(signal: AbortSignal | undefined, untilMs: number | undefined): Promise<readonly TaskRecord[] | undefined> {
    if (this.#waiting.length === 0 && !this.#broken) await this.#news(signal, untilMs);
    const batch = this.#waiting;
    this.#waiting = [];
    return batch.length > 0 ? batch : undefined;
  }

  #news(signal: AbortSignal | undefined, untilMs: number | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      wakeable(signal, untilMs, reject, (finish) => (this.#wake = () => finish(resolve)));
    });
  }
}
