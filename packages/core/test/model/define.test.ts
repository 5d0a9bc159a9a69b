import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { encodeValue } from '../../src/model/args.js';
import { bindArgs, decodeResults, describeDefinition, encodeResults } from '../../src/model/bind.js';
import { withAdvertised } from '../../src/model/defaults.js';
import {
  defineTask,
  type Handler,
  type HandlerArgs,
  type HandlerReturn,
  type TaskDefinition,
  type TaskResult,
} from '../../src/model/define.js';
import type { Json } from '../../src/model/json.js';
import type { ArgType, Signature, TypedValue } from '../../src/model/signature.js';
import type { StandardSchemaV1 } from '../../src/model/standard-schema.js';
import { refusal } from './refusal.js';

const processInventory = defineTask('processInventory', {
  args: { sku: 'string', quantity: 'int32' },
  results: ['int64'],
  queue: 'orders',
  retry: { count: 3 },
  timeoutMs: 30_000,
  tags: ['stock'],
  description: 'Takes stock from a shelf',
  runbookUrl: 'https://runbooks.example/stock',
  argHelp: { sku: 'As printed on the shelf' },
});
const add = defineTask('add', { variadic: 'int64', results: ['int64'] });
const verifyUser = defineTask('verifyUser', { args: [{ name: 'id', type: 'int' }], results: ['int', 'string'] });
const login = defineTask('login', {
  args: { user: 'string', token: 'string', note: { type: 'string', optional: true } },
  secrets: ['token'],
  results: [],
});
const typed = (type: ArgType, value: Json): TypedValue => ({ type, value });

/** A schema by hand, as zod and others make them. */
function schema<Input, Output = Input>(
  check: (value: Input) => Output | string | Promise<Output | string>,
): StandardSchemaV1<Input, Output> {
  const judge = (value: Output | string) =>
    typeof value === 'string' && value.startsWith('!')
      ? { issues: [{ message: value.slice(1), path: ['at', { key: 0 }] }] }
      : { value: value as Output };
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => {
        const result = check(value as Input);
        return result instanceof Promise ? result.then(judge) : judge(result);
      },
    },
  };
}

