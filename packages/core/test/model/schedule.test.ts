import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextFires } from '../../src/model/cron.js';
import type { ScheduleRecord } from '../../src/model/records.js';
import { decideFire, dueMs, LATE_MS, nextFireMs, nextInstants } from '../../src/model/schedule.js';

const START = Date.UTC(2030, 0, 1);
const HOUR = 3_600_000;

function schedule(more: Partial<ScheduleRecord> = {}): ScheduleRecord {
  return {
    id: 's',
    spec: '@every 60s',
    zone: 'UTC',
    workflow: { kind: 'task', signature: { name: 'work', args: [] } },
    missed: 'one',
    missedWindowMs: HOUR,
    overlap: 'allow',
    anchorMs: START,
    lastMs: START,
    fired: 0,
    by: 'test',
    updatedMs: START,
    ...more,
  };
}

interface Fire {
  readonly instant: number;
  readonly at: number;
}

/** Decides and applies until nothing more is to be decided at this moment, as the leader does. */
function settle(
  record: ScheduleRecord,
  nowMs: number,
  fires: Fire[],
  running: () => boolean = () => false,
): ScheduleRecord {
  let current = record;
  for (let round = 0; round < 1_000; round++) {
    const decision = decideFire(current, nowMs, running());
    if (decision.decidedMs === undefined) return current;
    expect(decision.decidedMs).toBeGreaterThanOrEqual(current.lastMs ?? 0);
    for (const instant of decision.fires) fires.push({ instant, at: nowMs });
    const { queuedMs: _old, ...rest } = current;
    const queued = decision.queuedMs === undefined ? {} : { queuedMs: decision.queuedMs };
    current = { ...rest, ...queued, lastMs: decision.decidedMs, fired: current.fired + decision.fires.length };
    if (decision.fires.length === 0 && (decision.nextMs ?? Infinity) > nowMs) return current;
  }
  throw new Error('never settled');
}

function run(record: ScheduleRecord, moments: readonly number[]): Fire[] {
  const fires: Fire[] = [];
  let current = record;
  for (const moment of moments) current = settle(current, moment, fires);
  return fires;
}

/** Moments from START on, as far apart as given. */
function moments(gaps: readonly number[]): number[] {
  let at = START;
  return gaps.map((gap) => (at += gap));
}

const specs = fc.constantFrom('@every 7s', '@every 60s', '@hourly', '*/5 * * * *', '0 */2 * * *', '30 2 * * *');
const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu');
const jitters = fc.constantFrom(0, 0, 500, 20_000);
const shortGaps = fc.array(fc.integer({ min: 1, max: LATE_MS - 1 }), { minLength: 1, maxLength: 60 });
const longGaps = fc.array(
  fc.oneof(fc.integer({ min: 1, max: LATE_MS }), fc.integer({ min: LATE_MS, max: 40 * HOUR })),
  {
    minLength: 1,
    maxLength: 25,
  },
);
const missed = fc.constantFrom('skip' as const, 'one' as const, 'all' as const);

