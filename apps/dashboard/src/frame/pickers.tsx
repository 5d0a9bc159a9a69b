'use client';
import { Globe, Languages, Moon, Settings2, UserRound } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { LANGUAGES, useT, type Language } from '../i18n';
import { buttonClass } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Menu, MenuChoices, MenuLabel, MenuLine } from '../ui/menu';
import { useTime } from '../time';
import { THEMES, usePrefs } from './prefs';

const UserItems = lazy(async () => ({ default: (await import('../access/user-items')).UserItems }));
const ZoneList = lazy(async () => ({ default: (await import('./zone-list')).ZoneList }));

export function ZonePicker() {
  const t = useT();
  const prefs = usePrefs();
  const time = useTime();
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        aria-label={t('zone.button', { zone: time.zone })}
        className={buttonClass({}, 'text-ink2! font-normal! max-lg:hidden')}
      >
        <Globe className="size-3.5" aria-hidden />
        {time.zone}
      </button>
      <ZoneDialog open={open} onOpenChange={setOpen} onPick={(zone) => prefs.set('zone', zone)} />
    </>
  );
}

function ZoneDialog({
  open,
  onOpenChange,
  onPick,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onPick: (zone: string) => void;
}) {
  const t = useT();
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('zone.title')} description={t('zone.note')}>
      <Suspense>
        <ZoneList
          onPick={(zone) => {
            onPick(zone);
            onOpenChange(false);
          }}
        />
      </Suspense>
    </Dialog>
  );
}

/** Theme, language, zone (where the bar has no room for it), and who is here. */
export function PrefsMenu({ who }: { who: string }) {
  const t = useT();
  const prefs = usePrefs();
  const time = useTime();
  const [zoneOpen, setZoneOpen] = useState(false);
  return (
    <>
      <Menu
        trigger={
          <button type="button" aria-label={t('prefs.button')} className={buttonClass({ kind: 'ghost', size: 'icon' })}>
            <Settings2 className="size-4" aria-hidden />
          </button>
        }
      >
        <MenuLabel>
          <span className="flex items-center gap-1.5">
            <UserRound className="size-3" aria-hidden />
            {who}
          </span>
        </MenuLabel>
        <MenuLine />
        <UserItems />
        <MenuLabel>
          <span className="flex items-center gap-1.5">
            <Moon className="size-3" aria-hidden />
            {t('theme.title')}
          </span>
        </MenuLabel>
        <MenuChoices
          value={prefs.theme}
          onChange={(theme) => prefs.set('theme', theme)}
          choices={THEMES.map((theme) => [theme, t(`theme.${theme}`)] as const)}
        />
        <MenuLine />
        <MenuLabel>
          <span className="flex items-center gap-1.5">
            <Languages className="size-3" aria-hidden />
            {t('language.title')}
          </span>
        </MenuLabel>
        <MenuChoices
          value={prefs.language}
          onChange={(language) => prefs.set('language', language)}
          choices={Object.entries(LANGUAGES) as [Language, string][]}
        />
        <MenuLine />
        <MenuChoices
          value=""
          onChange={() => setZoneOpen(true)}
          choices={[['zone', `${t('zone.title')}: ${time.zone}`]]}
        />
      </Menu>
      <ZoneDialog open={zoneOpen} onOpenChange={setZoneOpen} onPick={(zone) => prefs.set('zone', zone)} />
    </>
  );
}
