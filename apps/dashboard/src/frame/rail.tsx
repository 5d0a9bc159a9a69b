'use client';
import { clsx } from 'clsx';
import { Keyboard, Menu as MenuIcon } from 'lucide-react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useT } from '../i18n';
import { Tip } from '../ui/tip';
import { isHere, NAV } from './nav';

function Mark() {
  return (
    <svg viewBox="0 0 32 32" className="size-6" aria-hidden>
      <path d="M9 6v15a4 4 0 0 0 4 4h10" fill="none" stroke="currentColor" strokeWidth="4" strokeLinecap="round" />
      <circle cx="22" cy="11" r="4.2" className="fill-started" />
    </svg>
  );
}

interface Props {
  readonly failing: number;
  readonly onKeys: () => void;
  readonly onMenu: () => void;
}

/** The icon rail; on a phone the bar at the bottom, with a menu of all pages. */
export function Rail({ failing, onKeys, onMenu }: Props) {
  const t = useT();
  const pathname = usePathname();
  return (
    <nav
      aria-label={t('nav.main')}
      className="border-line bg-bg z-30 flex items-center gap-1 max-sm:fixed max-sm:inset-x-0 max-sm:bottom-0 max-sm:h-14 max-sm:justify-around max-sm:border-t max-sm:px-1 sm:row-span-2 sm:flex-col sm:border-r sm:py-2.5"
    >
      <span className="text-ink mb-2 grid size-9 place-items-center max-sm:hidden" title="Leasehold">
        <Mark />
      </span>
      {NAV.map((item) => {
        const here = isHere(item, pathname);
        const Icon = item.icon;
        return (
          <Tip key={item.href} text={t(item.word)} side="right">
            <Link
              href={item.href}
              aria-current={here ? 'page' : undefined}
              className={clsx(
                'relative grid place-items-center rounded-lg transition-colors max-sm:h-12 max-sm:min-w-0 max-sm:flex-1 max-sm:content-center max-sm:gap-0.5 sm:size-9',
                item.wide === true && 'max-sm:hidden',
                here ? 'bg-accent/15 text-accent' : 'text-ink3 hover:bg-ink/6 hover:text-ink',
              )}
            >
              <Icon className="size-4.5" aria-hidden />
              <span className="text-2xs max-w-15 truncate max-sm:tracking-tight sm:sr-only">{t(item.word)}</span>
              {item.href === '/' && failing > 0 && (
                <span className="bg-failure text-onaccent absolute -top-0.5 -right-0.5 rounded-full px-1 text-[10px] leading-3.5 font-bold">
                  <span aria-hidden>{failing > 99 ? '99+' : failing}</span>
                  <span className="sr-only">{t('nav.failing', { n: failing })}</span>
                </span>
              )}
            </Link>
          </Tip>
        );
      })}
      <button
        type="button"
        onClick={onMenu}
        aria-haspopup="dialog"
        className="text-ink3 hover:bg-ink/6 hover:text-ink grid h-12 min-w-0 flex-1 place-items-center content-center gap-0.5 rounded-lg sm:hidden"
      >
        <MenuIcon className="size-4.5" aria-hidden />
        <span className="text-2xs max-w-15 truncate tracking-tight">{t('nav.more')}</span>
      </button>
      <Tip text={t('keys.title')} side="right">
        <button
          type="button"
          onClick={onKeys}
          aria-label={t('keys.title')}
          className="text-ink3 hover:bg-ink/6 hover:text-ink mt-auto grid size-9 place-items-center rounded-lg max-sm:hidden"
        >
          <Keyboard className="size-4.5" aria-hidden />
        </button>
      </Tip>
    </nav>
  );
}
