'use client';
import { usePathname, useSearchParams } from 'next/navigation';

/** Pages that are about now, or about time itself: `?rev=` means nothing there, or something of their own. */
const LIVE_ONLY = /^\/(?:history|events|audit|cluster|settings|tokens|bulk|tasks\/new|workflows\/new)(?:\/|$)/;

export function isOfPast(pathname: string): boolean {
  return !LIVE_ONLY.test(pathname);
}

/** The revision that the page is to show; undefined: the live board. The address alone says it, so a sent link shows the same. */
export function useRev(): string | undefined {
  const pathname = usePathname();
  const rev = useSearchParams().get('rev');
  return rev !== null && /^[1-9]\d{0,18}$/.test(rev) && isOfPast(pathname) ? rev : undefined;
}

/** An address with the revision put in; one that has its own, or is about now, stays as it is. */
export function withRev(href: string, rev: string | undefined): string {
  const [path = '', hash = ''] = href.split('#', 2);
  const [pathname = '', search = ''] = path.split('?', 2);
  const params = new URLSearchParams(search);
  if (rev === undefined || !isOfPast(pathname) || params.has('rev')) return href;
  params.set('rev', rev);
  return `${pathname}?${params.toString()}${hash === '' ? '' : `#${hash}`}`;
}
