import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeValue } from '../../src/model/args.js';
import {
  fromMachinery,
  looksLikeMachinery,
  parseMachinery,
  stringifyMachinery,
  toMachinery,
  toMachineryMessage,
  type MachinerySignature,
} from '../../src/model/machinery.js';
import type { Signature, Workflow } from '../../src/model/signature.js';
import { normalizeWorkflow } from '../../src/model/validate.js';
import { refusal } from './refusal.js';

/** A signature as Go's encoder writes it: every key, zero values included. */
const go = (name: string, more: object = {}) => ({
  UUID: `task_${name}`,
  Name: name,
  RoutingKey: '',
  ETA: null,
  GroupUUID: '',
  GroupTaskCount: 0,
  Args: null,
  Headers: null,
  Priority: 0,
  Immutable: false,
  RetryCount: 0,
  RetryTimeout: 0,
  OnSuccess: null,
  OnError: null,
  ChordCallback: null,
  BrokerMessageGroupId: '',
  SQSReceiptHandle: '',
  StopTaskDeletionOnError: false,
  IgnoreWhenTaskNotRegistered: false,
  ...more,
});
const ours = (name: string, more: Partial<Signature> = {}): Signature => ({
  name,
  id: `task_${name}`,
  args: [],
  priority: 0,
  retry: { count: 0, backoff: 'fibonacci', delayMs: 0 },
  ...more,
});
const task = (name: string, more: Partial<Signature> = {}): Workflow => ({ kind: 'task', signature: ours(name, more) });
const task1 = (workflow: Workflow): Signature => {
  if (workflow.kind !== 'task') throw new Error(`a ${workflow.kind}`);
  return workflow.signature;
};
const KEYS = Object.keys(go('x'));

