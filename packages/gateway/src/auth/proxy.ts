/** A proxy that has signed people in and says who they are. It is believed only when it shows that it is the proxy. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Credentials, Identity } from '../guard/identity.js';
import { roleOfGroups, type ProxyOptions } from './options.js';
import { permissionsOf } from './roles.js';

export const PROXY_SECRET_HEADER = 'x-leasehold-proxy-secret';

export function identityByProxy(options: ProxyOptions, credentials: Credentials): Identity | undefined {
  if (!isProxy(options, credentials)) return undefined;
  const { headers } = credentials;
  const user = headers[options.userHeader];
  if (typeof user !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(user)) return undefined;
  const groups = listOf(headers[options.groupsHeader]);
  const role = roleOfGroups(groups, options.roles);
  if (role === undefined) return undefined;
  const address = forwardedFor(headers['x-forwarded-for']) ?? credentials.address;
  return {
    actor: { kind: 'operator', name: user, role, method: 'proxy', address },
    permissions: permissionsOf(role),
    credential: `proxy ${user}`,
    ambient: true,
  };
}

function isProxy({ secret, peers = [] }: ProxyOptions, { headers, address, certified }: Credentials): boolean {
  const shown = headers[PROXY_SECRET_HEADER];
  if (secret !== undefined) return typeof shown === 'string' && sameSecret(shown, secret);
  return certified === true && peers.includes(address.replace(/^::ffff:/, ''));
}

/** In a time that says nothing about where they differ, whatever their lengths. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function listOf(header: string | string[] | undefined): readonly string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  return text
    .slice(0, 8_192)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The last entry is the one our proxy wrote; those before it were written by whoever came to it. */
function forwardedFor(header: string | string[] | undefined): string | undefined {
  const last = listOf(header).at(-1);
  return last !== undefined && /^[0-9a-f.:]{2,45}$/i.test(last) ? last : undefined;
}
