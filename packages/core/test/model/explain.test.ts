import { describe, expect, test } from 'vitest';
import {
  canRun,
  decodeTask,
  explain,
  WAIT_CODES,
  type NodeFacts,
  type TaskRecord,
  type WaitCode,
  type WaitFacts,
} from '../../src/model/index.js';

const NOW = 1_000_000;
const task = (changes: Partial<TaskRecord> = {}): TaskRecord => ({
  ...decodeTask('{"id":"t","name":"mail","status":"PENDING","schedule_at":"1970-01-01T00:10:00Z","queue":"default"}'),
  ...changes,
});
const member = {
  id: 'w',
  index: 1,
  version: 1,
  generation: 1,
  cont: { up: { join: 0, slot: 0 }, policy: 'stop' },
} as const;
const node = (changes: Partial<NodeFacts> = {}): NodeFacts => ({
  id: 'n',
  queues: new Map([['default', 2]]),
  names: new Set(['mail']),
  labels: {},
  draining: false,
  running: 0,
  runningByQueue: new Map(),
  ...changes,
});
const facts = (changes: Partial<WaitFacts> = {}): WaitFacts => ({
  nowMs: NOW,
  locked: false,
  settings: {},
  nodes: [node()],
  leader: { node: 'n', sinceMs: 0 },
  ...changes,
});
const paused = { by: 'operator:kim', sinceMs: 5, reason: 'bad deploy' };

type Case = readonly [code: WaitCode, task: TaskRecord, facts: WaitFacts, params: object];
const CASES: readonly Case[] = [
  ['not-due', task({ state: 'SCHEDULED', dueMs: NOW + 5 }), facts(), { untilMs: NOW + 5 }],
  ['lost-worker', task({ state: 'STARTED', node: 'dead', attempt: 2 }), facts(), { node: 'dead', attempt: 2 }],
  [
    'waits-for-task',
    task({ state: 'WAITING', workflow: member }),
    facts({ awaited: { kind: 'task', id: 'w.00000', name: 'first', state: 'STARTED' } }),
    { taskId: 'w.00000', name: 'first', state: 'STARTED' },
  ],
  [
    'barrier',
    task({ state: 'WAITING', workflow: member }),
    facts({ awaited: { kind: 'join', join: 1, done: 3, total: 5 } }),
    { workflowId: 'w', join: 1, done: 3, total: 5 },
  ],
  ['queue-paused', task(), facts({ settings: { queue: { paused } } }), { ...paused, queue: 'default' }],
  ['name-paused', task(), facts({ settings: { name: { paused } } }), { ...paused, name: 'mail' }],
  ['all-paused', task(), facts({ settings: { all: { paused } } }), paused],
  ['no-worker', task({ queue: 'gpu' }), facts(), { queue: 'gpu' }],
  ['no-worker', task(), facts({ nodes: [node({ draining: true })] }), { queue: 'default' }],
  ['unknown-name', task({ name: 'fax' }), facts(), { name: 'fax', queue: 'default' }],
  ['labels-mismatch', task({ labels: { zone: 'eu' } }), facts(), { labels: 'zone=eu' }],
  [
    'workers-busy',
    task(),
    facts({ nodes: [node({ running: 2, runningByQueue: new Map([['default', 2]]) })] }),
    { running: 2, capacity: 2 },
  ],
  [
    'storage-full',
    task(),
    facts({ storage: { usedBytes: 9, softLimitBytes: 8 } }),
    { usedBytes: 9, softLimitBytes: 8 },
  ],
  ['no-leader', task({ state: 'SCHEDULED', dueMs: NOW - 1 }), leaderless(), { sinceMs: 7 }],
  ['promotion-late', task({ state: 'RETRY', dueMs: NOW - 5_000 }), facts(), { dueMs: NOW - 5_000 }],
  [
    'staged',
    task({ state: 'WAITING', workflow: member }),
    facts({ workflow: { state: 'RUNNING' }, unfolding: true }),
    { workflowId: 'w' },
  ],
  [
    'workflow-stopping',
    task({ workflow: member }),
    facts({ workflow: { state: 'CANCELLING', reason: 'wrong file' } }),
    { workflowId: 'w', reason: 'wrong file' },
  ],
  [
    'concurrency',
    task(),
    facts({ limits: [{ limit: 'key/acme', max: 2, holders: ['a', 'b'] }] }),
    { limit: 'key/acme', held: 2, max: 2, holders: ['a', 'b'] },
  ],
  [
    'rate-limit',
    task(),
    facts({ rates: [{ limit: 'queue/default', untilMs: NOW + 9 }] }),
    { limit: 'queue/default', untilMs: NOW + 9 },
  ],
  [
    'unique-held',
    task({ unique: { key: 'k', onConflict: 'reject' } }),
    facts({ uniqueHolder: 'other' }),
    { key: 'k', holder: 'other' },
  ],
  [
    'retry-backoff',
    task({ state: 'RETRY', cause: 'failed-retry', dueMs: NOW + 5, failures: 2 }),
    facts(),
    { untilMs: NOW + 5, failures: 2 },
  ],
  [
    'snoozed',
    task({ state: 'RETRY', cause: 'snoozed', dueMs: NOW + 5, snoozes: 4 }),
    facts(),
    { untilMs: NOW + 5, snoozes: 4 },
  ],
  ['position', task(), facts({ ahead: 12 }), { queue: 'default', ahead: 12 }],
];

