/** How people come in. Without any of it a board is open, and listens on loopback only. */
import { LeaseholdError } from '@leasehold/core/model';
import { isLoopbackName } from '../guard/origin.js';
import { requireRole, type Role } from './roles.js';

export interface OidcOptions {
  /** Exactly as the provider calls itself in its tokens. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The claim that holds the groups. Default `groups`. */
  readonly groupsClaim?: string;
  /** Group, exactly, to role. Somebody with several has the first that is listed. */
  readonly roles: Readonly<Record<string, string>>;
  /** Asked for besides `openid profile`. */
  readonly scopes?: readonly string[];
}

export interface ProxyOptions {
  /** The header that names the user, lower case. */
  readonly userHeader: string;
  /** Groups, separated by commas. */
  readonly groupsHeader: string;
  readonly roles: Readonly<Record<string, string>>;
  /** Sent by the proxy in `x-leasehold-proxy-secret`. */
  readonly secret?: string;
  /** Addresses of proxies, exact; they count only with a client certificate. */
  readonly peers?: readonly string[];
}

export interface SessionOptions {
  /** Signed out after so long without a request. Default 30 minutes. */
  readonly idleMs?: number;
  /** Signed out then whatever happens. Default 12 hours. */
  readonly absoluteMs?: number;
}

export interface AccessOptions {
  /** Where browsers reach the board: `https://board.example.com`. Decides about cookies, and is an allowed origin. */
  readonly baseUrl?: string;
  readonly usersFile?: string;
  readonly oidc?: OidcOptions;
  readonly proxy?: ProxyOptions;
  readonly sessions?: SessionOptions;
  readonly limits?: LimitOptions;
}

export interface LimitOptions {
  /** Wrong passwords a minute from one address. Default 5. */
  readonly loginsPerMinute?: number;
  /** Changes a minute by one user. Default 60; a token has ten times as many. */
  readonly changesPerMinute?: number;
  /** Sockets of one user at once. Default 20. */
  readonly socketsPerUser?: number;
}

export interface ResolvedAccess extends AccessOptions {
  readonly required: boolean;
  readonly secure: boolean;
  readonly base: URL | undefined;
  readonly idleMs: number;
  readonly absoluteMs: number;
  readonly limits: Required<LimitOptions>;
}

const MINUTE_MS = 60_000;

/** @throws LeaseholdError `invalid`, naming the field and what to do. */
export function resolveAccess(given: AccessOptions = {}): ResolvedAccess {
  const { usersFile, oidc, proxy } = given;
  const base = given.baseUrl === undefined ? undefined : baseOf(given.baseUrl);
  const idleMs = given.sessions?.idleMs ?? 30 * MINUTE_MS;
  const absoluteMs = given.sessions?.absoluteMs ?? 720 * MINUTE_MS;
  if (!(idleMs >= 2_000 && absoluteMs >= idleMs && absoluteMs <= 30 * 1_440 * MINUTE_MS)) {
    throw bad(
      'sessions',
      `idleMs ${idleMs} must be 2000 or more, and absoluteMs ${absoluteMs} no less, at most 30 days`,
    );
  }
  if (oidc !== undefined) checkOidc(oidc, base);
  if (proxy !== undefined) checkProxy(proxy);
  return Object.freeze({
    ...given,
    required: usersFile !== undefined || oidc !== undefined || proxy !== undefined,
    secure: base?.protocol === 'https:',
    base,
    idleMs,
    absoluteMs,
    limits: Object.freeze({ loginsPerMinute: 5, changesPerMinute: 60, socketsPerUser: 20, ...given.limits }),
  });
}

function bad(field: string, message: string): LeaseholdError {
  return new LeaseholdError('invalid', `${field}: ${message}`, { field });
}

function baseOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '';
  if (url === undefined || !plain || url.hash !== '' || url.pathname !== '/') {
    throw bad('baseUrl', `"${text.slice(0, 100)}" is not like https://board.example.com (the base path is set apart)`);
  }
  return url;
}

function checkOidc(oidc: OidcOptions, base: URL | undefined): void {
  if (base === undefined) throw bad('baseUrl', 'OIDC sends people back to the board, so say where it is');
  if (!URL.canParse(oidc.issuer)) throw bad('oidc.issuer', 'it is not a URL');
  const { protocol, hostname } = new URL(oidc.issuer);
  if (protocol !== 'https:' && !isLoopbackName(hostname)) {
    throw bad('oidc.issuer', 'only https is believed (http is, on loopback)');
  }
  if (oidc.clientId === '') throw bad('oidc.clientId', 'it is empty');
  checkRoles('oidc.roles', oidc.roles);
}

function checkProxy(proxy: ProxyOptions): void {
  for (const field of ['userHeader', 'groupsHeader'] as const) {
    if (!/^[a-z0-9-]{1,60}$/.test(proxy[field])) throw bad(`proxy.${field}`, 'give a header name, lower case');
  }
  checkRoles('proxy.roles', proxy.roles);
  const { secret, peers = [] } = proxy;
  if (secret === undefined && peers.length === 0) {
    throw bad(
      'proxy',
      'anybody could send that header: give a secret, or the addresses of proxies that show a certificate',
    );
  }
  if (secret !== undefined && secret.length < 24) throw bad('proxy.secret', 'give 24 characters or more');
}

function checkRoles(field: string, roles: Readonly<Record<string, string>>): void {
  const entries = Object.entries(roles);
  if (entries.length === 0) throw bad(field, 'no group has a role, so nobody could come in');
  for (const [group, role] of entries) {
    // A star would be read as a pattern by people, and as a name by us.
    if (group === '' || group.includes('*')) throw bad(field, `"${group}" is not a group's exact name`);
    requireRole(role, `${field}.${group}`);
  }
}

/** The role of the first mapped group, in the order of the map. */
export function roleOfGroups(groups: readonly string[], roles: Readonly<Record<string, string>>): Role | undefined {
  const mapped = Object.entries(roles).find(([group]) => groups.includes(group));
  return mapped === undefined ? undefined : requireRole(mapped[1], 'roles');
}
