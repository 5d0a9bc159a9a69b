/**
 * Claim: lock, record and slots in one sub-transaction, decided on what the claimer saw and refused if any of it changed:
 * the record, the absence of a lock, the settings of queue, name and everything (I9), the workflow's version, the slots.
 *
 * A claim in doubt (its reply was lost) is never forgotten: the failure branch shows whose lock is there.
 */
import type { Compare, KeyValue, Op, OpResult } from '../kv/kv.js';
import { decodeLock, decodePayload, decodeTask, encodeLock, encodeRecord } from '../model/codec.js';
import type { LockRecord, TaskPayload, TaskRecord } from '../model/task.js';
import { claimed } from '../model/transition.js';
import type { Fence } from './commit.js';
import { edgeOps } from './edge.js';
import { absent, createdAt, found, get, modIs, put, versionIs, type Store } from './store.js';
import { memberId } from '../model/ids.js';

/** The session under which a worker holds its locks. */
export interface Holder {
  readonly node: string;
  readonly lease: bigint;
  /** Compares the node key's create revision: a session that is over writes nothing. */
  readonly fence: Fence;
}

/** Mod revisions of the settings a claim is decided on; 0n where there is no record. */
export interface SettingsSeen {
  readonly queue: bigint;
  readonly name: bigint;
  readonly all: bigint;
}

export interface Candidate {
  readonly task: TaskRecord;
  /** Mod revision of the record this was decided on. */
  readonly revision: bigint;
  readonly settings: SettingsSeen;
  /** Full slot names `<limit>/<n>` to take, one per limit. */
  readonly slots: readonly { readonly limit: string; readonly n: number }[];
  /** Units of rate windows to take, one per rate limit. They stay taken when the attempt ends. */
  readonly units?: readonly RateUnit[];
}

/** A unit of a rate window, while that is open (R1). */
export interface RateUnit {
  readonly limit: string;
  readonly window: number;
  readonly n: number;
  /** Create revision of the window's opener. */
  readonly opener: bigint;
}

/** A task held under a lock, with all that is needed to run and to settle it. */
export interface Held {
  readonly task: TaskRecord;
  /** Mod revision of the record as last read or written. */
  readonly revision: bigint;
  /** The lock's create revision: the fencing token's revision. */
  readonly token: bigint;
  readonly payload?: TaskPayload;
  /** Records of the next step, when it is small enough to be released in the settling transaction. */
  readonly successors: readonly Seen[];
}

export interface Seen {
  readonly task: TaskRecord;
  readonly revision: bigint;
}

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly held: Held }
  /** Somebody holds it. `lock` is absent when the lock went away while this was decided. */
  | { readonly kind: 'held'; readonly lock: LockRecord; readonly task?: Seen }
  /** The record is another one now; decide again on it. Absent: the task is gone. */
  | { readonly kind: 'changed'; readonly task?: Seen }
  /** Settings, workflow or slots changed: read them again. */
  | { readonly kind: 'blocked'; readonly by: 'settings' | 'workflow' | 'slots' | 'units'; readonly task?: Seen }
  | { readonly kind: 'fenced' };

/** Successors up to this many are read by the claim and released by the settling transaction itself. */
export const INLINE_SUCCESSORS = 4;

export async function claim(store: Store, holder: Holder, candidate: Candidate): Promise<ClaimResult> {
  const { keys } = store;
  const { task } = candidate;
  const taken = { by: `node:${holder.node}`, nowMs: store.now() };
  const slotKeys = candidate.slots.map(({ limit, n }) => keys.slot(limit, n));
  const next = claimed(
    task,
    taken,
    holder.node,
    candidate.slots.map(({ limit, n }) => `${limit}/${n}`),
  );
  const lock: LockRecord = { node: holder.node, attempt: next.attempt, sinceMs: taken.nowMs };
  const units = candidate.units ?? [];
  const successors = inlineSuccessors(task);
  const success: Op[] = [
    put(keys.lock(task.id), encodeLock(lock), holder.lease),
    ...slotKeys.map((key) => put(key, task.id, holder.lease)),
    ...units.map((unit) => put(unitKey(store, unit), encodeRecord({ task: task.id, atMs: taken.nowMs }))),
    ...edgeOps(keys, task, next),
    ...successors.map((id) => get(keys.task(id))),
    ...(needsPayload(task) ? [get(keys.args(task.id))] : []),
  ];
  const settings = settingsKeys(store, task);
  const result = await store.committer.submit(holder.fence, {
    compare: claimGuards(store, candidate, slotKeys, settings),
    success,
    failure: [get(keys.task(task.id)), get(keys.lock(task.id))],
  });
  if (result.kind === 'fenced') return { kind: 'fenced' };
  if (result.succeeded) return { kind: 'claimed', held: heldFrom(next, result.revision, result.results, success) };
  return refused(store, holder, candidate, next.attempt, result.results);
}