describe('signatures of a defined task', () => {
  it('arguments by name go to their place on the wire, with the defaults of the definition', () => {
    expect(processInventory.signature({ quantity: 5, sku: 'A-1' })).toEqual({
      name: 'processInventory',
      args: [
        { type: 'string', value: 'A-1', name: 'sku' },
        { type: 'int32', value: 5, name: 'quantity' },
      ],
      queue: 'orders',
      retry: { count: 3 },
      timeoutMs: 30_000,
      tags: ['stock'],
    });
  });

  it('options of one call come over the defaults, field by field', () => {
    const signature = processInventory.signature(
      { sku: 'A', quantity: 1 },
      { queue: 'night', priority: 9, retry: { backoff: 'fixed' }, tags: ['extra'], etaMs: 5 },
    );
    expect(signature).toMatchObject({
      queue: 'night',
      priority: 9,
      retry: { count: 3, backoff: 'fixed' },
      tags: ['stock', 'extra'],
      etaMs: 5,
      timeoutMs: 30_000,
    });
  });

  it('arguments by position, and variadic ones', () => {
    expect(add.signature([1n, 2, 3n]).args).toEqual([
      { type: 'int64', value: '1' },
      { type: 'int64', value: '2' },
      { type: 'int64', value: '3' },
    ]);
    expect(add.signature([]).args).toEqual([]);
    expect(verifyUser.signature([7n]).args).toEqual(verifyUser.signature({ id: 7 }).args);
  });

  it('secret arguments are marked by position, and stay out of refusals', () => {
    expect(login.signature({ user: 'u', token: 't' })).toEqual({
      name: 'login',
      args: [typed('string', 'u'), typed('string', 't')].map((value, i) => ({ ...value, name: ['user', 'token'][i] })),
      secrets: [1],
    });
    const wrong = { user: 'u', token: 31_337 as unknown as string };
    expect(refusal(() => login.signature(wrong)).message).toBe('login: args[1] (token): [secret] is not string');
  });

  it('optional arguments may be left out from the end, not from the middle', () => {
    expect(login.signature({ user: 'u', token: 't', note: 'n' }).args).toHaveLength(3);
    expect(login.signature({ user: 'u', token: 't', note: undefined }).args).toHaveLength(2);
    const gap = { user: 'u', note: 'n' } as unknown as { user: string; token: string };
    expect(refusal(() => login.signature(gap)).message).toContain('argument token is missing');
  });

  it('a partial call leaves room for the results of the task before, or for the error', () => {
    expect(processInventory.partial({ sku: 'A' }).args).toEqual([{ type: 'string', value: 'A', name: 'sku' }]);
    expect(processInventory.partial({}).args).toEqual([]);
    expect(processInventory.partial({ quantity: 2 }).args).toEqual([{ type: 'int32', value: 2, name: 'quantity' }]);
    const three = defineTask('three', { args: { a: 'bool', b: 'bool', c: 'bool' } });
    expect(refusal(() => three.partial({ b: true })).message).toContain('the first arguments, or the last ones');
    expect(refusal(() => three.partial({ a: true, c: true })).message).toContain('argument b is missing');
    expect(login.partial({ token: 't' }).secrets).toEqual([0]);
    expect(add.partial([5n]).args).toHaveLength(1);
  });

  it.each([
    [() => processInventory.signature({ sku: 'A', quantity: 50.5 }), 'args[1] (quantity): 50.5 is not int32'],
    [
      () => processInventory.signature({ sku: 'A' } as never),
      '1 arguments given, too few; it takes (sku: string, quantity: int32)',
    ],
    [
      () => processInventory.signature({ sku: 'A', quantity: 1, colour: 'red' } as never),
      'no argument is named "colour"',
    ],
    [() => processInventory.signature(['A', 1, 2] as never), '3 arguments given, too many'],
    [() => processInventory.signature('A' as never), 'arguments are a list or an object by name, not "A"'],
    [() => processInventory.signature(null as never), 'not null'],
    [() => login.signature([] as never), 'it takes (user: string, token: string, note?: string)'],
  ])('case %#: wrong arguments are refused with what the task takes', (act, message) => {
    const error = refusal(act);
    expect(error.code).toBe('invalid');
    expect(error.message).toContain(message);
  });

  it('what does not fit does not compile', () => {
    const never = (): void => {
      // @ts-expect-error a string is not an int32
      processInventory.signature({ sku: 'A', quantity: '5' });
      // @ts-expect-error quantity is missing
      processInventory.signature({ sku: 'A' });
      // @ts-expect-error there is no colour
      processInventory.signature({ sku: 'A', quantity: 1, colour: 'red' });
      // @ts-expect-error declared by name, not by position
      processInventory.signature(['A', 1]);
      // @ts-expect-error add takes integers
      add.signature(['1']);
      // @ts-expect-error one argument too many
      verifyUser.signature([1n, 2n]);
      // @ts-expect-error a misspelt option
      processInventory.signature({ sku: 'A', quantity: 1 }, { prio: 3 });
      // @ts-expect-error an unknown type
      defineTask('x', { args: { a: 'int128' } });
      // @ts-expect-error not an argument
      defineTask('x', { args: { a: 'int' }, secrets: ['b'] });
      // @ts-expect-error not an argument
      defineTask('x', { args: { a: 'int' }, argHelp: { b: 'help' } });
      // @ts-expect-error partial arguments have types too
      processInventory.partial({ sku: 5 });
    };
    expect(never).toBeTypeOf('function');
    expectTypeOf<ReturnType<typeof processInventory.signature>>().toEqualTypeOf<Signature>();
  });
});

