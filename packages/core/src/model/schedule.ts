/**
 * Pure: which instants of a schedule are to be submitted now. The next instant is derived from the stored last one (I11),
 * never from the moment at which somebody looks, so it does not matter who decides, how often, or after how long.
 *
 * - An *instant* is a time that the specification names; it is *due* at instant + jitter, where the jitter of an instant is
 *   always the same. Instants are decided in order.
 * - *Missed*: due more than `LATE_MS` ago, as after an outage. A change of leader takes less and makes nothing missed.
 *   `skip` runs none of the missed; `one` makes up for all of them with one run, of the newest; `all` runs each. What is
 *   older than the schedule's window is not made up for.
 * - *Overlap*: the run before has not ended. `allow` runs; `skip` does not; `queue` keeps the newest such instant and runs
 *   it when the one before has ended; `cancel-other` cancels the one before and runs.
 */
import { nextFire, nextFires, parseCron, type ParsedCron } from './cron.js';
import { hash32 } from './order.js';
import type { ScheduleRecord } from './records.js';

/** Later than this is missed. More than a leader's lease and the election after it take. */
export const LATE_MS = 60_000;

/** Runs that one decision gives at most; the rest is given by the next. Nobody is flooded by a long outage at once. */
const FIRES_AT_ONCE = 100;

/** Instants are dear (tens of microseconds each), and mostly few are due: pages begin small and grow. */
const FIRST_PAGE = 2;
const LARGEST_PAGE = 1_000;

export interface FireDecision {
  /** Instants to submit, in order. */
  readonly fires: readonly number[];
  /** All instants up to here are decided: the new `lastMs`. Absent: nothing was due, nothing is to be written. */
  readonly decidedMs?: number;
  /** The instant that waits for the run before it; the new `queuedMs`. */
  readonly queuedMs?: number;
  /** The run before is to be cancelled first. */
  readonly cancelOther: boolean;
  /** When the next decision is due: the next instant and its jitter. Absent: never again, or paused. */
  readonly nextMs?: number;
}

/** @param running Whether the run before has not ended; only asked for when the overlap policy is not `allow`. */
export function decideFire(schedule: ScheduleRecord, nowMs: number, running: boolean): FireDecision {
  const plan = new Plan(schedule, nowMs);
  const none = { fires: [], cancelOther: false, ...keepQueued(schedule.queuedMs) };
  // Its count is used up: what waited for the run before it waits for ever, and is forgotten.
  if (plan.remaining === 0)
    return { fires: [], cancelOther: false, ...(schedule.queuedMs === undefined ? {} : { decidedMs: plan.from }) };
  if (schedule.paused !== undefined) return none;
  const due = plan.due();
  const waited = schedule.queuedMs !== undefined && !running;
  if (due === undefined && !waited) return { ...none, ...plan.next(plan.from) };
  const instants = due?.fires ?? [];
  const decidedMs = due?.decidedMs ?? plan.from;
  const overlap = overlapping(schedule, instants, running);
  const fires = overlap.fires.slice(0, plan.remaining);
  const over = plan.remaining - fires.length <= 0;
  if (over) return { fires, cancelOther: overlap.cancelOther, decidedMs };
  return { ...overlap, fires, decidedMs, ...plan.next(decidedMs) };
}

/** When an instant is due: always the same moment for the same schedule and instant. */
export function dueMs(schedule: Pick<ScheduleRecord, 'id' | 'jitterMs'>, instantMs: number): number {
  const { jitterMs = 0 } = schedule;
  if (jitterMs <= 0) return instantMs;
  return instantMs + Math.floor((hash32(`${schedule.id}/${instantMs}`) / 2 ** 32) * jitterMs);
}

/** When it is due next, counted from what is decided; undefined when never, or while it is paused. */
export function nextFireMs(schedule: ScheduleRecord): number | undefined {
  const plan = new Plan(schedule, 0);
  return schedule.paused !== undefined || plan.remaining === 0 ? undefined : plan.next(plan.from).nextMs;
}

/** The next `count` instants after `afterMs`, within the schedule's start, end and count. */
export function nextInstants(schedule: ScheduleRecord, afterMs: number, count: number): readonly number[] {
  const plan = new Plan(schedule, afterMs);
  const wanted = Math.min(count, plan.remaining);
  return plan.instants(Math.max(afterMs, plan.from), wanted);
}

/** The id under which an instant is submitted. The same instant gives the same id, whoever submits it. */
export function fireId(scheduleId: string, instantMs: number): string {
  return `${scheduleId}-${instantMs}`;
}

/** Instants of one schedule, as of one moment. */
class Plan {
  readonly #schedule: ScheduleRecord;
  readonly #cron: ParsedCron;
  readonly #nowMs: number;
  /** Everything up to here is decided. */
  readonly from: number;
  /** Runs left of its `count`. */
  readonly remaining: number;

  constructor(schedule: ScheduleRecord, nowMs: number) {
    this.#schedule = schedule;
    this.#cron = parseCron(schedule.spec);
    this.#nowMs = nowMs;
    const decided = schedule.lastMs ?? schedule.anchorMs;
    this.from = schedule.startMs === undefined ? decided : Math.max(decided, schedule.startMs - 1);
    this.remaining = schedule.count === undefined ? Infinity : Math.max(0, schedule.count - schedule.fired);
  }

