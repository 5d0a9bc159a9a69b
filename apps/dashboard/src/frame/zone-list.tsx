'use client';
import { useMemo, useState } from 'react';
import { useT } from '../i18n';
import { makeTimeFormat, useNow } from '../time';
import { inputClass } from '../ui/field';
import { usePrefs } from './prefs';

function allZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
}

export function ZoneList({ onPick }: { onPick: (zone: string) => void }) {
  const t = useT();
  const { language, zone: current } = usePrefs();
  const now = useNow();
  const [text, setText] = useState('');
  const zones = useMemo(allZones, []);
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase().replaceAll(' ', '_');
    const first = wanted === '' ? [...new Set([own, current, 'UTC'])] : [];
    return [...first, ...zones.filter((zone) => zone.toLowerCase().includes(wanted) && !first.includes(zone))].slice(
      0,
      60,
    );
  }, [text, zones, own, current]);
  return (
    <div>
      <input
        className={inputClass('mb-2')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder={t('zone.search')}
        aria-label={t('zone.search')}
      />
      <ul className="max-h-80 overflow-auto" aria-label={t('zone.title')}>
        {found.map((zone) => (
          <li key={zone}>
            <button
              type="button"
              onClick={() => onPick(zone)}
              aria-pressed={zone === current}
              className="hover:bg-accent/12 aria-pressed:text-accent flex w-full items-center gap-3 rounded-md px-2 py-1.5 text-left aria-pressed:font-semibold"
            >
              <span className="min-w-0 grow truncate">{zone}</span>
              {zone === own && <span className="text-ink3 text-xs font-normal">{t('zone.own')}</span>}
              <span className="text-ink3 text-xs font-normal">{makeTimeFormat(zone, language).minute(now)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
