/**
 * What a request must show before anything else is looked at: a Host that is ours (a rebound name is not), and, for what
 * changes something and for sockets, an Origin that is our own. A refusal says which check failed.
 */
import type { IncomingHttpHeaders } from 'node:http';

export interface OriginOptions {
  /** Host names or host:port that are served besides loopback names, exact. */
  readonly allowedHosts: readonly string[];
  /** Origins besides the own one, exact: `https://board.example.com`. */
  readonly allowedOrigins: readonly string[];
}

export interface Refusal {
  readonly code: 'bad-host' | 'bad-origin';
  readonly detail: string;
}

const LOOPBACK = /^(?:localhost|(?:[a-z0-9-]{1,63}\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** True for addresses that only this machine reaches. `undefined` and wildcard addresses are not. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  return (
    /^127(?:\.\d{1,3}){3}$/.test(address) ||
    address === '::1' ||
    address === 'localhost' ||
    address === '::ffff:127.0.0.1'
  );
}

function splitHost(host: string): { readonly name: string } | undefined {
  const match = /^(\[[0-9a-f:.]{2,60}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/i.exec(host);
  return match?.[1] === undefined ? undefined : { name: match[1].toLowerCase() };
}

export function checkHost(headers: IncomingHttpHeaders, options: OriginOptions): Refusal | undefined {
  const { host } = headers;
  const parts = host === undefined ? undefined : splitHost(host);
  const known =
    parts !== undefined &&
    host !== undefined &&
    (isLoopbackName(parts.name) ||
      options.allowedHosts.some(
        (each) => each.toLowerCase() === parts.name || each.toLowerCase() === host.toLowerCase(),
      ));
  if (known) return undefined;
  return {
    code: 'bad-host',
    detail: 'the Host header names a host this server does not serve; add it to the allowed hosts if it is yours',
  };
}

/** For requests that change something, and for sockets. A program without either header is no browser page. */
export function checkOrigin(headers: IncomingHttpHeaders, options: OriginOptions): Refusal | undefined {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return { code: 'bad-origin', detail: 'Sec-Fetch-Site: the request comes from another site' };
  }
  if (origin === undefined || options.allowedOrigins.includes(origin)) return undefined;
  const own = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
  if (own !== undefined && own.toLowerCase() === host?.toLowerCase()) return undefined;
  return { code: 'bad-origin', detail: 'Origin: the request comes from a page of another origin' };
}
