/** Whom this crawler may talk to. What submitters write is not trusted: without this, a task could read inner services. */
import { RefusedUrlError } from './errors.js';

/** A crawler that nobody configured reads this machine only. */
export const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** `host` or `host:port`, as in a URL; a host without a port allows all of its ports. */
export type AllowedHosts = ReadonlySet<string>;

export function readAllowed(text: string | undefined): AllowedHosts {
  const given = (text ?? '').split(',').map((host) => host.trim().toLowerCase());
  const hosts = given.filter((host) => host !== '');
  return new Set(hosts.length === 0 ? LOOPBACK : hosts);
}

/** The URL, if it may be read. Relative ones are taken from `base`. Asked again for every redirect. */
export function checkUrl(given: string, base: string | URL, allowed: AllowedHosts): URL {
  const url = parseUrl(given, base);
  if (url === null) throw new RefusedUrlError(`${JSON.stringify(given)} is not a URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new RefusedUrlError(`${url.protocol} is not read; use http: or https:`);
  }
  if (url.username !== '' || url.password !== '') throw new RefusedUrlError('a URL with a user name is not read');
  if (!allowed.has(url.hostname) && !allowed.has(url.host)) {
    throw new RefusedUrlError(`${url.host} is not an allowed host; allowed are ${[...allowed].join(', ')}`);
  }
  url.hash = '';
  return url;
}

export function parseUrl(given: string, base: string | URL): URL | null {
  return URL.canParse(given, String(base)) ? new URL(given, base) : null;
}
