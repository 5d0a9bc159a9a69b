/**
 * Copying a SQLite database while others write to it, and proving the copy.
 *
 * B1  The copy is one moment of the source: VACUUM INTO reads inside one snapshot.
 * B2  The copy is proved by restoring it: it is copied once more, opened, checked for integrity and foreign keys, and its
 *     rows are counted.
 * B3  The counts to compare with are of the same moment as the copy: nobody wrote between counting and copying
 *     (`data_version` says so), or nobody could (after three tries, writers wait for the length of the copy).
 *
 * All of this blocks its thread; `run.ts` gives it one of its own.
 */
import Database from 'libsql';
import { copyFileSync, rmSync } from 'node:fs';
import { DamagedDatabaseError, UnprovenBackupError } from './errors.js';

export interface CopyJob {
  readonly source: string;
  /** Where the copy goes; must not exist. */
  readonly target: string;
  /** Where it is restored to for the proof; removed afterwards. */
  readonly probe: string;
}

export interface Copied {
  readonly pages: bigint;
  readonly rows: bigint;
  readonly tables: number;
}

type Db = Database.Database;
type Counts = ReadonlyMap<string, bigint>;

export const STEPS = 4;
const QUIET_TRIES = 3;

export function copyDatabase(job: CopyJob, onStep: (done: number) => void): Copied {
  const counts = copyQuietly(job);
  onStep(1);
  try {
    copyFileSync(job.target, job.probe);
    onStep(2);
    const restored = open(job.probe);
    try {
      requireSound(restored, (problem) => new UnprovenBackupError(`the restored copy is not sound: ${problem}`));
      onStep(3);
      requireEqual(counts, countRows(restored));
      onStep(4);
      const pages = readInteger(restored, 'PRAGMA page_count');
      const rows = [...counts.values()].reduce((sum, count) => sum + count, 0n);
      return { pages, rows, tables: counts.size };
    } finally {
      restored.close();
    }
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(job.probe + suffix, { force: true });
  }
}

/** Makes the copy and gives the rows that it has to have (B3). */
function copyQuietly({ source, target }: CopyJob): Counts {
  const counter = open(source);
  const copier = open(source);
  try {
    requireSound(counter, (problem) => new DamagedDatabaseError(`${source} is damaged: ${problem}`));
    for (let attempt = 1; attempt <= QUIET_TRIES; attempt++) {
      const before = readInteger(counter, 'PRAGMA data_version');
      const counts = countRows(counter);
      copier.prepare('VACUUM INTO ?').run(target);
      if (readInteger(counter, 'PRAGMA data_version') === before) return counts;
      rmSync(target, { force: true });
    }
    counter.exec('BEGIN IMMEDIATE');
    const counts = countRows(counter);
    copier.prepare('VACUUM INTO ?').run(target);
    counter.exec('ROLLBACK');
    return counts;
  } finally {
    copier.close();
    counter.close();
  }
}

function open(file: string): Db {
  const db = new Database(file);
  db.exec('PRAGMA busy_timeout = 10000');
  db.defaultSafeIntegers(true);
  return db;
}

function requireSound(db: Db, error: (problem: string) => Error): void {
  try {
    const integrity = column(db, 'PRAGMA integrity_check(5)');
    if (integrity.join() !== 'ok') throw error(integrity.join('; '));
    const orphans = db.prepare('PRAGMA foreign_key_check').all().length;
    if (orphans > 0) throw error(`${orphans} rows refer to rows that are not there`);
  } catch (cause) {
    // A file that is damaged enough, or is no database at all, cannot even be checked.
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code !== 'SQLITE_CORRUPT' && code !== 'SQLITE_NOTADB') throw cause;
    throw error((cause as Error).message);
  }
}

function countRows(db: Db): Counts {
  const names = column(
    db,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
  );
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  return new Map(names.map((name) => [name, readInteger(db, `SELECT count(*) FROM ${quoted(name)}`)]));
}

function requireEqual(wanted: Counts, found: Counts): void {
  const names = new Set([...wanted.keys(), ...found.keys()]);
  const wrong = [...names].filter((name) => wanted.get(name) !== found.get(name));
  if (wrong.length === 0) return;
  const lines = wrong.map(
    (name) => `${name}: ${wanted.get(name) ?? 'no table'} before, ${found.get(name) ?? 'no table'} after`,
  );
  throw new UnprovenBackupError(`the restored copy has other rows: ${lines.join('; ')}`);
}

function column(db: Db, sql: string): string[] {
  return (db.prepare(sql).raw().all() as unknown[][]).map((row) => String(row[0]));
}

function readInteger(db: Db, sql: string): bigint {
  return BigInt(column(db, sql)[0] ?? '0');
}
