import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeaseholdError } from '../../src/model/errors.js';
import { LIMITS, type Signature, type Workflow } from '../../src/model/signature.js';
import {
  checkName,
  checkWorkflow,
  mapSignatures,
  normalizeSignature,
  normalizeWorkflow,
  SIGNATURE_DEFAULTS,
} from '../../src/model/validate.js';
import { refusal } from './refusal.js';

const NOW = Date.UTC(2025, 0, 1);
const base: Signature = { name: 'add', args: [{ type: 'int64', value: '1' }] };
const normal = (more: object) => normalizeSignature({ ...base, ...more }, {}, NOW);
const task = (more: object = {}): Workflow => ({ kind: 'task', signature: { ...base, ...more } });
const chain = (...steps: readonly Workflow[]): Workflow => ({ kind: 'chain', steps });
const group = (...members: readonly Workflow[]): Workflow => ({ kind: 'group', members });

describe('a signature is completed', () => {
  it('from the defaults of the scheduler', () => {
    expect(normalizeSignature(base, {}, NOW)).toEqual({
      name: 'add',
      args: [{ type: 'int64', value: '1' }],
      queue: 'default',
      priority: 0,
      retry: { count: 0, backoff: 'fibonacci', delayMs: 0, maxDelayMs: 86_400_000, jitter: 0 },
      timeoutMs: 3_600_000,
      headers: {},
      immutable: false,
      onSuccess: [],
      onError: [],
      secrets: [],
      tags: [],
      labels: {},
      ignoreWhenNotRegistered: false,
    });
  });

  it('AdjustRoutingKey: its own queue first, then the client’s, then "default"', () => {
    expect(normalizeSignature({ ...base, queue: 'own' }, { queue: 'client' }, NOW).queue).toBe('own');
    expect(normalizeSignature(base, { queue: 'client' }, NOW).queue).toBe('client');
    expect(normalizeSignature(base, {}, NOW).queue).toBe(SIGNATURE_DEFAULTS.queue);
  });

  it('a retry policy is completed field by field', () => {
    const { retry } = normalizeSignature(
      { ...base, retry: { count: 5 } },
      { retry: { backoff: 'fixed', delayMs: 7 } },
      NOW,
    );
    expect(retry).toEqual({ count: 5, backoff: 'fixed', delayMs: 7, maxDelayMs: 86_400_000, jitter: 0 });
  });

  it('fields that are undefined count as left out, and what is complete stays as it is', () => {
    const full = normal({
      id: 'x',
      etaMs: NOW - 5,
      expiresMs: NOW + 1,
      deadlineMs: NOW + 2,
      tags: ['a', 'a', 'b'],
      secrets: [3, 0, 3],
    });
    expect(full).toMatchObject({ id: 'x', etaMs: NOW - 5, expiresMs: NOW + 1, tags: ['a', 'b'], secrets: [0, 3] });
    expect(normalizeSignature(full, {}, NOW)).toEqual(full);
    expect(normal({ queue: undefined, retry: undefined, etaMs: undefined, unique: undefined }).queue).toBe('default');
  });

  it('the input is not shared with the result', () => {
    const headers = { a: '1' };
    const result = normal({ headers });
    headers.a = '2';
    expect(result.headers).toEqual({ a: '1' });
  });

  it('a header named __proto__ is a header', () => {
    expect(JSON.stringify(normal({ headers: JSON.parse('{"__proto__":"x"}') as object }).headers)).toBe(
      '{"__proto__":"x"}',
    );
  });
});

