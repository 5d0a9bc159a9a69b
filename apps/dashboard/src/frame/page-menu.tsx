'use client';
import { clsx } from 'clsx';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useT } from '../i18n';
import { DialogPanel } from '../ui/dialog-panel';
import { isHere, NAV } from './nav';

/** Every page, for a screen that has no room for the rail. */
export function PageMenu({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const t = useT();
  const pathname = usePathname();
  return (
    <DialogPanel open={open} onOpenChange={onOpenChange} title={t('nav.more')}>
      <ul className="grid grid-cols-2 gap-1 pt-1">
        {NAV.map((item) => {
          const here = isHere(item, pathname);
          const Icon = item.icon;
          return (
            <li key={item.href}>
              <Link
                href={item.href}
                aria-current={here ? 'page' : undefined}
                onClick={() => onOpenChange(false)}
                className={clsx(
                  'flex h-11 items-center gap-3 rounded-lg px-3',
                  here ? 'bg-accent/15 text-accent font-semibold' : 'hover:bg-ink/6',
                )}
              >
                <Icon className="size-4.5 shrink-0" aria-hidden />
                <span className="min-w-0 truncate">{t(item.word)}</span>
              </Link>
            </li>
          );
        })}
      </ul>
    </DialogPanel>
  );
}
