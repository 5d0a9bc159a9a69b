/**
 * Submission. A task is one sub-transaction; a workflow that fits is one too; a larger one is staged: its source is
 * written in parts that nobody looks at, the seal makes it a workflow in one transaction, and its tasks are unfolded from
 * the source afterwards, by the submitter or, after a crash, by the leader (I5: whole or not at all).
 *
 * Submission is idempotent by id: create revision is 0, and the failure branch reads what is there.
 */
import type { Compare, Op } from '../kv/kv.js';
import { encodePayload, encodeRecord, decodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { utf8Length, type Json } from '../model/json.js';
import { shardOf } from '../model/order.js';
import type { Actor, Chore, WorkflowRecord } from '../model/records.js';
import type { Workflow } from '../model/signature.js';
import { submitted } from '../model/submission.js';
import type { InputSource, TaskRecord, WorkflowPlace } from '../model/task.js';
import type { Taken } from '../model/transition.js';
import {
  mapSignatures,
  normalizeSignature,
  normalizeWorkflow,
  type ResolvedSignature,
  type Limits,
  type SignatureDefaults,
} from '../model/validate.js';
import { compileWorkflow, countTasks, type CompiledTask, type CompiledWorkflow } from '../model/workflow.js';
import { NO_FENCE, type Fence, type SubTxn } from './commit.js';
import { edgeOps } from './edge.js';
import { freeWay, resolveUnique } from './unique.js';
import { absent, auditOp, createdAt, del, found, get, put, takenBy, type OperatorCall, type Store } from './store.js';

export interface SubmitOptions {
  readonly parent?: string;
  readonly defaults?: SignatureDefaults;
  /** What must hold for it to be written: the leader's, when a schedule submits (I8). Default: nothing. */
  readonly fence?: Fence;
  /** How long to try when the store does not answer, ms. */
  readonly giveUpMs?: number;
  /** A person's submission: recorded in the audit, in the transaction that makes it. */
  readonly audit?: OperatorCall;
}

export interface Submitted {
  readonly kind: 'task' | 'workflow';
  readonly id: string;
  /** Revision of the acknowledgement; a view that has reached it shows the submission. */
  readonly revision: bigint;
  /** False when the id (or the unique key, with `existing`) was there already: nothing was written. */
  readonly created: boolean;
  /** A chore was written with it: call `advance`, so that it need not wait for the leader. */
  readonly chore: boolean;
}

/** How often a submission looks again who holds its unique key. */
const UNIQUE_TRIES = 20;

/** Operations in one sub-transaction at most; leaves room for 27 others in its request. */
const SMALL_OPS = 100;
const SMALL_BYTES = 400_000;

/** Submits one task. @throws LeaseholdError `invalid`, `too-large`, `unique-conflict`, `unavailable`. */
export async function submitTask(
  store: Store,
  actor: Actor,
  signature: ResolvedSignature,
  options: SubmitOptions = {},
): Promise<Submitted> {
  const id = signature.id ?? store.newId();
  const taken = takenBy(store, actor);
  const { task, ops } = taskOps(store, signature, taken, id, options.parent);
  const taskKey = store.keys.task(id);
  const recorded = recording(store, options.audit, 'task.submit', id, { name: task.name, queue: task.queue });
  let way = freeWay(store, task);
  for (let tries = 0; tries < UNIQUE_TRIES; tries++) {
    const result = await answered(store, NO_FENCE, options, {
      compare: [absent(taskKey), ...way.compare, ...recorded.compare],
      success: [...way.ops, ...ops, ...recorded.ops],
      failure: [get(taskKey), ...way.reads],
    });
    if (result.succeeded) return { kind: 'task', id, revision: result.revision, created: true, chore: false };
    const there = found(result.results, 0);
    if (there !== undefined)
      return { kind: 'task', id, revision: there.modRevision, created: result.resent, chore: false };
    const next = await resolveUnique(store, task, found(result.results, 1), taken);
    if (next.kind === 'existing') return { ...next, kind: 'task', created: false, chore: false };
    way = next;
  }
  throw new LeaseholdError('conflict', `unique key "${task.unique?.key ?? ''}" kept changing hands; submit again`, {
    id,
  });
}

/** The operations of one new task that waits for nobody. */
export function taskOps(
  store: Store,
  signature: ResolvedSignature,
  taken: Taken,
  id: string,
  parent?: string,
): { task: TaskRecord; ops: Op[] } {
  const where = { id, shard: shardOf(id), ...(parent === undefined ? {} : { parent }) };
  const { task, payload } = submitted(signature, taken, where);
  const ops = edgeOps(store.keys, undefined, task);
  if (payload !== undefined) ops.push(put(store.keys.args(id), encodePayload(payload)));
  return { task, ops };
}

/** Submits a workflow; a single task is submitted as a task. */
export async function submitWorkflow(
  store: Store,
  actor: Actor,
  workflow: Workflow,
  options: SubmitOptions & { readonly id?: string; readonly name?: string; readonly tags?: readonly string[] } = {},
): Promise<Submitted> {
  if (workflow.kind === 'task') {
    const input = options.id === undefined ? workflow.signature : { ...workflow.signature, id: options.id };
    return submitTask(store, actor, normalizeSignature(input, options.defaults ?? {}, store.now()), options);
  }
  const taken = takenBy(store, actor);
  const id = options.id ?? store.newId();
  const resolved = resolveWorkflow(workflow, options.defaults ?? {}, taken.nowMs);
  const header = workflowHeader(id, resolved, taken, options);
  const small = smallWorkflow(store, header, resolved, taken);
  const recorded = recording(store, options.audit, 'workflow.submit', id, { name: header.name, tasks: header.tasks });
  return small === undefined
    ? submitStaged(store, header, resolved, { ...options, recorded })
    : submitSmall(store, id, small, { ...options, recorded });
}

/** The audit of a submission. An operation's id that was used for something else makes nothing. */
interface Recording {
  readonly compare: readonly Compare[];
  readonly ops: readonly Op[];
}

function recording(
  store: Store,
  call: OperatorCall | undefined,
  operation: string,
  id: string,
  detail: Json,
): Recording {
  if (call === undefined) return { compare: [], ops: [] };
  return {
    compare: [absent(store.keys.audit(call.operationId))],
    ops: [auditOp(store, call, operation, [id], detail, { revisionBefore: 0n })],
  };
}

type Recorded = SubmitOptions & { readonly recorded: Recording };

async function submitSmall(store: Store, id: string, ops: readonly Op[], options: Recorded): Promise<Submitted> {
  const key = store.keys.workflow(id);
  const { recorded } = options;
  const sub: SubTxn = {
    compare: [absent(key), absent(store.keys.staged(id)), ...recorded.compare],
    success: [...ops, ...recorded.ops],
    failure: [get(key)],
  };
  const result = await answered(store, fenceOf(options), options, sub);
  const chore = ops.some((op) => op.kind === 'put' && op.key.startsWith(store.keys.chores(id)));
  if (result.succeeded) return { kind: 'workflow', id, revision: result.revision, created: true, chore };
  const there = found(result.results, 0);
  return { kind: 'workflow', id, revision: there?.modRevision ?? result.revision, created: result.resent, chore };
}

async function submitStaged(
  store: Store,
  header: WorkflowRecord,
  workflow: Workflow,
  options: Recorded,
): Promise<Submitted> {
  const { keys } = store;
  const { recorded } = options;
  const parts = sourceParts(workflow);
  const stagedKey = keys.staged(header.id);
  const opened = await answered(store, fenceOf(options), options, {
    compare: [absent(stagedKey), absent(keys.workflow(header.id))],
    success: [put(stagedKey, encodeRecord({ ...header, parts: parts.length }))],
    failure: [get(stagedKey), get(keys.workflow(header.id))],
  });
  const sealedBefore = opened.succeeded ? undefined : found(opened.results, 1);
  if (sealedBefore !== undefined) {
    return { kind: 'workflow', id: header.id, revision: sealedBefore.modRevision, created: false, chore: true };
  }
  const stagedRevision = opened.succeeded ? opened.revision : found(opened.results, 0)?.createRevision;
  if (stagedRevision === undefined) throw lostStaging(header.id);
  const guard = createdAt(stagedKey, stagedRevision);
  await Promise.all(
    parts.map(async (part, n) => {
      const result = await answered(store, fenceOf(options), options, {
        compare: [guard],
        success: [put(keys.graph(header.id, n), part)],
      });
      if (!result.succeeded) throw lostStaging(header.id);
    }),
  );
  const seal = await answered(store, fenceOf(options), options, {
    compare: [
      guard,
      absent(keys.workflow(header.id)),
      ...parts.map((_, n): Compare => presentPart(store, header.id, n)),
      ...recorded.compare,
    ],
    success: [
      ...recorded.ops,
      del(stagedKey),
      put(keys.workflow(header.id), encodeRecord({ ...header, parts: parts.length })),
      choreOp(store, header.id, { kind: 'unfold' }),
    ],
    failure: [get(keys.workflow(header.id))],
  });
  const sealed = seal.succeeded ? seal.revision : found(seal.results, 0)?.modRevision;
  if (sealed === undefined) throw lostStaging(header.id);
  return { kind: 'workflow', id: header.id, revision: sealed, created: true, chore: true };
}

function fenceOf({ fence }: SubmitOptions): Fence {
  return fence ?? NO_FENCE;
}

function presentPart(store: Store, id: string, n: number): Compare {
  return { key: store.keys.graph(id, n), target: 'create', op: '>', value: 0n };
}

function lostStaging(id: string): LeaseholdError {
  return new LeaseholdError('unavailable', `the staging of ${id} was cleaned up before its seal; submit again`, { id });
}

/** Submits and insists on an answer. */
export async function answered(
  store: Store,
  fence: Fence,
  options: { readonly giveUpMs?: number },
  sub: SubTxn,
): Promise<Extract<Awaited<ReturnType<Store['committer']['submit']>>, { kind: 'answered' }>> {
  const result = await store.committer.submit(fence, sub, giveUp(options));
  if (result.kind === 'fenced') throw new LeaseholdError('session-lost', `fence ${fence.id} does not hold any more`);
  return result;
}

function giveUp(options: { readonly giveUpMs?: number }): { giveUpMs?: number } {
  return options.giveUpMs === undefined ? {} : { giveUpMs: options.giveUpMs };
}

function workflowHeader(
  id: string,
  workflow: Workflow,
  taken: Taken,
  options: { readonly name?: string; readonly parent?: string; readonly tags?: readonly string[] },
): WorkflowRecord {
  return {
    id,
    state: 'RUNNING',
    name: options.name ?? describe(workflow),
    kind: workflow.kind,
    tasks: countTasks(workflow),
    joins: 0,
    parts: 1,
    version: 1,
    generation: 1,
    by: taken.by,
    createdMs: taken.nowMs,
    updatedMs: taken.nowMs,
    ...(options.parent === undefined ? {} : { parent: options.parent }),
    ...(options.tags === undefined || options.tags.length === 0 ? {} : { tags: options.tags }),
  };
}

/** A name for people: the first and last task names. */
function describe(workflow: Workflow): string {
  const names = taskNames(workflow);
  const distinct = [...new Set(names)];
  return distinct.length <= 3 ? distinct.join(' → ') : `${distinct[0]} → … → ${distinct.at(-1)}`;
}

function taskNames(workflow: Workflow): readonly string[] {
  switch (workflow.kind) {
    case 'task':
      return [workflow.signature.name];
    case 'chain':
      return workflow.steps.flatMap(taskNames);
    case 'group':
      return workflow.members.flatMap(taskNames);
    case 'chord':
      return [...workflow.header, workflow.callback].flatMap(taskNames);
  }
}

/** Every signature checked and filled in, so that unfolding later cannot fail. @throws LeaseholdError with the path. */
export function resolveWorkflow(
  workflow: Workflow,
  defaults: SignatureDefaults,
  nowMs: number,
  limits?: Limits,
): Workflow {
  return mapSignatures(normalizeWorkflow(workflow, defaults, nowMs, limits), (signature, path) => {
    if (signature.unique === undefined) return signature;
    throw new LeaseholdError('invalid', `${path}.unique: a unique key belongs to a task that is submitted on its own`, {
      field: `${path}.unique`,
    });
  });
}

/** The operations of a workflow that fits one sub-transaction; undefined when it does not. */
export function smallWorkflow(
  store: Store,
  header: WorkflowRecord,
  workflow: Workflow,
  taken: Taken,
  mostBytes = SMALL_BYTES,
): Op[] | undefined {
  if (header.tasks > SMALL_OPS / 2) return undefined;
  const compiled = compileWorkflow(header.id, workflow);
  const [source, ...more] = sourceParts(workflow, mostBytes === SMALL_BYTES ? PART_CHARS : mostBytes);
  if (source === undefined || more.length > 0) return undefined;
  const entries = new Set(compiled.entries);
  const ops: Op[] = [
    put(store.keys.workflow(header.id), encodeRecord({ ...header, joins: compiled.joins.length })),
    put(store.keys.graph(header.id, 0), source),
    ...compiled.joins.flatMap((join) => joinOps(store, compiled, join.join)),
    ...(compiled.emptyJoins.length > 0 ? [choreOp(store, header.id, { kind: 'start' })] : []),
    ...compiled.tasks.flatMap((task) => memberOps(store, header, task, taken, !entries.has(task.index)).ops),
  ];
  const bytes = ops.reduce((sum, op) => sum + (op.kind === 'put' ? op.key.length + utf8Length(op.value) : 64), 0);
  return ops.length > SMALL_OPS || bytes > mostBytes ? undefined : ops;
}

/** A join's marker and the members it awaits. */
export function joinOps(store: Store, compiled: CompiledWorkflow, join: number): Op[] {
  const slots = compiled.joins[join]?.slots ?? 0;
  // A join without members would look complete before its turn: it is held until what precedes it is over.
  const held = slots === 0 && !compiled.emptyJoins.includes(join);
  return [
    put(store.keys.join(compiled.id, join), ''),
    ...(held ? [put(store.keys.barrier(compiled.id, join, 'hold'), '')] : []),
    ...Array.from({ length: slots }, (_, slot) => put(store.keys.barrier(compiled.id, join, slot), '')),
  ];
}

/** A member of a workflow, as stored. */
export function memberOps(
  store: Store,
  header: WorkflowRecord,
  compiled: CompiledTask,
  taken: Taken,
  waiting: boolean,
): { task: TaskRecord; ops: Op[] } {
  const place: WorkflowPlace = {
    id: header.id,
    index: compiled.index,
    version: header.version,
    generation: header.generation,
    cont: compiled.cont,
    ...(compiled.inputs === undefined ? {} : { inputs: compiled.inputs satisfies InputSource }),
    ...(compiled.limits.length === 0 ? {} : { limits: compiled.limits }),
  };
  const where = { id: compiled.id, shard: shardOf(compiled.id), place, waiting };
  const { task, payload } = submitted(compiled.signature as ResolvedSignature, taken, where);
  const ops = edgeOps(store.keys, undefined, task);
  if (payload !== undefined) ops.push(put(store.keys.args(task.id), encodePayload(payload)));
  return { task, ops };
}

const PART_CHARS = 300_000;

/** The source as text, cut into parts that a request can carry; never inside a surrogate pair. */
export function sourceParts(workflow: Workflow, partChars = PART_CHARS): string[] {
  const text = encodeRecord({ source: workflow });
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + partChars);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end--;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

export function decodeSource(parts: readonly string[]): Workflow {
  return decodeRecord<{ source: Workflow }>(parts.join(''), 'workflow source').source;
}

/** One chore of a kind (and member) at a time: writing it again is the same chore. */
export function choreOp(store: Store, workflowId: string, chore: Chore): Op {
  const name = 'index' in chore ? `${chore.kind}-${String(chore.index).padStart(5, '0')}` : chore.kind;
  return put(store.keys.chore(workflowId, name), encodeRecord(chore));
}
