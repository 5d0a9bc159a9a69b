import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KEY_KINDS, Keys, decodeName, encodeName } from '../../src/model/keys.js';
import { padTime } from '../../src/model/order.js';

const keys = new Keys('ns');
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 });
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
const time = fc.nat({ max: 4_000_000_000_000 });

describe('keys', () => {
  it('encode any name to safe ASCII and back', () => {
    fc.assert(
      fc.property(name, (text) => {
        expect(encodeName(text)).toMatch(/^[A-Za-z0-9\-_.~%]+$/);
        expect(decodeName(encodeName(text))).toBe(text);
      }),
    );
    expect(encodeName('a/b %c.한')).toBe('a%2Fb%20%25c.%ED%95%9C');
    expect(encodeName('..')).toBe('%2E%2E');
  });

  it('parse back to what they were built from', () => {
    fc.assert(
      fc.property(name, id, time, fc.nat(99), (queue, task, ms, n) => {
        expect(keys.parse(keys.ready(queue, n % 8, ms, task))).toEqual({
          kind: 'ready',
          queue,
          shard: n % 8,
          order: ms,
          id: task,
        });
        expect(keys.parse(keys.task(task))).toEqual({ kind: 'tasks', id: task });
        expect(keys.parse(keys.due(ms, task))).toEqual({ kind: 'due', timeMs: ms, id: task });
        expect(keys.parse(keys.slot(queue, n))).toEqual({ kind: 'slots', limit: queue, n });
        expect(keys.parse(keys.rate(queue, ms, n))).toEqual({ kind: 'rates', limit: queue, window: ms, n });
        expect(keys.parse(keys.barrier(task, n, n))).toEqual({ kind: 'barriers', id: task, join: n, slot: n });
        expect(keys.parse(keys.barrier(task, n, 'hold'))).toEqual({
          kind: 'barriers',
          id: task,
          join: n,
          slot: 'hold',
        });
        expect(keys.parse(keys.join(task, n))).toEqual({ kind: 'joins', id: task, join: n });
        expect(keys.parse(keys.failure(task, n, n))).toEqual({ kind: 'failures', id: task, join: n, slot: n });
        expect(keys.parse(keys.unique(queue))).toEqual({ kind: 'unique', name: queue });
        expect(keys.parse(keys.order(task, 'cancel', task))).toEqual({
          kind: 'orders',
          node: task,
          what: 'cancel',
          id: task,
        });
        expect(keys.parse(keys.log(task, n, n))).toEqual({ kind: 'logs', id: task, attempt: n, n });
        expect(keys.parse(keys.fire(task, ms))).toEqual({ kind: 'fires', id: task, timeMs: ms });
      }),
    );
  });

  it('sort as the numbers in them do', () => {
    fc.assert(
      fc.property(time, time, id, id, (a, b, first, second) => {
        fc.pre(a !== b);
        expect(keys.due(a, first) < keys.due(b, second)).toBe(a < b);
        expect(keys.due(a, first) < keys.dueUntil(b)).toBe(a <= b);
      }),
    );
    expect(padTime(0)).toHaveLength(15);
    expect(() => padTime(-1)).toThrow(RangeError);
  });

  it('of other namespaces and hostile keys are not taken for ours', () => {
    expect(keys.parse(new Keys('other').task('a'))).toBeUndefined();
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parsed = keys.parse(keys.prefix + text);
        if (parsed !== undefined) expect(KEY_KINDS).toContain(parsed.kind);
      }),
    );
    expect(keys.parse(`${keys.prefix}ready/%/00/1/a`)).toBeUndefined();
  });

  it('two namespaces never share a prefix', () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        fc.pre(a !== b);
        expect(new Keys(a).task('x').startsWith(new Keys(b).prefix)).toBe(false);
      }),
    );
  });

  it('are all in the table of docs/keys.md, and nothing else is', () => {
    const table = readFileSync(new URL('../../docs/keys.md', import.meta.url), 'utf8');
    const listed = [...table.matchAll(/^\| `([a-z]+)/gm)].map((match) => match[1]);
    expect(new Set(listed)).toEqual(new Set(KEY_KINDS));
  });
});
