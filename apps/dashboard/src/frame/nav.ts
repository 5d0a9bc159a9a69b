import { Boxes, GitFork, KeyRound, LayoutList, ListTree, Radar, Server, type LucideIcon } from 'lucide-react';
import type { PlainKey } from '../i18n';

export interface NavItem {
  readonly href: string;
  readonly word: PlainKey;
  readonly icon: LucideIcon;
  /** Second key after `g`. */
  readonly key: string;
}

/** Only pages that exist. */
export const NAV: readonly NavItem[] = [
  { href: '/', word: 'nav.triage', icon: Radar, key: 'o' },
  { href: '/tasks', word: 'nav.tasks', icon: LayoutList, key: 't' },
  { href: '/workflows', word: 'nav.workflows', icon: GitFork, key: 'w' },
  { href: '/locks', word: 'nav.locks', icon: KeyRound, key: 'l' },
  { href: '/nodes', word: 'nav.nodes', icon: Server, key: 'n' },
  { href: '/queues', word: 'nav.queues', icon: Boxes, key: 'q' },
];

export const WORKFLOW_ICON = ListTree;

export function isHere(item: NavItem, pathname: string): boolean {
  return item.href === '/' ? pathname === '/' : pathname === item.href || pathname.startsWith(`${item.href}/`);
}