function claimGuards(
  store: Store,
  candidate: Candidate,
  slotKeys: readonly string[],
  [queue, name, all]: readonly string[],
): Compare[] {
  const { keys } = store;
  const { task, settings } = candidate;
  return [
    modIs(keys.task(task.id), candidate.revision),
    absent(keys.lock(task.id)),
    modIs(queue ?? '', settings.queue),
    modIs(name ?? '', settings.name),
    modIs(all ?? '', settings.all),
    ...(task.workflow === undefined ? [] : [versionIs(keys.workflow(task.workflow.id), task.workflow.version)]),
    ...slotKeys.map(absent),
    ...(candidate.units ?? []).flatMap((unit) => [
      createdAt(store.keys.rate(unit.limit, unit.window, 0), unit.opener),
      absent(unitKey(store, unit)),
    ]),
  ];
}

function unitKey(store: Store, { limit, window, n }: RateUnit): string {
  return store.keys.rate(limit, window, n);
}

function settingsKeys(store: Store, task: TaskRecord): readonly string[] {
  return [store.keys.queue(task.queue), store.keys.name(task.name), store.keys.all()];
}

export function needsPayload(task: TaskRecord): boolean {
  return task.args === undefined || task.hasCallbacks === true;
}

/** Ids of the next step when it is handed on in the settling transaction. */
export function inlineSuccessors(task: TaskRecord): readonly string[] {
  const next = task.workflow?.cont.next;
  if (next === undefined || task.workflow === undefined) return [];
  if (next.entries.length > INLINE_SUCCESSORS || next.joins !== undefined) return [];
  const { id } = task.workflow;
  return next.entries.map((index) => memberId(id, index));
}

function heldFrom(task: TaskRecord, revision: bigint, results: readonly OpResult[], ops: readonly Op[]): Held {
  const reads = results
    .filter((_, i) => ops[i]?.kind === 'range')
    .map((r) => (r.kind === 'range' ? r.kvs[0] : undefined));
  const payload = needsPayload(task) ? reads.at(-1) : undefined;
  const successors = (needsPayload(task) ? reads.slice(0, -1) : reads).flatMap(seen);
  return {
    task,
    revision,
    token: revision,
    successors,
    ...(payload === undefined ? {} : { payload: decodePayload(payload.value) }),
  };
}

export function seen(kv: KeyValue | undefined): Seen[] {
  return kv === undefined ? [] : [{ task: decodeTask(kv.value), revision: kv.modRevision }];
}

async function refused(
  store: Store,
  holder: Holder,
  candidate: Candidate,
  attempt: number,
  results: readonly OpResult[],
): Promise<ClaimResult> {
  const [current] = seen(found(results, 0));
  const lockKv = found(results, 1);
  const task = current === undefined ? {} : { task: current };
  if (lockKv !== undefined) {
    const lock = decodeLock(lockKv.value);
    const mine = lockKv.lease === holder.lease && lock.node === holder.node && lock.attempt === attempt;
    if (!mine || current === undefined) return { kind: 'held', lock, ...task };
    return { kind: 'claimed', held: await readHeld(store, current, lockKv.createRevision) };
  }
  if (current?.revision !== candidate.revision) return { kind: 'changed', ...task };
  if (await settingsChanged(store, candidate)) return { kind: 'blocked', by: 'settings', ...task };
  const limited = candidate.slots.length > 0 ? 'slots' : 'workflow';
  return { kind: 'blocked', by: (candidate.units ?? []).length > 0 ? 'units' : limited, ...task };
}

/**
 * Whether it were the settings. Read only now: in the failure branch their keys would travel with every claim and stand in
 * etcd's log. A change that came and went in between is taken for something else, and the claim is tried anew all the same.
 */
async function settingsChanged(store: Store, { task, settings }: Candidate): Promise<boolean> {
  const { results } = await store.kv.txn({ compare: [], success: settingsKeys(store, task).map(get) });
  const seenThen = [settings.queue, settings.name, settings.all];
  return seenThen.some((revision, i) => (found(results, i)?.modRevision ?? 0n) !== revision);
}

/** What a claim would have read, for one whose reply was lost. */
export async function readHeld(store: Store, current: Seen, token: bigint): Promise<Held> {
  const ids = inlineSuccessors(current.task);
  const ops: Op[] = ids.map((id) => get(store.keys.task(id)));
  if (needsPayload(current.task)) ops.push(get(store.keys.args(current.task.id)));
  if (ops.length === 0) return { ...current, token, successors: [] };
  const answer = await store.kv.txn({ compare: [], success: ops });
  const held = heldFrom(current.task, current.revision, answer.results, ops);
  return { ...held, revision: current.revision, token };
}
