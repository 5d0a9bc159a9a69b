/**
 * Expiry: what must have started, or must have ended, by a time that has passed.
 *
 * X1  The record decides, not the entry: an entry that its record does not imply (I1) is removed, guarded by the record.
 * X2  Not started in time: CANCELLED. Not ended in time: a running task is asked to stop, durably, and its node told; one
 *     that nobody runs ends at once, as FAILURE if it ever ran and CANCELLED if not.
 *     A running task that was asked already is left to its worker, and to the rescuer if that is lost.
 * X3  A WAITING member is left until it is released: a workflow ends last (D4), and nothing of it can run meanwhile. Its
 *     entry stays, and a claimer refuses what is past its time.
 * X4  The window of an ended task's unique key is over: the key is freed together with its entry, and only while the entry
 *     is there, so that the key of a later holder is never touched.
 */
import { prefixEnd, type KeyValue } from '../kv/kv.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { placesOf } from '../model/places.js';
import type { NodeRecord, OrderRecord } from '../model/records.js';
import { isEnded } from '../model/state.js';
import type { TaskError, TaskRecord } from '../model/task.js';
import * as transition from '../model/transition.js';
import type { Taken } from '../model/transition.js';
import { seen } from './claim.js';
import { edgeOps } from './edge.js';
import type { Leadership } from './leadership.js';
import { pages, readKeys } from './pages.js';
import { firstTime } from './promote.js';
import type { Drive } from './settle.js';
import { del, present, put, type Store } from './store.js';
import { takeStep, type Sight, type Step } from './unheld.js';

export interface Expired {
  /** Tasks that ended because of their time. */
  readonly ended: number;
  /** Running tasks that were asked to stop. */
  readonly asked: number;
  /** Unique keys of ended tasks whose window is over. */
  readonly freed: number;
  /** Entries that no record implied. */
  readonly strays: number;
  /** Past their time and still there: waiting members, and running tasks that have not stopped yet. */
  readonly left: number;
  /** Pass them to `advance`. */
  readonly drives: readonly Drive[];
}

const PAGE = 256;

/** One pass over everything whose time has passed. @throws LeaseholdError `session-lost`. */
export async function expireDue(store: Store, leader: Leadership, signal?: AbortSignal): Promise<Expired> {
  const span = { key: store.keys.kind('deadlines'), rangeEnd: store.keys.deadlinesUntil(store.now()) };
  const totals = { ended: 0, asked: 0, freed: 0, strays: 0, left: 0 };
  const drives: Drive[] = [];
  const names = new LiveNames(store);
  for await (const page of pages(store, span, { limit: PAGE })) {
    const entries = await withoutWaiting(store, page);
    totals.left += page.length - entries.length;
    const outcomes = await Promise.all(entries.map((entry) => expireEntry(store, leader, entry, names)));
    for (const { outcome, drive } of outcomes) {
      totals[outcome]++;
      if (drive !== undefined) drives.push(drive);
    }
    if (signal?.aborted === true) break;
  }
  return { ...totals, drives };
}

/** Leaves out, at the price of one read for many, what this pass can do nothing about. */
async function withoutWaiting(store: Store, page: readonly KeyValue[]): Promise<readonly KeyValue[]> {
  const keys = page.map(({ key }) => {
    const parsed = store.keys.parse(key);
    return store.keys.task(parsed?.kind === 'deadlines' ? parsed.id : '');
  });
  const records = await readKeys(store, keys);
  return page.filter((entry, i) => {
    const [current] = seen(records[i]);
    if (current === undefined) return true;
    const { task } = current;
    const settled = task.state === 'WAITING' || (task.state === 'STARTED' && task.cancelRequested !== undefined);
    return !settled || !placesOf(store.keys, task, () => '').has(entry.key);
  });
}

/** The first deadline after `afterMs` within `horizonMs`. */
export function nextDeadlineMs(store: Store, afterMs: number, horizonMs: number): Promise<number | undefined> {
  return firstTime(store, store.keys.deadlinesUntil(afterMs), store.keys.deadlinesUntil(afterMs + horizonMs));
}

type Outcome = 'ended' | 'asked' | 'freed' | 'strays' | 'left';

