import {
  Boxes,
  Bug,
  CalendarClock,
  Database,
  GitFork,
  KeyRound,
  Layers,
  LayoutList,
  Radar,
  ScrollText,
  Server,
  type LucideIcon,
} from 'lucide-react';
import type { PlainKey } from '../i18n';

export interface NavItem {
  readonly href: string;
  readonly word: PlainKey;
  readonly icon: LucideIcon;
  /** Second key after `g`. */
  readonly key: string;
  /** Not in the bar of a phone, which has room for six; the palette leads there. */
  readonly wide?: true;
}

/** Only pages that exist. */
export const NAV: readonly NavItem[] = [
  { href: '/', word: 'nav.triage', icon: Radar, key: 'o' },
  { href: '/tasks', word: 'nav.tasks', icon: LayoutList, key: 't' },
  { href: '/workflows', word: 'nav.workflows', icon: GitFork, key: 'w' },
  { href: '/locks', word: 'nav.locks', icon: KeyRound, key: 'l' },
  { href: '/nodes', word: 'nav.nodes', icon: Server, key: 'n' },
  { href: '/queues', word: 'nav.queues', icon: Boxes, key: 'q' },
  { href: '/errors', word: 'nav.errors', icon: Bug, key: 'e', wide: true },
  { href: '/schedules', word: 'nav.schedules', icon: CalendarClock, key: 's', wide: true },
  { href: '/bulk', word: 'nav.bulk', icon: Layers, key: 'b', wide: true },
  { href: '/audit', word: 'nav.audit', icon: ScrollText, key: 'a', wide: true },
  { href: '/cluster', word: 'nav.cluster', icon: Database, key: 'c', wide: true },
];

export function isHere(item: NavItem, pathname: string): boolean {
  return item.href === '/' ? pathname === '/' : pathname === item.href || pathname.startsWith(`${item.href}/`);
}
