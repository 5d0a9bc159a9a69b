/** Where uploads go: an S3-compatible endpoint, or a folder that behaves like one. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeWhole } from './folder.js';

export interface Bucket {
  /** Stores a file under a key and proves that all of it arrived; gives its address. */
  put(key: string, file: string, bytes: number, signal: AbortSignal): Promise<string>;
}

export interface S3Settings {
  readonly endpoint: string | undefined;
  readonly bucket: string;
  readonly region: string;
}

export class IncompleteUploadError extends Error {
  override readonly name = 'IncompleteUploadError';

  constructor(key: string, sent: number, stored: number | undefined) {
    super(`${key}: ${sent} bytes were sent and ${stored ?? 'an unknown number'} are stored`);
  }
}

export function folderBucket(folder: string): Bucket {
  return {
    async put(key, file, bytes, signal) {
      const target = path.join(folder, key);
      await writeWhole(target, createReadStream(file), signal);
      const stored = (await stat(target)).size;
      if (stored !== bytes) throw new IncompleteUploadError(key, bytes, stored);
      return pathToFileURL(target).href;
    },
  };
}

/** The SDK is loaded only where S3 is configured: it takes longer to load than all the rest of this worker. */
export async function s3Bucket(settings: S3Settings): Promise<Bucket> {
  const { HeadObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    region: settings.region,
    // Credentials come from where the SDK always looks: AWS_ACCESS_KEY_ID and so on, profiles, instance roles.
    ...(settings.endpoint === undefined ? {} : { endpoint: settings.endpoint, forcePathStyle: true }),
    // The scheduler retries, and shows that it does.
    maxAttempts: 1,
  });
  const { bucket: Bucket } = settings;
  return {
    async put(Key, file, bytes, abortSignal) {
      const Body = createReadStream(file);
      await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: bytes }), { abortSignal });
      const head = await client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal });
      if (head.ContentLength !== bytes) throw new IncompleteUploadError(Key, bytes, head.ContentLength);
      return `s3://${Bucket}/${Key}`;
    },
  };
}
