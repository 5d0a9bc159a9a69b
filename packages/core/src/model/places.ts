/**
 * Where a record's state puts its task in the indexes (invariant I1). Places are derived from the record, never kept
 * beside it: every edge writes the difference between the places before and after, so an edge cannot forget one.
 */
import { isEnded } from './state.js';
import type { Keys } from './keys.js';
import type { TaskRecord } from './task.js';

/** How long a task that ignores being unknown waits for a worker that knows its name. */
const UNREGISTERED_MS = 60_000;

/** The index entries that a record implies: key to value. The lock, slots and barrier members are not derived. */
export function placesOf(keys: Keys, task: TaskRecord, readyValue: (task: TaskRecord) => string): Map<string, string> {
  const places = new Map<string, string>();
  switch (task.state) {
    case 'PENDING':
    case 'STARTED':
      places.set(keys.ready(task.queue, task.shard, task.order ?? 0, task.id), readyValue(task));
      break;
    case 'SCHEDULED':
    case 'RETRY':
      places.set(keys.due(task.dueMs ?? 0, task.id), '');
      break;
    case 'SUCCESS':
    case 'FAILURE':
    case 'CANCELLED':
      places.set(keys.ended(task.endedMs ?? 0, task.id), task.state);
      break;
    case 'WAITING':
      break;
  }
  if (!isEnded(task.state)) {
    if (task.expiresMs !== undefined && task.attempt === 0)
      places.set(keys.deadline(task.expiresMs, task.id), 'expires');
    if (task.ignoreWhenNotRegistered === true && task.state === 'PENDING')
      places.set(keys.deadline(task.scheduleAtMs + UNREGISTERED_MS, task.id), 'unregistered');
    if (task.deadlineMs !== undefined) places.set(keys.deadline(task.deadlineMs, task.id), 'deadline');
    if (task.unique !== undefined) places.set(keys.unique(task.unique.key), task.id);
    return places;
  }
  const heldUntilMs = uniqueUntilMs(task);
  if (task.unique !== undefined && heldUntilMs !== undefined) {
    places.set(keys.unique(task.unique.key), task.id);
    places.set(keys.deadline(heldUntilMs, task.id), 'unique');
  }
  return places;
}

/**
 * Until when an ended task goes on holding its unique key; undefined when its end freed it. The window tells that the work
 * was done lately: a task that was cancelled (replaced, expired in its queue) did none, and frees its key at once.
 *
 * These two places are the only ones that may be gone although the record implies them: the expirer frees both together,
 * and an ended record is not rewritten for it (I7).
 */
export function uniqueUntilMs(task: TaskRecord): number | undefined {
  const { unique, endedMs } = task;
  if (unique?.windowMs === undefined || endedMs === undefined || task.state === 'CANCELLED') return undefined;
  const untilMs = task.createdMs + unique.windowMs;
  return untilMs > endedMs ? untilMs : undefined;
}

export interface PlaceChanges {
  readonly put: readonly { readonly key: string; readonly value: string }[];
  readonly delete: readonly string[];
}

/**
 * What an edge writes to the indexes. An entry that stays is rewritten only when the task becomes claimable again, so
 * that watchers wake; a claim leaves its ready entry as it is.
 */
export function changePlaces(
  keys: Keys,
  before: TaskRecord | undefined,
  after: TaskRecord,
  readyValue: (task: TaskRecord) => string,
): PlaceChanges {
  const old = before === undefined ? new Map<string, string>() : placesOf(keys, before, () => '');
  const now = placesOf(keys, after, after.state === 'PENDING' ? readyValue : () => '');
  const put: { key: string; value: string }[] = [];
  // A retry takes its unique key again: whether the ended record still held it, the record does not tell.
  const retaken = before !== undefined && isEnded(before.state) && !isEnded(after.state);
  for (const [key, value] of now) {
    const stays = old.has(key);
    const wakes = after.state === 'PENDING' && key.startsWith(keys.kind('ready'));
    const retakes = retaken && key.startsWith(keys.kind('unique'));
    if (!stays || wakes || retakes) put.push({ key, value });
  }
  return { put, delete: [...old.keys()].filter((key) => !now.has(key)) };
}
