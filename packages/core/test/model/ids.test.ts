import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  callbackId,
  checkId,
  idGenerator,
  isDerivedId,
  isTaskId,
  memberId,
  newId,
  parseCallbackId,
  parseMemberId,
} from '../../src/model/ids.js';
import { refusal } from './refusal.js';

const zeros = (count: number): Uint8Array => new Uint8Array(count);
const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe('ids', () => {
  it('a new id is a UUIDv7 decided by the time and the random bytes', () => {
    const id = newId(1_700_000_000_000, zeros);
    expect(id).toBe('018bcfe5-6800-7000-8000-000000000000');
    expect(newId(1_700_000_000_000, (n) => new Uint8Array(n).fill(255))).toBe('018bcfe5-6800-7fff-bfff-ffffffffffff');
  });

  it('property: ids sort by time, whatever the random bytes', () => {
    fc.assert(
      fc.property(times, times, fc.nat(255), fc.nat(255), (a, b, x, y) => {
        fc.pre(a < b);
        expect(newId(a, (n) => new Uint8Array(n).fill(x)) < newId(b, (n) => new Uint8Array(n).fill(y))).toBe(true);
      }),
    );
  });

  it('a random source that gives too few bytes is refused', () => {
    expect(() => newId(0, () => new Uint8Array(3))).toThrow('3 bytes instead of 10');
  });

  it('property: one process makes ids in order, within a millisecond and over small steps back of the clock', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { minLength: 2, maxLength: 50 }), fc.integer(), (steps, seed) => {
        let state = seed >>> 0;
        const next = idGenerator((n) => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
          return new Uint8Array(n).fill(state >>> 24);
        });
        const ids = steps.map((step) => next(1_700_000_000_000 + step));
        expect([...ids].sort()).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it.each(['task_0189', 'a', 'A.b-c_d', 'x'.repeat(200)])('the id %j is accepted', (id) => {
    expect(checkId(id)).toBe(id);
  });

  it.each(['', 'a/b', 'a b', 'é', '%2f', 'a\n', null, 7])(
    'the id %j is refused and says which characters work',
    (id) => {
      expect(refusal(() => checkId(id))).toMatchObject({
        code: 'invalid',
        message: expect.stringContaining('use letters, digits, ".", "_" and "-"') as string,
        fields: { field: 'id' },
      });
      expect(isTaskId(id)).toBe(false);
    },
  );

  it('an id over the limit says its size and the limit', () => {
    const error = refusal(() => checkId('x'.repeat(201)));
    expect(error.code).toBe('too-large');
    expect(error.message).toBe('id: 201 bytes exceed the limit of 200 bytes; choose a shorter id');
  });

  it('property: member ids round-trip, and sort by their index', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9._-]{1,40}$/), fc.nat(99_998), (workflowId, index) => {
        const id = memberId(workflowId, index);
        expect(parseMemberId(id)).toEqual({ workflowId, index });
        expect(isTaskId(id) && isDerivedId(id)).toBe(true);
        expect(id < memberId(workflowId, index + 1)).toBe(true);
      }),
    );
    expect(memberId('w', 42)).toBe('w.00042');
    expect(parseMemberId('w.42')).toBeNull();
    expect(() => memberId('w', 100_000)).toThrow(RangeError);
  });

  it('property: callback ids round-trip and differ by kind, generation and number', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9._-]{1,40}$/),
        fc.constantFrom('s', 'e'),
        fc.nat(10_000),
        fc.nat(100),
        (taskId, kind, generation, n) => {
          const id = callbackId(taskId, kind, generation, n);
          expect(parseCallbackId(id)).toEqual({ taskId, kind, generation, n });
          expect(isTaskId(id) && isDerivedId(id)).toBe(true);
        },
      ),
    );
    expect(callbackId('t', 'e', 2, 0)).toBe('t.e2.0');
    expect(parseCallbackId('t')).toBeNull();
    expect(isDerivedId(newId(0, zeros))).toBe(false);
  });
});
