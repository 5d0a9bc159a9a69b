import type { FailurePolicy, Workflow, ArgType } from './signature.js';
import type { WorkflowState } from './state.js';
import type { Json } from './json.js';
import type { DefinitionDefaults } from './task-types.js';
import type { LeaderHealth } from './leader-health.js';

/** An argument or result as a worker advertises it. */
export interface ArgInfo {
  readonly name: string;
  readonly type: ArgType;
  readonly help?: string;
  readonly secret?: boolean;
  readonly optional?: boolean;
}

/** What a live worker says about a task name it serves; forms and checks are built from it. */
export interface HandlerInfo {
  readonly name: string;
  readonly queue: string;
  readonly args: readonly ArgInfo[];
  /** Set when any number of further arguments of this type may follow. */
  readonly variadic?: ArgType;
  readonly results: readonly ArgType[];
  readonly description?: string;
  readonly runbookUrl?: string;
  /** What its definition gives to every signature, besides the queue: applied to what is submitted by name. */
  readonly defaults?: Omit<DefinitionDefaults, 'queue'>;
}

/** `nodes/<id>`, under the node's own lease. */
export interface NodeRecord {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedMs: number;
  /** Decimal digits of the etcd lease: more than 2^53. */
  readonly leaseId: string;
  readonly leaseTtlMs: number;
  readonly queues: readonly { readonly name: string; readonly concurrency: number; readonly weight: number }[];
  readonly handlers: readonly HandlerInfo[];
  readonly labels: Readonly<Record<string, string>>;
  readonly draining: boolean;
  /** May be elected leader. */
  readonly candidate: boolean;
  /** `v1` layouts this process reads and writes; shown on the cluster page. */
  readonly layout: number;
}

/** `stats/<node>`: coalesced, at most every few seconds; no lease, removed by the janitor with its node. */
export interface NodeStats {
  readonly atMs: number;
  /** Node clock minus the leader's, ms, too high by the quickest sample's way (worker/skew.ts); unknown until measured. */
  readonly clockSkewMs?: number;
  readonly eventLoopDelayMs: number;
  readonly running: number;
  readonly capacity: number;
  readonly claimed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly rssBytes: number;
  /** Of the node that leads. */
  readonly leaderHealth?: LeaderHealth;
}

export interface Pause {
  readonly by: string;
  readonly sinceMs: number;
  readonly reason: string;
}

export interface RateLimit {
  readonly count: number;
  readonly intervalMs: number;
  /** True: spread evenly over the interval; false: in bursts. */
  readonly even?: boolean;
}

/** `queues/<name>`, `names/<name>` and `all`. An absent record means no pause and no limit. */
export interface Settings {
  readonly paused?: Pause;
  readonly concurrency?: number;
  readonly rate?: RateLimit;
  /** Queues only: first come, first served within a priority, by the order of commits (decision 7). */
  readonly ordered?: boolean;
}

/** `workflows/<id>`: changes only on lifecycle edges, so that its version is a cheap guard for all members. */
export interface WorkflowRecord {
  readonly id: string;
  readonly state: WorkflowState;
  readonly name: string;
  readonly kind: Workflow['kind'];
  readonly tasks: number;
  readonly joins: number;
  /** Parts of the source under `graphs/<id>/`. */
  readonly parts: number;
  /** Equals the key's version in etcd at the time of this write. */
  readonly version: number;
  /** Raised by each retry of the workflow. */
  readonly generation: number;
  readonly by: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly endedMs?: number;
  readonly reason?: string;
  readonly failures?: readonly MemberFailure[];
  readonly parent?: string;
  readonly tags?: readonly string[];
}

/** A failed member as error callbacks and the board see it. */
export interface MemberFailure {
  readonly taskId: string;
  readonly name: string;
  readonly attempt: number;
  readonly error: string;
}

/** `chores/<workflow>/<name>`: something a workflow's driver still has to do. Written in the transaction that made it due. */
export type Chore =
  /** Task `index` ended without success, or succeeded in a workflow that is being cancelled (`halt`). */
  | { readonly kind: 'ended'; readonly index: number; readonly failure?: MemberFailure; readonly halt?: boolean }
  /** What follows task `index` is too much for its own transaction. */
  | { readonly kind: 'release'; readonly index: number }
  /** Write the members of a sealed workflow. */
  | { readonly kind: 'unfold' }
  /** Release every waiting member whose predecessor is complete. */
  | { readonly kind: 'start' }
  /** End every member that has not ended. */
  | { readonly kind: 'cancel'; readonly reason: string; readonly by: string }
  /** Put failed and unreached members back; `only` one and what follows it, or everything `from` one on. */
  | { readonly kind: 'reopen'; readonly only?: number; readonly from?: number; readonly by: string };

/** `failures/<workflow>/<join>/<slot>`. */
export interface SlotFailure {
  readonly failure: MemberFailure;
  /** What else failed inside, when it was a join that failed here. Bounded. */
  readonly others?: readonly MemberFailure[];
  /** It did not fail by itself: it was stopped from outside. No policy ignores that. */
  readonly cut: boolean;
}

/** `leader`, under the leader's node lease. */
export interface LeaderRecord {
  readonly node: string;
  readonly sinceMs: number;
}

/** `orders/<node>/<what>/<id>`. */
export interface OrderRecord {
  readonly by: string;
  readonly atMs: number;
  readonly reason?: string;
}

/** `audit/<operationId>`: written in the same transaction as the change it tells of. */
export interface AuditRecord {
  readonly operation: string;
  readonly atMs: number;
  readonly actor: Actor;
  readonly targets: readonly string[];
  readonly reason?: string;
  readonly outcome: 'done' | 'refused';
  readonly detail?: Json;
  /** What the operator saw (decimal digits). */
  readonly revisionSeen?: string;
  /** Mod revision of the target before the change, `0` if there was none. The record's own revision is the one after. */
  readonly revisionBefore?: string;
  readonly request?: string;
}

/** Who acts. Every mutating store function takes one. */
export interface Actor {
  readonly kind: 'client' | 'node' | 'leader' | 'operator' | 'system';
  readonly name: string;
  readonly role?: string;
  readonly method?: string;
  readonly address?: string;
}

export function actorText(actor: Actor): string {
  return `${actor.kind}:${actor.name}`;
}

export type MissedPolicy = 'skip' | 'one' | 'all';
export type OverlapPolicy = 'allow' | 'skip' | 'queue' | 'cancel-other';

/** `schedules/<id>`. */
export interface ScheduleRecord {
  readonly id: string;
  readonly spec: string;
  readonly zone: string;
  readonly workflow: Workflow;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly count?: number;
  readonly jitterMs?: number;
  readonly missed: MissedPolicy;
  readonly missedWindowMs: number;
  readonly overlap: OverlapPolicy;
  readonly paused?: Pause;
  /** Anchor of `@every`, and where the next instant is derived from: the last instant that was decided. */
  readonly anchorMs: number;
  readonly lastMs?: number;
  readonly nextMs?: number;
  readonly fired: number;
  /** The newest instant whose run waits for the one before it (overlap `queue`). */
  readonly queuedMs?: number;
  /** The id of a run that is decided and whose workflow, too large for one transaction, is still being submitted. */
  readonly submitting?: string;
  /** What the last run was submitted as: a task or a workflow. */
  readonly lastTaskId?: string;
  readonly by: string;
  readonly updatedMs: number;
}

export type { FailurePolicy, LeaderHealth };
