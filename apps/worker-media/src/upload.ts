import { FinalError } from '@leasehold/core';
import { stat } from 'node:fs/promises';
import type { Bucket } from './bucket.js';
import { fileBelow } from './folder.js';
import type { Work } from './work.js';

export class BadUploadError extends FinalError {
  override readonly name = 'BadUploadError';
}

/** A file to store, and how large it has to be if whoever made it said so. */
interface Wanted {
  readonly path: string;
  readonly bytes?: number;
}

/** `path, bytes, path, path, bytes`: every number is the size of the file named before it. */
export function readWanted(given: readonly unknown[]): readonly Wanted[] {
  const wanted: Wanted[] = [];
  for (const item of given) {
    const last = wanted.at(-1);
    if (typeof item === 'string') wanted.push({ path: item });
    else if (typeof item === 'number' && last !== undefined && last.bytes === undefined) {
      wanted[wanted.length - 1] = { ...last, bytes: item };
    } else throw new BadUploadError(`${JSON.stringify(item)} is neither a path nor the size of the file before it`);
  }
  return wanted;
}

/** Stores each file under its own path: doing it twice leaves the same object. */
export async function uploadToS3(
  folder: string,
  bucket: Bucket,
  given: readonly unknown[],
  work: Work,
): Promise<[addresses: string[], bytes: bigint]> {
  const wanted = readWanted(given);
  const addresses: string[] = [];
  let total = 0n;
  for (const [index, { path, bytes }] of wanted.entries()) {
    work.signal.throwIfAborted();
    const file = await fileBelow(folder, path);
    const size = (await stat(file)).size;
    if (bytes !== undefined && bytes !== size) {
      throw new BadUploadError(`${path} has ${size} bytes and should have ${bytes}: it changed since it was made`);
    }
    addresses.push(await bucket.put(path, file, size, work.signal));
    total += BigInt(size);
    work.progress((index + 1) / wanted.length, path);
  }
  work.log(`${wanted.length} files stored, ${total} bytes`);
  return [addresses, total];
}
