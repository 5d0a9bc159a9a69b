/**
 * Progress and log lines of a running attempt. They are notes, not state: coalesced, bounded, and written only while the
 * attempt holds its lock, so that a superseded handler writes over nobody.
 */
import type { Op } from '../kv/kv.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import type { Holder } from './claim.js';
import { createdAt, put, type Store } from './store.js';

/** `progress/<id>`. */
export interface ProgressRecord {
  readonly attempt: number;
  /** 0 to 1. */
  readonly fraction?: number;
  readonly message?: string;
  readonly atMs: number;
}

export interface LogLineRecord {
  readonly atMs: number;
  readonly message: string;
}

/** `logs/<id>/<attempt>/<n>`: some lines in the order in which they were written. */
export interface LogChunk {
  readonly lines: readonly LogLineRecord[];
}

export interface Notes {
  readonly id: string;
  readonly attempt: number;
  /** Create revision of the lock. */
  readonly token: bigint;
  readonly progress?: ProgressRecord;
  readonly chunk?: { readonly n: number; readonly lines: readonly LogLineRecord[] };
}

/** Resolves with false when the attempt does not hold its lock any more: nothing was written. */
export async function writeNotes(store: Store, holder: Holder, notes: Notes): Promise<boolean> {
  const { keys } = store;
  const { id, attempt, token, progress, chunk } = notes;
  const success: Op[] = [];
  if (progress !== undefined) success.push(put(keys.progress(id), encodeRecord(progress)));
  if (chunk !== undefined) success.push(put(keys.log(id, attempt, chunk.n), encodeRecord({ lines: chunk.lines })));
  if (success.length === 0) return true;
  const result = await store.committer.submit(holder.fence, { compare: [createdAt(keys.lock(id), token)], success });
  return result.kind === 'answered' && result.succeeded;
}

export function decodeProgress(text: string): ProgressRecord {
  return decodeRecord<ProgressRecord>(text, 'progress');
}

export function decodeLogChunk(text: string): LogChunk {
  return decodeRecord<LogChunk>(text, 'log');
}
