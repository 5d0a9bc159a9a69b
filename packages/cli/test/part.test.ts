import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Lines, openLog } from '../src/up/log-file.js';
import { Part } from '../src/up/part.js';

const CHILD = fileURLToPath(new URL('./fixtures/child.mjs', import.meta.url));
let folder: string;
let part: Part | undefined;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'leasehold-part-'))));
afterEach(async () => {
  part?.kill();
  await part?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function make(mode: string, graceMs: number, onNews: (message: string) => void = () => undefined): Part {
  const log = openLog(folder, 'child');
  part = new Part({ name: 'child', file: CHILD, env: { MODE: mode }, log, graceMs, onNews });
  part.start();
  return part;
}

test('a part says when it is ready, writes its log, and stops when asked', async () => {
  const child = make('good', 5_000);
  expect(await child.untilReady(10_000)).toBe('ready');
  expect(await child.stop()).toBe(true);
  expect(child.lastLines).toEqual(['started good', 'stopping']);
  expect(readFileSync(path.join(folder, 'child.log'), 'utf8')).toMatch(/^\S+Z \[child\] started good$/m);
});

test('a part that dies is started again, with longer and longer waits, until it is stopped', async () => {
  const news: string[] = [];
  let tell = (): void => undefined;
  const twice = new Promise<void>((resolve) => (tell = resolve));
  const child = make('dies', 5_000, (message) => {
    news.push(message);
    if (news.length === 2) tell();
  });
  expect(await child.untilReady(10_000)).toBe('exited');
  await twice;
  expect(news).toEqual([
    'child exited with 3; starting it again in 0.5 s',
    'child exited with 3; starting it again in 1 s',
  ]);
  expect(await child.stop()).toBe(true);
});

test('a part that was killed comes up again', async () => {
  let tell = (): void => undefined;
  const again = new Promise<void>((resolve) => (tell = resolve));
  const child = make('good', 5_000, (message) => {
    if (message === 'child is up again') tell();
  });
  await child.untilReady(10_000);
  const { pid } = child;
  process.kill(pid ?? 0, 'SIGKILL');
  await again;
  expect(child.pid).not.toBe(pid);
});

test('a part that does not stop in time is killed', async () => {
  const child = make('stubborn', 200);
  expect(await child.untilReady(10_000)).toBe('ready');
  expect(await child.stop()).toBe(false);
  expect(child.pid).toBeUndefined();
});

test('lines are cut out of a stream, and one that never ends is cut too', () => {
  const lines: string[] = [];
  const stream = new Lines((line) => lines.push(line));
  for (const piece of ['a\nb', 'c\n', '\n', 'd']) stream.push(piece);
  expect(lines).toEqual(['a', 'bc', '']);
  stream.push('x'.repeat(70_000));
  expect(lines.at(-1)).toHaveLength(70_001);
  stream.end();
  expect(lines).toHaveLength(4);
});
