/**
 * Schedules as operators and clients handle them: each act is one guarded transaction with its audit record, idempotent by
 * the id of the operation. Firing is the leader's and is in `fire.ts`.
 */
import { prefixEnd, type KeyValue } from '../kv/kv.js';
import { checkDate, checkInteger, invalid } from '../model/check.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { checkZone, parseCron } from '../model/cron.js';
import { LeaseholdError } from '../model/errors.js';
import { checkId } from '../model/ids.js';
import { utf8Length } from '../model/json.js';
import { display } from '../model/plain.js';
import { actorText, type MissedPolicy, type OverlapPolicy, type ScheduleRecord } from '../model/records.js';
import { nextFireMs } from '../model/schedule.js';
import type { Workflow } from '../model/signature.js';
import { mapSignatures, normalizeWorkflow, type SignatureDefaults } from '../model/validate.js';
import { act, type Act, type Operated } from './operate.js';
import { pages } from './pages.js';
import { del, put, type OperatorCall, type Store } from './store.js';
import { scheduledOps } from './scheduled.js';

/** What a schedule is made of; the rest of the record is its history. */
export interface ScheduleInput {
  /** Chosen by the user: the same id is the same schedule. */
  readonly id: string;
  /** Five or six cron fields, a descriptor, or `@every 1h30m`. */
  readonly spec: string;
  /** IANA name; default UTC. */
  readonly zone?: string;
  readonly workflow: Workflow;
  /** No instant before, and none after (epoch ms). */
  readonly startMs?: number;
  readonly endMs?: number;
  /** Runs altogether. */
  readonly count?: number;
  /** Each instant is put off by up to so much, always the same for the same instant. */
  readonly jitterMs?: number;
  /** Default `one`. */
  readonly missed?: MissedPolicy;
  /** How far back missed instants are made up for; default an hour. */
  readonly missedWindowMs?: number;
  /** Default `allow`. */
  readonly overlap?: OverlapPolicy;
}

export const SCHEDULE_DEFAULTS: Required<Pick<ScheduleInput, 'zone' | 'missed' | 'missedWindowMs' | 'overlap'>> =
  Object.freeze({ zone: 'UTC', missed: 'one', missedWindowMs: 3_600_000, overlap: 'allow' });

export const SCHEDULE_LIMITS = Object.freeze({
  /** Shorter than other ids: what it submits has its id and the instant in theirs. */
  idBytes: 150,
  jitterMs: 86_400_000,
  missedWindowMs: 30 * 86_400_000,
  /** The whole record. A workflow that is larger is submitted by a task that the schedule submits. */
  recordBytes: 524_288,
});

const MISSED: readonly unknown[] = ['skip', 'one', 'all'] satisfies MissedPolicy[];
const OVERLAP: readonly unknown[] = ['allow', 'skip', 'queue', 'cancel-other'] satisfies OverlapPolicy[];

type Settled = Omit<ScheduleRecord, 'anchorMs' | 'lastMs' | 'fired' | 'by' | 'updatedMs'>;

