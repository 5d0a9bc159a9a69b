import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  ARG_TYPES,
  checkPayload,
  checkStored,
  decodeValue,
  encodeValue,
  inferType,
  payloadBytes,
  valueBytes,
  type ArgValue,
} from '../../src/model/args.js';
import { base64ToBytes, bytesToBase64, display } from '../../src/model/plain.js';
import type { Json } from '../../src/model/json.js';
import type { ArgType, TypedValue } from '../../src/model/signature.js';
import { refusal } from './refusal.js';

const stored = (type: string, value: unknown) => checkStored({ type, value }, 'args[0]');
const refused = (type: string, value: unknown) => refusal(() => stored(type, value)).message;
const refusedJs = (type: ArgType, value: unknown) => refusal(() => encodeValue(type, value, 'args[0]')).message;

/** Machinery's TestReflectValue: a JSON value of each scalar type and what the task receives. */
const SCALAR_CASES: readonly (readonly [ArgType, unknown, unknown])[] = [
  ['bool', false, false],
  ['int', 123, 123n],
  ['int8', 123, 123],
  ['int16', 123, 123],
  ['int32', 123, 123],
  ['int64', '185135722552891243', 185135722552891243n],
  ['int64', 185135722552891243n, 185135722552891243n],
  ['uint', 123, 123n],
  ['uint8', 123, 123],
  ['uint16', 123, 123],
  ['uint32', 123, 123],
  ['uint64', '9223372036854775808', 9223372036854775808n],
  ['float32', 0.5, 0.5],
  ['float64', 3.141592653589793, 3.141592653589793],
  ['string', 'foo', 'foo'],
];
const SLICE_CASES: readonly (readonly [ArgType, unknown, unknown])[] = [
  ['[]bool', [true, false], [true, false]],
  ['[]int', [1, 2], [1n, 2n]],
  ['[]int8', [1, -2], [1, -2]],
  ['[]int16', [1, -2], [1, -2]],
  ['[]int32', [1, -2], [1, -2]],
  ['[]int64', ['185135722552891243', 2], [185135722552891243n, 2n]],
  ['[]uint', [1, 2], [1n, 2n]],
  ['[]uint8', [1, 2], [1, 2]],
  ['[]uint16', [1, 2], [1, 2]],
  ['[]uint32', [1, 2], [1, 2]],
  ['[]uint64', ['9223372036854775808'], [9223372036854775808n]],
  ['[]float32', [0.5, 1.25], [0.5, 1.25]],
  ['[]float64', [0.1, 1.28], [0.1, 1.28]],
  ['[]string', ['foo', 'bar'], ['foo', 'bar']],
];

