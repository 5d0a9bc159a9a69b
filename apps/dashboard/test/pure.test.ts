import { describe, expect, it } from 'vitest';
import { buildWorkflow } from '../src/builder/build';
import { findPlace, inserted, moved, nested, newBox, newTask, unnested, type BoxDraft } from '../src/builder/draft';
import { edited, startState } from '../src/builder/edit';
import { parseArg, parseArgs, rangeText } from '../src/forms/args';
import { en } from '../src/i18n/en';
import { ko } from '../src/i18n/ko';
import { fill } from '../src/i18n/translate';
import { FIRST_LINK, healthOf, type Link } from '../src/live/link';
import { grouped } from '../src/look/number';
import { plain } from '../src/task/parts';
import { makeTimeFormat } from '../src/time/format';
import { layoutGraph } from '../src/workflow/layout';

describe('the live pill', () => {
  const heard = (verifiedAgo: number): Link => ({
    ...FIRST_LINK,
    phase: 'connected',
    revision: '48213',
    heardMs: 1_000_000,
    changedMs: 1_000_000,
    heartbeat: {
      revision: '48213',
      generation: 1,
      verifiedMs: 5_000_000 - verifiedAgo,
      nowMs: 5_000_000,
      feed: 'live',
    },
  });

  it('is live only while proof is young, amber after 5 s, stale after 30 s', () => {
    expect(healthOf(heard(0), 1_000_500).pulse).toEqual({ kind: 'live', revision: '48213' });
    expect(healthOf(heard(5_001), 1_000_500)).toMatchObject({ freshness: 'amber', pulse: { kind: 'idle' } });
    expect(healthOf(heard(0), 1_031_000)).toMatchObject({ freshness: 'stale', pulse: { kind: 'reconnecting' } });
  });

  it('says that it reconnects, and as of when, while the server or etcd is away', () => {
    expect(healthOf({ ...heard(0), phase: 'disconnected' }, 1_000_500).pulse).toMatchObject({ cause: 'server' });
    const away = heard(0);
    const feed = { ...away, heartbeat: { ...away.heartbeat!, feed: 'reconnecting' as const } };
    expect(healthOf(feed, 1_000_500).pulse).toEqual({ kind: 'reconnecting', asOfMs: 5_000_000, cause: 'etcd' });
  });
});

describe('times', () => {
  const seoul = makeTimeFormat('Asia/Seoul', 'en');
  const berlin = makeTimeFormat('Europe/Berlin', 'en');

  it('print their zone, never throw and never go below nothing (report B38, B40)', () => {
    expect(seoul.full(Date.UTC(2026, 10, 30, 5, 2, 11, 482))).toBe('2026-11-30 14:02:11.482 Asia/Seoul');
    expect(seoul.full(Number.NaN)).toBe('–');
    expect(seoul.span(-5)).toBe('0 ms');
    expect(makeTimeFormat('No/Such', 'en').zone).toBe('UTC');
  });

  it('come back from an input as they went, and a time that a DST gap skips is refused', () => {
    const ms = Date.UTC(2026, 6, 1, 10, 20, 30);
    expect(berlin.fromInput(berlin.toInput(ms))).toBe(ms);
    expect(berlin.fromInput('2026-03-29T02:30')).toBeNull();
  });
});

describe('arguments as typed', () => {
  it('keep every digit of 64 bits and refuse the rest in the core’s words', () => {
    const spec = { name: 'id', type: 'int64' } as const;
    expect(parseArg(spec, '9223372036854775807')).toEqual({
      kind: 'value',
      typed: { type: 'int64', value: '9223372036854775807' },
    });
    expect(parseArg(spec, '9223372036854775808')).toMatchObject({ kind: 'wrong' });
    expect(parseArg({ name: 'n', type: 'int32' }, '50.5')).toMatchObject({
      problem: expect.stringContaining('50.5 is not int32'),
    });
    expect(rangeText('uint8')).toBe('0 to 255');
  });

  it('of slices are JSON or lines; optional ones at the end may stay empty', () => {
    const specs = [
      { name: 'key', type: 'string' },
      { name: 'widths', type: '[]int32', optional: true },
    ] as const;
    expect(parseArgs(specs, ['a.png', '320\n640']).args[1]?.value).toEqual([320, 640]);
    expect(parseArgs(specs, ['a.png', '']).args).toHaveLength(1);
  });
});