describe('types of a handler', () => {
  it('its arguments are an object for a declaration by name, a tuple for one by position', () => {
    expectTypeOf<HandlerArgs<typeof processInventory>>().toEqualTypeOf<{
      readonly sku: string;
      readonly quantity: number;
    }>();
    expectTypeOf<HandlerArgs<typeof add>>().toEqualTypeOf<readonly bigint[]>();
    expectTypeOf<HandlerArgs<typeof verifyUser>>().toEqualTypeOf<readonly [bigint]>();
    expectTypeOf<HandlerArgs<typeof login>['note']>().toEqualTypeOf<string | undefined>();
    const mixed = defineTask('mixed', { args: ['string', { name: 'n', type: 'number', optional: true }] });
    expectTypeOf<HandlerArgs<typeof mixed>>().toEqualTypeOf<readonly [string, number | undefined]>();
  });

  it('results are nothing, one value, or a tuple', () => {
    expectTypeOf<TaskResult<typeof processInventory>>().toEqualTypeOf<bigint>();
    expectTypeOf<HandlerReturn<typeof processInventory>>().toEqualTypeOf<bigint | number>();
    expectTypeOf<TaskResult<typeof verifyUser>>().toEqualTypeOf<readonly [bigint, string]>();
    expectTypeOf<HandlerReturn<typeof login>>().toEqualTypeOf<void>();
    expectTypeOf<TaskResult<typeof login>>().toEqualTypeOf<undefined>();
    const free = defineTask('free');
    expectTypeOf<HandlerReturn<typeof free>>().toEqualTypeOf<unknown>();
    expectTypeOf<TaskResult<typeof free>>().toEqualTypeOf<readonly unknown[]>();
  });

  it('a handler is inferred, and any definition is a TaskDefinition', () => {
    const serve = <T extends TaskDefinition>(_definition: T, handler: Handler<T, { attempt: number }>) => handler;
    const handler = serve(processInventory, async ({ sku, quantity }, context) => {
      expectTypeOf(sku).toEqualTypeOf<string>();
      return quantity + context.attempt;
    });
    expect(handler).toBeTypeOf('function');
    // @ts-expect-error a string is not an int64
    serve(processInventory, () => 'done');
    const all: readonly TaskDefinition[] = [processInventory, add, verifyUser, login];
    expect(all.map(({ name }) => name)).toEqual(['processInventory', 'add', 'verifyUser', 'login']);
  });
});

describe('definitions that contradict themselves are refused', () => {
  it.each([
    [() => defineTask(''), 'name: it is empty'],
    [() => defineTask('a\nb'), 'holds a control character'],
    [
      () => defineTask('x', { args: { a: 'complex128' as 'int' } }),
      'task x: a: complex128 is not one of supported types',
    ],
    [() => defineTask('x', { args: { '0': 'int' } }), '"0" is not an argument name'],
    [() => defineTask('x', { args: { ['__proto__']: 'int' } }), '"__proto__" is not an argument name'],
    [() => defineTask('x', { args: ['int', { name: 'arg0', type: 'int' }] }), 'two arguments have one name'],
    [
      () => defineTask('x', { args: [{ name: 'a', type: 'int', optional: true }, 'int'] }),
      'a: optional arguments come last',
    ],
    [() => defineTask('x', { args: { a: 'int' }, variadic: 'int' }), 'variadic needs arguments declared by position'],
    [
      () => defineTask('x', { args: [{ name: 'a', type: 'int', optional: true }], variadic: 'int' }),
      'exclude each other',
    ],
    [() => defineTask('x', { priority: 12 }), 'priority: 12 is not a whole number from 0 to 9'],
    [() => defineTask('x', { retry: { count: -1 } }), 'retry.count: -1 is not a whole number'],
    [() => defineTask('x', { results: ['map' as 'json'] }), 'results[0]: map is not one of supported types'],
    [() => defineTask('x', { retries: 3 } as never), 'task x: retries: there is no such field'],
    [() => defineTask('x', { args: { a: 'int' }, secrets: ['b' as 'a'] }), 'name "b", which is not an argument'],
  ])('case %#', (act, message) => {
    expect(refusal(act).message).toContain(message);
  });
});

