'use client';
import { clsx } from 'clsx';
import { CornerDownLeft, Search } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { Dialog as Radix } from 'radix-ui';
import { useId, useMemo, useState, type KeyboardEvent } from 'react';
import { LANGUAGES, useT, type Language } from '../i18n';
import { useSummary } from '../live/hooks';
import { STATE_ORDER, TASK_LOOK } from '../look/state';
import { NAV } from './nav';
import { THEMES, usePrefs } from './prefs';

interface Command {
  readonly id: string;
  readonly label: string;
  readonly group: string;
  readonly run: () => void;
}

function useCommands(): readonly Command[] {
  const t = useT();
  const router = useRouter();
  const prefs = usePrefs();
  const { facets } = useSummary();
  return useMemo(() => {
    const go = (href: string, label: string, group: string): Command => ({
      id: href,
      label,
      group,
      run: () => router.push(href),
    });
    return [
      ...NAV.map((item) => go(item.href, t(item.word), t('palette.pages'))),
      go('/tasks/new', t('action.newTask'), t('palette.actions')),
      go('/workflows/new', t('action.newWorkflow'), t('palette.actions')),
      ...STATE_ORDER.map((state) =>
        go(`/tasks?state=${state}`, t('palette.tasksIn', { state: t(TASK_LOOK[state].word) }), t('palette.filters')),
      ),
      ...(facets?.queues ?? []).map(({ name }) =>
        go(`/tasks?queue=${encodeURIComponent(name)}`, t('palette.queue', { name }), t('palette.filters')),
      ),
      ...(facets?.names ?? []).map(({ name }) =>
        go(`/tasks?name=${encodeURIComponent(name)}`, t('palette.name', { name }), t('palette.filters')),
      ),
      ...THEMES.map((theme) => ({
        id: `theme-${theme}`,
        label: `${t('theme.title')}: ${t(`theme.${theme}`)}`,
        group: t('palette.settings'),
        run: () => prefs.set('theme', theme),
      })),
      ...(Object.entries(LANGUAGES) as [Language, string][]).map(([language, label]) => ({
        id: `language-${language}`,
        label: `${t('language.title')}: ${label}`,
        group: t('palette.settings'),
        run: () => prefs.set('language', language),
      })),
    ];
  }, [t, router, prefs, facets]);
}

const ID_LIKE = /^[A-Za-z0-9._-]{8,200}$/;

/** What contains every word typed; a text that may be an id can be opened as one, anything else searched for. */
function find(
  commands: readonly Command[],
  text: string,
  jump: (id: string) => Command,
  seek: (q: string) => Command,
): readonly Command[] {
  const typed = text.trim();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  if (typed === '') return found;
  return [...(ID_LIKE.test(typed) && /\d/.test(typed) ? [jump(typed)] : []), ...found.slice(0, 40), seek(typed)];
}

export function Palette({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const t = useT();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#0009]" />
        <Radix.Content
          aria-describedby={undefined}
          className="border-line2 bg-raised shadow-pop fixed top-[14vh] left-1/2 z-50 w-[calc(100vw-24px)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border"
        >
          <Radix.Title className="sr-only">{t('palette.title')}</Radix.Title>
          <PaletteBody onDone={() => onOpenChange(false)} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function PaletteBody({ onDone }: { onDone: () => void }) {
  const t = useT();
  const router = useRouter();
  const listId = useId();
  const commands = useCommands();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useMemo(
    () =>
      find(
        commands,
        text,
        (id) => ({
          id: 'jump',
          label: t('palette.open', { id }),
          group: t('palette.actions'),
          run: () => router.push(`/tasks/${encodeURIComponent(id)}`),
        }),
        (q) => ({
          id: 'seek',
          label: t('palette.seek', { q }),
          group: t('palette.filters'),
          run: () => router.push(`/tasks?q=${encodeURIComponent(q)}`),
        }),
      ),
    [commands, text, t, router],
  );
  const active = Math.min(at, found.length - 1);
  const take = (command: Command | undefined): void => {
    if (command === undefined) return;
    onDone();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setAt((active + 1) % Math.max(1, found.length));
    else if (event.key === 'ArrowUp') setAt((active - 1 + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter') take(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="border-line flex items-center gap-2.5 border-b px-3.5">
        <Search className="text-ink3 size-4" aria-hidden />
        <input
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={`${listId}-${active}`}
          aria-label={t('palette.placeholder')}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
          placeholder={t('palette.placeholder')}
          className="h-11 w-full bg-transparent text-base outline-none"
        />
      </div>
      <div id={listId} role="listbox" aria-label={t('palette.title')} className="max-h-[46vh] overflow-auto p-1.5">
        {found.map((command, index) => (
          <div
            key={command.id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === active}
            ref={index === active ? (row) => row?.scrollIntoView({ block: 'nearest' }) : undefined}
            onPointerMove={() => setAt(index)}
            onClick={() => take(command)}
            className={clsx(
              'flex cursor-pointer items-center gap-3 rounded-md px-2.5 py-1.5',
              index === active && 'bg-accent/14',
            )}
          >
            <span className="min-w-0 grow truncate">{command.label}</span>
            <span className="text-ink3 text-xs">{command.group}</span>
            {index === active && <CornerDownLeft className="text-ink3 size-3.5" aria-hidden />}
          </div>
        ))}
        {found.length === 0 && <p className="text-ink3 px-2.5 py-3">{t('palette.nothing')}</p>}
      </div>
    </>
  );
}
