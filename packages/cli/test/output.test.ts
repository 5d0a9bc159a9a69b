import { LeaseholdError } from '@leasehold/core';
import { KvError } from '@leasehold/core/kv';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { EXIT, exitCodeOf } from '../src/exit.js';
import { ago, clean, cut, duration, makeOutput, toJson, width } from '../src/output.js';
import { findPlace } from '../src/place.js';

function capture(isTTY: boolean): { stream: NodeJS.WriteStream; text: () => string } {
  const stream = new PassThrough();
  Object.assign(stream, { isTTY });
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => String(stream.read() ?? '') };
}

const COLUMNS = [
  { title: 'name', text: (item: { name: string; n: number }) => item.name, style: () => 'red' as const },
  { title: 'n', text: (item: { name: string; n: number }) => String(item.n), right: true },
];
const ITEMS = [
  { name: '주문', n: 5 },
  { name: 'mail', n: 100 },
];

test('a table is aligned by columns of the terminal, and has no colours when it is piped', () => {
  const piped = capture(false);
  makeOutput(false, piped.stream, {}).table(ITEMS, COLUMNS, 'none');
  expect(piped.text()).toBe('name    n\n주문    5\nmail  100\n');
});

test('a terminal gets colours, unless NO_COLOR asks for none', () => {
  const terminal = capture(true);
  makeOutput(false, terminal.stream, {}).table(ITEMS, COLUMNS, 'none');
  expect(terminal.text()).toContain('\u001B[31m');
  const plain = capture(true);
  makeOutput(false, plain.stream, { NO_COLOR: '1' }).table(ITEMS, COLUMNS, 'none');
  expect(plain.text()).not.toContain('\u001B');
});

test('with --json there is one value a line, and nothing else', () => {
  const { stream, text } = capture(true);
  const out = makeOutput(true, stream, {});
  out.table(ITEMS, COLUMNS, 'none');
  out.show({ id: 2n ** 60n }, 'for people');
  expect(text()).toBe('{"name":"주문","n":5}\n{"name":"mail","n":100}\n{"id":"1152921504606846976"}\n');
});

test('JSON keeps every digit, and bytes as base64', () => {
  expect(toJson([2n ** 63n, new Uint8Array([1, 2])])).toBe('["9223372036854775808","AQI="]');
});

test('what others wrote cannot steer the terminal', () => {
  expect(clean('a\u001B[2Jb\u202Ec\nd')).toBe('a·[2Jb·c·d');
  expect(width('가a')).toBe(3);
  expect(cut('abcdef', 4)).toBe('abc…');
});

test('times are short', () => {
  expect(ago(0, 5_000)).toBe('5s ago');
  expect(ago(90_000, 0)).toBe('in 1m30s');
  expect([59, 3_600, 90_061].map(duration)).toEqual(['59s', '1h0m', '1d1h']);
});

test('a script can tell the reasons of a failure apart', () => {
  expect(exitCodeOf(new LeaseholdError('not-found', ''))).toBe(EXIT.notFound);
  expect(exitCodeOf(new LeaseholdError('invalid', ''))).toBe(EXIT.usage);
  expect(exitCodeOf(new LeaseholdError('task-failed', ''))).toBe(EXIT.failed);
  expect(exitCodeOf(new LeaseholdError('wrong-state', ''))).toBe(EXIT.refused);
  expect(exitCodeOf(new KvError('unavailable', ''))).toBe(EXIT.unavailable);
  expect(exitCodeOf(new Error('x'))).toBe(EXIT.failed);
});

test('etcd is looked for in the flag, the environment, what runs here, and at its default', () => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'leasehold-place-'));
  try {
    expect(findPlace({}, {}, cwd)).toMatchObject({ endpoints: ['127.0.0.1:2379'], namespace: 'default' });
    mkdirSync(path.join(cwd, '.leasehold'));
    const write = (pid: number): void =>
      writeFileSync(
        path.join(cwd, '.leasehold/run.json'),
        JSON.stringify({ endpoints: ['here:1'], namespace: 'mine', pid }),
      );
    write(process.pid);
    expect(findPlace({}, {}, cwd)).toMatchObject({ endpoints: ['here:1'], namespace: 'mine' });
    const env = { LEASEHOLD_ETCD_ENDPOINTS: 'env:1, env:2', LEASEHOLD_NAMESPACE: 'other' };
    expect(findPlace({}, env, cwd)).toMatchObject({ endpoints: ['env:1', 'env:2'], namespace: 'other' });
    expect(findPlace({ etcd: 'flag:1' }, env, cwd)).toMatchObject({ endpoints: ['flag:1'], from: '--etcd' });
    write(2 ** 22 + 1);
    expect(findPlace({}, {}, cwd).endpoints).toEqual(['127.0.0.1:2379']);
  } finally {
    rmSync(cwd, { recursive: true });
  }
});
