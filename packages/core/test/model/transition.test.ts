import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../src/model/cause.js';
import { decodeTask, encodeTask } from '../../src/model/codec.js';
import { Keys } from '../../src/model/keys.js';
import { decide, type AttemptOutcome } from '../../src/model/outcome.js';
import { AGE_STEP_MS, orderOf } from '../../src/model/order.js';
import { changePlaces, placesOf } from '../../src/model/places.js';
import { isEnded, TASK_STATES } from '../../src/model/state.js';
import { submitted } from '../../src/model/submission.js';
import { RECORD_LIMITS, type TaskRecord } from '../../src/model/task.js';
import * as edge from '../../src/model/transition.js';
import { normalizeSignature } from '../../src/model/validate.js';

const keys = new Keys('t');
const NOW = 1_700_000_000_000;
const taken = { by: 'node:n', nowMs: NOW };
const fresh = (more: object = {}): TaskRecord =>
  submitted(normalizeSignature({ name: 'x', args: [], ...more }, {}, NOW), taken, { id: 'a', shard: 3 }).task;
const error = { type: 'Error', message: 'm', attempt: 1, atMs: NOW };
const ready = (): string => 'ready';

/** A random walk through the machine, by edges that the present state offers. */
function walk(task: TaskRecord, choices: readonly number[]): TaskRecord[] {
  const steps = [task];
  let current = task;
  for (const choice of choices) {
    const offers = offersOf(current);
    if (offers.length === 0) break;
    current = (offers[choice % offers.length] as () => TaskRecord)();
    steps.push(current);
  }
  return steps;
}

function offersOf(task: TaskRecord): (() => TaskRecord)[] {
  const outcomes: AttemptOutcome[] = [
    { kind: 'success', results: [{ type: 'string', value: 'r' }] },
    { kind: 'failure', error },
    { kind: 'timeout', error },
    { kind: 'snooze', delayMs: 5 },
    { kind: 'cancelled', reason: 'r' },
    { kind: 'hand-back' },
  ];
  switch (task.state) {
    case 'WAITING':
      return [() => edge.released(task, taken, 1), () => edge.cancelled(task, taken, 'r', 'stopped')];
    case 'SCHEDULED':
    case 'RETRY':
      return [
        () => edge.due(task, taken),
        () => edge.cancelled(task, taken, 'r'),
        () => edge.rescheduled(task, taken, { etaMs: NOW + 9 }),
      ];
    case 'PENDING':
      return [
        () => edge.claimed(task, taken, 'n', ['q/1']),
        () => edge.cancelled(task, taken, 'r'),
        () => edge.rescheduled(task, taken, { priority: 9 }),
      ];
    case 'STARTED':
      return [
        ...outcomes.map((outcome) => () => decide(task, outcome, taken, () => 0.5).task),
        () => edge.lost(task, taken),
        () => edge.claimed(task, taken, 'other', []),
        () => edge.forceReleased(task, taken),
        () => edge.cancelRequested(task, taken, 'r'),
      ];
    case 'SUCCESS':
    case 'FAILURE':
    case 'CANCELLED':
      return [() => edge.retriedByOperator(task, taken)];
  }
}