describe('which instants fire', () => {
  it('I11: looked at often enough, every instant fires exactly once, in order, whatever the policy and whoever looks when', () => {
    fc.assert(
      fc.property(specs, zones, jitters, missed, shortGaps, (spec, zone, jitterMs, policy, gaps) => {
        const record = schedule({ spec, zone, jitterMs, missed: policy });
        const at = moments(gaps);
        const fires = run(record, at).map(({ instant }) => instant);
        const end = at.at(-1) ?? START;
        const due: number[] = [];
        for (let at = START; ;) {
          const [instant] = nextFires(spec, zone, at, 1, START);
          if (instant === undefined || dueMs(record, instant) > end) break;
          due.push(instant);
          at = instant;
        }
        expect(fires).toEqual(due);
      }),
      { numRuns: 200, examples: [['@every 7s', 'UTC', 20_000, 'skip', [52_180, 29_469, 59_994, 1]]] },
    );
  });

  it('report E38, E46: after outages no instant fires twice, none before its time, none out of order, whatever the policy', () => {
    fc.assert(
      fc.property(specs, zones, jitters, missed, longGaps, (spec, zone, jitterMs, policy, gaps) => {
        const record = schedule({ spec, zone, jitterMs, missed: policy, missedWindowMs: 12 * HOUR });
        const fires = run(record, moments(gaps));
        fires.forEach(({ instant, at }, i) => {
          expect(dueMs(record, instant)).toBeLessThanOrEqual(at);
          if (i > 0) expect(instant).toBeGreaterThan(fires[i - 1]?.instant ?? 0);
          const late = at - dueMs(record, instant);
          // It waits for the one before it, whose jitter may be longer.
          if (policy === 'skip') expect(late).toBeLessThanOrEqual(LATE_MS + jitterMs);
          else expect(late).toBeLessThanOrEqual(12 * HOUR);
        });
        if (policy !== 'one') return;
        const madeUp = new Map<number, number>();
        for (const { instant, at } of fires) {
          if (at - dueMs(record, instant) > LATE_MS + jitterMs) madeUp.set(at, (madeUp.get(at) ?? 0) + 1);
        }
        for (const times of madeUp.values()) expect(times).toBe(1);
      }),
      { numRuns: 60 },
    );
  });

  it('`all` makes up for every missed instant within its window and for none before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: LATE_MS + 1, max: 100 * HOUR }),
        fc.integer({ min: 0, max: 30 * HOUR }),
        (outage, window) => {
          const record = schedule({ spec: '@every 10m', missed: 'all', missedWindowMs: window });
          const now = START + outage;
          const fires = run(record, [now]).map(({ instant }) => instant);
          const floor = now - Math.max(window, LATE_MS);
          const expected = Array.from({ length: Math.floor(outage / 600_000) }, (_, n) => START + (n + 1) * 600_000);
          expect(fires).toEqual(expected.filter((instant) => instant >= floor));
        },
      ),
      // Found once: an instant that is exactly as old as the window belongs to it.
      { numRuns: 200, examples: [[359_999_974, 107_999_974]] },
    );
  });

  it('`one` makes up for an outage with the newest instant, unless one is due on time anyway', () => {
    const hourly = schedule({ spec: '@hourly', missed: 'one', missedWindowMs: 24 * HOUR });
    expect(run(hourly, [START + 5 * HOUR + 30 * 60_000]).map(({ instant }) => instant)).toEqual([START + 5 * HOUR]);
    expect(run(hourly, [START + 5 * HOUR + 10]).map(({ instant }) => instant)).toEqual([START + 5 * HOUR]);
    const short = schedule({ spec: '@daily', missed: 'one', missedWindowMs: HOUR });
    expect(run(short, [START + 30 * HOUR])).toEqual([]);
  });

  it('report E38: an outage of a year of a schedule of seconds is decided in no time, and floods nobody', () => {
    const now = START + 365 * 24 * HOUR + 123;
    for (const policy of ['skip', 'one', 'all'] as const) {
      const began = performance.now();
      const decision = decideFire(schedule({ spec: '* * * * * *', missed: policy, missedWindowMs: HOUR }), now, false);
      expect(decision.fires.length).toBeLessThanOrEqual(100);
      expect(performance.now() - began).toBeLessThan(1_000);
    }
  });

  it('respects start, end and count', () => {
    fc.assert(
      fc.property(longGaps, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 50 }), (gaps, count, hours) => {
        const startMs = START + 10 * 60_000;
        const endMs = startMs + hours * HOUR + 1;
        const record = schedule({
          spec: '*/10 * * * *',
          missed: 'all',
          missedWindowMs: 30 * HOUR,
          count,
          startMs,
          endMs,
        });
        const fires = run(record, moments(gaps));
        expect(fires.length).toBeLessThanOrEqual(count);
        for (const { instant } of fires) {
          expect(instant).toBeGreaterThanOrEqual(startMs);
          expect(instant).toBeLessThanOrEqual(endMs);
        }
      }),
      { numRuns: 40 },
    );
    expect(run(schedule({ startMs: START + 120_000 }), [START + 120_000])).toHaveLength(1);
    expect(nextFireMs(schedule({ count: 3, fired: 3 }))).toBeUndefined();
  });

  it('nothing fires while it is paused', () => {
    const paused = { by: 'ann', sinceMs: START, reason: '' };
    expect(decideFire(schedule({ paused }), START + HOUR, false)).toEqual({ fires: [], cancelOther: false });
    expect(nextFireMs(schedule({ paused }))).toBeUndefined();
  });

  it('the jitter of an instant is always the same, and less than its limit', () => {
    const record = schedule({ jitterMs: 10_000 });
    const delays = Array.from({ length: 1_000 }, (_, n) => dueMs(record, START + n * 60_000) - START - n * 60_000);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThan(10_000);
    expect(new Set(delays).size).toBeGreaterThan(500);
    expect(dueMs(record, START)).toBe(dueMs(record, START));
  });

  it('report E19: a fixed time in a gap fires once after it, and once when its hour repeats', () => {
    const record = schedule({
      spec: '30 2 * * *',
      zone: 'Europe/Berlin',
      missed: 'all',
      missedWindowMs: 400 * 24 * HOUR,
    });
    const spring = Date.UTC(2030, 2, 30, 12);
    const autumn = Date.UTC(2030, 9, 26, 12);
    for (const from of [spring, autumn]) {
      const fires = run({ ...record, lastMs: from, anchorMs: from }, [from + 24 * HOUR]);
      expect(fires).toHaveLength(1);
    }
  });

  it('lists the next instants within its bounds', () => {
    const record = schedule({ spec: '@hourly', endMs: START + 3 * HOUR });
    expect(nextInstants(record, START, 10)).toEqual([1, 2, 3].map((n) => START + n * HOUR));
    expect(nextInstants({ ...record, count: 2, fired: 1 }, START, 10)).toHaveLength(1);
  });
});

