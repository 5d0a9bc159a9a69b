'use client';
import type { Hello } from '@leasehold/wire';
import { Plus, Search, Workflow } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { useT, type Translate } from '../i18n';
import { useLink } from '../live/hooks';
import { buttonClass, LinkButton } from '../ui/button';
import { Kbd } from './shortcuts';
import { LivePill } from './live-pill';
import { isHere, NAV } from './nav';
import { PrefsMenu, ZonePicker } from './pickers';

/** Name and role; whoever is let in for being on this machine is nobody in particular. */
function whoText(user: Hello['user'], t: Translate): string {
  if (user === undefined || user.method === 'loopback') return t('frame.nobody');
  return [user.name, user.role].filter(Boolean).join(' · ');
}

export function TopBar({ onPalette }: { onPalette: () => void }) {
  const t = useT();
  const pathname = usePathname();
  const { hello } = useLink();
  const item = NAV.find((one) => isHere(one, pathname));
  return (
    <header className="border-line flex min-w-0 items-center gap-2 border-b px-3 sm:gap-3 sm:px-3.5">
      <p className="flex min-w-0 shrink items-baseline gap-1.5 whitespace-nowrap">
        <span className="font-semibold max-sm:hidden">{item === undefined ? 'Leasehold' : t(item.word)}</span>
        {hello !== undefined && (
          <>
            <span className="text-ink3 max-sm:hidden" aria-hidden>
              /
            </span>
            <span className="truncate font-semibold" title={t('frame.namespace', { environment: hello.environment })}>
              {hello.namespace}
            </span>
          </>
        )}
      </p>
      <LivePill />
      <span className="grow" />
      <button
        type="button"
        onClick={onPalette}
        aria-label={t('palette.title')}
        className={buttonClass({}, 'text-ink3! font-normal! max-md:hidden')}
      >
        {t('palette.button')}
        <span className="ml-3">
          <Kbd>Ctrl K</Kbd>
        </span>
      </button>
      <button
        type="button"
        onClick={onPalette}
        aria-label={t('palette.title')}
        className={buttonClass({ kind: 'ghost', size: 'icon' }, 'md:hidden')}
      >
        <Search className="size-4" aria-hidden />
      </button>
      <ZonePicker />
      <LinkButton href="/tasks/new" className="max-sm:size-7.5 max-sm:px-0!">
        <Plus className="size-3.5" aria-hidden />
        <span className="max-sm:sr-only">{t('action.newTask')}</span>
      </LinkButton>
      <LinkButton href="/workflows/new" kind="primary" className="max-md:hidden">
        <Workflow className="size-3.5" aria-hidden />
        {t('action.newWorkflow')}
      </LinkButton>
      <PrefsMenu who={whoText(hello?.user, t)} />
    </header>
  );
}
