import type { TypedValue, RetryPolicy, UniqueRule, Workflow, FailurePolicy } from './signature.js';
import type { EndedState, TaskState } from './state.js';
import type { Cause } from './cause.js';

/** Why an attempt failed. `stack` and `message` are cut to the limits of `outcome.ts`. */
export interface TaskError {
  /** Stable name to group by: the error's class, or `TimeoutError`, `LostError`, `ExpiredError`, `BadArgumentError`... */
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly attempt: number;
  readonly node?: string;
  readonly atMs: number;
  /** The handler said that trying again is useless. */
  readonly final?: boolean;
}

/** Where the results prepended to a task's own args come from: a task, or the members of a join, in order. */
export type InputSource = { readonly task: number } | { readonly join: number };

/**
 * What follows a task or a join inside its workflow (see `workflow.ts`).
 * `next`: the step after it in its chain. `up`: where its chain reports when it is over. Exactly one of them acts on
 * success: `next` if present, else `up`.
 */
export interface Continuation {
  readonly next?: {
    /** Indexes of the tasks that become ready. */
    readonly entries: readonly number[];
    /** Joins of the next step that have no members (empty groups): complete at once. */
    readonly joins?: readonly number[];
    /** Indexes [from, to) of everything later in this chain: cancelled when the chain stops. */
    readonly rest: readonly [number, number];
    /** Joins [from, to) of everything later in this chain. Only in the compiled graph, not in stored records. */
    readonly restJoins?: readonly [number, number];
  };
  readonly up: { readonly join: number; readonly slot: number };
  /** The chain's policy (for a member that is no chain: `stop`). `ignore`: a failure goes on like a success. */
  readonly policy: FailurePolicy;
}

/** A task's place in its workflow. */
export interface WorkflowPlace {
  readonly id: string;
  readonly index: number;
  /** Version of the workflow record under which it was released; a claim and a hand-off compare it. */
  readonly version: number;
  /** Raised when a retry of the workflow reopens it. */
  readonly generation: number;
  readonly cont: Continuation;
  /** Absent: nothing is prepended. */
  readonly inputs?: InputSource;
  /** Concurrency limits of the groups around it, as limit names with their sizes. */
  readonly limits?: readonly LimitClaim[];
}

/** One unit of a named limit to be held while running. */
export interface LimitClaim {
  readonly limit: string;
  readonly max: number;
}

/** `stopped`: its workflow asks, because another part failed or all of it is cancelled; else somebody meant this task. */
export interface CancelRequest {
  readonly by: string;
  readonly atMs: number;
  readonly reason: string;
  readonly stopped?: boolean;
}

/** A retained error of an earlier attempt, without its stack. */
export type PastError = Omit<TaskError, 'stack'>;

/** The one record of a task, `tasks/<id>`. */
export interface TaskRecord {
  readonly id: string;
  readonly name: string;
  readonly state: TaskState;
  /** The cause of the edge that led here. */
  readonly cause: Cause;
  /** Who took that edge: `client:<host>`, `node:<id>`, `leader:<node>`, `operator:<user>`. */
  readonly by: string;
  readonly queue: string;
  readonly shard: number;
  readonly priority: number;
  /** Absent: they are in `args/<id>`. */
  readonly args?: readonly TypedValue[];
  readonly createdMs: number;
  readonly updatedMs: number;
  /** When it becomes (became) ready: ETA, retry time, or creation. The article's `schedule_at`. */
  readonly scheduleAtMs: number;
  /** Position in its ready index while PENDING or STARTED: the number in the entry's key. */
  readonly order?: number;
  /** The time in its due entry's key while SCHEDULED or RETRY. */
  readonly dueMs?: number;
  readonly startedMs?: number;
  readonly endedMs?: number;
  /** Attempts begun. Only grows. */
  readonly attempt: number;
  readonly failures: number;
  readonly losses: number;
  readonly snoozes: number;
  readonly handBacks: number;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly expiresMs?: number;
  readonly deadlineMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly secrets?: readonly number[];
  readonly tags?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly concurrency?: { readonly key: string; readonly max: number };
  readonly ignoreWhenNotRegistered?: boolean;
  /** While STARTED: the node that holds the lock. */
  readonly node?: string;
  /** Slots held while STARTED, as full slot names `<limit>/<n>`; the ending edge frees them. */
  readonly slots?: readonly string[];
  /** The unique key it holds until it ends. */
  readonly unique?: UniqueRule;
  /** Set when somebody asked a running task to stop. Durable; the worker aborts when it sees it. */
  readonly cancelRequested?: CancelRequest;
  /** Small results inline. */
  readonly results?: readonly TypedValue[];
  /** Results of this attempt are in `results/<id>/<attempt>`. */
  readonly resultRef?: number;
  readonly error?: TaskError;
  /** Newest last, at most `PAST_ERRORS`. */
  readonly pastErrors?: readonly PastError[];
  /** True: onSuccess / onError are in `args/<id>`. */
  readonly hasCallbacks?: boolean;
  readonly workflow?: WorkflowPlace;
  /** The id of what submitted it: a task (callback), a schedule instant. */
  readonly parent?: string;
}

export type EndedTask = TaskRecord & { readonly state: EndedState; readonly endedMs: number };

/** What `args/<id>` holds: whatever is not in the record. */
export interface TaskPayload {
  readonly args?: readonly TypedValue[];
  readonly onSuccess?: readonly Workflow[];
  readonly onError?: readonly Workflow[];
}

/** The lock, `locks/<id>`. Its create revision is the fencing token of the attempt. */
export interface LockRecord {
  readonly node: string;
  readonly attempt: number;
  readonly sinceMs: number;
}

/** The fencing token: grows with every attempt of a task, also across a restore of etcd (epoch first). */
export interface FencingToken {
  readonly epoch: bigint;
  readonly revision: bigint;
}

/** One number for stores that compare tokens: epoch in the high bits, 48 bits of revision. */
export function tokenNumber(token: FencingToken): bigint {
  return (token.epoch << 48n) | token.revision;
}

export const RECORD_LIMITS = Object.freeze({
  /** Bytes of a task record's JSON. What is larger goes to `args/` or `results/`. */
  recordBytes: 4_096,
  /** Args and results up to this many bytes of JSON are kept in the record. */
  inlineBytes: 768,
  pastErrors: 5,
  errorMessageBytes: 512,
  errorStackBytes: 768,
  pastErrorMessageBytes: 128,
  /** Lost attempts before a task is quarantined. */
  losses: 5,
  snoozes: 1_000,
});