describe('overlap', () => {
  const busy = (policy: ScheduleRecord['overlap'], more: Partial<ScheduleRecord> = {}): ScheduleRecord =>
    schedule({ overlap: policy, lastTaskId: 'before', ...more });
  const now = START + 60_000;

  it('`allow` runs beside the run before, `skip` does not, `cancel-other` cancels it first', () => {
    expect(decideFire(busy('allow'), now, true)).toMatchObject({ fires: [now], cancelOther: false });
    expect(decideFire(busy('skip'), now, true)).toMatchObject({ fires: [], decidedMs: now });
    expect(decideFire(busy('skip'), now, false)).toMatchObject({ fires: [now] });
    expect(decideFire(busy('cancel-other'), now, true)).toMatchObject({ fires: [now], cancelOther: true });
    expect(decideFire(busy('cancel-other'), now, false)).toMatchObject({ fires: [now], cancelOther: false });
  });

  it('`queue` keeps the newest instant and runs it when the run before has ended, however late that is', () => {
    const waiting = decideFire(busy('queue'), now, true);
    expect(waiting).toMatchObject({ fires: [], queuedMs: now, decidedMs: now });
    const record = busy('queue', { queuedMs: now, lastMs: now });
    expect(decideFire(record, now + 60_000, true)).toMatchObject({ fires: [], queuedMs: now + 60_000 });
    const ended = decideFire({ ...record, missed: 'skip' }, now + 30_000, false);
    expect(ended).toMatchObject({ fires: [now], decidedMs: now });
    expect(ended).not.toHaveProperty('queuedMs');
  });

  it('keeps nothing queued once its count is used up, also when an operator lowers the count', () => {
    const last = busy('queue', { queuedMs: now, lastMs: now, count: 1, fired: 0 });
    const fired = decideFire(last, now + 60_000, false);
    expect(fired).toMatchObject({ fires: [now] });
    expect(fired).not.toHaveProperty('queuedMs');
    expect(fired).not.toHaveProperty('nextMs');
    const lowered = busy('queue', { queuedMs: now, lastMs: now, count: 3, fired: 3 });
    expect(decideFire(lowered, now + 60_000, true)).toEqual({ fires: [], cancelOther: false, decidedMs: now });
    const { queuedMs: _queued, ...clean } = lowered;
    expect(decideFire(clean, now + 60_000, true)).not.toHaveProperty('decidedMs');
  });

  it('for any history, at most one run is live unless overlap is allowed, and at most one waits', () => {
    const overlaps = fc.constantFrom('skip' as const, 'queue' as const, 'cancel-other' as const);
    const steps = fc.array(fc.record({ gap: fc.integer({ min: 1_000, max: 10 * 60_000 }), ends: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(overlaps, missed, steps, (overlap, policy, history) => {
        let record = schedule({ overlap, missed: policy });
        let live = false;
        let at = START;
        for (const { gap, ends } of history) {
          at += gap;
          if (ends) live = false;
          for (let round = 0; round < 200; round++) {
            const decision = decideFire(record, at, live);
            if (decision.decidedMs === undefined) break;
            expect(decision.fires.length).toBeLessThanOrEqual(1);
            if (decision.fires.length > 0 && overlap !== 'cancel-other') expect(live).toBe(false);
            if (decision.fires.length > 0 && live) expect(decision.cancelOther).toBe(true);
            live = live || decision.fires.length > 0;
            const { queuedMs: _old, ...rest } = record;
            const queued = decision.queuedMs === undefined ? {} : { queuedMs: decision.queuedMs };
            record = { ...rest, ...queued, lastMs: decision.decidedMs, fired: record.fired + decision.fires.length };
            if (decision.fires.length === 0) break;
          }
        }
      }),
    );
  });
});