describe('typed values', () => {
  it.each(SCALAR_CASES)('TestReflectValue: case %#: %s', (type, value, expected) => {
    expect(decodeValue(stored(type, value))).toEqual(expected);
  });

  it.each(SLICE_CASES)('TestReflectValue: case %#: %s', (type, value, expected) => {
    expect(decodeValue(stored(type, value))).toEqual(expected);
  });

  it.each(['[]bool', '[]int64', '[]uint64', '[]float64', '[]string'] as const)(
    'TestReflectValue: null for %s is an empty slice',
    (type) => {
      expect(decodeValue(stored(type, null))).toEqual([]);
      expect(encodeValue(type, null, 'x')).toEqual({ type, value: [] });
    },
  );

  it('TestReflectValue: []byte is bytes, and takes base64; null is no bytes', () => {
    expect(decodeValue(stored('bytes', 'Zm9v'))).toEqual(new TextEncoder().encode('foo'));
    expect(decodeValue(stored('[]uint8', 'Zm9v'))).toEqual([102, 111, 111]);
    expect(decodeValue(stored('bytes', null))).toEqual(new Uint8Array());
    expect(refused('bytes', 'Zm9')).toBe('args[0]: "Zm9" is not bytes (not base64)');
    expect(refused('bytes', 'Zm9*')).toBe('args[0]: "Zm9*" is not bytes (not base64)');
  });

  it('all types of Machinery are known, plus bytes and json', () => {
    expect(ARG_TYPES).toHaveLength(30);
    expect(new Set(ARG_TYPES).size).toBe(30);
  });

  it.each(['complex128', 'map', '[][]int', 'Int', '', 'constructor', '__proto__', 'number'])(
    'the unknown type %j is refused in the words of Machinery',
    (type) => {
      expect(refused(type, 1)).toBe(`args[0]: ${type} is not one of supported types`);
    },
  );

  it.each([
    ['int32', 50.5, '50.5 is not int32'],
    ['int8', 300, '300 is not int8 (range -128 to 127)'],
    ['int8', -129, '-129 is not int8 (range -128 to 127)'],
    ['uint16', -1, '-1 is not uint16 (range 0 to 65535)'],
    ['int64', '9223372036854775808', '9223372036854775808 is not int64 (range'],
    ['uint64', '-1', '-1 is not uint64 (range 0 to 18446744073709551615)'],
    ['uint64', '18446744073709551616', '18446744073709551616 is not uint64 (range'],
    ['int', 2 ** 53, '9007199254740992 is not int (a number beyond 2^53 has lost digits: give it as a decimal string)'],
    ['int64', '1.5', '"1.5" is not int64'],
    ['int64', '', '"" is not int64'],
    ['int64', '0x10', '"0x10" is not int64'],
    ['int64', '9'.repeat(100_000), '..." is not int64'],
    ['int32', '5', '"5" is not int32'],
    ['int32', true, 'true is not int32'],
    ['bool', 1, '1 is not bool'],
    ['string', 5, '5 is not string'],
    ['string', null, 'null is not string'],
    ['int64', null, 'null is not int64'],
    ['float64', '1.5', '"1.5" is not float64'],
    ['float64', Number.NaN, 'NaN is not float64 (JSON has no such number)'],
    ['float32', Number.POSITIVE_INFINITY, 'Infinity is not float32'],
    ['float32', 1e39, '1e+39 is not float32 (range'],
    ['[]int32', 5, '5 is not []int32'],
    ['[]int32', {}, 'an object is not []int32'],
  ])('case %#: %s refuses what it cannot hold', (type, value, message) => {
    expect(refused(type, value)).toContain(message);
    expect(refused(type, value).length).toBeLessThan(300);
  });

  it('a bad element of a slice is named by its position', () => {
    expect(refused('[]int32', [1, 2, 50.5])).toBe('args[0][2]: 50.5 is not int32');
    expect(refused('[]string', ['a', null])).toBe('args[0][1]: null is not string');
    // eslint-disable-next-line no-sparse-arrays
    expect(refused('[]string', ['a', , 'b'])).toBe('args[0][1]: undefined is not string');
  });

  it('the refusal carries the field, the type and the value as data', () => {
    const error = refusal(() => stored('int32', 50.5));
    expect(error.code).toBe('invalid');
    expect(error.fields).toEqual({ field: 'args[0]', type: 'int32', value: '50.5' });
  });

  it('the value of a secret is never shown', () => {
    const error = refusal(() => encodeValue('int32', 'hunter2', { field: 'args[1]', secret: true }));
    expect(error.message).toBe('args[1]: [secret] is not int32');
    expect(JSON.stringify(error.fields)).not.toContain('hunter2');
    const inner = refusal(() => encodeValue('[]int32', ['hunter2'], { field: 'args[1]', secret: true }));
    expect(`${inner.message}${JSON.stringify(inner.fields)}`).not.toContain('hunter2');
  });

  it('a program may give a number for a 64-bit integer while no digit is lost', () => {
    expect(encodeValue('int64', 5, 'x')).toEqual({ type: 'int64', value: '5' });
    expect(encodeValue('uint64', 2n ** 64n - 1n, 'x')).toEqual({ type: 'uint64', value: '18446744073709551615' });
    expect(refusedJs('int64', 2 ** 53)).toContain('beyond 2^53 has lost digits: give it as a bigint');
    expect(refusedJs('int64', '5')).toBe('args[0]: "5" is not int64');
  });

  it('negative zero becomes zero, and digits become canonical', () => {
    expect(JSON.stringify(stored('int64', '-0').value)).toBe('"0"');
    expect(stored('int64', '007').value).toBe('7');
    expect(Object.is(stored('float64', -0).value, 0)).toBe(true);
    expect(Object.is(stored('int32', -0).value, 0)).toBe(true);
  });

  it('float32 is received in single precision, and the record keeps what was given', () => {
    expect(stored('float32', 0.1).value).toBe(0.1);
    expect(decodeValue(stored('float32', 0.1))).toBe(Math.fround(0.1));
  });

  it.each(['\ud800', 'a\udc00b', '\udc00\ud800'])('the lone surrogate in %j is refused', (text) => {
    expect(refused('string', text)).toContain('it holds a lone surrogate');
    expect(refused('json', { a: text })).toBe('args[0].a: a string with a lone surrogate is not json');
    expect(refused('json', { [text]: 1 })).toContain('a key with a lone surrogate is not json');
  });

  it('a whole emoji is no lone surrogate', () => {
    expect(stored('string', '👩‍🚀 ok').value).toBe('👩‍🚀 ok');
  });

  it.each([null, 5, 'x', []])('%j instead of a typed value is refused', (value) => {
    expect(refusal(() => checkStored(value, 'args[0]')).message).toContain('is not { type, value }');
  });

  it('the label of a value is kept, and must be a text', () => {
    expect(checkStored({ type: 'bool', value: true, name: 'ok' }, 'x')).toEqual({
      type: 'bool',
      value: true,
      name: 'ok',
    });
    expect(checkStored({ type: 'bool', value: true, name: '' }, 'x')).toEqual({ type: 'bool', value: true });
    expect(refusal(() => checkStored({ type: 'bool', value: true, name: 5 }, 'x')).message).toBe(
      'x.name: 5 is not a name',
    );
  });
});

