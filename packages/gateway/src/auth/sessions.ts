/** Sessions: opaque, random, in a cookie that no script reads. The store holds its hash; every board knows every session. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readUserSession, signIn, signOut, touchUserSession, type Store } from '@leasehold/core/store';
import type { Actor, UserSessionRecord } from '@leasehold/core/model';
import { permissionsOf, isRole } from './roles.js';
import type { Identity } from '../guard/identity.js';
import type { ResolvedAccess } from './options.js';
import { stampOf, type Users } from './users-file.js';

const FORM = /^[A-Za-z0-9_-]{43}$/;

export interface SessionContext {
  readonly store: Store;
  readonly access: ResolvedAccess;
  readonly users: Users | undefined;
}

export interface NewSession {
  readonly id: string;
  readonly csrfToken: string;
}

export interface Who {
  readonly user: string;
  readonly method: UserSessionRecord['method'];
  readonly role?: string;
  readonly stamp?: string;
}

export const sessionHash = (id: string): string => createHash('sha256').update(id).digest('hex');

/** Derived, so it need not be kept; worth nothing without the session it belongs to. */
export const csrfTokenOf = (id: string): string => createHmac('sha256', id).update('csrf').digest('base64url');

export async function beginSession(
  { store, access }: SessionContext,
  who: Who,
  address: string,
  request: string,
): Promise<NewSession> {
  const id = randomBytes(32).toString('base64url');
  const nowMs = store.now();
  const actor: Actor = {
    kind: 'operator',
    name: who.user,
    method: who.method,
    address,
    ...(who.role === undefined ? {} : { role: who.role }),
  };
  const record = { ...who, createdMs: nowMs, expiresMs: nowMs + access.absoluteMs, address };
  const call = { actor, operationId: store.newId(), request };
  await signIn(store, call, sessionHash(id), record, Math.ceil(access.idleMs / 1_000));
  return { id, csrfToken: csrfTokenOf(id) };
}

/** When the idle time was last begun again, by session: not with every request. Bounded by being emptied. */
const TOUCHED_MAX = 10_000;

export class Sessions {
  readonly #context: SessionContext;
  readonly #touched = new Map<string, number>();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** `active`: a person did something, so the idle time begins again. A socket that is merely open does not count. */
  async identity(id: string, address: string, active: boolean): Promise<Identity | undefined> {
    if (!FORM.test(id)) return undefined;
    const { store } = this.#context;
    const hash = sessionHash(id);
    const session = await readUserSession(store, hash);
    if (session === undefined) return undefined;
    const { record, lease } = session;
    const identity = await this.#who(record);
    if (identity === undefined) return undefined;
    if (active) await this.#touch(hash, lease);
    const { user, method } = record;
    return {
      ...identity,
      actor: { kind: 'operator', name: user, role: identity.role, method, address },
      credential: `session ${hash}`,
      csrfToken: csrfTokenOf(id),
    };
  }

  async end(id: string, actor: Actor, request: string): Promise<boolean> {
    if (!FORM.test(id)) return false;
    const { store } = this.#context;
    return signOut(store, { actor, operationId: store.newId(), request }, sessionHash(id), actor.name);
  }

  /** A local user is what the users file says now, not what it said when he signed in. */
  async #who(
    record: UserSessionRecord,
  ): Promise<(Pick<Identity, 'permissions' | 'scope'> & { role: string }) | undefined> {
    const { access, users } = this.#context;
    const { role, method } = record;
    if (method === 'oidc') {
      const mapped = access.oidc !== undefined && Object.values(access.oidc.roles).includes(role ?? '');
      return mapped && isRole(role) ? { role, permissions: permissionsOf(role) } : undefined;
    }
    const user = await users?.find(record.user);
    if (user === undefined || stampOf(user) !== record.stamp) return undefined;
    return {
      role: user.role,
      permissions: permissionsOf(user.role, user.grants),
      ...(user.scope === undefined ? {} : { scope: user.scope }),
    };
  }

  async #touch(hash: string, lease: bigint): Promise<void> {
    const { store, access } = this.#context;
    const everyMs = Math.min(60_000, access.idleMs / 10);
    const nowMs = store.now();
    if (nowMs - (this.#touched.get(hash) ?? 0) < everyMs) return;
    if (this.#touched.size >= TOUCHED_MAX) this.#touched.clear();
    this.#touched.set(hash, nowMs);
    await touchUserSession(store, lease);
  }
}
