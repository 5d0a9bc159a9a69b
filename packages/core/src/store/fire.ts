/**
 * Firing: the submission of the instants of one schedule, by the leader.
 *
 * F1  An instant is submitted in the transaction that writes its `fires/` key and moves the schedule on, guarded by the
 *     schedule's mod revision and the absence of that key (I11): whoever repeats it, under whatever leader, changes nothing.
 * F2  What cannot be submitted (its unique key is held, its id is taken, its arguments are refused now) is passed over, with
 *     the reason in the `fires/` key; one bad schedule or instant never holds up the next.
 * F3  A workflow too large for one transaction is marked in the firing transaction and submitted under its derived id
 *     afterwards, by this leader or the next; the mark goes when it is done.
 */
import type { Op } from '../kv/kv.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { isLeaseholdError } from '../model/errors.js';
import type { ScheduleRecord, WorkflowRecord } from '../model/records.js';
import { decideFire, dueMs, fireId, type FireDecision } from '../model/schedule.js';
import { isEnded, isWorkflowEnded } from '../model/state.js';
import { seen } from './claim.js';
import { cancelTask, cancelWorkflow } from './operate.js';
import { LEADER_CALL, type Leadership } from './leadership.js';
import { readKeys } from './pages.js';
import { decodeSchedule } from './schedules.js';
import { scheduledOps, submitLarge } from './scheduled.js';
import { absent, found, get, modIs, put, takenBy, type OperatorCall, type Store } from './store.js';
import { answered } from './submit.js';

export interface SeenSchedule {
  readonly record: ScheduleRecord;
  readonly revision: bigint;
}

/** What one instant came to; the value of its `fires/` key. */
export interface FireRecord {
  readonly atMs: number;
  readonly by: string;
  /** What was submitted. */
  readonly id?: string;
  /** Why nothing was. */
  readonly passedOver?: string;
}

export interface Fired {
  /** As it is now; undefined when it is gone. */
  readonly schedule: SeenSchedule | undefined;
  /** How late each submission was, ms. */
  readonly latenessMs: readonly number[];
  readonly passedOver: readonly string[];
  /** Workflows submitted in parts, which have to be driven. */
  readonly workflows: readonly string[];
  /** Decide again at this time; undefined: when the schedule changes. */
  readonly nextMs?: number;
  /** The run that the queued instant waits for. */
  readonly waitsFor?: string;
}

/** Rounds of one call: each fires up to a hundred instants, or meets a change. */
const ROUNDS = 50;

/** Fires whatever of a schedule is due. @throws LeaseholdError `session-lost` when this leader's term is over. */
export async function fireSchedule(store: Store, leader: Leadership, schedule: SeenSchedule): Promise<Fired> {
  const work = new Firing(store, leader, schedule);
  for (let round = 0; round < ROUNDS; round++) if (await work.round()) break;
  return work.result();
}

class Firing {
  readonly #store: Store;
  readonly #leader: Leadership;
  readonly #latenessMs: number[] = [];
  readonly #passedOver: string[] = [];
  readonly #workflows: string[] = [];
  #schedule: SeenSchedule | undefined;
  #nextMs: number | undefined;

  constructor(store: Store, leader: Leadership, schedule: SeenSchedule) {
    this.#store = store;
    this.#leader = leader;
    this.#schedule = schedule;
  }