/** Checks a schedule and fills what it leaves out. @throws LeaseholdError `invalid` or `too-large`, naming the field. */
export function checkSchedule(input: ScheduleInput, defaults: SignatureDefaults, nowMs: number): Settled {
  const id = checkId(input.id, 'id', SCHEDULE_LIMITS.idBytes);
  parseCron(input.spec);
  const { missed = SCHEDULE_DEFAULTS.missed, overlap = SCHEDULE_DEFAULTS.overlap } = input;
  if (!MISSED.includes(missed)) throw invalid('missed', `${display(missed)} is not one of ${MISSED.join(', ')}`);
  if (!OVERLAP.includes(overlap)) throw invalid('overlap', `${display(overlap)} is not one of ${OVERLAP.join(', ')}`);
  const { startMs, endMs, count, jitterMs } = input;
  if (startMs !== undefined) checkDate(startMs, 'startMs');
  if (endMs !== undefined) checkDate(endMs, 'endMs');
  if (endMs !== undefined && endMs <= (startMs ?? 0))
    throw invalid('endMs', 'it is not after startMs: it would never run');
  if (count !== undefined) checkInteger(count, 'count', 1, Number.MAX_SAFE_INTEGER);
  if (jitterMs !== undefined) checkInteger(jitterMs, 'jitterMs', 0, SCHEDULE_LIMITS.jitterMs, ' ms');
  const missedWindowMs = input.missedWindowMs ?? SCHEDULE_DEFAULTS.missedWindowMs;
  checkInteger(missedWindowMs, 'missedWindowMs', 0, SCHEDULE_LIMITS.missedWindowMs, ' ms');
  return {
    id,
    spec: input.spec.trim(),
    zone: checkZone(input.zone ?? SCHEDULE_DEFAULTS.zone),
    workflow: checkRepeatable(input.workflow, defaults, nowMs),
    ...(startMs === undefined ? {} : { startMs }),
    ...(endMs === undefined ? {} : { endMs }),
    ...(count === undefined ? {} : { count }),
    ...(jitterMs === undefined || jitterMs === 0 ? {} : { jitterMs }),
    missed,
    missedWindowMs,
    overlap,
  };
}

/** A workflow that can be submitted again and again: no ids and no dates of its own. */
function checkRepeatable(workflow: Workflow, defaults: SignatureDefaults, nowMs: number): Workflow {
  const filled = normalizeWorkflow(workflow, defaults, nowMs);
  return mapSignatures(filled, (signature, path) => {
    for (const field of ['id', 'etaMs', 'expiresMs', 'deadlineMs'] as const) {
      if (signature[field] === undefined) continue;
      throw invalid(`workflow${path}.${field}`, 'a schedule submits it many times; leave it out');
    }
    return signature;
  });
}

/**
 * Makes a schedule or changes one. The same input twice changes nothing that matters: anchor, last instant and count of
 * runs stay. Another spec or zone starts counting now; nothing of the past is made up for under a new rule.
 */
export async function upsertSchedule(
  store: Store,
  call: OperatorCall,
  input: ScheduleInput,
  defaults: SignatureDefaults = {},
): Promise<Operated> {
  const nowMs = store.now();
  const settled = checkSchedule(input, defaults, nowMs);
  return actOnSchedule(store, call, 'schedule.upsert', settled.id, (before) => {
    const kept = before !== undefined && before.spec === settled.spec && before.zone === settled.zone;
    const anchorMs =
      kept && before.startMs === settled.startMs ? before.anchorMs : Math.max(nowMs, settled.startMs ?? 0);
    const history = before === undefined ? { fired: 0 } : historyOf(before);
    const lastMs = kept ? (before.lastMs ?? nowMs) : nowMs;
    return write(store, call, { ...settled, ...history, anchorMs, lastMs }, { created: before === undefined });
  });
}

function historyOf(record: ScheduleRecord): Partial<ScheduleRecord> & { readonly fired: number } {
  const { fired, paused, lastTaskId, queuedMs, submitting } = record;
  return {
    fired,
    ...(paused === undefined ? {} : { paused }),
    ...(lastTaskId === undefined ? {} : { lastTaskId }),
    ...(queuedMs === undefined ? {} : { queuedMs }),
    ...(submitting === undefined ? {} : { submitting }),
  };
}

export function pauseSchedule(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  return actOnExisting(store, call, 'schedule.pause', id, (record) => {
    const { nextMs: _next, ...rest } = record;
    const paused = { by: actorText(call.actor), sinceMs: store.now(), reason: call.reason ?? '' };
    return write(store, call, { ...rest, paused });
  });
}

/** What fell into the pause is not made up for: it was not missed, it was not wanted. */
export function resumeSchedule(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  return actOnExisting(store, call, 'schedule.resume', id, (record) => {
    const { paused, ...rest } = record;
    return write(store, call, paused === undefined ? record : { ...rest, lastMs: store.now() });
  });
}

