'use client';
import { TASK_COLUMNS, type TaskColumn } from '@leasehold/wire';
import { Trash2 } from 'lucide-react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { COLUMN_LOOK, USUAL_COLUMNS } from '../board/columns';
import { useViews } from '../board/views';
import { LANGUAGES, useT, type Language } from '../i18n';
import { useNow, useTime } from '../time';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Page, PageHead, Section, TextLink } from '../ui/layout';
import { DENSITIES, ownColumns, SWITCHES, THEMES, usePrefs } from './prefs';

const ZoneList = lazy(async () => ({ default: (await import('./zone-list')).ZoneList }));

/** What this browser remembers: nothing here is stored on the server. */
export function SettingsPage() {
  const t = useT();
  return (
    <Page className="max-w-3xl!">
      <title>{`${t('nav.settings')} · Leasehold`}</title>
      <PageHead title={t('nav.settings')} note={t('settings.text')} />
      <div className="flex flex-col gap-7">
        <Look />
        <TimeSection />
        <ColumnsSection />
        <ShortcutsSection />
        <ViewsSection />
      </div>
    </Page>
  );
}

function Row({ term, help, children }: { term: string; help?: string; children: ReactNode }) {
  return (
    <div className="border-line flex flex-wrap items-center gap-x-6 gap-y-2 border-b py-2.5">
      <div className="min-w-0 grow">
        <p className="font-semibold">{term}</p>
        {help !== undefined && <p className="text-ink3 text-xs">{help}</p>}
      </div>
      {children}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly (readonly [T, string])[];
  readonly onChange: (value: T) => void;
}

function Choice<T extends string>({ label, value, choices, onChange }: ChoiceProps<T>) {
  return (
    <fieldset className="border-line2 flex rounded-md border">
      <legend className="sr-only">{label}</legend>
      {choices.map(([choice, word]) => (
        <label
          key={choice}
          className="text-ink2 has-checked:bg-accent/13 has-checked:text-ink has-focus-visible:ring-accent/50 cursor-pointer px-3 py-1 text-xs first-of-type:rounded-l-md last-of-type:rounded-r-md has-checked:font-semibold has-focus-visible:ring-2"
        >
          <input
            type="radio"
            name={label}
            checked={choice === value}
            onChange={() => onChange(choice)}
            className="sr-only"
          />
          {word}
        </label>
      ))}
    </fieldset>
  );
}

function Look() {
  const t = useT();
  const prefs = usePrefs();
  return (
    <Section title={t('settings.look')}>
      <Row term={t('theme.title')}>
        <Choice
          label={t('theme.title')}
          value={prefs.theme}
          choices={THEMES.map((theme) => [theme, t(`theme.${theme}`)] as const)}
          onChange={(theme) => prefs.set('theme', theme)}
        />
      </Row>
      <Row term={t('language.title')}>
        <Choice
          label={t('language.title')}
          value={prefs.language}
          choices={Object.entries(LANGUAGES) as [Language, string][]}
          onChange={(language) => prefs.set('language', language)}
        />
      </Row>
      <Row term={t('settings.density')} help={t('settings.densityText')}>
        <Choice
          label={t('settings.density')}
          value={prefs.density}
          choices={DENSITIES.map((density) => [density, t(`settings.density.${density}`)] as const)}
          onChange={(density) => prefs.set('density', density)}
        />
      </Row>
    </Section>
  );
}

function TimeSection() {
  const t = useT();
  const prefs = usePrefs();
  const time = useTime();
  const now = useNow();
  const [open, setOpen] = useState(false);
  return (
    <Section title={t('settings.time')}>
      <Row term={t('zone.title')} help={time.full(now).replace(/\.\d+/, '')}>
        <Button onClick={() => setOpen(true)}>{time.zone}</Button>
      </Row>
      <Dialog open={open} onOpenChange={setOpen} title={t('zone.title')} description={t('zone.note')}>
        <Suspense>
          <ZoneList
            onPick={(zone) => {
              prefs.set('zone', zone);
              setOpen(false);
            }}
          />
        </Suspense>
      </Dialog>
    </Section>
  );
}

function ColumnsSection() {
  const t = useT();
  const prefs = usePrefs();
  const shown = ownColumns(prefs);
  const toggle = (column: TaskColumn): void => {
    const next = TASK_COLUMNS.filter((each) => (each === column ? !shown.includes(each) : shown.includes(each)));
    prefs.set('columns', next.join() === USUAL_COLUMNS.join() ? '' : next.join());
  };
  return (
    <Section
      title={t('settings.columns')}
      aside={
        <button
          type="button"
          className="hover:text-ink disabled:opacity-50"
          disabled={prefs.columns === ''}
          onClick={() => prefs.set('columns', '')}
        >
          {t('columns.reset')}
        </button>
      }
    >
      <p className="text-ink3 pt-2 text-xs">{t('settings.columnsText')}</p>
      <div className="grid grid-cols-2 gap-x-6 gap-y-1 py-2 sm:grid-cols-4">
        {TASK_COLUMNS.map((column) => (
          <label key={column} className="flex items-center gap-2 py-0.5">
            <input
              type="checkbox"
              checked={shown.includes(column)}
              disabled={column === 'task'}
              onChange={() => toggle(column)}
              className="size-3.5"
            />
            {t(COLUMN_LOOK[column].head)}
          </label>
        ))}
      </div>
    </Section>
  );
}

function ShortcutsSection() {
  const t = useT();
  const prefs = usePrefs();
  return (
    <Section title={t('keys.title')}>
      <Row term={t('settings.shortcuts')} help={t('settings.shortcutsText')}>
        <Choice
          label={t('settings.shortcuts')}
          value={prefs.shortcuts}
          choices={SWITCHES.map((each) => [each, t(`settings.switch.${each}`)] as const)}
          onChange={(shortcuts) => prefs.set('shortcuts', shortcuts)}
        />
      </Row>
    </Section>
  );
}

function ViewsSection() {
  const t = useT();
  const views = useViews();
  return (
    <Section title={t('settings.views')} aside={views.all.length}>
      {views.all.length === 0 ? (
        <p className="text-ink2 py-3">{t('settings.noViews')}</p>
      ) : (
        <ul>
          {views.all.map((view) => (
            <li key={view.name} className="border-line flex items-center gap-3 border-b py-1.5">
              <TextLink href={view.href} className="font-semibold">
                {view.name}
              </TextLink>
              <code className="text-ink3 min-w-0 grow truncate font-mono text-xs">{view.href}</code>
              <Button
                kind="ghost"
                size="icon-sm"
                aria-label={t('settings.removeView', { name: view.name })}
                onClick={() => views.remove(view.name)}
              >
                <Trash2 className="size-3.5" aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