describe('json values', () => {
  it('are copied, so that later changes do not reach what was submitted', () => {
    const given = { list: [1] };
    const { value } = encodeValue('json', given, 'x');
    given.list.push(2);
    expect(value).toEqual({ list: [1] });
  });

  it('a cyclic value is refused and the message says where', () => {
    const cyclic: Record<string, unknown> = { a: {} };
    (cyclic['a'] as Record<string, unknown>)['back'] = cyclic;
    expect(refusedJs('json', cyclic)).toBe('args[0].a.back: a cyclic value is not json: it contains itself here');
    const list: unknown[] = [];
    list.push([list]);
    expect(refusedJs('json', list)).toContain('args[0][0][0]: a cyclic value');
  });

  it('one part in two places is no cycle', () => {
    const part = { n: 1 };
    expect(encodeValue('json', [part, part], 'x').value).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it('a value that unfolds without end is refused, quickly', () => {
    let bomb: unknown = 'x';
    for (let i = 0; i < 60; i++) bomb = [bomb, bomb];
    expect(refusedJs('json', bomb)).toBe('args[0]: more than 1000000 values are not json');
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(refusedJs('json', deep)).toBe('args[0]: json nested deeper than 100 levels is refused');
  });

  it.each([
    [() => 1, 'args[0].v: a function is not json'],
    [Symbol('s'), 'args[0].v: a symbol is not json'],
    [Number.NaN, 'args[0].v: NaN is not json: it has no such number'],
    [Number.NEGATIVE_INFINITY, 'args[0].v: -Infinity is not json'],
    [5n, 'args[0].v: a bigint is not json: pass it as its own int64 argument, or as a string'],
    [new Date(0), 'args[0].v: an object (Date) is not json'],
    [new Map(), 'args[0].v: an object (Map) is not json'],
    [new Uint8Array(2), 'args[0].v: an object (Uint8Array) is not json'],
    [[undefined], 'args[0].v[0]: undefined is not json'],
    [{ [Symbol('k')]: 1 }, 'args[0].v: a symbol as a key is not json'],
  ])('case %#: what JSON cannot carry is refused', (v, message) => {
    expect(refusedJs('json', { v })).toContain(message);
  });

  it('a getter that throws is a refusal with its cause', () => {
    const cause = new Error('broken getter');
    const given = {
      get v() {
        throw cause;
      },
    };
    const error = refusal(() => encodeValue('json', given, 'args[0]'));
    expect(error.message).toBe('args[0]: reading it failed: Error: broken getter');
    expect(error.cause).toBe(cause);
  });

  it('undefined keys are left out, null stays', () => {
    expect(encodeValue('json', { a: undefined, b: null }, 'x').value).toEqual({ b: null });
    expect(encodeValue('json', null, 'x').value).toBeNull();
    expect(refusedJs('json', undefined)).toBe('args[0]: undefined is not json');
  });

  it('__proto__ stays a key like any other and touches no prototype', () => {
    const hostile: unknown = JSON.parse('{"__proto__":{"admin":true},"constructor":1}');
    const { value } = checkStored({ type: 'json', value: hostile }, 'x');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"admin":true},"constructor":1}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect((value as Record<string, unknown>)['admin']).toBeUndefined();
  });
});

describe('inferred types', () => {
  it.each([
    [true, 'bool'],
    [5, 'int64'],
    [5.5, 'float64'],
    [5n, 'int64'],
    [-(2n ** 63n), 'int64'],
    [2n ** 63n, 'uint64'],
    ['a', 'string'],
    [new Uint8Array(1), 'bytes'],
    [[1, 2], '[]int64'],
    [[1, 2.5], '[]float64'],
    [[1n, 2n ** 63n], '[]uint64'],
    [[-1n, 2n ** 63n], 'json'],
    [[1n, 2.5], 'json'],
    [['a'], '[]string'],
    [[true], '[]bool'],
    [[], 'json'],
    [['a', 1], 'json'],
    [[[1]], 'json'],
    [{ a: 1 }, 'json'],
    [null, 'json'],
  ])('case %#: %s', (value, type) => {
    expect(inferType(value)).toBe(type);
  });

  it('an integer number beyond 2^53 has no type, and the message says what to do', () => {
    expect(refusal(() => inferType(2 ** 60)).message).toContain('use a bigint, or declare float64');
  });
});

