import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { STEPS } from './copy.js';
import { PathError } from './errors.js';
import { copyInThread, type RunCopy } from './run.js';
import type { Work } from './work.js';

export interface BackupOptions {
  /** What may be backed up lies below it, and so do the backups, in `backup/copies`. */
  readonly folder: string;
  /** Older copies of the same database are removed beyond so many. */
  readonly keep?: number;
  readonly run?: RunCopy;
}

const KEPT = 20;
export const COPIES = 'backup/copies';

/** Copies a database and proves the copy; gives its path below the folder, bytes, pages and rows. */
export async function backupDatabase(
  options: BackupOptions,
  given: { readonly path: string },
  work: Work,
): Promise<[file: string, bytes: bigint, pages: bigint, rows: bigint]> {
  work.signal.throwIfAborted();
  const source = await sourceBelow(options.folder, given.path);
  const base = path.parse(source).name;
  // Named by the task: executed a second time, it replaces its own copy and no other.
  const file = `${COPIES}/${base}-${work.id}.db`;
  const final = path.join(options.folder, file);
  const draft = `${final}.${process.pid}.part`;
  await mkdir(path.dirname(final), { recursive: true });
  await rm(draft, { force: true });
  try {
    const job = { source, target: draft, probe: `${draft}.restored` };
    const run = options.run ?? copyInThread;
    const copied = await run(job, work.signal, (done) => work.progress(done / STEPS));
    work.signal.throwIfAborted();
    await rename(draft, final);
    const bytes = (await stat(final)).size;
    work.log(`${given.path}: ${copied.tables} tables, ${copied.rows} rows, ${bytes} bytes; restored and compared`);
    await removeOld(path.dirname(final), base, options.keep ?? KEPT);
    return [file, BigInt(bytes), copied.pages, copied.rows];
  } finally {
    for (const suffix of ['', '-journal', '.restored']) await rm(draft + suffix, { force: true });
  }
}

/** Symbolic links are followed before the check, so none leads out of the folder. */
async function sourceBelow(folder: string, given: string): Promise<string> {
  const root = await realpath(folder);
  if (given === '' || given.includes('\0') || path.isAbsolute(given)) {
    throw new PathError(`${JSON.stringify(given)} is not a path below the data folder`);
  }
  const lexical = path.resolve(root, given);
  if (!lexical.startsWith(root + path.sep))
    throw new PathError(`${JSON.stringify(given)} leads out of the data folder`);
  // Opening a file that is not there would make an empty database of it.
  const real = await realpath(lexical).catch((cause: unknown) => {
    throw new Error(`there is no file ${given} in the data folder`, { cause });
  });
  if (!real.startsWith(root + path.sep)) throw new PathError(`${JSON.stringify(given)} leads out of the data folder`);
  if (!(await stat(real)).isFile()) throw new PathError(`${given} is not a file`);
  return real;
}

async function removeOld(folder: string, base: string, keep: number): Promise<void> {
  const mine = (await readdir(folder)).filter((name) => name.startsWith(`${base}-`) && name.endsWith('.db'));
  const dated = await Promise.all(
    mine.map(async (name) => ({ name, at: (await stat(path.join(folder, name))).mtimeMs })),
  );
  dated.sort((a, b) => b.at - a.at);
  for (const { name } of dated.slice(keep)) await rm(path.join(folder, name), { force: true });
}
