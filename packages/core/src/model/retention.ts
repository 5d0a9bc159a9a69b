/** Pure: how long what has ended is kept, by age, by number and by size, per state. */
import { LeaseholdError } from './errors.js';
import { ENDED_STATES, isEnded, type EndedState } from './state.js';
import type { TaskRecord } from './task.js';

export interface Keep {
  readonly ageMs: number;
  /** Tasks. */
  readonly count: number;
  /** Of records, arguments, results, logs; measured on a sample. */
  readonly bytes: number;
}

export type RetentionPolicy = Readonly<Record<EndedState, Keep>>;

const DAY_MS = 86_400_000;
const MIB = 1_048_576;

/** Failures are kept longer: somebody has to look at them. */
export const RETENTION_DEFAULTS: RetentionPolicy = Object.freeze({
  SUCCESS: Object.freeze({ ageMs: DAY_MS, count: 100_000, bytes: 512 * MIB }),
  FAILURE: Object.freeze({ ageMs: 7 * DAY_MS, count: 100_000, bytes: 512 * MIB }),
  CANCELLED: Object.freeze({ ageMs: DAY_MS, count: 50_000, bytes: 256 * MIB }),
});

/** What to keep of each state; what is left out stays as it is by default. */
export type RetentionInput = { readonly [S in EndedState]?: Partial<Keep> };

/** @throws LeaseholdError `invalid`, naming the field and its limit. */
export function retentionPolicy(input: RetentionInput = {}): RetentionPolicy {
  const unknown = Object.keys(input).find((state) => !(ENDED_STATES as readonly string[]).includes(state));
  if (unknown !== undefined) throw badRetention(unknown, `one of ${ENDED_STATES.join(', ')}`, unknown);
  const of = (state: EndedState): Keep => {
    const keep = { ...RETENTION_DEFAULTS[state], ...input[state] };
    const { ageMs, count, bytes } = keep;
    if (!(ageMs >= MIN_KEPT_MS)) throw badRetention(`${state}.ageMs`, `at least ${MIN_KEPT_MS} ms`, ageMs);
    if (!(count >= 0)) throw badRetention(`${state}.count`, 'a number of tasks', count);
    if (!(bytes >= 0)) throw badRetention(`${state}.bytes`, 'a number of bytes', bytes);
    return Object.freeze(keep);
  };
  return Object.freeze({ SUCCESS: of('SUCCESS'), FAILURE: of('FAILURE'), CANCELLED: of('CANCELLED') });
}

function badRetention(field: string, what: string, value: unknown): LeaseholdError {
  const name = `retention.${field}`;
  return new LeaseholdError('invalid', `${name}: ${String(value)} is refused: ${what}`, { field: name, value });
}

/** Nothing is deleted sooner after its end: a late duplicate of its submission, or of its settling, has to find it. */
export const MIN_KEPT_MS = 600_000;

/** Why a task may not be deleted by hand now; undefined when it may. The rules are those of retention. */
export function mayDelete(
  task: Pick<TaskRecord, 'id' | 'state' | 'endedMs'> & { readonly workflow?: { readonly id: string } },
  nowMs: number,
): { readonly message: string; readonly fields: Readonly<Record<string, unknown>> } | undefined {
  if (!isEnded(task.state)) {
    return { message: `task ${task.id} is ${task.state}; only an ended one is deleted`, fields: {} };
  }
  if (task.workflow !== undefined) {
    const message = `task ${task.id} is a member of workflow ${task.workflow.id}; it is deleted with it`;
    return { message, fields: { workflow: task.workflow.id } };
  }
  const fromMs = (task.endedMs ?? 0) + MIN_KEPT_MS;
  if (fromMs <= nowMs) return undefined;
  const message = `task ${task.id} ended less than ten minutes ago; a late duplicate of it must find it until ${new Date(fromMs).toISOString()}`;
  return { message, fields: { fromMs } };
}

/** What ended at or before this time is deleted. */
export type Cutoffs = Readonly<Record<EndedState, number>>;

/** What is there of one state. */
export interface Kept {
  /** Times of the ends, ascending. */
  readonly times: readonly number[];
  /** Bytes of a task, on average; 0 when not measured. */
  readonly meanBytes: number;
}

/** By age alone, without having counted. */
export function cutoffsByAge(policy: RetentionPolicy, nowMs: number): Cutoffs {
  return cutoffs((state) => nowMs - policy[state].ageMs, nowMs);
}

export function cutoffsOf(policy: RetentionPolicy, kept: Readonly<Record<EndedState, Kept>>, nowMs: number): Cutoffs {
  return cutoffs((state) => {
    const { ageMs, count, bytes } = policy[state];
    const { times, meanBytes } = kept[state];
    const fitting = meanBytes > 0 ? Math.floor(bytes / meanBytes) : Infinity;
    const surplus = times.length - Math.min(count, fitting);
    // Strictly older than the oldest that is kept: of those that ended in one millisecond rather too many are kept.
    const oldestKept = surplus > 0 ? (times[surplus] ?? nowMs) : 0;
    return Math.max(nowMs - ageMs, oldestKept - 1);
  }, nowMs);
}

function cutoffs(of: (state: EndedState) => number, nowMs: number): Cutoffs {
  const entries = ENDED_STATES.map((state) => [state, Math.min(of(state), nowMs - MIN_KEPT_MS)] as const);
  return Object.fromEntries(entries) as Cutoffs;
}
