/**
 * THE way in. One credential decides, in this order, and a bad one is never passed over for the next: an API token, the
 * proxy's headers, the session's cookie; and, where nobody has to sign in, being here.
 */
import { createHash } from 'node:crypto';
import type { Store } from '@leasehold/core/store';
import { localOperator, type Auth, type Credentials, type Identity } from '../guard/identity.js';
import { ActLimit, LoginLimit } from './limits.js';
import { Oidc } from './oidc.js';
import { cookieName, readCookie } from './cookies.js';
import type { ResolvedAccess } from './options.js';
import { identityByProxy } from './proxy.js';
import { Sessions, type SessionContext } from './sessions.js';
import { bearerOf, identityOfToken } from './tokens.js';
import { Users } from './users-file.js';

/** Below the base path. */
export const OIDC_CALLBACK = '/api/v1/auth/oidc/callback';

export class Access implements Auth {
  readonly required: boolean;
  readonly options: ResolvedAccess;
  readonly users: Users | undefined;
  readonly oidc: Oidc | undefined;
  readonly sessions: Sessions;
  readonly context: SessionContext;
  readonly logins: LoginLimit;
  readonly acts: ActLimit;
  readonly #store: Store;
  /** For those who come in without a login. */
  readonly #open: Auth;

  constructor(store: Store, options: ResolvedAccess, basePath: string, open: Auth = localOperator) {
    this.#store = store;
    this.#open = open;
    this.options = options;
    this.required = options.required || open.required;
    this.users = options.usersFile === undefined ? undefined : new Users(options.usersFile);
    this.context = { store, access: options, users: this.users };
    this.sessions = new Sessions(this.context);
    this.oidc =
      options.oidc === undefined || options.base === undefined
        ? undefined
        : new Oidc(options.oidc, new URL(`${basePath}${OIDC_CALLBACK}`, options.base).href);
    this.logins = new LoginLimit(options.limits);
    this.acts = new ActLimit(options.limits);
  }

  async authenticate(credentials: Credentials): Promise<Identity | undefined> {
    return this.#identity(credentials, true);
  }

  /** For sockets that are open: whether they may stay. Does not keep a session alive. */
  async recheck(credentials: Credentials): Promise<Identity | undefined> {
    return this.#identity(credentials, false);
  }

  /** Whether pages should send a visitor to the login first. A look at the cookie's presence: the API decides. */
  mustSignIn(credentials: Credentials): boolean {
    const { usersFile, oidc, proxy } = this.options;
    if (usersFile === undefined && oidc === undefined) return false;
    if (proxy !== undefined && identityByProxy(proxy, credentials) !== undefined) return false;
    return this.sessionId(credentials) === undefined;
  }

  sessionId({ headers }: Pick<Credentials, 'headers'>): string | undefined {
    return readCookie(headers['cookie'], cookieName('session', this.options));
  }

  async #identity(credentials: Credentials, active: boolean): Promise<Identity | undefined> {
    const { headers, address } = credentials;
    const bearer = bearerOf(headers['authorization']);
    if (bearer === null) return undefined;
    if (bearer !== undefined) return identityOfToken(this.#store, bearer, address);
    const { proxy, required } = this.options;
    if (proxy !== undefined) {
      const identity = identityByProxy(proxy, credentials);
      if (identity !== undefined) return identity;
    }
    if (!required) return this.#open.authenticate(credentials);
    const id = this.sessionId(credentials);
    return id === undefined ? undefined : this.sessions.identity(id, address, active);
  }
}

/** Names a connection's credentials without holding them: equal for equal ones. */
export function fingerprintOf({ headers, address }: Credentials): string {
  const parts = [headers['authorization'], headers['cookie'], address].map((part) => String(part ?? ''));
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
