/** What the projection keeps of a task: what a row, a filter, a count or an explanation needs, and no payload. */
import type { Cause, TaskRecord, TaskState, UniqueRule } from '@leasehold/core/model';
import type { ErrorSummary } from '@leasehold/wire';
import { previewError, previewValues } from '../guard/redact.js';
import { fingerprint } from './fingerprint.js';

/** Immutable: a change makes a new entry, so that lists and counters can compare before and after. */
export interface TaskEntry {
  readonly id: string;
  readonly name: string;
  readonly state: TaskState;
  readonly cause: Cause;
  readonly queue: string;
  readonly priority: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly failures: number;
  readonly snoozes: number;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly scheduleAtMs: number;
  readonly dueMs?: number;
  readonly order?: number;
  readonly startedMs?: number;
  readonly endedMs?: number;
  readonly node?: string;
  readonly error?: ErrorSummary;
  readonly args: string;
  readonly workflow?: { readonly id: string; readonly index: number };
  readonly limits?: readonly { readonly limit: string; readonly max: number }[];
  readonly unique?: UniqueRule;
  readonly labels?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  readonly cancelling: boolean;
  readonly revision: string;
}

/** Equal texts of many entries (names, queues, nodes) are kept once. Bounded: a full table is emptied, nothing is lost. */
class Interned {
  readonly #texts = new Map<string, string>();

  of(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size > 10_000) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}

const interned = new Interned();

/** `secrets`: positions of arguments that are never shown. */
export function taskEntry(task: TaskRecord, revision: bigint, secrets: readonly number[]): TaskEntry {
  const { workflow, error, node } = task;
  const own =
    task.concurrency === undefined ? [] : [{ limit: `key/${task.concurrency.key}`, max: task.concurrency.max }];
  const limits = [...own, ...(workflow?.limits ?? [])];
  return {
    id: task.id,
    name: interned.of(task.name),
    state: interned.of(task.state) as TaskState,
    cause: interned.of(task.cause) as Cause,
    queue: interned.of(task.queue),
    priority: task.priority,
    attempt: task.attempt,
    maxAttempts: task.retry.count + 1,
    failures: task.failures,
    snoozes: task.snoozes,
    createdMs: task.createdMs,
    updatedMs: task.updatedMs,
    scheduleAtMs: task.scheduleAtMs,
    args: flat(previewValues(task.args, secrets)),
    cancelling: task.cancelRequested !== undefined,
    revision: revision.toString(),
    ...(task.dueMs === undefined ? {} : { dueMs: task.dueMs }),
    ...(task.order === undefined ? {} : { order: task.order }),
    ...(task.startedMs === undefined ? {} : { startedMs: task.startedMs }),
    ...(task.endedMs === undefined ? {} : { endedMs: task.endedMs }),
    ...(node === undefined ? {} : { node: interned.of(node) }),
    ...(error === undefined ? {} : { error: summary(error.type, error.message) }),
    ...(workflow === undefined ? {} : { workflow: { id: workflow.id, index: workflow.index } }),
    ...(limits.length === 0 ? {} : { limits }),
    ...(task.unique === undefined ? {} : { unique: task.unique }),
    ...(task.labels === undefined ? {} : { labels: task.labels }),
    ...(task.tags === undefined ? {} : { tags: task.tags }),
  };
}

/** A text that was put together keeps its parts; of 200 000 previews these are 20 MB. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

function summary(type: string, message: string): ErrorSummary {
  const print = interned.of(fingerprint(type, message));
  return { type: interned.of(type), message: previewError(message), fingerprint: print };
}
