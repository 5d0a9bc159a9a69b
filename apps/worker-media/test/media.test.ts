import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderBucket, s3Bucket } from '../src/bucket.js';
import { BadQualityError, compressImage } from '../src/compress.js';
import { PathError } from '../src/folder.js';
import { makePictures } from '../src/pictures.js';
import { readWanted, uploadToS3 } from '../src/upload.js';
import type { Work } from '../src/work.js';

let folder: string;
const progress: number[] = [];
const work: Work = {
  signal: new AbortController().signal,
  log: () => undefined,
  progress: (fraction) => void progress.push(fraction),
};

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'leasehold-media-'));
  await makePictures(path.join(folder, 'images'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('pictures', () => {
  test('are made once, and look different', async () => {
    const names = readdirSync(path.join(folder, 'images'));
    expect(names).toEqual([
      'broken.png',
      'dunes.png',
      'fog.png',
      'harbour.png',
      'meadow.png',
      'night.png',
      'poster.png',
    ]);
    expect(await makePictures(path.join(folder, 'images'))).toBe(0);
    const means = await Promise.all(
      ['dunes', 'night', 'fog'].map(async (name) => {
        const { channels } = await sharp(path.join(folder, 'images', `${name}.png`)).stats();
        return Math.round(channels[0]?.mean ?? 0);
      }),
    );
    expect(new Set(means).size).toBe(3);
  });
});

describe('compressImage', () => {
  test('makes a smaller JPEG of the same picture', async () => {
    const [output, bytes] = await compressImage(folder, { path: 'images/dunes.png', quality: 60 }, work);
    expect(output).toBe('compressed/dunes-q60.jpg');
    const meta = await sharp(path.join(folder, output)).metadata();
    expect([meta.format, meta.width, meta.height]).toEqual(['jpeg', 1600, 1066]);
    expect(bytes).toBe(readFileSync(path.join(folder, output)).length);
    expect(bytes).toBeLessThan(readFileSync(path.join(folder, 'images/dunes.png')).length / 2);
  });

  test('gives a smaller file for a lower quality', async () => {
    const [, low] = await compressImage(folder, { path: 'images/fog.png', quality: 20 }, work);
    const [, high] = await compressImage(folder, { path: 'images/fog.png', quality: 90 }, work);
    expect(low).toBeLessThan(high);
  });

  test('fails on a broken picture, and leaves no file behind', async () => {
    await expect(compressImage(folder, { path: 'images/broken.png', quality: 60 }, work)).rejects.toThrow();
    expect(readdirSync(path.join(folder, 'compressed')).filter((name) => name.startsWith('broken'))).toEqual([]);
  });

  test('fails on a missing file and on a quality out of range', async () => {
    await expect(compressImage(folder, { path: 'images/none.png', quality: 60 }, work)).rejects.toThrow(/no file/);
    const bad = compressImage(folder, { path: 'images/dunes.png', quality: 101 }, work);
    await expect(bad).rejects.toThrow(BadQualityError);
  });

  test.each(['../secret.png', '/etc/passwd', 'images/../../x', '', 'a\0b', 'images/link.png'])(
    'refuses the path %j',
    async (given) => {
      const outside = path.join(folder, '..', `outside-${process.pid}.png`);
      writeFileSync(outside, 'x');
      const link = path.join(folder, 'images/link.png');
      rmSync(link, { force: true });
      symlinkSync(outside, link);
      await expect(compressImage(folder, { path: given, quality: 60 }, work)).rejects.toThrow(PathError);
      rmSync(link);
      rmSync(outside);
    },
  );

  test('stops when it is aborted, half-way too, and leaves no file behind', async () => {
    const before = { ...work, signal: AbortSignal.abort() };
    await expect(compressImage(folder, { path: 'images/harbour.png', quality: 55 }, before)).rejects.toThrow();
    const abort = new AbortController();
    const running = compressImage(
      folder,
      { path: 'images/harbour.png', quality: 55 },
      { ...work, signal: abort.signal },
    );
    setImmediate(() => abort.abort());
    await expect(running).rejects.toThrow();
    expect(existsSync(path.join(folder, 'compressed/harbour-q55.jpg'))).toBe(false);
  });
});

describe('uploadToS3', () => {
  test('reads paths with the sizes that a chord appends', () => {
    expect(readWanted(['a.jpg', 5, 'b.jpg', 'c.jpg', 7])).toEqual([
      { path: 'a.jpg', bytes: 5 },
      { path: 'b.jpg' },
      { path: 'c.jpg', bytes: 7 },
    ]);
    expect(() => readWanted([5])).toThrow();
    expect(() => readWanted(['a', 5, 6])).toThrow();
    expect(() => readWanted(['a', { b: 1 }])).toThrow();
  });

  test('stores what a chord of compressions made in the local bucket', async () => {
    const made = [
      ...(await compressImage(folder, { path: 'images/night.png', quality: 50 }, work)),
      ...(await compressImage(folder, { path: 'images/poster.png', quality: 50 }, work)),
    ];
    progress.length = 0;
    const [addresses, total] = await uploadToS3(folder, folderBucket(path.join(folder, 'bucket')), made, work);
    expect(addresses.map((address) => path.basename(fileURLToPath(address)))).toEqual([
      'night-q50.jpg',
      'poster-q50.jpg',
    ]);
    expect(total).toBe(BigInt((made[1] as number) + (made[3] as number)));
    expect(progress).toEqual([0.5, 1]);
    for (const address of addresses) expect(existsSync(fileURLToPath(address))).toBe(true);
  });

  test('refuses a file that is not as large as it was made, and one outside', async () => {
    const bucket = folderBucket(path.join(folder, 'bucket'));
    await expect(uploadToS3(folder, bucket, ['images/night.png', 3], work)).rejects.toThrow(/should have 3/);
    await expect(uploadToS3(folder, bucket, ['../x'], work)).rejects.toThrow(PathError);
  });

  test('speaks S3 to an endpoint, checks what is stored, and fails when it refuses', async () => {
    const s3 = await startFakeS3();
    process.env['AWS_ACCESS_KEY_ID'] = 'test';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
    const bucket = await s3Bucket({ endpoint: s3.url, bucket: 'pictures', region: 'us-east-1' });
    const [addresses] = await uploadToS3(folder, bucket, ['images/night.png'], work);
    expect(addresses).toEqual(['s3://pictures/images/night.png']);
    expect(s3.stored.get('/pictures/images/night.png')).toBe(
      readFileSync(path.join(folder, 'images/night.png')).length,
    );
    s3.lose = true;
    await expect(uploadToS3(folder, bucket, ['images/fog.png'], work)).rejects.toThrow(/bytes were sent/);
    s3.server.close();
    s3.server.closeAllConnections();
    await expect(uploadToS3(folder, bucket, ['images/fog.png'], work)).rejects.toThrow();
  });
});

interface FakeS3 {
  readonly server: Server;
  readonly url: string;
  readonly stored: Map<string, number>;
  lose: boolean;
}

/** Enough of S3 for a put and a head; counts the bytes of the body as the protocol frames them. */
async function startFakeS3(): Promise<FakeS3> {
  const stored = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = new URL(request.url ?? '/', 'http://s3').pathname;
    if (request.method === 'HEAD') {
      response.writeHead(stored.has(key) ? 200 : 404, { 'content-length': stored.get(key) ?? 0 }).end();
      return;
    }
    void bodyBytes(request).then((bytes) => {
      const declared = Number(request.headers['x-amz-decoded-content-length'] ?? bytes);
      stored.set(key, fake.lose ? declared - 1 : declared);
      response.writeHead(200, { etag: '"x"' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const fake: FakeS3 = { server, url: `http://127.0.0.1:${port}`, stored, lose: false };
  return fake;
}

async function bodyBytes(request: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of request) bytes += (chunk as Buffer).length;
  return bytes;
}
