import {
  Activity,
  Boxes,
  Bug,
  CalendarClock,
  Database,
  GitFork,
  History,
  KeyRound,
  Layers,
  LayoutList,
  Radar,
  ScrollText,
  Server,
  Settings2,
  type LucideIcon,
} from 'lucide-react';
import type { PlainKey } from '../i18n';

export interface NavItem {
  readonly href: string;
  readonly word: PlainKey;
  readonly icon: LucideIcon;
  /** Second key after `g`. */
  readonly key: string;
  /** Not in the bar of a phone, which has room for five and a menu of all. */
  readonly wide?: true;
}

/** Only pages that exist. */
export const NAV: readonly NavItem[] = [
  { href: '/', word: 'nav.triage', icon: Radar, key: 'o' },
  { href: '/tasks', word: 'nav.tasks', icon: LayoutList, key: 't' },
  { href: '/workflows', word: 'nav.workflows', icon: GitFork, key: 'w' },
  { href: '/locks', word: 'nav.locks', icon: KeyRound, key: 'l', wide: true },
  { href: '/nodes', word: 'nav.nodes', icon: Server, key: 'n', wide: true },
  { href: '/queues', word: 'nav.queues', icon: Boxes, key: 'q' },
  { href: '/errors', word: 'nav.errors', icon: Bug, key: 'e' },
  { href: '/schedules', word: 'nav.schedules', icon: CalendarClock, key: 's', wide: true },
  { href: '/bulk', word: 'nav.bulk', icon: Layers, key: 'b', wide: true },
  { href: '/history', word: 'nav.history', icon: History, key: 'h', wide: true },
  { href: '/events', word: 'nav.events', icon: Activity, key: 'v', wide: true },
  { href: '/audit', word: 'nav.audit', icon: ScrollText, key: 'a', wide: true },
  { href: '/cluster', word: 'nav.cluster', icon: Database, key: 'c', wide: true },
  { href: '/settings', word: 'nav.settings', icon: Settings2, key: ',', wide: true },
];

export function isHere(item: NavItem, pathname: string): boolean {
  return item.href === '/' ? pathname === '/' : pathname === item.href || pathname.startsWith(`${item.href}/`);
}
