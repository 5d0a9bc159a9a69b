/** A task's past, from the revisions of its key that etcd still has. */
import { KvError, type Kv, type KeyValue } from '@leasehold/core/kv';
import { decodeTask, isEnded, isLeaseholdError, type TaskError, type TaskRecord } from '@leasehold/core/model';
import type { Attempt, HistoryEntry, ShownError } from '@leasehold/wire';
import { redactText } from '../guard/redact.js';
import { fingerprint } from '../projection/fingerprint.js';

/** Writes that are looked at; each costs one read. */
const STEPS = 40;

export interface Past {
  /** Oldest first. */
  readonly writes: readonly { readonly task: TaskRecord; readonly revision: bigint }[];
  readonly whole: boolean;
}

/** Walks back from the present write, one revision at a time, to the first one or to the compaction floor. */
export async function readPast(kv: Kv, present: KeyValue): Promise<Past> {
  const writes: { task: TaskRecord; revision: bigint }[] = [];
  let at: KeyValue | undefined = present;
  for (let steps = 0; at !== undefined && steps < STEPS; steps++) {
    const task = readable(at.value);
    if (task !== undefined) writes.unshift({ task, revision: at.modRevision });
    if (at.modRevision === at.createRevision) return { writes, whole: true };
    try {
      at = (await kv.range({ key: at.key, revision: at.modRevision - 1n })).kvs[0];
    } catch (error) {
      if (error instanceof KvError && error.code === 'compacted') break;
      throw error;
    }
  }
  return { writes, whole: false };
}

function readable(text: string): TaskRecord | undefined {
  try {
    return decodeTask(text);
  } catch (error) {
    if (isLeaseholdError(error, 'unreadable')) return undefined;
    throw error;
  }
}

export function historyOf({ writes }: Past): HistoryEntry[] {
  return writes.map(({ task, revision }) => ({
    revision: revision.toString(),
    state: task.state,
    cause: task.cause,
    by: task.by,
    atMs: task.updatedMs,
    attempt: task.attempt,
    ...(task.node === undefined ? {} : { node: task.node }),
    ...(task.cancelRequested === undefined ? {} : { cancelling: true as const }),
  }));
}

export function showError(error: TaskError): ShownError {
  const { type, message, stack, attempt, node, atMs, final } = error;
  return {
    type,
    message: redactText(message),
    attempt,
    atMs,
    fingerprint: fingerprint(type, message),
    ...(stack === undefined ? {} : { stack: redactText(stack) }),
    ...(node === undefined ? {} : { node }),
    ...(final === undefined ? {} : { final }),
  };
}

/** Attempts by number: from history where it reaches, and from the errors that the record remembers. */
export function attemptsOf(present: TaskRecord, { writes }: Past): Attempt[] {
  const attempts = new Map<number, Attempt>();
  const note = (attempt: number, more: Partial<Attempt>): void => {
    if (attempt < 1) return;
    attempts.set(attempt, { ...(attempts.get(attempt) ?? { attempt }), ...more });
  };
  for (const error of present.pastErrors ?? []) note(error.attempt, failed(error));
  writes.forEach(({ task, revision }, i) => {
    const before = writes[i - 1]?.task;
    const began = task.state === 'STARTED' && before?.attempt !== task.attempt;
    if (before?.state === 'STARTED' && (began || task.state !== 'STARTED')) {
      note(before.attempt, { endedMs: task.updatedMs, cause: began ? 'lost' : task.cause });
    }
    if (began) note(task.attempt, begun(task, revision));
  });
  if (present.attempt > 0 && attempts.get(present.attempt) === undefined)
    note(present.attempt, begun(present, undefined));
  const last = attempts.get(present.attempt);
  if (last !== undefined && isEnded(present.state) && last.endedMs === undefined && present.endedMs !== undefined) {
    note(present.attempt, { endedMs: present.endedMs });
  }
  if (present.error !== undefined) note(present.error.attempt, failed(present.error));
  return [...attempts.values()].sort((a, b) => a.attempt - b.attempt);
}

function failed(error: TaskError): Partial<Attempt> {
  return { error: showError(error), ...(error.node === undefined ? {} : { node: error.node }) };
}

/** The claim writes lock and record in one transaction: the record's revision is the lock's create revision. */
function begun(task: TaskRecord, revision: bigint | undefined): Partial<Attempt> {
  return {
    ...(task.node === undefined ? {} : { node: task.node }),
    ...(task.startedMs === undefined ? {} : { startedMs: task.startedMs }),
    ...(revision === undefined ? {} : { token: revision.toString() }),
  };
}
