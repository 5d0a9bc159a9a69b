/**
 * What operators do to a queue as a whole: its limits, purging it, draining it.
 *
 * P1  A purge ends what waits in the ready index at its beginning, and nothing that was submitted later. What somebody runs
 *     is left alone; so is what waits for a time or for other tasks. Members end as their workflows would have it.
 * P2  With a count expected, it is compared before anything is done: an operator purges what he saw, or nothing.
 * P3  Its audit record is written before the first task is touched, under the operation's id: sent again, the operation goes
 *     on where it broke off. Each task ends in a guarded transaction of its own, many to one request.
 */
import { prefixEnd } from '../kv/kv.js';
import { checkInteger } from '../model/check.js';
import { decodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import type { AuditRecord, RateLimit, Settings } from '../model/records.js';
import { cancelled } from '../model/transition.js';
import type { Seen } from './claim.js';
import { NO_FENCE } from './commit.js';
import { edgeOps } from './edge.js';
import { endingOps } from './ending.js';
import { act, changeSettings, pause, type Operated, type SettingsTarget } from './operate.js';
import { pages } from './pages.js';
import { readTasks, whichLocked } from './ready.js';
import type { Drive } from './settle.js';
import { absent, modIs, takenBy, type OperatorCall, type Store } from './store.js';
import { answered } from './submit.js';

/** Limits to set; `null` takes one away, and what is left out stays. */
export interface LimitChange {
  readonly concurrency?: number | null;
  readonly rate?: RateLimit | null;
  /** Queues only: claims in the order of commits within a priority (decision 7). */
  readonly ordered?: boolean | null;
}

/** Sets how many at once, and how many in an interval. @throws LeaseholdError `invalid`, `conflict`. */
export function setLimits(
  store: Store,
  call: OperatorCall,
  target: SettingsTarget,
  { concurrency, rate, ordered }: LimitChange,
): Promise<Operated> {
  if (ordered === true && typeof (target as { queue?: string }).queue !== 'string') {
    throw new LeaseholdError('invalid', 'ordered: only a queue has an order; name the queue', { field: 'ordered' });
  }
  if (typeof concurrency === 'number') checkInteger(concurrency, 'concurrency', 1, 99_999);
  if (rate !== undefined && rate !== null) {
    checkInteger(rate.count, 'rate.count', 1, 99_999);
    checkInteger(rate.intervalMs, 'rate.intervalMs', 100, 86_400_000, ' ms');
  }
  return changeSettings(store, call, target, 'limits', (settings: Settings) => {
    const { concurrency: oldConcurrency, rate: oldRate, ordered: wasOrdered, ...rest } = settings;
    const most = concurrency === undefined ? oldConcurrency : (concurrency ?? undefined);
    const pace = rate === undefined ? oldRate : (rate ?? undefined);
    return {
      ...rest,
      ...(most === undefined ? {} : { concurrency: most }),
      ...(pace === undefined ? {} : { rate: pace }),
      ...((ordered === undefined ? wasOrdered : ordered) === true ? { ordered: true } : {}),
    };
  });
}

export interface Purged {
  readonly revision: bigint;
  /** False when this operation had been begun before: what it had left was purged now. */
  readonly done: boolean;
  readonly purged: number;
  /** Claimed, changed or moved while the purge ran. */
  readonly left: number;
  /** Pass them to `advance`: workflows that lost a member. */
  readonly drives: readonly Drive[];
}

const PAGE = 200;

/** Tasks of a queue that are ready and that nobody runs. */
export async function countWaiting(store: Store, queue: string): Promise<number> {
  let waiting = 0;
  for await (const ids of readyIds(store, queue)) waiting += ids.length - (await whichLocked(store, ids)).size;
  return waiting;
}

/** Tasks of a queue that somebody runs. */
export async function countRunning(store: Store, queue: string): Promise<number> {
  let running = 0;
  for await (const ids of readyIds(store, queue)) running += (await whichLocked(store, ids)).size;
  return running;
}

/**
 * Cancels everything that waits in a queue.
 * @throws LeaseholdError `conflict` with the `count` there is when another was expected.
 */
export async function purgeQueue(
  store: Store,
  call: OperatorCall,
  queue: string,
  options: { readonly expectedCount?: number } = {},
): Promise<Purged> {
  const begun = await beginPurge(store, call, queue, options.expectedCount);
  const totals = { purged: 0, left: 0 };
  const drives: Drive[] = [];
  let { revision } = begun;
  for await (const ids of readyIds(store, queue)) {
    const locked = await whichLocked(store, ids);
    const records = await readTasks(
      store,
      ids.filter((id) => !locked.has(id)),
    );
    const waiting = records.flatMap((seen) => (seen !== undefined && mayPurge(seen, queue, begun.atMs) ? [seen] : []));
    const ended = await Promise.all(waiting.map((seen) => purgeOne(store, call, seen)));
    for (const one of ended) {
      if (one === undefined) totals.left += 1;
      else {
        totals.purged += 1;
        revision = one.revision > revision ? one.revision : revision;
        if (one.drive !== undefined) drives.push(one.drive);
      }
    }
  }
  return { ...totals, revision, done: begun.done, drives };
}

function mayPurge({ task }: Seen, queue: string, atMs: number): boolean {
  return task.state === 'PENDING' && task.queue === queue && task.createdMs <= atMs;
}

/** P3: the audit record says from when on nothing is purged. */
async function beginPurge(
  store: Store,
  call: OperatorCall,
  queue: string,
  expected: number | undefined,
): Promise<Operated & { readonly atMs: number }> {
  const key = store.keys.queue(queue);
  const operated = await act(store, call, 'queue.purge', { key, id: `queue:${queue}`, what: 'settings' }, async () => {
    const count = await countWaiting(store, queue);
    if (expected !== undefined && count !== expected) {
      const message = `${count} tasks wait in queue ${queue}, not ${expected}; nothing was purged`;
      throw new LeaseholdError('conflict', message, { queue, count, expected });
    }
    return { compare: [], ops: [], detail: { count } };
  });
  const [audit] = (await store.kv.range({ key: store.keys.audit(call.operationId) })).kvs;
  const atMs = audit === undefined ? store.now() : decodeRecord<AuditRecord>(audit.value, 'audit').atMs;
  return { ...operated, atMs };
}

async function purgeOne(
  store: Store,
  call: OperatorCall,
  { task, revision }: Seen,
): Promise<{ readonly revision: bigint; readonly drive?: Drive } | undefined> {
  const { keys } = store;
  const taken = takenBy(store, call.actor);
  const next = cancelled(task, taken, call.reason ?? `purged with its queue`);
  const ending = endingOps(store, next, taken, { halted: true });
  const result = await answered(
    store,
    NO_FENCE,
    {},
    {
      compare: [modIs(keys.task(task.id), revision), absent(keys.lock(task.id)), ...ending.compare],
      success: [...edgeOps(keys, task, next), ...ending.ops],
    },
  );
  // A lost answer may hide a success; then it counts as left, and a second purge finds it gone.
  if (!result.succeeded) return undefined;
  const drive = task.workflow === undefined ? {} : { drive: { workflow: task.workflow.id, joins: [] } };
  return { revision: result.revision, ...drive };
}

export interface DrainOptions {
  readonly sleep: (ms: number) => Promise<void>;
  /** How often it looks, ms. Default 500. */
  readonly everyMs?: number;
  readonly timeoutMs?: number;
  /** What to do at the end of the time: throw (the default), or return with `drained` false. */
  readonly onTimeout?: 'throw' | 'return';
  readonly signal?: AbortSignal;
  /** Told how many still run, at each look. */
  readonly onRunning?: (running: number) => void;
}

/** Pauses a queue, and waits until nothing of it runs. It stays paused. @throws LeaseholdError `timeout`. */
export async function drainQueue(
  store: Store,
  call: OperatorCall,
  queue: string,
  options: DrainOptions,
): Promise<Operated & { readonly drained: boolean }> {
  const operated = await pause(store, call, { queue });
  const { everyMs = 500, timeoutMs = Infinity } = options;
  const endMs = store.now() + timeoutMs;
  for (;;) {
    options.signal?.throwIfAborted();
    const running = await countRunning(store, queue);
    if (running === 0) return { ...operated, drained: true };
    options.onRunning?.(running);
    if (store.now() >= endMs) {
      if (options.onTimeout === 'return') return { ...operated, drained: false };
      const message = `${running} tasks of queue ${queue} still run after ${timeoutMs} ms; it stays paused`;
      throw new LeaseholdError('timeout', message, { queue, running, timeoutMs });
    }
    await options.sleep(Math.min(everyMs, Math.max(1, endMs - store.now())));
  }
}

async function* readyIds(store: Store, queue: string): AsyncGenerator<readonly string[]> {
  const key = store.keys.readyQueue(queue);
  for await (const page of pages(store, { key, rangeEnd: prefixEnd(key) }, { limit: PAGE, keysOnly: true })) {
    yield page.flatMap((kv) => {
      const parsed = store.keys.parse(kv.key);
      return parsed?.kind === 'ready' ? [parsed.id] : [];
    });
  }
}
