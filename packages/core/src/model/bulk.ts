/** Pure: what a bulk operation is, and what one more chunk of it makes of its record. */
import type { Json } from './json.js';
import type { Actor } from './records.js';
import { mayDelete } from './retention.js';
import { isEnded } from './state.js';
import { isEdge } from './transition.js';

export const BULK_ACTIONS = ['retry', 'cancel', 'delete', 'reprioritise'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_STATES = ['RUNNING', 'ABORTING', 'DONE', 'ABORTED'] as const;
export type BulkState = (typeof BULK_STATES)[number];

export const BULK_LIMITS = Object.freeze({
  /** Tasks of one bulk. */
  tasks: 100_000,
  /** Tasks of one chunk: between two chunks progress is written and an abort is obeyed. */
  chunk: 200,
  /** Above it, an action that cannot be taken back asks for the count to be typed. */
  untyped: 100,
  /** How long an ended bulk is kept, ms. */
  keptMs: 7 * 86_400_000,
});

/** Actions that cannot be taken back. */
export const DESTRUCTIVE: ReadonlySet<BulkAction> = new Set(['cancel', 'delete']);

/** `bulk/<id>`: rewritten by each chunk, in one transaction with what that chunk left undone. */
export interface BulkRecord {
  readonly id: string;
  readonly state: BulkState;
  readonly action: BulkAction;
  /** Of `reprioritise`. */
  readonly priority?: number;
  /** What was shown when it was asked for; told again, never evaluated again. */
  readonly filter: Json;
  readonly reason?: string;
  /** In whose name every task is changed. */
  readonly actor: Actor;
  /** Revision at which its tasks were seen, in decimal digits. */
  readonly snapshot: string;
  readonly total: number;
  /** Tasks dealt with; whole chunks, or all. */
  readonly position: number;
  readonly done: number;
  /** Their state did not allow it. */
  readonly skipped: number;
  /** They had changed since the snapshot. */
  readonly conflicted: number;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly endedMs?: number;
}

/** A task as the operator saw it: id, mod revision in decimal digits. */
export type BulkTarget = readonly [id: string, revision: string];

/** What was not done, and why: id, kind, code and words of the refusal. */
export type BulkLeft = readonly [id: string, kind: 'skipped' | 'conflicted', code: string, message: string];

/** `targets/<bulk>/<chunk>`: first what is to be done, then what was left. */
export interface BulkChunk {
  readonly atMs: number;
  readonly targets?: readonly BulkTarget[];
  readonly left?: readonly BulkLeft[];
}

export function isBulkEnded({ state }: Pick<BulkRecord, 'state'>): boolean {
  return state === 'DONE' || state === 'ABORTED';
}

/** The chunk a running bulk is at. */
export function chunkAt({ position }: Pick<BulkRecord, 'position'>): number {
  return Math.floor(position / BULK_LIMITS.chunk);
}

/** After a chunk of `size` tasks of which `left` were not changed. An abort that was asked for meanwhile is kept. */
export function afterChunk(record: BulkRecord, size: number, left: readonly BulkLeft[], nowMs: number): BulkRecord {
  const skipped = left.filter(([, kind]) => kind === 'skipped').length;
  const next: BulkRecord = {
    ...record,
    position: record.position + size,
    done: record.done + size - left.length,
    skipped: record.skipped + skipped,
    conflicted: record.conflicted + left.length - skipped,
    updatedMs: nowMs,
  };
  return next.position < next.total ? next : { ...next, state: 'DONE', endedMs: nowMs };
}

export function aborted(record: BulkRecord, nowMs: number): BulkRecord {
  return { ...record, state: 'ABORTED', updatedMs: nowMs, endedMs: nowMs };
}

/** Whether a task's state allows an action now; the guarded act decides in the end. */
export function mayAct(action: BulkAction, task: Parameters<typeof mayDelete>[0], nowMs: number): boolean {
  switch (action) {
    case 'retry':
      return isEdge(task.state, 'retried-by-operator', 'PENDING');
    case 'cancel':
      return !isEnded(task.state) && task.state !== 'WAITING';
    case 'delete':
      return mayDelete(task, nowMs) === undefined;
    case 'reprioritise':
      return isEdge(task.state, 'rescheduled', 'PENDING');
  }
}
