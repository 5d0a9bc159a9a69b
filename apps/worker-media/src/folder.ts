/** A folder that a task may name files in, and nothing outside of it. */
import { FinalError } from '@leasehold/core';
import { createWriteStream } from 'node:fs';
import { mkdir, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export class PathError extends FinalError {
  override readonly name = 'PathError';
}

/** The absolute path of a file below `folder`. Symbolic links are followed before the check, so none leads out. */
export async function fileBelow(folder: string, given: string): Promise<string> {
  const root = await realpath(folder);
  if (given === '' || given.includes('\0') || path.isAbsolute(given)) {
    throw new PathError(`${JSON.stringify(given)} is not a path below the media folder`);
  }
  const lexical = path.resolve(root, given);
  requireBelow(root, lexical, given);
  const real = await realpath(lexical).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new Error(`there is no file ${given} in the media folder`, { cause: error });
  });
  requireBelow(root, real, given);
  return real;
}

function requireBelow(root: string, file: string, given: string): void {
  if (!file.startsWith(root + path.sep)) throw new PathError(`${JSON.stringify(given)} leads out of the media folder`);
}

let copies = 0;

/** Writes a file whole or not at all: readers, and other attempts of the same task, never see half of it. */
export async function writeWhole(file: string, content: Readable, signal: AbortSignal): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.${(copies += 1)}.part`;
  try {
    await pipeline(content, createWriteStream(draft), { signal });
    signal.throwIfAborted();
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
