/** Passwords as scrypt hashes, in one line: `$scrypt$ln=16,r=8,p=2$<salt>$<hash>`. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { LeaseholdError } from '@leasehold/core/model';

/** 64 MiB and some tenths of a second a guess. */
const COST = Object.freeze({ ln: 16, r: 8, p: 2 });
const HASH_BYTES = 32;

export const PASSWORD_LIMITS = Object.freeze({ minChars: 10, maxBytes: 1_024 });

interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** @throws LeaseholdError `invalid` for a password that is too short or too long. */
export async function hashPassword(password: string, cost: Cost = COST): Promise<string> {
  if ([...password].length < PASSWORD_LIMITS.minChars || Buffer.byteLength(password) > PASSWORD_LIMITS.maxBytes) {
    const { minChars, maxBytes } = PASSWORD_LIMITS;
    throw new LeaseholdError('invalid', `password: give ${minChars} characters or more, at most ${maxBytes} bytes`, {
      field: 'password',
    });
  }
  const salt = randomBytes(16);
  const hash = await derive(password, salt, cost);
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

const FORM = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{16,64})\$([A-Za-z0-9_-]{43})$/;

export function isPasswordHash(text: string): boolean {
  return readHash(text) !== undefined;
}

function readHash(text: string): { cost: Cost; salt: Buffer; hash: Buffer } | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [ln, r, p] = match.slice(1, 4).map(Number) as [number, number, number];
  // Bounds what a line of the file can make us spend: 256 MiB.
  if (ln < 10 || ln > 18 || r < 1 || r > 8 || p < 1 || p > 4) return undefined;
  return {
    cost: { ln, r, p },
    salt: Buffer.from(match[4] ?? '', 'base64url'),
    hash: Buffer.from(match[5] ?? '', 'base64url'),
  };
}

/** False for a wrong password, and for a hash that is none. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const read = readHash(stored);
  if (read === undefined || Buffer.byteLength(password) > PASSWORD_LIMITS.maxBytes) return false;
  return timingSafeEqual(await derive(password, read.salt, read.cost), read.hash);
}

/** Takes as long as a real check: an unknown name must not answer sooner than a known one. */
export async function verifyNobody(password: string, cost: Cost = COST): Promise<false> {
  await derive(password.slice(0, PASSWORD_LIMITS.maxBytes), Buffer.alloc(16), cost);
  return false;
}

function derive(password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> {
  const options = { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r };
  return new Promise((resolve, reject) => {
    // NFC, so that a password typed on another system is the same password.
    scrypt(password.normalize('NFC'), salt, HASH_BYTES, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