  result(): Fired {
    const { queuedMs, lastTaskId } = this.#schedule?.record ?? {};
    return {
      schedule: this.#schedule,
      latenessMs: this.#latenessMs,
      passedOver: this.#passedOver,
      workflows: this.#workflows,
      ...(this.#nextMs === undefined ? {} : { nextMs: this.#nextMs }),
      ...(queuedMs === undefined || lastTaskId === undefined ? {} : { waitsFor: lastTaskId }),
    };
  }

  /** True when nothing more is to be done now. */
  async round(): Promise<boolean> {
    const { record } = this.#schedule ?? {};
    if (record === undefined) return true;
    if (record.submitting !== undefined) return !(await this.#finishLarge(record, record.submitting));
    const running =
      record.overlap !== 'allow' &&
      record.lastTaskId !== undefined &&
      (await isRunning(this.#store, record.lastTaskId));
    const decision = decideFire(record, this.#store.now(), running);
    this.#nextMs = decision.nextMs;
    if (decision.decidedMs === undefined) return true;
    if (decision.cancelOther && record.lastTaskId !== undefined)
      await this.#cancelOther(record, record.lastTaskId, decision);
    if (decision.fires.length === 0) {
      await this.#commit(moved(record, decision, {}), []);
      return false;
    }
    for (const [i, instantMs] of decision.fires.entries()) {
      const last = i === decision.fires.length - 1;
      if (!(await this.#fire(instantMs, last ? decision : partial(decision, instantMs)))) return false;
      // The rest is decided again: a large workflow has to be submitted first.
      if (this.#schedule?.record.submitting !== undefined) return false;
    }
    return false;
  }

  /** False when something changed and the decision has to be made again. */
  async #fire(instantMs: number, decision: Moved): Promise<boolean> {
    const store = this.#store;
    const { record } = this.#schedule ?? {};
    if (record === undefined) return false;
    const id = fireId(record.id, instantMs);
    const taken = takenBy(store, this.#leader.actor);
    const fireKey = store.keys.fire(record.id, instantMs);
    const note = (fire: Partial<FireRecord>): Op =>
      put(fireKey, encodeRecord({ atMs: taken.nowMs, by: taken.by, ...fire }));
    let refused: string | undefined;
    try {
      const run = scheduledOps(store, record, id, taken);
      const next = moved(record, decision, {
        fired: record.fired + 1,
        lastTaskId: id,
        ...(run === undefined ? { submitting: id } : {}),
      });
      const compare = [absent(fireKey), ...(run?.compare ?? [])];
      if (await this.#commit(next, [note({ id }), ...(run?.ops ?? [])], compare)) {
        this.#latenessMs.push(Math.max(0, store.now() - dueMs(record, instantMs)));
        return true;
      }
      if (this.#schedule?.record !== record) return false;
      refused = await whyTaken(store, id, fireKey, run?.uniqueKey);
      if (refused === undefined) return false;
    } catch (error) {
      // Fence and store failures end the pass; what the instant itself is guilty of must not hold up the next (F2).
      if (!isLeaseholdError(error) || PASSING.has(error.code)) throw error;
      refused = error.message;
    }
    this.#passedOver.push(refused);
    const ops = refused === FIRED_BEFORE ? [] : [note({ passedOver: refused.slice(0, 500) })];
    return this.#commit(moved(record, decision, {}), ops);
  }

  async #finishLarge(record: ScheduleRecord, id: string): Promise<boolean> {
    let refused: string | undefined;
    try {
      await submitLarge(this.#store, this.#leader, record, id);
      this.#workflows.push(id);
    } catch (error) {
      if (!isLeaseholdError(error) || PASSING.has(error.code)) throw error;
      refused = error.message;
      this.#passedOver.push(refused);
    }
    const { submitting: _done, ...rest } = record;
    await this.#commit(rest, []);
    return true;
  }

  async #cancelOther(record: ScheduleRecord, other: string, decision: FireDecision): Promise<void> {
    const store = this.#store;
    const call: OperatorCall = {
      actor: this.#leader.actor,
      fence: this.#leader.fence,
      operationId: `${fireId(record.id, decision.fires[0] ?? 0)}-cancel`,
      reason: `schedule ${record.id} runs again and cancels the run before`,
    };
    const [task] = await readKeys(store, [store.keys.task(other)], { keysOnly: true });
    try {
      const { drive } = await (task === undefined
        ? cancelWorkflow(store, call, other)
        : cancelTask(store, call, other));
      if (drive !== undefined) this.#workflows.push(drive.workflow);
    } catch (error) {
      // It ended meanwhile, or is being cancelled already.
      if (!isLeaseholdError(error, 'wrong-state') && !isLeaseholdError(error, 'not-found')) throw error;
    }
  }

  /** Writes the schedule with what goes with it. False: it, or something else that was compared, is not as expected. */
  async #commit(
    next: ScheduleRecord,
    ops: readonly Op[],
    compare: readonly ReturnType<typeof absent>[] = [],
  ): Promise<boolean> {
    const store = this.#store;
    const { revision = 0n } = this.#schedule ?? {};
    const key = store.keys.schedule(next.id);
    const result = await answered(store, this.#leader.fence, LEADER_CALL, {
      compare: [modIs(key, revision), ...compare],
      success: [put(key, encodeRecord(next)), ...ops],
      failure: [get(key)],
    });
    if (result.succeeded) {
      this.#schedule = { record: next, revision: result.revision };
      return true;
    }
    const kv = found(result.results, 0);
    if (kv === undefined) this.#schedule = undefined;
    else if (kv.modRevision !== revision) this.#schedule = { record: decodeSchedule(kv), revision: kv.modRevision };
    return false;
  }
}

type Moved = Pick<FireDecision, 'decidedMs' | 'queuedMs' | 'nextMs'>;

/** Not the last of several: only what is fired is decided, and a queued instant is not queued any more. */
function partial({ decidedMs = 0 }: FireDecision, instantMs: number): Moved {
  return { decidedMs: Math.min(decidedMs, instantMs), nextMs: instantMs };
}

/** The record after a decision. Never goes back (I11): a queued instant is older than what is decided. */
function moved(record: ScheduleRecord, decision: Moved, changes: Partial<ScheduleRecord>): ScheduleRecord {
  const { queuedMs: _queued, nextMs: _next, ...rest } = record;
  const { decidedMs = 0, queuedMs, nextMs } = decision;
  return {
    ...rest,
    ...changes,
    lastMs: Math.max(record.lastMs ?? record.anchorMs, decidedMs),
    ...(queuedMs === undefined ? {} : { queuedMs }),
    ...(nextMs === undefined ? {} : { nextMs }),
  };
}

/** Failures of the moment, and of this leader: they say nothing against what is submitted. */
const PASSING: ReadonlySet<string> = new Set(['session-lost', 'unavailable', 'storage-full']);

const FIRED_BEFORE = 'it fired before';

/** Why an instant cannot be submitted although the schedule is as it was; undefined when nothing is in the way any more. */
async function whyTaken(
  store: Store,
  id: string,
  fireKey: string,
  uniqueKey: string | undefined,
): Promise<string | undefined> {
  const { keys } = store;
  const [fire, task, workflow, staged] = await readKeys(store, [
    fireKey,
    keys.task(id),
    keys.workflow(id),
    keys.staged(id),
  ]);
  if (fire !== undefined) return FIRED_BEFORE;
  if (task !== undefined || workflow !== undefined || staged !== undefined) return `the id ${id} is taken`;
  const [holder] = uniqueKey === undefined ? [] : await readKeys(store, [uniqueKey]);
  return holder === undefined ? undefined : `its unique key is held by task ${holder.value}`;
}

/** Whether a run has not ended yet; one that is gone has. */
async function isRunning(store: Store, id: string): Promise<boolean> {
  const { keys } = store;
  const [taskKv, workflow, staged] = await readKeys(store, [keys.task(id), keys.workflow(id), keys.staged(id)]);
  const [task] = seen(taskKv);
  if (task !== undefined) return !isEnded(task.task.state);
  if (workflow !== undefined) return !isWorkflowEnded(decodeRecord<WorkflowRecord>(workflow.value, 'workflow').state);
  return staged !== undefined;
}
