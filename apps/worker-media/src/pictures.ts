/** Pictures to work on, made by the image library itself: a fresh checkout has none, and ships none. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';

interface Picture {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly from: string;
  readonly to: string;
  /** The strength of the grain; without any, a gradient compresses to nothing. */
  readonly sigma: number;
  readonly shape: string;
}

const PICTURES: readonly Picture[] = [
  picture(
    'dunes',
    1600,
    1066,
    '#e8b26a',
    '#7a4a2b',
    14,
    '<path d="M0 700 Q400 420 800 650 T1600 520 V1066 H0Z" fill="#c98f4e"/>',
  ),
  picture(
    'harbour',
    1800,
    1200,
    '#9cc7e4',
    '#123a5c',
    10,
    '<path d="M0 820 H1800 V1200 H0Z" fill="#0d2c47" opacity=".8"/>',
  ),
  picture('meadow', 1500, 1000, '#cfe8ff', '#5d8f3d', 18, '<circle cx="1150" cy="260" r="120" fill="#fff3b0"/>'),
  picture('night', 1600, 900, '#0b1030', '#3a2a60', 8, '<circle cx="420" cy="240" r="70" fill="#f2f0da"/>'),
  picture('poster', 1000, 1400, '#f25f4c', '#2d1b3d', 5, '<path d="M200 1100 L500 300 L800 1100Z" fill="#ffd803"/>'),
  picture(
    'fog',
    1700,
    1100,
    '#dfe4e8',
    '#8b98a5',
    22,
    '<path d="M0 600 Q850 380 1700 640 V1100 H0Z" fill="#6c7a86" opacity=".5"/>',
  ),
];

function picture(
  name: string,
  width: number,
  height: number,
  from: string,
  to: string,
  sigma: number,
  shape: string,
): Picture {
  return { name, width, height, from, to, sigma, shape };
}

/**
 * Fills the folder when it is missing or empty; gives how many files were made. One of them is broken on purpose, cut
 * off as by a full disk: a task on it fails for a real reason.
 */
export async function makePictures(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  const there = (await readdir(folder)).filter((name) => !name.endsWith('.part'));
  if (there.length > 0) return 0;
  for (const one of PICTURES) await writeFinished(path.join(folder, `${one.name}.png`), await draw(one));
  const whole = await draw({ ...(PICTURES[0] as Picture), width: 640, height: 426 });
  await writeFinished(path.join(folder, 'broken.png'), whole.subarray(0, Math.floor(whole.length / 3)));
  return PICTURES.length + 1;
}

/** Two workers may start at once; each writes its own draft, and equal files replace each other. */
async function writeFinished(file: string, content: Uint8Array): Promise<void> {
  if (existsSync(file)) return;
  const draft = `${file}.${process.pid}.part`;
  await writeFile(draft, content);
  await rename(draft, file);
}

function draw({ width, height, from, to, sigma, shape }: Picture): Promise<Buffer> {
  const stops = `<stop offset="0" stop-color="${from}"/><stop offset="1" stop-color="${to}"/>`;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<defs><linearGradient id="g" x1="0" y1="0" x2="0.3" y2="1">${stops}</linearGradient></defs>` +
    `<rect width="100%" height="100%" fill="url(#g)"/>${shape}</svg>`;
  const noise = { type: 'gaussian', mean: 128, sigma } as const;
  return sharp({ create: { width, height, channels: 3, background: '#000', noise } })
    .composite([
      { input: Buffer.from(svg), blend: 'soft-light' },
      { input: Buffer.from(svg), blend: 'hard-light' },
    ])
    .png({ compressionLevel: 3 })
    .toBuffer();
}