const bigints = (min: bigint, max: bigint) => fc.bigInt({ min, max });
const ARBITRARIES: { readonly [T in ArgType]?: fc.Arbitrary<ArgValue<T>> } = {
  bool: fc.boolean(),
  int: bigints(-(2n ** 63n), 2n ** 63n - 1n),
  int8: fc.integer({ min: -128, max: 127 }),
  int16: fc.integer({ min: -32768, max: 32767 }),
  int32: fc.integer(),
  int64: bigints(-(2n ** 63n), 2n ** 63n - 1n),
  uint: bigints(0n, 2n ** 64n - 1n),
  uint8: fc.nat(255),
  uint16: fc.nat(65535),
  uint32: fc.nat(4294967295),
  uint64: bigints(0n, 2n ** 64n - 1n),
  float32: fc.float({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
  float64: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
  string: fc.string({ unit: 'grapheme' }),
  bytes: fc.uint8Array(),
  json: fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value)) as Json),
};
const scalars = Object.entries(ARBITRARIES).filter(([type]) => type !== 'bytes' && type !== 'json');
const anyValue = fc.oneof(
  ...Object.entries(ARBITRARIES).map(([type, values]) =>
    (values as fc.Arbitrary<unknown>).map((value) => ({ type, value })),
  ),
  ...scalars.map(([type, values]) =>
    fc.array(values as fc.Arbitrary<unknown>).map((value) => ({ type: `[]${type}`, value })),
  ),
);

describe('properties of typed values', () => {
  it('every value of every type survives encoding, JSON, checking and decoding', () => {
    fc.assert(
      fc.property(anyValue, ({ type, value }) => {
        const encoded = encodeValue(type as ArgType, value, 'x');
        const received = checkStored(JSON.parse(JSON.stringify(encoded)), 'x');
        expect(received).toEqual(encoded);
        expect(decodeValue(received)).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it('any value for any type is stored or refused with a code, never anything else', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ARG_TYPES),
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withSparseArray: true,
          withTypedArray: true,
        }),
        (type, value) => {
          for (const act of [() => stored(type, value), () => encodeValue(type, value, 'x')]) {
            let typed: TypedValue;
            try {
              typed = act();
            } catch (error) {
              expect(error).toMatchObject({ name: 'LeaseholdError', code: 'invalid' });
              expect((error as Error).message.length).toBeLessThan(400);
              continue;
            }
            expect(stored(type, JSON.parse(JSON.stringify(typed.value)))).toEqual(typed);
            decodeValue(typed);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('base64 is that of Node, both ways', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(bytesToBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(base64ToBytes(bytesToBase64(bytes))).toEqual(bytes);
      }),
    );
    expect(base64ToBytes('====')).toBeNull();
    expect(base64ToBytes('AA=A')).toBeNull();
  });

  it('anything is displayed short, and nothing foreign runs', () => {
    const trap = {
      toString: () => 'ran',
      get secret() {
        return 'ran';
      },
    };
    expect(display(trap)).toBe('an object');
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('read');
        },
        getPrototypeOf: () => null,
      },
    );
    expect(display(hostile)).toBe('an object');
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(display(value).length).toBeLessThan(120);
      }),
    );
  });
});

describe('payload size', () => {
  it('is the bytes of the stored JSON', () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 5 }), (given) => {
        const values = given.map(({ type, value }) => encodeValue(type as ArgType, value, 'x'));
        expect(payloadBytes(values)).toBe(Buffer.byteLength(JSON.stringify(values)));
        for (const value of values) expect(valueBytes(value)).toBe(Buffer.byteLength(JSON.stringify(value)));
      }),
    );
  });

  it('over the limit is refused with size, limit and advice', () => {
    const values = [encodeValue('string', 'é'.repeat(200_000), 'x')];
    const error = refusal(() => checkPayload(values, 262_144));
    expect(error.code).toBe('too-large');
    expect(error.message).toContain(
      'arguments: 400030 bytes exceed the limit of 262144 bytes; store the data elsewhere',
    );
    expect(error.fields).toEqual({ field: 'arguments', size: 400_030, limit: 262_144 });
    expect(checkPayload([], 2)).toBe(2);
  });
});

describe('types', () => {
  it('each argument type has its JavaScript type', () => {
    expectTypeOf<ArgValue<'int32'>>().toEqualTypeOf<number>();
    expectTypeOf<ArgValue<'int' | 'uint64'>>().toEqualTypeOf<bigint>();
    expectTypeOf<ArgValue<'[]uint64'>>().toEqualTypeOf<readonly bigint[]>();
    expectTypeOf<ArgValue<'bytes'>>().toEqualTypeOf<Uint8Array>();
    expectTypeOf<ArgValue<'json'>>().toEqualTypeOf<Json>();
    expectTypeOf(decodeValue({ type: 'bool', value: true } as const)).toEqualTypeOf<boolean>();
  });
});
