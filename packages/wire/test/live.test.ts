import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChange, diffViews, type Change, type LiveView } from '../src/index.js';

interface Cell {
  readonly id: string;
  readonly value: number;
}

const windowOf = fc.uniqueArray(fc.record({ id: fc.constantFrom(...'abcdefghijklmnop'), value: fc.nat(3) }), {
  selector: (row) => row.id,
  maxLength: 12,
});
const state = fc.record({
  rows: windowOf,
  offset: fc.nat(3),
  total: fc.nat(50),
  newCount: fc.nat(5),
  frozen: fc.boolean(),
});

/** Windows in time, where a row that did not change keeps its identity, as the gateway renders them. */
function timeline(states: readonly (typeof state extends fc.Arbitrary<infer T> ? T : never)[]): LiveView<Cell>[] {
  const interned = new Map<string, Cell>();
  const intern = (row: Cell): Cell => {
    const key = `${row.id}:${row.value}`;
    const known = interned.get(key) ?? row;
    interned.set(key, known);
    return known;
  };
  return states.map(({ rows, ...rest }, i) => ({
    sub: 's',
    seq: 0,
    generation: 1,
    revision: String(i),
    rows: rows.map(intern),
    departed: rows.filter((row) => row.value === 3).map((row) => row.id),
    ...rest,
  }));
}

describe('applyChange', () => {
  test('a snapshot and its changes equal the fresh window, at any cut and over the wire (L1)', () => {
    fc.assert(
      fc.property(fc.array(state, { minLength: 2, maxLength: 12 }), (states) => {
        const windows = timeline(states);
        let sent = windows[0]!;
        let view: LiveView<Cell> = structuredClone(sent);
        for (const fresh of windows.slice(1)) {
          const change = diffViews(sent, { ...fresh, seq: sent.seq });
          if (change === undefined) continue;
          sent = { ...fresh, seq: change.seq };
          const next = applyChange(view, JSON.parse(JSON.stringify(change)) as Change<Cell>);
          expect(next).toEqual(sent);
          view = next!;
        }
      }),
      { numRuns: 500 },
    );
  });

  test('changes that were not sent one by one are sent as one: a slow client skips states, not rows', () => {
    fc.assert(
      fc.property(fc.array(state, { minLength: 2, maxLength: 8 }), (states) => {
        const windows = timeline(states);
        const [first, last] = [windows[0]!, windows.at(-1)!];
        const change = diffViews(first, { ...last, seq: 0 });
        const view = change === undefined ? first : applyChange(first, change);
        expect(view?.rows).toEqual(last.rows);
        expect(view?.total).toBe(last.total);
      }),
    );
  });

  const before = timeline([{ rows: [{ id: 'a', value: 1 }], offset: 0, total: 1, newCount: 0, frozen: false }])[0]!;

  test('an older change changes nothing; a missing one is a gap (L2)', () => {
    const change: Change<Cell> = { sub: 's', seq: 1, generation: 1, revision: '9', total: 7 };
    const after = applyChange(before, change)!;
    expect(after.total).toBe(7);
    expect(applyChange(after, change)).toBe(after);
    expect(applyChange(before, { ...change, seq: 2 })).toBeUndefined();
  });

  test('a change of another generation is a gap; of another subscription, nothing', () => {
    const change: Change<Cell> = { sub: 's', seq: 1, generation: 2, revision: '9' };
    expect(applyChange(before, change)).toBeUndefined();
    expect(applyChange(before, { ...change, sub: 'other' })).toBe(before);
  });

  test('a row that moves is moved, not removed and sent again with its neighbours', () => {
    const rows = [...'abcdef'].map((id) => ({ id, value: 0 }));
    const [a, b, c, d, e, f] = rows as [Cell, Cell, Cell, Cell, Cell, Cell];
    const from = { ...before, rows };
    const change = diffViews(from, { ...from, rows: [f, a, b, c, d, e] });
    expect(change?.insert).toEqual([[0, f]]);
    expect(change?.remove).toBeUndefined();
  });

  test('nothing new is no change', () => {
    expect(diffViews(before, { ...before, revision: '99' })).toBeUndefined();
  });
});