function leaderless(): WaitFacts {
  const { leader: _leader, ...rest } = facts({ leaderGoneMs: 7 });
  return rest;
}

describe('why a task waits', () => {
  test.each(CASES)('%s is given first', (code, waiting, about, params) => {
    expect(explain(waiting, about)[0]).toEqual({ code, params });
  });

  test('there is a case for every code', () => {
    expect(new Set(CASES.map(([code]) => code))).toEqual(new Set(WAIT_CODES));
  });

  test('all reasons are given, in the order of WAIT_CODES', () => {
    const many = explain(
      task({ state: 'RETRY', dueMs: NOW + 5, name: 'fax' }),
      facts({ settings: { all: { paused }, queue: { paused } }, rates: [{ limit: 'r', untilMs: 1 }] }),
    );
    expect(many.map(({ code }) => code)).toEqual([
      'retry-backoff',
      'all-paused',
      'queue-paused',
      'unknown-name',
      'rate-limit',
    ]);
    expect([...many].sort((a, b) => WAIT_CODES.indexOf(a.code) - WAIT_CODES.indexOf(b.code))).toEqual(many);
  });

  test('a task that ended, and one that runs under its lock, waits for nothing', () => {
    expect(explain(task({ state: 'SUCCESS' }), facts())).toEqual([]);
    expect(explain(task({ state: 'STARTED' }), facts({ locked: true, nodes: [] }))).toEqual([]);
  });

  test('a limit with room, a free worker and one own unique key are no reasons', () => {
    const free = facts({ limits: [{ limit: 'key/a', max: 2, holders: ['x'] }], uniqueHolder: 't', ahead: 0 });
    const reasons = explain(task({ unique: { key: 'k', onConflict: 'reject' } }), free);
    expect(reasons).toEqual([{ code: 'position', params: { queue: 'default', ahead: 0 } }]);
  });

  test('a node can run a task whose queue it serves, whose name it knows and whose labels it has', () => {
    expect(canRun(node({ labels: { zone: 'eu', gpu: '1' } }), task({ labels: { zone: 'eu' } }))).toBe(true);
    expect(canRun(node({ labels: { zone: 'us' } }), task({ labels: { zone: 'eu' } }))).toBe(false);
    expect(canRun(node({ draining: true }), task())).toBe(false);
  });
});
