/**
 * Whether a change was meant by whoever's browser sends it. A browser that says `Sec-Fetch-Site` was judged by that
 * already; one that does not (plain HTTP in a network, old ones) must send the token that only our own page can read.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Identity } from '../guard/identity.js';
import { ProblemError } from '../rest/problems.js';
import { sameSecret } from './proxy.js';

export const CSRF_HEADER = 'x-csrf-token';

/** @throws ProblemError `bad-origin`, saying which check failed. */
export function checkForgery(headers: IncomingHttpHeaders, identity: Identity): void {
  if (headers['sec-fetch-site'] === 'same-origin') return;
  const { csrfToken, ambient } = identity;
  if (csrfToken !== undefined) {
    const shown = headers[CSRF_HEADER];
    if (typeof shown === 'string' && sameSecret(shown, csrfToken)) return;
    throw new ProblemError(
      'bad-origin',
      'X-CSRF-Token: the browser does not say where the request comes from (Sec-Fetch-Site), and the token is missing or wrong; reload the page',
    );
  }
  // An Origin that is there has been checked.
  if (ambient !== true || headers.origin !== undefined) return;
  throw new ProblemError('bad-origin', 'Origin: neither Origin nor Sec-Fetch-Site says where the request comes from');
}