describe('binding stored arguments', () => {
  it('TestTaskReflectArgs: a slice of int64 keeps every digit', () => {
    const sum = defineTask('sum', { args: [{ name: 'numbers', type: '[]int64' }] });
    expect(bindArgs(sum, [typed('[]int64', ['1', '185135722552891243'])])).toEqual([[1n, 185135722552891243n]]);
  });

  it('TestTaskCallInvalidArgRobustnessError: a bool given to an int is an error, no crash', () => {
    const error = refusal(() => bindArgs(defineTask('t', { args: ['int32'] }), [typed('bool', true)]));
    expect(error).toMatchObject({
      code: 'invalid',
      message: 't: args[0] (arg0): true is not int32 (it was sent as bool)',
    });
  });

  it('an object for arguments by name, undefined for an optional one left out', () => {
    expect(bindArgs(login, [typed('string', 'u'), typed('string', 't')])).toEqual({
      user: 'u',
      token: 't',
      note: undefined,
    });
    const positional = defineTask('p', { args: ['bool', { name: 'b', type: 'bool', optional: true }] });
    expect(bindArgs(positional, [typed('bool', true)])).toEqual([true, undefined]);
  });

  it('too many and too few arguments are refused with what the task takes', () => {
    const one = typed('string', 'A');
    expect(refusal(() => bindArgs(processInventory, [one])).message).toBe(
      'processInventory: 1 arguments given, too few; it takes (sku: string, quantity: int32)',
    );
    expect(refusal(() => bindArgs(processInventory, [one, typed('int32', 1), one])).message).toContain('too many');
    expect(
      bindArgs(
        add,
        Array.from({ length: 100 }, () => typed('int64', '1')),
      ),
    ).toHaveLength(100);
  });

  it('a handler that takes a number refuses an integer beyond 2^53 and says to declare int64', () => {
    const task = defineTask('double', { args: { n: 'number' } });
    expect(bindArgs(task, [typed('int64', '9007199254740991')])).toEqual({ n: 9_007_199_254_740_991 });
    expect(bindArgs(task, [typed('int', '-5')])).toEqual({ n: -5 });
    expect(bindArgs(task, [typed('float64', 1.5)])).toEqual({ n: 1.5 });
    expect(refusal(() => bindArgs(task, [typed('int', '9007199254740993')])).message).toBe(
      'double: args[0] (n): 9007199254740993 is not number (beyond 2^53: declare int64)',
    );
    expect(refusal(() => task.signature({ n: 2 ** 53 })).message).toContain('declare int64');
    expect(refusal(() => task.signature({ n: 5n as unknown as number })).message).toContain('declare int64');
    expect(refusal(() => bindArgs(task, [typed('string', '5')])).message).toContain('is not number');
    expect(task.signature({ n: 5 }).args).toEqual([{ type: 'int64', value: '5', name: 'n' }]);
    expect(task.signature({ n: 5.5 }).args).toEqual([{ type: 'float64', value: 5.5, name: 'n' }]);
  });

  it('a handler that declares int or int64 takes every digit', () => {
    expect(bindArgs(verifyUser, [typed('int64', '9007199254740993')])).toEqual([9_007_199_254_740_993n]);
  });

  it.each([
    ['int64', '5', 'int32', 5],
    ['int32', 5, 'int64', 5n],
    ['uint8', 5, 'uint64', 5n],
    ['int64', '5', 'float64', 5],
    ['float32', 0.5, 'float64', 0.5],
    ['float64', 0.1, 'float32', Math.fround(0.1)],
    ['[]int64', ['1', '2'], '[]int32', [1, 2]],
    ['bytes', 'AQI=', '[]uint8', [1, 2]],
    ['[]uint8', [1, 2], 'bytes', new Uint8Array([1, 2])],
    ['json', [], '[]string', []],
    ['string', 'a', 'json', 'a'],
    ['[]int32', [1], 'json', [1]],
  ] as const)('case %#: %s fits where nothing is lost', (type, value, declared, received) => {
    expect(bindArgs(defineTask('t', { args: [declared] }), [typed(type, value)])).toEqual([received]);
  });

  it.each([
    ['int64', '300', 'int8', '300 is not int8 (range -128 to 127)'],
    ['int64', '-1', 'uint64', '-1 is not uint64'],
    ['int64', '9007199254740993', 'float64', 'is not float64 (it would lose digits)'],
    ['int32', 16_777_217, 'float32', 'it would lose digits'],
    ['float64', 5, 'int32', 'is not int32 (it was sent as float64)'],
    ['string', '5', 'int32', '"5" is not int32 (it was sent as string)'],
    ['bool', true, '[]bool', 'is not []bool (it was sent as bool)'],
    ['json', [1], '[]int32', 'is not []int32 (it was sent as json)'],
    ['[]int64', ['1', '300'], '[]int8', 'args[0] (arg0)[1]: 300 is not int8'],
    ['int64', '5', 'json', 'is not json (it was sent as int64)'],
    ['complex', 1, 'int32', 'complex is not one of supported types'],
  ] as const)('case %#: %s is refused where something is lost', (type, value, declared, message) => {
    const act = () => bindArgs(defineTask('t', { args: [declared] }), [{ type: type as ArgType, value }]);
    expect(refusal(act).message).toContain(message);
  });

  it('property: an integer of one type is received as another exactly when it is in range', () => {
    const types = ['int8', 'uint8', 'int32', 'uint32', 'int64', 'uint64'] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
        (declared, value) => {
          fc.pre(value >= 0n || value >= -(2n ** 63n));
          const sent = encodeValue(value < 0n ? 'int64' : 'uint64', value, 'x');
          const fits = (() => {
            try {
              encodeValue(declared, value, 'x');
              return true;
            } catch {
              return false;
            }
          })();
          const act = () => bindArgs(defineTask('t', { args: [declared] }), [sent]) as readonly [bigint | number];
          if (fits) expect(BigInt(act()[0])).toBe(value);
          else expect(refusal(act).code).toBe('invalid');
        },
      ),
    );
  });
});