describe('the state machine', () => {
  it('property: every reachable record has exactly the places of its state, and survives the codec', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.constantFrom(0, 1, 3),
        fc.boolean(),
        (choices, count, later) => {
          const first = fresh({
            retry: { count },
            ...(later ? { etaMs: NOW + 5 } : {}),
            unique: { key: 'u', onConflict: 'reject' },
          });
          const places = new Map<string, string>();
          let before: TaskRecord | undefined;
          let attempt = 0;
          for (const task of walk(first, choices)) {
            const changes = changePlaces(keys, before, task, ready);
            for (const key of changes.delete) expect(places.delete(key)).toBe(true);
            for (const { key, value } of changes.put) places.set(key, value);
            expect([...places.keys()].sort()).toEqual([...placesOf(keys, task, ready).keys()].sort());
            expect(decodeTask(encodeTask(task))).toEqual(task);
            expect(task.attempt).toBeGreaterThanOrEqual(attempt);
            expect(task.endedMs !== undefined).toBe(isEnded(task.state));
            expect(task.node !== undefined).toBe(task.state === 'STARTED');
            attempt = task.attempt;
            before = task;
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('property: a walk only takes edges of the table', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (choices) => {
        const steps = walk(fresh({ retry: { count: 2 } }), choices);
        steps.slice(1).forEach((after, i) => {
          const before = steps[i] as TaskRecord;
          const asked = after.cause === before.cause && after.state === before.state;
          expect(asked || edge.isEdge(before.state, after.cause, after.state)).toBe(true);
        });
      }),
    );
  });

  it('refuses an edge that does not lead from there, naming the state', () => {
    expect(() => edge.succeeded(fresh(), taken, {})).toThrow(/is PENDING: no edge "succeeded"/);
    expect(() => edge.due(fresh(), taken)).toThrow(/no edge "due"/);
  });

  it('report E2: a snooze uses no retry but has its own cap, after which the task fails', () => {
    let task: TaskRecord = edge.claimed({ ...fresh(), snoozes: RECORD_LIMITS.snoozes - 1 }, taken, 'n', []);
    task = decide(task, { kind: 'snooze', delayMs: 1 }, taken, Math.random).task;
    expect(task).toMatchObject({ state: 'RETRY', cause: 'snoozed', failures: 0 });
    task = edge.claimed(edge.due(task, taken), taken, 'n', []);
    expect(decide(task, { kind: 'snooze', delayMs: 1 }, taken, Math.random).task).toMatchObject({
      state: 'FAILURE',
      error: { type: 'SnoozeLimitError' },
    });
  });

  it('report E44: a task that loses its worker five times is quarantined; losses use no retry', () => {
    let task = fresh();
    for (let i = 1; i < RECORD_LIMITS.losses; i++) {
      task = edge.lost(edge.claimed(task, taken, 'n', []), taken);
      expect(task).toMatchObject({ state: 'PENDING', losses: i, failures: 0 });
    }
    expect(edge.lost(edge.claimed(task, taken, 'n', []), taken)).toMatchObject({
      state: 'FAILURE',
      cause: 'quarantined',
    });
  });

  it('a hand-back uses neither a retry nor a loss', () => {
    const task = edge.handedBack(edge.claimed(fresh(), taken, 'n', []), taken);
    expect(task).toMatchObject({ state: 'PENDING', attempt: 1, failures: 0, losses: 0, handBacks: 1 });
  });

  it('a task asked to stop does not run again when its worker is lost', () => {
    const running = edge.cancelRequested(edge.claimed(fresh(), taken, 'n', []), taken, 'enough');
    expect(edge.lost(running, taken)).toMatchObject({ state: 'CANCELLED', error: { message: 'enough' } });
    expect(edge.isPoison(running)).toBe(true);
  });

  it('report E28: a higher priority goes first, and ageing lets nothing starve', () => {
    expect(orderOf(NOW, 9)).toBeLessThan(orderOf(NOW, 0));
    expect(orderOf(NOW, 0)).toBeLessThan(orderOf(NOW + 9 * AGE_STEP_MS + 1, 9));
  });

  it('docs/state-machine.md shows every edge and every state, and no other', () => {
    const text = readFileSync(new URL('../../docs/state-machine.md', import.meta.url), 'utf8');
    const drawn = [...text.matchAll(/^\s+(\S+) --> (\S+) : (\S+)$/gm)].map(
      ([, from, to, cause]) => `${from} ${cause} ${to}`,
    );
    const expected = edge.EDGES.flatMap(({ from, to, cause }) =>
      from.flatMap((source) => to.map((target) => `${source === 'NONE' ? '[*]' : source} ${cause} ${target}`)),
    );
    expect([...drawn].sort()).toEqual([...expected].sort());
    expect(new Set(edge.EDGES.map(({ cause }) => cause))).toEqual(new Set(CAUSES));
    for (const state of TASK_STATES) expect(text).toContain(state);
  });
});