/** What it has submitted goes on. */
export function deleteSchedule(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  return actOnExisting(store, call, 'schedule.delete', id, (record) => ({
    compare: [],
    ops: [del(store.keys.schedule(id))],
    detail: { spec: record.spec, fired: record.fired },
  }));
}

/**
 * Submits it once now, outside its instants: they, and its count, stay as they are. A large workflow is submitted by the
 * leader, which sees that it is to be.
 */
export async function runScheduleNow(
  store: Store,
  call: OperatorCall,
  id: string,
): Promise<Operated & { readonly submittedId: string }> {
  const submittedId = checkId(`${id}-now-${call.operationId}`, 'operationId', 512);
  const operated = await actOnExisting(store, call, 'schedule.run-now', id, (record) => {
    if (record.submitting !== undefined) {
      throw new LeaseholdError('conflict', `run ${record.submitting} is still being submitted; try again`, { id });
    }
    const run = scheduledOps(store, record, submittedId, { by: actorText(call.actor), nowMs: store.now() });
    const more = run === undefined ? { submitting: submittedId } : {};
    const next = write(store, call, { ...record, ...more, lastTaskId: submittedId }, { submitted: submittedId });
    return run === undefined ? next : { ...next, compare: run.compare, ops: [...next.ops, ...run.ops] };
  });
  return { ...operated, submittedId };
}

export async function readSchedule(
  store: Store,
  id: string,
): Promise<{ readonly record: ScheduleRecord; readonly revision: bigint } | undefined> {
  const [kv] = (await store.kv.range({ key: store.keys.schedule(id) })).kvs;
  return kv === undefined ? undefined : { record: decodeSchedule(kv), revision: kv.modRevision };
}

/** All schedules, by id. */
export async function* listSchedules(store: Store): AsyncGenerator<ScheduleRecord> {
  const prefix = store.keys.kind('schedules');
  for await (const page of pages(store, { key: prefix, rangeEnd: prefixEnd(prefix) }, { limit: 100 })) {
    yield* page.map(decodeSchedule);
  }
}

export function decodeSchedule(kv: Pick<KeyValue, 'value'>): ScheduleRecord {
  return decodeRecord<ScheduleRecord>(kv.value, 'schedule');
}

function actOnSchedule(
  store: Store,
  call: OperatorCall,
  operation: string,
  id: string,
  decideAct: (record: ScheduleRecord | undefined) => Act,
): Promise<Operated> {
  const target = { key: store.keys.schedule(id), id, what: 'schedule' };
  return act(store, call, operation, target, (kv) => decideAct(kv === undefined ? undefined : decodeSchedule(kv)));
}

function actOnExisting(
  store: Store,
  call: OperatorCall,
  operation: string,
  id: string,
  decideAct: (record: ScheduleRecord) => Act,
): Promise<Operated> {
  return actOnSchedule(store, call, operation, id, (record) => {
    if (record === undefined) throw new LeaseholdError('not-found', `there is no schedule ${id}`, { id });
    return decideAct(record);
  });
}

function write(
  store: Store,
  call: OperatorCall,
  next: Omit<ScheduleRecord, 'by' | 'updatedMs'>,
  more: Readonly<Record<string, string | boolean>> = {},
): Act {
  const { nextMs: _stale, ...rest } = next;
  const record: ScheduleRecord = { ...rest, by: actorText(call.actor), updatedMs: store.now() };
  const nextMs = nextFireMs(record);
  const encoded = encodeRecord(nextMs === undefined ? record : { ...record, nextMs });
  const size = utf8Length(encoded);
  if (size > SCHEDULE_LIMITS.recordBytes) {
    const problem = `the schedule has ${size} bytes of ${SCHEDULE_LIMITS.recordBytes}; let it submit a task that submits the rest`;
    throw new LeaseholdError('too-large', problem, { id: record.id, size, limit: SCHEDULE_LIMITS.recordBytes });
  }
  return {
    compare: [],
    ops: [put(store.keys.schedule(record.id), encoded)],
    detail: { spec: record.spec, zone: record.zone, ...more },
  };
}
