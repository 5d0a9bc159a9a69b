/** API tokens: `lh_<id>_<secret>`. Only the SHA-256 of the whole is stored; it is shown once, when it is made. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readToken, type Store } from '@leasehold/core/store';
import { isPermission, type Identity } from '../guard/identity.js';

const FORM = /^lh_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

export interface NewToken {
  readonly id: string;
  readonly token: string;
  readonly prefix: string;
  readonly hash: string;
}

export function makeToken(): NewToken {
  const id = randomBytes(8).toString('hex');
  const token = `lh_${id}_${randomBytes(32).toString('base64url')}`;
  return { id, token, prefix: `lh_${id}`, hash: hashOf(token) };
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The token of an `Authorization` header. `null`: there is one, and it is not ours to understand. */
export function bearerOf(header: string | string[] | undefined): string | null | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || header.length > 300) return null;
  return /^Bearer ([A-Za-z0-9_-]{1,200})$/i.exec(header)?.[1] ?? null;
}

/** Read from the store each time: a token that was revoked anywhere is refused everywhere with the next request. */
export async function identityOfToken(store: Store, token: string, address: string): Promise<Identity | undefined> {
  const id = FORM.exec(token)?.[1];
  if (id === undefined) return undefined;
  const record = await readToken(store, id);
  if (record === undefined || record.expiresMs <= store.now()) return undefined;
  if (!timingSafeEqual(Buffer.from(record.hash, 'hex'), Buffer.from(hashOf(token), 'hex'))) return undefined;
  return {
    actor: {
      kind: 'operator',
      name: `token:${record.title}`,
      role: 'token',
      method: `token ${record.prefix}`,
      address,
    },
    permissions: new Set(record.permissions.filter(isPermission)),
    credential: `token ${id}`,
    ...(record.scope === undefined ? {} : { scope: record.scope }),
  };
}