describe('a standard schema refines an argument', () => {
  const email = schema<string>((value) => (value.includes('@') ? value.toLowerCase() : '!not an address'));
  const send = defineTask('send', { args: { to: { type: 'string', schema: email } } });

  it('the handler receives what the schema gives; the wire carries what was given', () => {
    expect(send.signature({ to: 'A@B.C' }).args[0]?.value).toBe('A@B.C');
    expect(bindArgs(send, [typed('string', 'A@B.C')])).toEqual({ to: 'a@b.c' });
  });

  it('its refusal reaches the submitter, and the handler side too', () => {
    const text = 'send: args[0] (to): "nobody" is refused: at.0: not an address';
    expect(refusal(() => send.signature({ to: 'nobody' })).message).toBe(text);
    expect(refusal(() => bindArgs(send, [typed('string', 'nobody')])).message).toBe(text);
  });

  it('one that answers later is awaited before the handler runs', async () => {
    const late = schema<string>(async (value) => (value === 'known' ? value : '!unknown user'));
    const task = defineTask('t', { args: { user: { type: 'string', schema: late }, n: 'int32' } });
    expect(task.signature({ user: 'stranger', n: 1 }).args).toHaveLength(2);
    await expect(bindArgs(task, [typed('string', 'known'), typed('int32', 1)])).resolves.toEqual({
      user: 'known',
      n: 1,
    });
    await expect(bindArgs(task, [typed('string', 'stranger'), typed('int32', 1)])).rejects.toMatchObject({
      code: 'invalid',
      message: 't: args[0] (user): "stranger" is refused: at.0: unknown user',
    });
  });

  it('a secret is not quoted by it', () => {
    const leaky = schema<string>((value) => `!${value} is weak`);
    const task = defineTask('t', { args: { password: { type: 'string', schema: leaky, secret: true } } });
    expect(refusal(() => task.signature({ password: 'hunter2' })).message).not.toContain('hunter2');
  });

  it('its types are the caller’s and the handler’s', () => {
    const size = schema<{ width: number }, number>(({ width }) => width);
    const task = defineTask('t', { args: { size: { type: 'json', schema: size } } });
    expectTypeOf<HandlerArgs<typeof task>>().toEqualTypeOf<{ readonly size: number }>();
    expectTypeOf<Parameters<typeof task.signature>[0]>().toEqualTypeOf<{ readonly size: { width: number } }>();
    expect(bindArgs(task, task.signature({ size: { width: 3 } }).args)).toEqual({ size: 3 });
  });
});

