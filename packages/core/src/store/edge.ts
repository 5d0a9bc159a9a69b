/** One edge as operations: the record and the difference of its places (I1), from the two records alone. */
import type { Op } from '../kv/kv.js';
import { decodeTaskObject, encodeTask } from '../model/codec.js';
import type { Keys } from '../model/keys.js';
import type { LimitClaim, TaskRecord } from '../model/task.js';
import { changePlaces } from '../model/places.js';
import { LeaseholdError } from '../model/errors.js';
import type { Json } from '../model/json.js';
import { del, put } from './store.js';

/** What a claimer must know to decide; the record itself too while it is small, so that a claim needs no read. */
export interface ReadyEntry {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly limits?: readonly LimitClaim[];
  readonly workflow?: { readonly id: string; readonly version: number };
  /** When it is not 0 and the record does not travel with the entry. */
  readonly priority?: number;
  readonly record?: TaskRecord;
}

/** A record up to this many bytes travels in its ready entry. */
const CARRIED_BYTES = 1_500;

/** Hard stop for one record; args and results go elsewhere long before. */
const RECORD_HARD_BYTES = 65_536;

export function edgeOps(keys: Keys, before: TaskRecord | undefined, after: TaskRecord): Op[] {
  const encoded = encodeTask(after);
  const bytes = Buffer.byteLength(encoded);
  if (bytes > RECORD_HARD_BYTES) {
    throw new LeaseholdError(
      'too-large',
      `the record of ${after.id} would have ${bytes} bytes of ${RECORD_HARD_BYTES}`,
      {
        id: after.id,
        bytes,
      },
    );
  }
  const changes = changePlaces(keys, before, after, () => encodeReady(after, encoded, bytes));
  return [
    put(keys.task(after.id), encoded),
    ...changes.put.map(({ key, value }) => put(key, value)),
    ...changes.delete.map(del),
  ];
}

/** Every limit a task takes a unit of while it runs. */
export function limitsOf(task: TaskRecord): readonly LimitClaim[] {
  const own =
    task.concurrency === undefined ? [] : [{ limit: `key/${task.concurrency.key}`, max: task.concurrency.max }];
  return [...own, ...(task.workflow?.limits ?? [])];
}

function encodeReady(task: TaskRecord, encoded: string, bytes: number): string {
  const limits = limitsOf(task);
  const carried = bytes <= CARRIED_BYTES;
  const head = JSON.stringify({
    name: task.name,
    ...(carried || task.priority === 0 ? {} : { priority: task.priority }),
    ...(task.labels === undefined ? {} : { labels: task.labels }),
    ...(limits.length === 0 ? {} : { limits }),
    ...(task.workflow === undefined ? {} : { workflow: { id: task.workflow.id, version: task.workflow.version } }),
  });
  return carried ? `${head.slice(0, -1)},"task":${encoded}}` : head;
}

/**
 * Unreadable text (of a newer layout, or put there by somebody else) is an entry without a name: no handler has that, so
 * it is passed over and stops nobody. A record in it that cannot be read is read apart from it, as one that is too large.
 */
export function decodeReady(text: string): ReadyEntry {
  try {
    const given = JSON.parse(text) as (ReadyEntry & { readonly task?: Record<string, Json> }) | null;
    if (typeof given?.name !== 'string') return NAMELESS;
    const { task, ...entry } = given;
    return task === undefined ? entry : withRecord(entry, task);
  } catch {
    return NAMELESS;
  }
}

const NAMELESS: ReadyEntry = Object.freeze({ name: '' });

function withRecord(entry: ReadyEntry, task: Record<string, Json>): ReadyEntry {
  try {
    return { ...entry, record: decodeTaskObject(task) };
  } catch {
    return entry;
  }
}
