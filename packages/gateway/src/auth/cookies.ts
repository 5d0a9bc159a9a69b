/** Cookies of ours: few, and each of one form. */

export interface CookieOptions {
  /** The board is reached by HTTPS only: the cookie gets `Secure` and the `__Host-` prefix. */
  readonly secure: boolean;
}

const CHARS_MAX = 8_192;

/** The value of one cookie. Of two of one name neither is believed: one of them is somebody else's. */
export function readCookie(header: string | string[] | undefined, name: string): string | undefined {
  if (typeof header !== 'string' || header.length > CHARS_MAX) return undefined;
  const values = header.split(';').flatMap((part) => {
    const at = part.indexOf('=');
    return at > 0 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

export type CookieName = 'session' | 'csrf' | 'login';

/** With `__Host-` a browser takes the cookie from this host only, by HTTPS only, and no sibling domain can set it. */
export function cookieName(what: CookieName, { secure }: CookieOptions): string {
  return `${secure ? '__Host-' : ''}leasehold-${what}`;
}

export interface CookieLife {
  /** 0 deletes it. */
  readonly maxAgeS: number;
  readonly sameSite: 'Strict' | 'Lax';
  /** False for the one that the page itself must read. */
  readonly httpOnly: boolean;
}

export function setCookie(what: CookieName, value: string, life: CookieLife, options: CookieOptions): string {
  return [
    `${cookieName(what, options)}=${value}`,
    'Path=/',
    `Max-Age=${life.maxAgeS}`,
    `SameSite=${life.sameSite}`,
    ...(life.httpOnly ? ['HttpOnly'] : []),
    ...(options.secure ? ['Secure'] : []),
  ].join('; ');
}