  /** What to run of the instants that are due, overlap aside; undefined when none is due. */
  due(): { readonly fires: readonly number[]; readonly decidedMs: number } | undefined {
    const [first] = this.instants(this.from, 1);
    if (first === undefined || this.#dueMs(first) > this.#nowMs) return undefined;
    const { missed, missedWindowMs, jitterMs = 0 } = this.#schedule;
    const onTime = this.#onTime(this.#between(this.#nowMs - LATE_MS - jitterMs - 1));
    // Whatever was passed over is older than this, and decided too.
    const decidedMs = onTime.at(-1) ?? Math.max(this.from, this.#newestDue() ?? this.#nowMs - jitterMs);
    if (missed === 'all') return this.#all(missedWindowMs);
    if (missed === 'skip' || onTime.length > 0) {
      const fires = onTime.slice(0, FIRES_AT_ONCE);
      return { fires, decidedMs: fires.length < onTime.length ? (fires.at(-1) ?? decidedMs) : decidedMs };
    }
    const newest = this.#newestDue();
    const within = newest !== undefined && this.#nowMs - this.#dueMs(newest) <= missedWindowMs;
    return { fires: within ? [newest] : [], decidedMs };
  }

  next(afterMs: number): { readonly nextMs?: number } {
    const [instant] = this.instants(afterMs, 1);
    return instant === undefined ? {} : { nextMs: this.#dueMs(instant) };
  }

  /** Strictly after `afterMs`, not after the end. */
  instants(afterMs: number, count: number): readonly number[] {
    const { zone, anchorMs, endMs = Infinity } = this.#schedule;
    if (count === 1) {
      const next = nextFire(this.#cron, zone, afterMs, anchorMs);
      return next === null || next > endMs ? [] : [next];
    }
    return nextFires(this.#cron, zone, afterMs, count, anchorMs).filter((instant) => instant <= endMs);
  }

  #all(windowMs: number): { readonly fires: readonly number[]; readonly decidedMs: number } {
    const { jitterMs = 0 } = this.#schedule;
    const floorMs = this.#nowMs - Math.max(windowMs, LATE_MS);
    const instants = this.#between(
      floorMs - jitterMs - 1,
      FIRES_AT_ONCE + 1,
      (instant) => this.#dueMs(instant) >= floorMs,
    );
    const fires = instants.slice(0, FIRES_AT_ONCE);
    const last = fires.at(-1);
    if (last !== undefined) return { fires, decidedMs: last };
    return { fires, decidedMs: Math.max(this.from, this.#newestDue() ?? this.#nowMs - jitterMs) };
  }

  /** Due instants after `afterMs` (or after what is decided), in order; the first so many that fit. */
  #between(afterMs: number, limit = Infinity, fits: (instant: number) => boolean = () => true): readonly number[] {
    const found: number[] = [];
    let size = FIRST_PAGE;
    for (let at = Math.max(this.from, afterMs); found.length < limit; size = Math.min(size * 4, LARGEST_PAGE)) {
      const page = this.instants(at, size);
      for (const instant of page) {
        if (this.#dueMs(instant) > this.#nowMs) return found;
        if (fits(instant)) found.push(instant);
        if (found.length >= limit) return found;
      }
      const last = page.at(-1);
      if (last === undefined) return found;
      at = last;
    }
    return found;
  }

  /** Looked for backwards, in spans that double, so that an outage of months costs no more than one of minutes. */
  #newestDue(): number | undefined {
    const { jitterMs = 0 } = this.#schedule;
    for (let spanMs = LATE_MS; ; spanMs *= 2) {
      const afterMs = this.#nowMs - jitterMs - spanMs;
      const newest = this.#between(afterMs).at(-1);
      if (newest !== undefined || afterMs <= this.from) return newest;
    }
  }

  /** Those that are not missed. One is decided after the one before it, whose jitter may be longer: that is no lateness. */
  #onTime(instants: readonly number[]): readonly number[] {
    let latestDueMs = -Infinity;
    return instants.filter((instant) => {
      latestDueMs = Math.max(latestDueMs, this.#dueMs(instant));
      return this.#nowMs - latestDueMs <= LATE_MS;
    });
  }

  #dueMs(instant: number): number {
    return dueMs(this.#schedule, instant);
  }
}

type Overlapped = Pick<FireDecision, 'fires' | 'queuedMs' | 'cancelOther'>;

function overlapping(schedule: ScheduleRecord, instants: readonly number[], running: boolean): Overlapped {
  const [first] = instants;
  const newest = instants.at(-1);
  switch (schedule.overlap) {
    case 'allow':
      // One may be left from before the policy was changed.
      return {
        fires: [...(schedule.queuedMs === undefined ? [] : [schedule.queuedMs]), ...instants],
        cancelOther: false,
      };
    case 'skip':
      // The first one of several runs, and the others overlap with it.
      return { fires: running || first === undefined ? [] : [first], cancelOther: false };
    case 'cancel-other':
      return { fires: newest === undefined ? [] : [newest], cancelOther: running && newest !== undefined };
    case 'queue': {
      const waiting = [...(schedule.queuedMs === undefined ? [] : [schedule.queuedMs]), ...instants];
      const fires = running ? [] : waiting.slice(0, 1);
      const rest = waiting.slice(fires.length);
      return { fires, cancelOther: false, ...keepQueued(rest.at(-1)) };
    }
  }
}

function keepQueued(queuedMs: number | undefined): { readonly queuedMs?: number } {
  return queuedMs === undefined ? {} : { queuedMs };
}
