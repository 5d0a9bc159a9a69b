/** What the state keeps beside tasks, and within which bounds. */
import { decodeRecord, type LockRecord, type NodeRecord } from '@leasehold/core/model';
import type { Progress } from '@leasehold/wire';
import { cutText, redactText } from '../guard/redact.js';

export interface LockEntry extends LockRecord {
  readonly token: string;
  readonly leaseId: string;
}
export interface NodeEntry {
  readonly record: NodeRecord;
  readonly leaseId: string;
  readonly revision: string;
  readonly departedMs?: number;
}
export interface Kept<T> {
  readonly record: T;
  readonly revision: string;
}

export interface Caps {
  readonly tasks: number;
  /** How long a node that is gone stays listed, ms. */
  readonly departedMs: number;
}
export const DEFAULT_CAPS: Caps = Object.freeze({ tasks: 500_000, departedMs: 600_000 });

/** What has to be rendered again. */
export class Dirty {
  readonly locks = new Set<string>();
  readonly workflows = new Set<string>();
  readonly schedules = new Set<string>();
  readonly bulks = new Set<string>();
  nodes = false;
  queues = false;
  /** Facts that explanations rest on. */
  facts = false;
}

/** Of one attempt: a later one begins without progress. */
export interface ProgressEntry {
  readonly attempt: number;
  readonly view: Progress;
}

/** Written by workers in many languages: what is not as expected is left out. */
export function decodeProgress(text: string): ProgressEntry {
  const stored = decodeRecord<Readonly<Record<string, unknown>>>(text, 'progress');
  const fraction = stored['fraction'];
  const message = stored['message'];
  const atMs = stored['atMs'];
  const view: Progress = {
    ...(typeof fraction === 'number' && Number.isFinite(fraction)
      ? { fraction: Math.min(1, Math.max(0, fraction)) }
      : {}),
    ...(typeof message === 'string' ? { message: cutText(redactText(message.slice(0, 1_000)), 200) } : {}),
    ...(typeof atMs === 'number' ? { atMs } : {}),
  };
  return { attempt: Number(stored['attempt'] ?? 0), view };
}