describe('results', () => {
  it('TestReflectTaskResults: one of each declared type', () => {
    expect(encodeResults(verifyUser, [7n, 'ok'])).toEqual([typed('int', '7'), typed('string', 'ok')]);
    expect(decodeResults(verifyUser, [typed('int', '7'), typed('string', 'ok')])).toEqual([7n, 'ok']);
    expect(encodeResults(processInventory, 5)).toEqual([typed('int64', '5')]);
    expect(decodeResults(processInventory, [typed('int64', '5')])).toBe(5n);
  });

  it('TestTaskCallInterfaceValuedResult: an undeclared float is float64', () => {
    expect(encodeResults(defineTask('free'), Math.PI)).toEqual([typed('float64', Math.PI)]);
  });

  it('undefined is no result; declared nothing ignores what comes', () => {
    const free = defineTask('free');
    expect(encodeResults(free, undefined)).toEqual([]);
    expect(encodeResults(login, 5)).toEqual([]);
    expect(decodeResults(login, [])).toBeUndefined();
    expect(decodeResults(free, [typed('int64', '5')])).toEqual([5n]);
  });

  it.each([
    [() => encodeResults(verifyUser, [7n]), 'verifyUser: 1 results returned; it declares a list of 2 results'],
    [() => encodeResults(verifyUser, undefined), 'verifyUser: undefined returned'],
    [() => encodeResults(processInventory, undefined), 'processInventory: result: undefined is not int64'],
    [() => encodeResults(defineTask('free'), { f: () => 1 }), 'free: result.f: a function is not json'],
    [() => encodeResults(defineTask('free'), 2 ** 60), 'free: result: 1152921504606847000 is not int64'],
    [() => decodeResults(verifyUser, []), 'verifyUser: 0 results stored; 2 are declared'],
  ])('case %#: results that cannot be stored, or are not as declared, are refused', (act, message) => {
    expect(refusal(act).message).toContain(message);
  });
});

describe('what is submitted by name', () => {
  it('becomes the same signature as one made by the definition', () => {
    const task = defineTask('t', {
      queue: 'q',
      priority: 3,
      retry: { count: 5, backoff: 'fixed', delayMs: 10 },
      timeoutMs: 1_000,
      headers: { a: '1' },
      labels: { zone: 'x' },
      tags: ['red'],
      concurrency: { key: 'k', max: 2 },
      immutable: true,
    });
    const calls = [{}, { priority: 1 }, { retry: { count: 1 }, tags: ['blue'], headers: { b: '2' }, queue: 'other' }];
    for (const call of calls) {
      const byName = withAdvertised({ name: 't', args: [], ...call }, describeDefinition(task));
      expect(byName).toEqual(task.signature([], call));
    }
    const alone = { name: 't', args: [] };
    expect(withAdvertised(alone, undefined)).toBe(alone);
  });
});

describe('what a node says about its handlers', () => {
  it('is plain data: everything a form needs, no schema', () => {
    expect(describeDefinition(processInventory)).toEqual({
      name: 'processInventory',
      queue: 'orders',
      args: [
        { name: 'sku', type: 'string', help: 'As printed on the shelf' },
        { name: 'quantity', type: 'int32' },
      ],
      results: ['int64'],
      description: 'Takes stock from a shelf',
      runbookUrl: 'https://runbooks.example/stock',
      defaults: { retry: { count: 3 }, tags: ['stock'], timeoutMs: 30_000 },
    });
    const info = describeDefinition(
      defineTask('t', {
        args: [{ name: 'n', type: 'number', schema: schema((value) => value), secret: true }],
        aliases: ['old'],
      }),
    );
    expect(JSON.parse(JSON.stringify(info))).toEqual({
      name: 't',
      queue: 'default',
      args: [{ name: 'n', type: 'float64', secret: true }],
      results: [],
    });
    const options = { queue: 'q', retry: { count: 2 }, timeoutMs: 5_000, tags: ['x'], labels: { zone: 'a' } };
    const { defaults, queue } = describeDefinition(defineTask('d', options));
    expect({ queue, ...defaults }).toEqual(options);
    expect(describeDefinition(add)).toMatchObject({ args: [], variadic: 'int64' });
  });
});
