import { basePath } from '../base-path';

/** Nobody is signed in any more: to the login, and from there back to where one was. */
export function toLogin(): void {
  const { pathname, search } = window.location;
  const here = pathname.slice(basePath.length) || '/';
  if (here === '/login') return;
  window.location.assign(`${basePath}/login?to=${encodeURIComponent(`${here}${search}`)}`);
}

/** What a change carries where the browser does not say where it comes from: only a page of ours can read it. */
export function csrfHeader(): Readonly<Record<string, string>> {
  const value = /(?:^|; )(?:__Host-)?leasehold-csrf=([\w-]+)/.exec(document.cookie)?.[1];
  return value === undefined ? {} : { 'x-csrf-token': value };
}