describe('a signature from Machinery', () => {
  it('takes every field over, and has nothing to report', () => {
    const text = JSON.stringify(
      go('add', {
        RoutingKey: 'orders',
        ETA: '2025-03-01T10:00:00.123456789+01:00',
        Args: [
          { Name: 'a', Type: 'int32', Value: 5 },
          { Name: '', Type: '[]string', Value: null },
        ],
        Headers: { trace: 'x' },
        Priority: 7,
        Immutable: true,
        RetryCount: 3,
        RetryTimeout: 4,
        OnError: [go('report')],
        IgnoreWhenTaskNotRegistered: true,
      }),
    );
    expect(parseMachinery(text)).toEqual({
      notes: [],
      workflow: task('add', {
        queue: 'orders',
        etaMs: Date.UTC(2025, 2, 1, 9, 0, 0, 124),
        args: [
          { type: 'int32', value: 5, name: 'a' },
          { type: '[]string', value: [] },
        ],
        headers: { trace: 'x' },
        priority: 7,
        immutable: true,
        retry: { count: 3, backoff: 'fibonacci', delayMs: 4_000 },
        onError: [task('report')],
        ignoreWhenNotRegistered: true,
      }),
    });
  });

  it('64-bit digits are kept: 185135722552891243 and 9223372036854775808', () => {
    const text = `{"Name":"f","Args":[{"Type":"int64","Value":185135722552891243},{"Type":"uint64","Value":9223372036854775808},
      {"Type":"[]int64","Value":[185135722552891243,1]},{"Type":"float64","Value":100},{"Type":"float64","Value":123456789012345678901}]}`;
    const { args } = task1(parseMachinery(text).workflow);
    expect(args.map((typed) => decodeValue(typed))).toEqual([
      185135722552891243n,
      9223372036854775808n,
      [185135722552891243n, 1n],
      100,
      Number('123456789012345678901'),
    ]);
    expect(stringifyMachinery({ kind: 'task', signature: { name: 'f', args } }).text).toContain(
      '{"Name":"","Type":"int64","Value":185135722552891243},{"Name":"","Type":"uint64","Value":9223372036854775808}',
    );
  });

  it('TestReflectValue: []byte is base64, and null is an empty slice', () => {
    const args = [
      { Type: '[]byte', Value: 'Zm9v' },
      { Type: '[]byte', Value: null },
      { Type: '[]uint8', Value: 'Zm9v' },
    ];
    expect(task1(fromMachinery({ Name: 'f', Args: args }).workflow).args).toEqual([
      { type: 'bytes', value: 'Zm9v' },
      { type: 'bytes', value: '' },
      { type: '[]uint8', value: [102, 111, 111] },
    ]);
  });

  it('an empty UUID is none, and the zero time is no ETA', () => {
    const signature = task1(fromMachinery({ Name: 'f', UUID: '', ETA: '0001-01-01T00:00:00Z' }).workflow);
    expect(signature).not.toHaveProperty('id');
    expect(signature).not.toHaveProperty('etaMs');
  });

  it('what has no counterpart is reported, not silently dropped', () => {
    const { notes, workflow } = fromMachinery(
      go('f', {
        Priority: 200,
        BrokerMessageGroupId: 'g',
        StopTaskDeletionOnError: true,
        Colour: 'red',
        GroupUUID: 'group_1',
        GroupTaskCount: 3,
        Headers: { n: 5, big: 12345678901234567890n },
        Args: [{ Type: 'bool', Value: true, Unit: 'kg' }],
      }),
    );
    expect(notes.map(({ path }) => path).sort()).toEqual([
      'Args[0].Unit',
      'BrokerMessageGroupId',
      'Colour',
      'GroupTaskCount',
      'GroupUUID',
      'Headers.big',
      'Headers.n',
      'Priority',
      'StopTaskDeletionOnError',
    ]);
    expect(task1(workflow)).toMatchObject({ priority: 9, headers: { n: '5', big: '12345678901234567890' } });
  });

  it.each([
    ['{"Name":"f","Args":[{"Type":"int32","Value":50.5}]}', 'Args[0]: 50.5 is not int32'],
    ['{"Name":"f","Args":[{"Type":"map","Value":{}}]}', 'Args[0]: map is not one of supported types'],
    ['{"Name":"f","Args":[{"Type":"int64","Value":9223372036854775808}]}', '9223372036854775808 is not int64 (range'],
    ['{"Name":"f","Args":[5]}', 'Args[0]: 5 is not an object'],
    ['{"Name":"f","Args":{}}', 'Args: an object is not a list'],
    ['{"Name":""}', 'Name: "" is not a task name'],
    ['{"Name":"f","RetryCount":-1}', 'RetryCount: -1 is not a whole number from 0'],
    ['{"Name":"f","ETA":"tomorrow"}', 'ETA: "tomorrow" is not a time like 2006-01-02T15:04:05Z'],
    ['{"Name":"f","ETA":"2025-13-01T00:00:00Z"}', 'is not a time'],
    ['{"Name":"f","Immutable":"yes"}', 'Immutable: "yes" is not bool'],
    ['{"Name":"f","Headers":[]}', 'Headers: an array of 0 is not an object'],
    ['{"Name":"f","OnError":[{"Name":5}]}', 'OnError[0].Name: 5 is not a task name'],
    ['{"name":"f"}', 'neither a signature (Name), chain (Tasks), group (GroupUUID) nor chord (Group)'],
    ['[]x', 'not JSON: '],
    ['', 'not JSON: '],
    ['5', '5 is not an object'],
    ['{"Name":"a","Name":"b"}', "Duplicate key 'Name'"],
    ['{"Name":"f","ChordCallback":{"Name":"g"}}', 'a member of a chord cannot be taken alone'],
    ['{"Name":"f","Args":[{"Type":"float64","Value":1e999}]}', 'Infinity is not float64'],
  ])('case %#: %s is refused with its path', (text, message) => {
    const error = refusal(() => parseMachinery(text));
    expect(error.code).toBe('invalid');
    expect(error.message).toContain(message);
  });

  it('hostile nesting is refused, not followed to the end of the stack', () => {
    expect(refusal(() => parseMachinery('['.repeat(200_000))).message).toContain('not JSON: ');
    let callbacks: object = go('end');
    for (let i = 0; i < 5_000; i++) callbacks = go('f', { OnError: [callbacks] });
    expect(refusal(() => fromMachinery(callbacks)).message).toContain('nested deeper than 32');
  });

  it('property: no JSON text does anything but import or be refused with a code', () => {
    const keys = fc.constantFrom(...KEYS, 'Tasks', 'Group', 'Callback', '__proto__');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue(),
        fc.dictionary(keys, tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        try {
          parseMachinery(JSON.stringify(value));
        } catch (error) {
          expect(error).toMatchObject({ name: 'LeaseholdError', code: 'invalid' });
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a chain from Machinery', () => {
  it('TestNewChain: OnSuccess nested foo → bar → qux is a chain of three', () => {
    const message = go('foo', { OnSuccess: [go('bar', { OnSuccess: [go('qux')] })] });
    expect(fromMachinery(message)).toEqual({
      notes: [],
      workflow: { kind: 'chain', steps: [task('foo'), task('bar'), task('qux')] },
    });
    const chain: Workflow = { kind: 'chain', steps: [task('foo'), task('bar'), task('qux')] };
    const { value } = toMachineryMessage(chain);
    expect(value.Name).toBe('foo');
    expect(value.OnSuccess?.[0]?.Name).toBe('bar');
    expect(value.OnSuccess?.[0]?.OnSuccess?.[0]?.Name).toBe('qux');
    expect(fromMachinery(value).workflow).toEqual(chain);
  });

  it('{ Tasks } and a bare list are chains, with or without the links of NewChain', () => {
    const steps = [task('foo'), task('bar')];
    const linked = [go('foo', { OnSuccess: [go('bar')] }), go('bar')];
    for (const given of [linked, { Tasks: linked }, { Tasks: [go('foo'), go('bar')] }]) {
      expect(fromMachinery(given)).toEqual({ notes: [], workflow: { kind: 'chain', steps } });
    }
  });

  it('the links are found by name and arguments when there is no UUID', () => {
    const bar = go('bar', { UUID: '', Args: [{ Name: '', Type: 'int64', Value: 2n ** 60n }] });
    const { workflow } = fromMachinery([go('foo', { UUID: '', OnSuccess: [bar] }), bar]);
    expect(workflow).toMatchObject({ steps: [{ signature: { name: 'foo' } }, { signature: { name: 'bar' } }] });
    expect(JSON.stringify(workflow)).not.toContain('onSuccess');
  });

  it('report E11: the user’s own callbacks in a chain are kept beside the link', () => {
    const { workflow } = fromMachinery([
      go('foo', { OnSuccess: [go('bar'), go('audit')] }),
      go('bar', { OnSuccess: [go('mail')] }),
    ]);
    expect(workflow).toEqual({
      kind: 'chain',
      steps: [task('foo', { onSuccess: [task('audit')] }), task('bar', { onSuccess: [task('mail')] })],
    });
    const { value } = toMachineryMessage(workflow);
    expect(value.OnSuccess?.map(({ Name }) => Name)).toEqual(['bar', 'audit']);
  });

  it('several OnSuccess are callbacks, not a chain', () => {
    expect(fromMachinery(go('foo', { OnSuccess: [go('a'), go('b')] })).workflow).toEqual(
      task('foo', { onSuccess: [task('a'), task('b')] }),
    );
  });

  it('a chain of 1 000 nested in OnSuccess is read and written', () => {
    const steps = Array.from({ length: 1_000 }, (_, i) => task(`t${i}`));
    const text = JSON.stringify(toMachineryMessage({ kind: 'chain', steps }).value);
    expect(parseMachinery(text).workflow).toEqual({ kind: 'chain', steps });
  });
});

describe('a group and a chord from Machinery', () => {
  const member = (name: string, more: object = {}) => go(name, { GroupUUID: 'group_1', GroupTaskCount: 2, ...more });

  it('{ GroupUUID, Tasks } is a group, and its id is kept', () => {
    expect(fromMachinery({ GroupUUID: 'group_1', Tasks: [member('a'), member('b')] })).toEqual({
      notes: [],
      id: 'group_1',
      workflow: { kind: 'group', members: [task('a'), task('b')] },
    });
    expect(fromMachinery({ GroupUUID: '', Tasks: null })).toEqual({
      notes: [],
      workflow: { kind: 'group', members: [] },
    });
  });

  it('{ Group, Callback } is a chord; the copies in the members are not kept twice', () => {
    const callback = go('sum', { UUID: 'chord_1' });
    const group = { GroupUUID: 'group_1', Tasks: ['a', 'b'].map((name) => member(name, { ChordCallback: callback })) };
    const chord = { kind: 'chord', header: [task('a'), task('b')], callback: task('sum', { id: 'chord_1' }) };
    expect(fromMachinery({ Group: group, Callback: callback })).toEqual({ notes: [], id: 'group_1', workflow: chord });
    expect(fromMachinery(group)).toEqual({ notes: [], id: 'group_1', workflow: chord });
    const other = fromMachinery({ Group: group, Callback: go('other') });
    expect(other.notes).toEqual([
      { path: 'Group.Tasks[0].ChordCallback', problem: 'differs from Callback, which is taken' },
    ]);
  });

  it('OnSuccess of a member is a callback that the chord does not wait for', () => {
    const { workflow } = fromMachinery({ GroupUUID: 'g', Tasks: [go('a', { OnSuccess: [go('after')] })] });
    expect(workflow).toEqual({ kind: 'group', members: [task('a', { onSuccess: [task('after')] })] });
  });

  it.each([
    [
      { GroupUUID: 'g', Tasks: [member('a', { ChordCallback: go('x') }), member('b', { ChordCallback: go('y') })] },
      'different ChordCallbacks',
    ],
    [{ GroupUUID: 'g', Tasks: [member('a', { ChordCallback: go('x') }), member('b')] }, 'different ChordCallbacks'],
    [{ Group: {}, Callback: null }, 'Callback: null is not an object'],
    [{ Callback: go('x') }, 'Group: undefined is not an object'],
    [{ GroupUUID: 'g', Tasks: 5 }, 'Tasks: 5 is not a list'],
  ])('case %#: a contradiction is refused', (given, message) => {
    expect(refusal(() => fromMachinery(given)).message).toContain(message);
  });
});

describe('into Machinery', () => {
  it('a signature has exactly the keys of Machinery, in its order', () => {
    const { value, notes } = toMachinery(
      task('add', { etaMs: 0, queue: 'q', args: [{ type: 'bytes', value: 'Zm9v', name: 'b' }] }),
    );
    expect(Object.keys(value)).toEqual(KEYS);
    expect(value).toEqual(
      go('add', {
        RoutingKey: 'q',
        ETA: '1970-01-01T00:00:00.000Z',
        Args: [{ Name: 'b', Type: '[]byte', Value: 'Zm9v' }],
        Headers: {},
      }),
    );
    expect(notes).toEqual([]);
  });

  it('a chord carries its callback in each member, with the group’s count', () => {
    const { value } = toMachinery({ kind: 'chord', header: [task('a'), task('b')], callback: task('sum') }, 'group_7');
    const { Group } = value as { Group: { GroupUUID: string; Tasks: readonly MachinerySignature[] } };
    expect(Group.GroupUUID).toBe('group_7');
    for (const { GroupUUID, GroupTaskCount, ChordCallback } of Group.Tasks) {
      expect([GroupUUID, GroupTaskCount, ChordCallback?.Name]).toEqual(['group_7', 2, 'sum']);
    }
  });

  it('what Machinery would lose is reported', () => {
    const { notes } = toMachinery({
      kind: 'group',
      concurrency: 2,
      onFailure: 'ignore',
      onError: task('x'),
      members: [
        task('a', {
          timeoutMs: 5,
          tags: ['t'],
          labels: {},
          secrets: [0],
          retry: { count: 1, backoff: 'fixed', delayMs: 1 },
        }),
      ],
    });
    expect(notes.map(({ path }) => path)).toEqual([
      'onError',
      'onFailure',
      'concurrency',
      'members[0].timeoutMs',
      'members[0].secrets',
      'members[0].tags',
      'members[0].retry',
    ]);
  });

  it.each<[Workflow, string]>([
    [
      { kind: 'chain', steps: [task('a'), { kind: 'group', members: [] }] },
      'steps[1]: Machinery has no group inside a chain',
    ],
    [
      { kind: 'group', members: [{ kind: 'chain', steps: [task('a')] }] },
      'members[0]: Machinery has no chain inside a group',
    ],
    [
      { kind: 'chord', header: [], callback: { kind: 'group', members: [] } },
      'callback: Machinery has no group inside a workflow',
    ],
    [
      task('a', { onSuccess: [{ kind: 'group', members: [] }] }),
      'onSuccess[0]: Machinery has no group inside a workflow',
    ],
    [task('a', { args: [{ type: 'json', value: {} }] }), 'args[0]: Machinery has no type for json'],
  ])('case %#: what it cannot express is refused', (workflow, message) => {
    expect(refusal(() => toMachinery(workflow)).message).toContain(message);
  });

  it('property: what Machinery can express comes back as it was, digits included', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const args = fc.array(
      fc.oneof(
        int64.map((n) => ({ type: 'int64' as const, value: n.toString() })),
        fc.array(int64).map((list) => ({ type: '[]int64' as const, value: list.map(String) })),
        fc
          .double({ noNaN: true, noDefaultInfinity: true })
          .map((n) => ({ type: 'float64' as const, value: n === 0 ? 0 : n })),
        fc.string({ unit: 'grapheme' }).map((value) => ({ type: 'string' as const, value, name: 'label' })),
        fc.uint8Array().map((bytes) => ({ type: 'bytes' as const, value: Buffer.from(bytes).toString('base64') })),
      ),
      { maxLength: 4 },
    );
    const tasks = fc
      .record({
        name: fc.stringMatching(/^[a-z]{1,8}$/),
        args,
        priority: fc.nat(9),
        count: fc.nat(10),
        seconds: fc.nat(100),
        etaMs: fc.option(fc.nat(2e12)),
        immutable: fc.boolean(),
      })
      .map(({ name, args: given, priority, count, seconds, etaMs, immutable }): Workflow =>
        task(name, {
          args: given,
          priority,
          retry: { count, backoff: 'fibonacci', delayMs: seconds * 1_000 },
          ...(etaMs === null ? {} : { etaMs }),
          ...(immutable ? { immutable } : {}),
        }),
      );
    const lists = fc.array(tasks, { minLength: 1, maxLength: 5 });
    const workflows = fc.oneof(
      tasks,
      lists.map((steps): Workflow => ({ kind: 'chain', steps })),
      lists.map((members): Workflow => ({ kind: 'group', members })),
      fc.tuple(lists, tasks).map(([header, callback]): Workflow => ({ kind: 'chord', header, callback })),
    );
    fc.assert(
      fc.property(workflows, (workflow) => {
        const { text, notes } = stringifyMachinery(workflow, 'group_1');
        const back = parseMachinery(text);
        expect(back.workflow).toEqual(workflow);
        expect([...notes, ...back.notes]).toEqual([]);
        expect(looksLikeMachinery(JSON.parse(text))).toBe(true);
        normalizeWorkflow(back.workflow, {}, 0);
      }),
    );
  });

  it('ours does not look like Machinery’s', () => {
    for (const value of [task('a'), ours('a'), null, 5, [], [task('a')]]) expect(looksLikeMachinery(value)).toBe(false);
  });
});
