/** Who may come in, as the environment says it. Secrets come from it or from files, never from arguments. */
import { readFileSync } from 'node:fs';
import { secretFromEnvironment } from '@leasehold/core/kv';
import type { AccessOptions, OidcOptions, ProxyOptions } from '@leasehold/gateway';
import type { ServeTls } from './serve.js';

type Environment = Readonly<Record<string, string | undefined>>;

function set(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}

function needed(env: Environment, name: string, because: string): string {
  const value = set(env, name);
  if (value === undefined) throw new Error(`${name}: give it, because ${because} is set`);
  return value;
}

/** Nothing when nothing is set: then nobody has to sign in, and only loopback is served. */
export function accessFromEnvironment(env: Environment): { readonly access?: AccessOptions } {
  const usersFile = set(env, 'LEASEHOLD_USERS_FILE');
  const baseUrl = set(env, 'LEASEHOLD_BASE_URL');
  const oidc = oidcOf(env);
  const proxy = proxyOf(env);
  const idle = minutes(env, 'LEASEHOLD_SESSION_IDLE_MINUTES');
  const absolute = minutes(env, 'LEASEHOLD_SESSION_MAX_MINUTES');
  const access: AccessOptions = {
    ...(usersFile === undefined ? {} : { usersFile }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(oidc === undefined ? {} : { oidc }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(idle === undefined && absolute === undefined
      ? {}
      : {
          sessions: {
            ...(idle === undefined ? {} : { idleMs: idle }),
            ...(absolute === undefined ? {} : { absoluteMs: absolute }),
          },
        }),
  };
  return Object.keys(access).length === 0 ? {} : { access };
}

/** In ms. Fractions are taken: a test need not wait for minutes. */
function minutes(env: Environment, name: string): number | undefined {
  const text = set(env, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value > 0 && value <= 43_200) return Math.round(value * 60_000);
  throw new Error(`${name}: "${text}" is not a number of minutes, up to 43200`);
}

function oidcOf(env: Environment): OidcOptions | undefined {
  const issuer = set(env, 'LEASEHOLD_OIDC_ISSUER');
  if (issuer === undefined) return undefined;
  const clientSecret = secretFromEnvironment(env, 'LEASEHOLD_OIDC_CLIENT_SECRET');
  const groupsClaim = set(env, 'LEASEHOLD_OIDC_GROUPS_CLAIM');
  return {
    issuer,
    clientId: needed(env, 'LEASEHOLD_OIDC_CLIENT_ID', 'LEASEHOLD_OIDC_ISSUER'),
    roles: rolesOf(needed(env, 'LEASEHOLD_OIDC_ROLES', 'LEASEHOLD_OIDC_ISSUER'), 'LEASEHOLD_OIDC_ROLES'),
    scopes: listOf(env, 'LEASEHOLD_OIDC_SCOPES'),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(groupsClaim === undefined ? {} : { groupsClaim }),
  };
}

function proxyOf(env: Environment): ProxyOptions | undefined {
  const userHeader = set(env, 'LEASEHOLD_PROXY_USER_HEADER');
  if (userHeader === undefined) return undefined;
  const because = 'LEASEHOLD_PROXY_USER_HEADER';
  const secret = secretFromEnvironment(env, 'LEASEHOLD_PROXY_SECRET');
  return {
    userHeader: userHeader.toLowerCase(),
    groupsHeader: needed(env, 'LEASEHOLD_PROXY_GROUPS_HEADER', because).toLowerCase(),
    roles: rolesOf(needed(env, 'LEASEHOLD_PROXY_ROLES', because), 'LEASEHOLD_PROXY_ROLES'),
    peers: listOf(env, 'LEASEHOLD_PROXY_PEERS'),
    ...(secret === undefined ? {} : { secret }),
  };
}

function listOf(env: Environment, name: string): readonly string[] {
  return (env[name] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** `ops=operator,bosses=admin`: the first group that somebody has decides. */
function rolesOf(text: string, name: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => {
    const at = pair.lastIndexOf('=');
    if (at > 0) return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
    throw new Error(`${name}: "${pair.trim()}" is not like group=role`);
  });
  return Object.fromEntries(pairs);
}

/** `LEASEHOLD_TLS_CERT`, `_KEY`, and `_CLIENT_CA` where a proxy shows a certificate: PEM files. */
export function tlsFromEnvironment(env: Environment): { readonly tls?: ServeTls } {
  const cert = set(env, 'LEASEHOLD_TLS_CERT');
  if (cert === undefined) return {};
  const key = needed(env, 'LEASEHOLD_TLS_KEY', 'LEASEHOLD_TLS_CERT');
  const clientCa = set(env, 'LEASEHOLD_TLS_CLIENT_CA');
  return {
    tls: {
      cert: readFileSync(cert),
      key: readFileSync(key),
      ...(clientCa === undefined ? {} : { clientCa: readFileSync(clientCa) }),
    },
  };
}
