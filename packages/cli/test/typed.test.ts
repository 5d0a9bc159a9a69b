import { isLeaseholdError, type HandlerInfo, type NodeRecord } from '@leasehold/core';
import { describe, expect, test } from 'vitest';
import { parseWords, readSignature, secretsOf } from '../src/typed.js';

const handler: HandlerInfo = {
  name: 'pay',
  queue: 'money',
  args: [
    { name: 'to', type: 'string' },
    { name: 'cents', type: 'int64' },
    { name: 'pin', type: 'int32', secret: true, optional: true },
  ],
  results: [],
};
const nodes = [{ handlers: [handler] }] as unknown as readonly NodeRecord[];

function code(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    return isLeaseholdError(error) ? error.code : 'other';
  }
  return undefined;
}

test('a task of a JSON file takes the defaults that a live worker advertises, under its own fields', () => {
  const advertised = { ...handler, defaults: { priority: 4, retry: { count: 3 } } };
  const serving = [{ handlers: [advertised] }] as unknown as readonly NodeRecord[];
  const given = { name: 'pay', args: ['a', 1], priority: 1 };
  expect(readSignature(given, serving, 'x')).toMatchObject({ queue: 'money', priority: 1, retry: { count: 3 } });
});

describe('words of a command line', () => {
  test('take the types that a live worker declares', () => {
    expect(parseWords('pay', ['int64:x', '1152921504606846976'], handler)).toEqual([
      { type: 'string', value: 'int64:x', name: 'to' },
      { type: 'int64', value: '1152921504606846976', name: 'cents' },
    ]);
  });

  test('say their types themselves when nobody does', () => {
    expect(parseWords('x', ['int32:5', 'string:a:b', 'bool:true', '[]int64:[1,2]', 'json:{"a":1}'], undefined)).toEqual(
      [
        { type: 'int32', value: 5 },
        { type: 'string', value: 'a:b' },
        { type: 'bool', value: true },
        { type: '[]int64', value: ['1', '2'] },
        { type: 'json', value: { a: 1 } },
      ],
    );
    expect(code(() => parseWords('x', ['5'], undefined))).toBe('invalid');
  });

  test.each([
    ['50.5', 'int32'],
    ['', 'int32'],
    ['abc', 'int64'],
    ['3000000000', 'int32'],
    ['yes', 'bool'],
    ['{', 'json'],
  ])('%j is not %s', (word, type) => {
    expect(code(() => parseWords('x', [`${type}:${word}`], undefined))).toBe('invalid');
  });

  test('are counted', () => {
    expect(code(() => parseWords('pay', ['a'], handler))).toBe('invalid');
    expect(code(() => parseWords('pay', ['a', '1', '2', '3'], handler))).toBe('invalid');
  });
});

describe('tasks of a JSON file', () => {
  test('are typed by a live worker, and go to its queue', () => {
    expect(readSignature({ name: 'pay', args: ['a', 5], priority: 3 }, nodes, '[0]')).toEqual({
      queue: 'money',
      name: 'pay',
      priority: 3,
      args: [
        { type: 'string', value: 'a', name: 'to' },
        { type: 'int64', value: '5', name: 'cents' },
      ],
    });
  });

  test('may give types themselves, or have them inferred', () => {
    const { args } = readSignature({ name: 'other', args: [{ type: 'int8', value: 5 }, 'x', 2.5] }, nodes, '[0]');
    expect(args.map(({ type }) => type)).toEqual(['int8', 'string', 'float64']);
  });

  test('are refused when they are none', () => {
    for (const bad of [5, null, [], {}, { name: 5 }, { name: 'x', args: 5 }]) {
      expect(code(() => readSignature(bad, nodes, '[0]'))).toBe('invalid');
    }
  });
});

test('secrets are marked only where there are arguments', () => {
  expect(secretsOf(handler, 3)).toEqual({ secrets: [2] });
  expect(secretsOf(handler, 2)).toEqual({});
  expect(secretsOf(undefined, 2)).toEqual({});
});
