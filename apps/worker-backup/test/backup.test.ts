import Database from 'libsql';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backupDatabase, COPIES } from '../src/backup.js';
import { copyDatabase } from '../src/copy.js';
import { DamagedDatabaseError, PathError } from '../src/errors.js';
import type { RunCopy } from '../src/run.js';
import { makeSamples } from '../src/samples.js';
import type { Work } from '../src/work.js';

/** The thread runs compiled code; here the same function runs in place. */
const inPlace: RunCopy = (job, _signal, onStep) => Promise.resolve().then(() => copyDatabase(job, onStep));

let folder: string;
const steps: number[] = [];
function work(id: string, signal = new AbortController().signal): Work {
  return { id, signal, log: () => undefined, progress: (fraction) => void steps.push(fraction) };
}
const backup = (given: string, taskId: string, keep?: number): ReturnType<typeof backupDatabase> =>
  backupDatabase({ folder, run: inPlace, ...(keep === undefined ? {} : { keep }) }, { path: given }, work(taskId));

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'leasehold-backup-'));
  makeSamples(path.join(folder, 'backup'), 5_000);
});
afterAll(() => rmSync(folder, { recursive: true }));

function copies(): string[] {
  return existsSync(path.join(folder, COPIES)) ? readdirSync(path.join(folder, COPIES)) : [];
}

test('copies a database, proves the copy by restoring it, and tells how far it is', async () => {
  steps.length = 0;
  const [file, bytes, pages, rows] = await backup('backup/sample.db', 't1');
  expect(file).toBe('backup/copies/sample-t1.db');
  expect(rows).toBe(5_016n);
  expect(bytes).toBe(pages * 4_096n);
  expect(steps).toEqual([0.25, 0.5, 0.75, 1]);
  const copy = new Database(path.join(folder, file));
  expect(copy.prepare('SELECT count(*) AS n FROM readings').get()).toMatchObject({ n: 5_000 });
  copy.close();
  expect(copies()).toEqual(['sample-t1.db']);
});

test('a copy of a database in use is one moment of it', async () => {
  const live = new Database(path.join(folder, 'live.db'));
  live.exec('PRAGMA journal_mode = WAL');
  live.exec('CREATE TABLE a (n INTEGER); CREATE TABLE b (n INTEGER)');
  const both = live.transaction((n: number) => {
    live.prepare('INSERT INTO a VALUES (?)').run(n);
    live.prepare('INSERT INTO b VALUES (?)').run(n);
  });
  for (let n = 0; n < 500; n++) both(n);
  const [file, , , rows] = await backup('live.db', 't2');
  both(501);
  const copy = new Database(path.join(folder, file));
  expect(copy.prepare('SELECT (SELECT count(*) FROM a) AS a, (SELECT count(*) FROM b) AS b').get()).toMatchObject({
    a: 500,
    b: 500,
  });
  expect(rows).toBe(1_000n);
  copy.close();
  live.close();
});

test('executed twice, it replaces its own copy', async () => {
  await backup('backup/sample.db', 'twice');
  await backup('backup/sample.db', 'twice');
  expect(copies().filter((name) => name.includes('twice'))).toEqual(['sample-twice.db']);
});

test('keeps the newest copies of a database and leaves others alone', async () => {
  for (const id of ['k1', 'k2', 'k3']) await backup('backup/sample.db', id, 2);
  const names = copies();
  expect(names.filter((name) => name.startsWith('sample-'))).toHaveLength(2);
  expect(names).toContain('live-t2.db');
});

describe('fails, leaves no copy, and says why', () => {
  test('on a damaged database', async () => {
    const failed = backup('backup/damaged.db', 'd1');
    await expect(failed).rejects.toThrow(DamagedDatabaseError);
    expect(copies().filter((name) => name.includes('d1'))).toEqual([]);
  });

  test('on a file that is no database', async () => {
    writeFileSync(path.join(folder, 'letter.txt'), 'Dear Sir or Madam, '.repeat(500));
    await expect(backup('letter.txt', 'd2')).rejects.toThrow(/not a database/);
  });

  test('on a file that is not there, and makes none', async () => {
    await expect(backup('none.db', 'd3')).rejects.toThrow(/no file none.db/);
    expect(existsSync(path.join(folder, 'none.db'))).toBe(false);
  });

  test.each(['../x.db', '/etc/passwd', '', 'backup', 'link.db'])('on the path %j', async (given) => {
    const outside = mkdtempSync(path.join(tmpdir(), 'leasehold-outside-'));
    mkdirSync(outside, { recursive: true });
    writeFileSync(path.join(outside, 'x.db'), 'x');
    rmSync(path.join(folder, 'link.db'), { force: true });
    symlinkSync(path.join(outside, 'x.db'), path.join(folder, 'link.db'));
    await expect(backup(given, 'd4')).rejects.toThrow(PathError);
    rmSync(outside, { recursive: true });
  });

  test('when it is aborted', async () => {
    const signal = AbortSignal.abort(new Error('lease lost'));
    const stopped = backupDatabase({ folder, run: inPlace }, { path: 'backup/sample.db' }, work('d5', signal));
    await expect(stopped).rejects.toThrow('lease lost');
    const late = new AbortController();
    const run: RunCopy = async (job, signal_, onStep) => {
      const copied = await inPlace(job, signal_, onStep);
      late.abort(new Error('too late'));
      return copied;
    };
    const overtaken = backupDatabase({ folder, run }, { path: 'backup/sample.db' }, work('d6', late.signal));
    await expect(overtaken).rejects.toThrow('too late');
    expect(copies().filter((name) => /d[56]/.test(name))).toEqual([]);
  });
});