describe('a signature that breaks a rule is refused, naming field, value, limit and remedy', () => {
  it.each<[object, string]>([
    [{ name: '' }, 'name: it is empty; give it a name'],
    [{ name: 5 }, 'name: 5 is not a text'],
    [{ name: 'a\u0000b' }, 'name: "a\\u0000b" holds a control character; use printable characters only'],
    [{ name: 'a\u202eb' }, 'holds a control character'],
    [{ name: 'x'.repeat(201) }, 'name: 201 bytes exceed the limit of 200 bytes; shorten it'],
    [{ queue: 'a\nb' }, 'queue: "a\\nb" holds a control character'],
    [{ queue: ' a' }, 'queue: " a" begins or ends with a space; remove it'],
    [{ queue: '\ud800' }, 'holds a lone surrogate'],
    [{ queue: 'é'.repeat(101) }, 'queue: 202 bytes exceed the limit of 200 bytes'],
    [{ id: 'a/b' }, 'id: "a/b" is not an id'],
    [{ args: 'x' }, 'args: "x" is not a list of { type, value }'],
    [{ args: [{ type: 'int32', value: 50.5 }] }, 'args[0]: 50.5 is not int32'],
    [{ args: [{ type: 'map', value: {} }] }, 'args[0]: map is not one of supported types'],
    [{ args: Array.from({ length: 257 }, () => ({ type: 'bool', value: true })) }, 'args: 257 exceed the limit of 256'],
    [
      { args: [{ type: 'string', value: 'x'.repeat(262_144) }] },
      'bytes exceed the limit of 262144 bytes; store the data elsewhere',
    ],
    [{ priority: 10 }, 'priority: 10 is not a whole number from 0 to 9'],
    [{ priority: -1 }, 'priority: -1 is not'],
    [{ priority: 1.5 }, 'priority: 1.5 is not'],
    [{ priority: '3' }, 'priority: "3" is not'],
    [{ etaMs: Number.NaN }, 'etaMs: NaN is not a date; give whole milliseconds since 1970'],
    [{ etaMs: 1.5 }, 'etaMs: 1.5 is not a date'],
    [{ etaMs: -1 }, 'etaMs: -1 is not a date'],
    [{ etaMs: '2025-01-01' }, 'etaMs: "2025-01-01" is not a date'],
    [{ etaMs: new Date(NOW) }, 'etaMs: an object (Date) is not a date'],
    [{ etaMs: 1e17 }, 'is not a date'],
    [{ expiresMs: NOW }, 'expiresMs: 2025-01-01T00:00:00.000Z is in the past (it is 2025-01-01T00:00:00.000Z now)'],
    [{ deadlineMs: 5 }, 'deadlineMs: 1970-01-01T00:00:00.005Z is in the past'],
    [{ etaMs: NOW + 5, expiresMs: NOW + 5 }, 'is not after etaMs (2025-01-01T00:00:00.005Z): it could never run'],
    [{ etaMs: NOW + 5, deadlineMs: NOW + 2 }, 'is not after etaMs'],
    [{ timeoutMs: 0 }, 'timeoutMs: 0 is not a whole number from 1 to 2147483647 ms'],
    [{ timeoutMs: 3e9 }, 'timeoutMs: 3000000000 is not'],
    [{ retry: { count: -1 } }, 'retry.count: -1 is not a whole number from 0 to 10000'],
    [{ retry: { count: 10_001 } }, 'retry.count: 10001 is not'],
    [{ retry: { backoff: 'linear' } }, 'retry.backoff: "linear" is not one of fibonacci, exponential, fixed'],
    [{ retry: { delayMs: -5 } }, 'retry.delayMs: -5 is not'],
    [{ retry: { delayMs: 86_400_001 } }, 'retry.delayMs: 86400001 ms is above retry.maxDelayMs (86400000 ms)'],
    [{ retry: { maxDelayMs: 0 } }, 'retry.maxDelayMs: 0 is not'],
    [{ retry: { jitter: 1.5 } }, 'retry.jitter: 1.5 is not a share from 0 to 1'],
    [{ retry: { jitter: Number.NaN } }, 'retry.jitter: NaN is not'],
    [{ retry: { tries: 3 } }, 'retry.tries: there is no such field; known are count, backoff'],
    [{ retry: 3 }, 'retry: 3 is not a retry policy'],
    [{ headers: { a: 5 } }, 'headers.a: 5 is not a text; convert it to a string'],
    [{ headers: ['a'] }, 'headers: an array of 1 is not an object of texts'],
    [{ headers: { 'a\n': 'b' } }, 'headers name: "a\\n" holds a control character'],
    [{ headers: { a: 'x'.repeat(4_096) } }, 'headers: 4097 bytes exceed the limit of 4096 bytes'],
    [
      { headers: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`h${i}`, 'x'])) },
      'headers: 65 exceed the limit of 64',
    ],
    [
      { labels: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`l${i}`, 'x'])) },
      'labels: 33 exceed the limit of 32',
    ],
    [{ tags: Array.from({ length: 33 }, (_, i) => `t${i}`) }, 'tags: 33 exceed the limit of 32; give fewer'],
    [{ tags: [''] }, 'tags[0]: it is empty'],
    [{ tags: 'a' }, 'tags: "a" is not a list of texts'],
    [{ immutable: 'yes' }, 'immutable: "yes" is not true or false'],
    [{ secrets: [-1] }, 'secrets[0]: -1 is not a whole number from 0 to 255'],
    [{ secrets: 'all' }, 'secrets: "all" is not a list of argument positions'],
    [{ unique: { key: '', onConflict: 'reject' } }, 'unique.key: it is empty'],
    [{ unique: { key: 'k', onConflict: 'wait' } }, 'unique.onConflict: "wait" is not one of reject, existing, replace'],
    [{ unique: { key: 'k', onConflict: 'reject', windowMs: 0 } }, 'unique.windowMs: 0 is not'],
    [{ unique: 'k' }, 'unique: "k" is not { key, onConflict }'],
    [{ concurrency: { key: 'k', max: 0 } }, 'concurrency.max: 0 is not'],
    [{ onSuccess: task() }, 'onSuccess: an object is not a list of workflows'],
    [{ onSuccess: [{ kind: 'loop' }] }, 'onSuccess[0].workflow.kind: "loop" is not one of task, chain, group, chord'],
    [{ onError: [task({ priority: 77 })] }, 'onError[0].priority: 77 is not'],
    [
      { onError: [chain(task(), task({ args: [{ type: 'int8', value: 300 }] }))] },
      'onError[0].steps[1].args[0]: 300 is not int8',
    ],
    [{ onSuccess: Array.from({ length: 17 }, () => task()) }, 'onSuccess: 17 exceed the limit of 16'],
    [{ onSuccess: [group(...Array.from({ length: 17 }, () => task()))] }, 'onSuccess: 17 tasks exceed the limit of 16'],
    [{ retries: 3 }, 'retries: there is no such field; known are name'],
  ])('case %#', (more, message) => {
    const error = refusal(() => normal(more));
    expect(error.message).toContain(message);
    expect(['invalid', 'too-large']).toContain(error.code);
    expect(error.fields['field']).toBeTypeOf('string');
  });

  it.each([null, undefined, 5, 'add', []])('%j is not a signature', (input) => {
    expect(refusal(() => normalizeSignature(input as never, {}, NOW)).message).toContain('is not a signature');
  });

  it('the value of a secret argument is not shown', () => {
    const error = refusal(() => normal({ args: [{ type: 'int32', value: 'hunter2' }], secrets: [0] }));
    expect(error.message).toBe('args[0]: [secret] is not int32');
  });

  it('bad defaults are refused as well', () => {
    expect(refusal(() => normalizeSignature(base, { priority: 12 }, NOW)).message).toContain('priority: 12');
  });

  it('limits may be configured', () => {
    const error = refusal(() => normalizeSignature(base, {}, NOW, { ...LIMITS, payloadBytes: 10 }));
    expect(error.code).toBe('too-large');
    expect(error.fields).toMatchObject({ limit: 10 });
  });

  it('property: whatever comes in, it is completed or refused with a code', () => {
    const keys = [
      'name',
      'id',
      'args',
      'queue',
      'priority',
      'etaMs',
      'retry',
      'headers',
      'onSuccess',
      'unique',
      'secrets',
      'tags',
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), fc.anything({ maxDepth: 3, withBigInt: true })), (more) => {
        try {
          const result = normal(more);
          expect(normalizeSignature(result, {}, NOW)).toEqual(result);
        } catch (error) {
          expect(error).toBeInstanceOf(LeaseholdError);
          expect((error as Error).message.length).toBeLessThan(1_000);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('names', () => {
  it.each(['a', 'orders/eu%2f', 'Größe 漢字', '👩‍🚀', '.', '..', 'a b', '%00'])('%j is a name', (name) => {
    expect(checkName(name, 'queue')).toBe(name);
  });

  it.each(['\t', '\u2028', '\u200f', '\ufeff', '\u0085', 'a '])('%j is not', (name) => {
    expect(refusal(() => checkName(name, 'queue')).code).toBe('invalid');
  });
});

describe('a workflow', () => {
  it('of every kind, nested in any way, is accepted; a group may be empty', () => {
    const workflow: Workflow = {
      kind: 'chain',
      onFailure: 'wait-all',
      onError: task(),
      steps: [
        task(),
        group(),
        { kind: 'chord', header: [chain(task()), group(task(), task())], callback: group(task()), concurrency: 2 },
      ],
    };
    expect(checkWorkflow(workflow)).toBe(workflow);
    const whole = normalizeWorkflow(workflow, { queue: 'q' }, NOW);
    const queues: unknown[] = [];
    mapSignatures(whole, (signature, path) => {
      queues.push([path, signature.queue]);
      return signature;
    });
    expect(queues).toEqual(
      [
        '.onError',
        '.steps[0]',
        '.steps[2].header[0].steps[0]',
        '.steps[2].header[1].members[0]',
        '.steps[2].header[1].members[1]',
        '.steps[2].callback.members[0]',
      ]
        .map((path) => [path, 'q'])
        .sort(
          (a, b) =>
            queues.findIndex((q) => (q as string[])[0] === a[0]) - queues.findIndex((q) => (q as string[])[0] === b[0]),
        ),
    );
  });

  it.each<[unknown, string]>([
    [null, 'workflow: null is not a workflow'],
    [{ kind: 'loop' }, 'workflow.kind: "loop" is not one of task, chain, group, chord'],
    [{ kind: 'toString' }, 'workflow.kind: "toString" is not'],
    [{ kind: 'chain', steps: [] }, 'a chain without steps has no result; give it at least one step'],
    [{ kind: 'chain' }, 'steps: undefined is not a list of workflows'],
    [{ kind: 'chain', steps: [task(), { kind: 'chain', steps: [] }] }, 'steps[1]: a chain without steps'],
    [{ kind: 'group', members: [task(), 5] }, 'members[1]: 5 is not a workflow'],
    [{ kind: 'chord', header: [task()] }, 'callback: undefined is not a workflow'],
    [
      { kind: 'group', members: [], onFailure: 'explode' },
      'workflow.onFailure: "explode" is not one of stop, wait-all, ignore',
    ],
    [{ kind: 'group', members: [], concurrency: -1 }, 'workflow.concurrency: -1 is not'],
    [{ kind: 'group', members: [], steps: [] }, 'steps: there is no such field'],
    [{ kind: 'task' }, 'signature: undefined is not a signature'],
    [group(task({ onSuccess: [5] })), 'members[0].signature.onSuccess[0]: 5 is not a workflow'],
    [
      group(task({ onError: Array.from({ length: 17 }, () => task()) })),
      'members[0].signature.onError: 17 tasks in one ending exceed the limit of 16',
    ],
  ])('case %#: a wrong shape is refused with its path', (workflow, message) => {
    expect(refusal(() => checkWorkflow(workflow)).message).toContain(message);
  });

  it('10 000 tasks are accepted, one more is refused with the limit', () => {
    const many = (count: number) => group(...Array.from({ length: count }, () => task()));
    checkWorkflow(many(10_000));
    const error = refusal(() => checkWorkflow(many(10_001)));
    expect(error).toMatchObject({ code: 'too-large', fields: { limit: 10_000 } });
    expect(error.message).toBe('workflow: 10001 tasks exceed the limit of 10000; split it into several workflows');
    checkWorkflow(chain(many(5_000), many(5_000)));
    expect(refusal(() => checkWorkflow(chain(many(5_000), many(5_001)))).code).toBe('too-large');
  });

  it('nesting is limited, callbacks of callbacks included; a cycle is refused, not followed', () => {
    const nest = (depth: number): Workflow => (depth === 1 ? task() : chain(nest(depth - 1)));
    checkWorkflow(nest(32));
    expect(refusal(() => checkWorkflow(nest(33))).message).toBe(
      'workflow: nested deeper than the limit of 32; flatten it',
    );
    const callbacks = (depth: number): Workflow => (depth === 1 ? task() : task({ onSuccess: [callbacks(depth - 1)] }));
    checkWorkflow(callbacks(32));
    expect(refusal(() => checkWorkflow(callbacks(33))).code).toBe('too-large');
    const cycle: { kind: 'chain'; steps: unknown[] } = { kind: 'chain', steps: [] };
    cycle.steps.push(cycle);
    expect(refusal(() => checkWorkflow(cycle)).code).toBe('too-large');
  });

  it('a workflow that unfolds without end is refused, quickly', () => {
    let bomb: Workflow = group();
    for (let i = 0; i < 30; i++) bomb = group(bomb, bomb);
    expect(refusal(() => checkWorkflow(bomb)).message).toContain('parts and callbacks exceed the limit of 40000');
  });

  it('a refused signature inside is named by its path', () => {
    const error = refusal(() => normalizeWorkflow(chain(task(), group(task({ priority: 12 }))), {}, NOW));
    expect(error.message).toContain('steps[1].members[0].priority: 12 is not a whole number from 0 to 9');
    expect(error.fields['field']).toBe('steps[1].members[0].priority');
  });

  it('a callback keeps its gaps until it is submitted, and its arguments are canonical', () => {
    const { onSuccess } = normal({ onSuccess: [task({ args: [{ type: 'int64', value: 7 }] })] });
    expect(onSuccess).toEqual([{ kind: 'task', signature: { name: 'add', args: [{ type: 'int64', value: '7' }] } }]);
  });
});
