import type { Json } from './json.js';

/** Machinery's scalar type names, plus `bytes` ([]byte) and `json` (an object or any JSON value). */
export const SCALAR_TYPES = [
  'bool',
  'int',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float32',
  'float64',
  'string',
] as const;
export type ScalarType = (typeof SCALAR_TYPES)[number];
export type ArgType = ScalarType | `[]${ScalarType}` | 'bytes' | 'json';

/**
 * One positional argument or result in its stored form. `value` is JSON that loses nothing: int, int64, uint and uint64
 * (and slices of them) are decimal strings, bytes is base64, NaN and the infinities of floats are refused. `name` is a
 * label for people; it never binds.
 */
export interface TypedValue {
  readonly type: ArgType;
  readonly value: Json;
  readonly name?: string;
}

/** How long to wait before the next try. `count` bounds the retries after failures (Machinery's RetryCount). */
export interface RetryPolicy {
  /** Retries after the first attempt; 0 means none. */
  readonly count: number;
  readonly backoff: 'fibonacci' | 'exponential' | 'fixed' | 'custom';
  /**
   * fibonacci: Machinery's RetryTimeout in ms, the next delay is the smallest Fibonacci number of seconds strictly above
   * it (0 gives 1, 2, 3, 5, 8 s). exponential: the first delay. fixed: the delay. custom: not used.
   */
  readonly delayMs: number;
  /** custom: the delays one after another; the last one stands for all further ones. Absent for the others. */
  readonly delaysMs?: readonly number[];
  readonly maxDelayMs: number;
  /** 0 to 1: the share of the delay that is random. */
  readonly jitter: number;
}

/** Nobody else may hold the same key while this task lives (or for a window after its submission). */
export interface UniqueRule {
  readonly key: string;
  /** Free it when the task ends, or that many ms after submission, whichever is later. */
  readonly windowMs?: number;
  readonly onConflict: 'reject' | 'existing' | 'replace';
}

/** What to run: plain data. Fields left out take the scheduler's defaults at submission. */
export interface Signature {
  readonly name: string;
  /** Chosen by the submitter to make submission idempotent; generated when absent. Letters, digits, `.`, `_`, `-`. */
  readonly id?: string;
  readonly args: readonly TypedValue[];
  /** Machinery's RoutingKey. */
  readonly queue?: string;
  /** 0 to 9, higher first; ages, so that nothing starves. */
  readonly priority?: number;
  /** Not before this time (epoch ms). Only a future time delays. */
  readonly etaMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** Longest run of one attempt, ms. */
  readonly timeoutMs?: number;
  /** Must have started by then (epoch ms), else CANCELLED with cause `expired`. */
  readonly expiresMs?: number;
  /** Must have ended by then (epoch ms), whatever it is doing. */
  readonly deadlineMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its results are not appended to what follows it; on a chord's callback: the group's results are not appended. */
  readonly immutable?: boolean;
  /** Submitted when this task succeeds, results appended to their first tasks' args. Not awaited by its workflow. */
  readonly onSuccess?: readonly Workflow[];
  /** Submitted when it ends as FAILURE, the error text prepended as a string arg. */
  readonly onError?: readonly Workflow[];
  readonly unique?: UniqueRule;
  /** Zero-based positions of arguments whose values must never be shown. */
  readonly secrets?: readonly number[];
  readonly tags?: readonly string[];
  /** Only a node whose labels contain all of these may run it. */
  readonly labels?: Readonly<Record<string, string>>;
  /** At most `max` tasks with this key run at once, everywhere (per customer, per host...). */
  readonly concurrency?: { readonly key: string; readonly max: number };
  /** Machinery's IgnoreWhenTaskNotRegistered: cancelled as expired when no live worker knows its name. */
  readonly ignoreWhenNotRegistered?: boolean;
}

/**
 * What happens to the rest when a part fails.
 * `stop`: the rest is cancelled with the reason. `wait-all`: running and waiting members finish, then it fails.
 * `ignore`: it goes on as if the part had succeeded with no results.
 */
export type FailurePolicy = 'stop' | 'wait-all' | 'ignore';

/** A workflow: a task, or a chain or group of workflows, or a chord (a group and what runs on its results). */
export type Workflow =
  | { readonly kind: 'task'; readonly signature: Signature }
  | {
      readonly kind: 'chain';
      readonly steps: readonly Workflow[];
      readonly onFailure?: FailurePolicy;
      /** Gets every failure as one `json` argument, prepended: [{ task_id, name, attempt, error }]. */
      readonly onError?: Workflow;
    }
  | {
      readonly kind: 'group';
      readonly members: readonly Workflow[];
      readonly onFailure?: FailurePolicy;
      readonly onError?: Workflow;
      /** At most so many members run at once; absent or 0: no limit. */
      readonly concurrency?: number;
    }
  | {
      readonly kind: 'chord';
      readonly header: readonly Workflow[];
      readonly callback: Workflow;
      readonly onFailure?: FailurePolicy;
      readonly onError?: Workflow;
      readonly concurrency?: number;
    };

export const LIMITS = Object.freeze({
  /** Arguments (or results) of one task, encoded, bytes. Configurable below 1 MiB. */
  payloadBytes: 262_144,
  nameBytes: 200,
  idBytes: 200,
  workflowTasks: 10_000,
  workflowDepth: 32,
  args: 256,
  tags: 32,
  /** Delays of a custom retry policy. */
  retryDelays: 50,
  headers: 64,
  headerBytes: 4_096,
  labels: 32,
  /** All onSuccess or onError tasks of one task together: they are written in its ending transaction. */
  callbackTasks: 16,
  retryCount: 10_000,
  priorityMax: 9,
});
