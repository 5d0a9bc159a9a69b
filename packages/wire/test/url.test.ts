import fc from 'fast-check';
import { TASK_STATES } from '@leasehold/core/model';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_TASK_ORDER,
  LiveQuery,
  parseTasksUrl,
  serializeTasksUrl,
  TASK_COLUMNS,
  TASK_SORTS,
  type TaskFilter,
  type TasksUrl,
} from '../src/index.js';

const parse = (text: string) => parseTasksUrl(new URLSearchParams(text));
const value = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => !/\p{Surrogate}/u.test(text));
const list = fc.uniqueArray(value, { minLength: 1, maxLength: 4 });
const filter: fc.Arbitrary<TaskFilter> = fc.record(
  {
    state: fc.subarray([...TASK_STATES], { minLength: 1 }),
    name: list,
    queue: list,
    node: list,
    tag: list,
    workflow: fc.uuid(),
    error: fc.uuid(),
    q: value,
    from: fc.nat(1_000_000),
    to: fc.integer({ min: 1_000_001, max: 2_000_000_000_000 }),
  },
  { requiredKeys: [] },
);
const state: fc.Arbitrary<TasksUrl> = fc.record(
  {
    filter,
    order: fc.record({ by: fc.constantFrom(...TASK_SORTS), desc: fc.boolean() }),
    cols: fc.uniqueArray(fc.constantFrom(...TASK_COLUMNS), { minLength: 1 }),
    rev: fc.bigInt({ min: 1n, max: 2n ** 59n }).map(String),
    layout: fc.constantFrom('table', 'kanban'),
  },
  { requiredKeys: ['filter', 'order', 'layout'] },
);

describe('the URL of /tasks', () => {
  test('every state round-trips, also commas, slashes, percent signs and unicode in names', () => {
    fc.assert(
      fc.property(state, (given) => {
        expect(parse(serializeTasksUrl(given))).toEqual({ state: given, ignored: [] });
      }),
    );
  });

  test('any text is read without failing, and what is read is a valid query', () => {
    const names = fc.constantFrom(
      'state',
      'name',
      'queue',
      'q',
      'from',
      'to',
      'sort',
      'cols',
      'rev',
      'workflow',
      'error',
      'x',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(names, fc.string())), (pairs) => {
        const { state: read } = parseTasksUrl(new URLSearchParams(pairs));
        const query = { view: 'tasks', filter: read.filter, order: read.order, window: { offset: 0, limit: 50 } };
        expect(LiveQuery.safeParse(query).success).toBe(true);
        expect(parse(serializeTasksUrl(read)).state).toEqual(read);
      }),
    );
  });

  test('the default state has an empty URL', () => {
    expect(serializeTasksUrl({ filter: {}, order: DEFAULT_TASK_ORDER, layout: 'table' })).toBe('');
  });

  test.each([
    ['state=RUNNING', 'state'],
    ['sort=-nonsense', 'sort'],
    ['from=yesterday', 'from'],
    ['from=9&to=3', 'to'],
    ['rev=1e9', 'rev'],
    ['cols=state,evil', 'cols'],
    ['workflow=a/b', 'workflow'],
    [`q=${'x'.repeat(201)}`, 'q'],
  ])('a bad parameter falls back and is named: %s', (text, name) => {
    expect(parse(text).ignored).toEqual([name]);
  });

  test('states may be given as one list or several, in any case', () => {
    expect(parse('state=failure,STARTED&state=retry').state.filter.state).toEqual(['STARTED', 'RETRY', 'FAILURE']);
  });
});