async function expireEntry(
  store: Store,
  leader: Leadership,
  entry: KeyValue,
  names: LiveNames,
): Promise<{ readonly outcome: Outcome; readonly drive?: Drive }> {
  const parsed = store.keys.parse(entry.key);
  if (parsed?.kind !== 'deadlines') return { outcome: 'left' };
  // Asked before the decision, which does no I/O.
  const live = entry.value === 'unregistered' ? await names.read() : undefined;
  let outcome: Outcome = 'left';
  const taking = await takeStep(store, leader, parsed.id, (sight, taken) => {
    const decided = decideExpiry(store, sight, { key: entry.key, timeMs: parsed.timeMs, live }, taken);
    outcome = decided.outcome;
    return decided.step;
  });
  if (taking.step === 'leave') return { outcome: 'left' };
  return taking.drive === undefined ? { outcome } : { outcome, drive: taking.drive };
}

interface Entry {
  readonly key: string;
  readonly timeMs: number;
  /** Set for an entry that asks whether anybody serves the task: the names that live workers advertise. */
  readonly live: ReadonlySet<string> | undefined;
}

const LEAVE = { outcome: 'left', step: { kind: 'leave' } } as const;

function decideExpiry(
  store: Store,
  { task, lock }: Sight,
  entry: Entry,
  taken: Taken,
): { readonly outcome: Outcome; readonly step: Step } {
  if (task === undefined || !placesOf(store.keys, task, () => '').has(entry.key)) {
    return { outcome: 'strays', step: { kind: 'write', ops: [del(entry.key)] } };
  }
  if (task.state === 'WAITING') return LEAVE;
  if (isEnded(task.state)) return freed(store, task, entry.key);
  if (task.expiresMs === entry.timeMs && task.attempt === 0) {
    return ended(transition.cancelled(task, taken, `not started by ${iso(entry.timeMs)}`, 'expired'));
  }
  if (task.deadlineMs === entry.timeMs) return overdue(store, task, lock !== undefined, taken);
  if (entry.live === undefined || entry.live.has(task.name) || task.state !== 'PENDING') return LEAVE;
  return ended(transition.cancelled(task, taken, `no live worker knows "${task.name}"`, 'expired'));
}

function freed(store: Store, task: TaskRecord, entry: string): { readonly outcome: Outcome; readonly step: Step } {
  const keys = task.unique === undefined ? [entry] : [entry, store.keys.unique(task.unique.key)];
  return { outcome: 'freed', step: { kind: 'write', ops: keys.map(del), compare: [present(entry)] } };
}

function overdue(
  store: Store,
  task: TaskRecord,
  locked: boolean,
  taken: Taken,
): { readonly outcome: Outcome; readonly step: Step } {
  const message = `not ended by ${iso(task.deadlineMs ?? taken.nowMs)}`;
  if (locked) return askToStop(store, task, message, taken);
  if (task.attempt === 0) return ended(transition.cancelled(task, taken, message, 'expired'));
  const error: TaskError = { type: 'ExpiredError', message, attempt: task.attempt, atMs: taken.nowMs, final: true };
  return ended(transition.failedFinal(task, taken, error, 'expired'));
}

function askToStop(
  store: Store,
  task: TaskRecord,
  reason: string,
  taken: Taken,
): { readonly outcome: Outcome; readonly step: Step } {
  if (task.cancelRequested !== undefined || task.state !== 'STARTED') return LEAVE;
  const order: OrderRecord = { by: taken.by, atMs: taken.nowMs, reason };
  const orders =
    task.node === undefined ? [] : [put(store.keys.order(task.node, 'cancel', task.id), encodeRecord(order))];
  const ops = [...edgeOps(store.keys, task, transition.cancelRequested(task, taken, reason)), ...orders];
  return { outcome: 'asked', step: { kind: 'write', ops } };
}

function ended(next: TaskRecord): { readonly outcome: Outcome; readonly step: Step } {
  return { outcome: 'ended', step: { kind: 'edge', next } };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Task names that live workers serve, read once a pass and only when an entry asks. */
class LiveNames {
  readonly #store: Store;
  #names: Promise<ReadonlySet<string>> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  read(): Promise<ReadonlySet<string>> {
    this.#names ??= this.#readAll();
    return this.#names;
  }

  async #readAll(): Promise<ReadonlySet<string>> {
    const prefix = this.#store.keys.kind('nodes');
    const names = new Set<string>();
    for await (const page of pages(this.#store, { key: prefix, rangeEnd: prefixEnd(prefix) }, { limit: 200 })) {
      for (const kv of page) {
        for (const { name } of decodeRecord<NodeRecord>(kv.value, 'node').handlers) names.add(name);
      }
    }
    return names;
  }
}
