import { FinalError } from '@leasehold/core';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { fileBelow, writeWhole } from './folder.js';
import type { Work } from './work.js';

export class BadQualityError extends FinalError {
  override readonly name = 'BadQualityError';

  constructor(quality: number) {
    super(`quality is ${quality}; give a whole number from 1 to 100`);
  }
}

/** A picture of that many pixels takes some 200 MB while it is decoded; a small file can claim far more. */
const MOST_PIXELS = 50_000_000;

/** Makes a JPEG beside the others in `compressed/`; gives its path below the folder and its size. */
export async function compressImage(
  folder: string,
  given: { readonly path: string; readonly quality: number },
  work: Work,
): Promise<[outputPath: string, bytes: number]> {
  const { quality } = given;
  if (!Number.isInteger(quality) || quality < 1 || quality > 100) throw new BadQualityError(quality);
  work.signal.throwIfAborted();
  const source = await fileBelow(folder, given.path);
  const before = (await stat(source)).size;
  // The same request gives the same name: a second execution replaces the file by an equal one.
  const outputPath = `compressed/${path.parse(source).name}-q${quality}.jpg`;
  const output = path.join(folder, outputPath);
  const image = sharp(source, { limitInputPixels: MOST_PIXELS, failOn: 'warning' }).rotate().jpeg({ quality });
  await writeWhole(output, image, work.signal);
  const bytes = (await stat(output)).size;
  work.log(`${given.path}: ${before} bytes to ${bytes} (${Math.round((100 * bytes) / before)} %)`);
  return [outputPath, bytes];
}