describe('the builder', () => {
  const three = newBox(0, 'chain', [newTask(1, 'a'), newTask(2, 'b'), newTask(3, 'c')]);
  const names = (box: BoxDraft): unknown =>
    box.items.map((item) => (item.kind === 'task' ? item.name : [item.kind, names(item)]));

  it('moves, nests and takes out again', () => {
    expect(names(moved(three, 3, -1))).toEqual(['a', 'c', 'b']);
    const inside = nested(three, 2, 9);
    expect(names(inside)).toEqual([['group', ['a', 'b']], 'c']);
    expect(names(unnested(inside, 2))).toEqual([['group', ['a']], 'b', 'c']);
  });

  it('keeps the callback of a chord last when members are added', () => {
    const chord = newBox(0, 'chord', [newTask(1, 'a'), newTask(2, 'callback')]);
    expect(names(inserted(chord, 0, newTask(3, 'b')))).toEqual(['a', 'b', 'callback']);
  });

  it('undoes and redoes every edit, and a choice is none', () => {
    const added = edited(edited(startState(), { do: 'add', what: 'task', name: 'a' }), {
      do: 'add',
      what: 'task',
      name: 'b',
    });
    const chosen = edited(added, { do: 'choose', key: 1 });
    const back = edited(edited(chosen, { do: 'undo' }), { do: 'undo' });
    expect(back.now.root.items).toEqual([]);
    expect(edited(edited(back, { do: 'redo' }), { do: 'redo' }).now.root).toEqual(added.now.root);
    expect(findPlace(added.now.root, 2)?.index).toBe(1);
  });

  it('says when the result of a step does not fit the next', () => {
    const handler = (name: string, args: readonly 'bool'[] | readonly 'int64'[], results: readonly 'bool'[]) => ({
      name,
      queue: 'q',
      args: args.map((type, i) => ({ name: `arg${i}`, type })),
      results: [...results],
    });
    const handlers = new Map([
      ['verify', handler('verify', [], ['bool'])],
      ['update', handler('update', ['int64'], [])],
    ]);
    const { problems } = buildWorkflow(newBox(0, 'chain', [newTask(1, 'verify'), newTask(2, 'update')]), handlers);
    expect(problems).toEqual([{ key: 2, code: 'misfit', arg: 'arg0', wants: 'int64', gets: 'bool' }]);
  });
});

describe('words', () => {
  it('take their parameters in both languages alike', () => {
    const names = (text: string): string[] => [...text.matchAll(/\{(\w+)/g)].map((match) => match[1] ?? '').toSorted();
    for (const [key, text] of Object.entries(en)) {
      const other = ko[key as keyof typeof en];
      expect([...new Set(names(other))], key).toEqual([...new Set(names(text))]);
    }
    expect(fill('{n} {n:task|tasks}', { n: 1 })).toBe('1 task');
    expect(fill('{n} {n:task|tasks}', { n: 2 })).toBe('2 tasks');
  });
});

it('digits are grouped, never rounded (report B55)', () => {
  expect(grouped('18446744073709551615').replaceAll('\u202f', ' ')).toBe('18 446 744 073 709 551 615');
});

it('control characters and direction overrides are made visible', () => {
  expect(plain('\u001b[31m a\u202eb')).toBe('␛[31m a⟨U+202E⟩b');
});

it('a layered graph puts every task right of what it waits for', () => {
  const layout = layoutGraph([
    { index: 0, after: [] },
    { index: 1, after: [] },
    { index: 2, after: [0, 1] },
  ]);
  expect(layout.places.get(2)?.column).toBe(1);
  expect(layout.edges).toEqual([
    [0, 2],
    [1, 2],
  ]);
});
