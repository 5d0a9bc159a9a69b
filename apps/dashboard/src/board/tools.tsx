'use client';
import { TASK_SORTS, type TaskFilter, type TaskOrder, type TaskSort, type TasksUrl } from '@leasehold/wire';
import { Bookmark, ListFilter as FilterIcon, Search, X } from 'lucide-react';
import Link from 'next/link';
import { useEffect, useId, useRef, useState } from 'react';
import { useKeys } from '../frame/shortcuts';
import { useT, type PlainKey, type Translate } from '../i18n';
import { TASK_LOOK } from '../look/state';
import { useTime, type TimeFormat } from '../time';
import { Button, buttonClass } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { inputClass } from '../ui/field';
import { Menu, MenuItem, MenuLine } from '../ui/menu';
import { Facets } from './facets';
import { LayoutTools } from './layout-tools';
import { hrefOf, withFilter, without } from './use-url';
import { useViews } from './views';

interface Props {
  readonly state: TasksUrl;
  readonly go: (next: TasksUrl, how?: 'push' | 'replace') => void;
}

export function Tools({ state, go }: Props) {
  const t = useT();
  const [facets, setFacets] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2 px-3.5 py-2.5">
      <Button className="lg:hidden" onClick={() => setFacets(true)}>
        <FilterIcon className="size-3.5" aria-hidden />
        {t('board.filters')}
      </Button>
      <Dialog open={facets} onOpenChange={setFacets} title={t('board.filters')}>
        <Facets state={state} />
      </Dialog>
      <SearchBox state={state} go={go} />
      <Chips state={state} />
      <span className="grow" />
      <SortBox order={state.order} onOrder={(order) => go({ ...state, order })} />
      <LayoutTools state={state} go={go} />
      <ViewsMenu state={state} />
    </div>
  );
}

const SORT_WORDS: Readonly<Record<TaskSort, PlainKey>> = {
  created: 'sort.created',
  updated: 'sort.updated',
  schedule: 'sort.schedule',
  started: 'sort.started',
  ended: 'sort.ended',
  priority: 'sort.priority',
  attempt: 'sort.attempt',
  name: 'sort.name',
  queue: 'sort.queue',
};

function SortBox({ order, onOrder }: { order: TaskOrder; onOrder: (order: TaskOrder) => void }) {
  const t = useT();
  const id = useId();
  return (
    <span className="flex items-center gap-1.5">
      <label htmlFor={id} className="text-ink3 text-xs max-sm:sr-only">
        {t('board.sort')}
      </label>
      <select
        id={id}
        value={`${order.desc ? '-' : ''}${order.by}`}
        onChange={(event) => {
          const desc = event.target.value.startsWith('-');
          onOrder({ by: event.target.value.replace('-', '') as TaskSort, desc });
        }}
        className={inputClass('h-7.5! w-auto! text-xs!')}
      >
        {TASK_SORTS.flatMap((by) => [true, false].map((desc) => ({ by, desc }))).map(({ by, desc }) => (
          <option key={`${by}${desc}`} value={`${desc ? '-' : ''}${by}`}>
            {t(SORT_WORDS[by])} {desc ? '↓' : '↑'}
          </option>
        ))}
      </select>
    </span>
  );
}

/** What is typed goes to the URL after a pause; what the URL says comes back, unless somebody is typing. */
function SearchBox({ state, go }: Props) {
  const t = useT();
  const box = useRef<HTMLInputElement>(null);
  const asked = state.filter.q ?? '';
  const [text, setText] = useState(asked);
  const [typing, setTyping] = useState(false);
  useEffect(() => {
    if (!typing) setText(asked);
  }, [asked, typing]);
  useEffect(() => {
    if (!typing || text === asked) return;
    const timer = setTimeout(() => {
      go(
        withFilter(state, text.trim() === '' ? without(state.filter, 'q') : { ...state.filter, q: text.slice(0, 200) }),
        'replace',
      );
      setTyping(false);
    }, 250);
    return () => clearTimeout(timer);
  }, [typing, text, asked, state, go]);
  useEffect(() => {
    if (!typing) return;
    // Whoever follows a link has left: a search that comes after would take him back (report B28).
    const left = (event: MouseEvent): void => {
      if (event.target instanceof Element && event.target.closest('a[href]') !== null) setTyping(false);
    };
    document.addEventListener('click', left, true);
    return () => document.removeEventListener('click', left, true);
  }, [typing]);
  useKeys((key) => {
    if (key !== '/') return false;
    box.current?.focus();
    return true;
  });
  return (
    <span className="relative min-w-40 grow sm:max-w-64">
      <Search className="text-ink3 absolute top-2 left-2.5 size-3.5" aria-hidden />
      <input
        ref={box}
        type="search"
        value={text}
        onChange={(event) => {
          setTyping(true);
          setText(event.target.value);
        }}
        placeholder={t('board.search')}
        aria-label={t('board.search')}
        className={inputClass('h-7.5! pl-8')}
      />
    </span>
  );
}

interface Chip {
  readonly key: string;
  readonly label: string;
  readonly value: string;
  readonly off: TaskFilter;
}

const LISTS = ['name', 'queue', 'node', 'tag'] as const;

function chipsOf(filter: TaskFilter, t: Translate, time: TimeFormat): readonly Chip[] {
  const one = (part: keyof TaskFilter, label: string, value: string): Chip => ({
    key: part,
    label,
    value,
    off: without(filter, part),
  });
  return [
    ...(filter.state === undefined
      ? []
      : [one('state', t('facet.state'), filter.state.map((state) => t(TASK_LOOK[state].word)).join(', '))]),
    ...LISTS.flatMap((part) => {
      const values = filter[part];
      return values === undefined ? [] : [one(part, t(`facet.${part}`), values.join(', '))];
    }),
    ...(filter.workflow === undefined ? [] : [one('workflow', t('facet.workflow'), filter.workflow)]),
    ...(filter.error === undefined ? [] : [one('error', t('facet.error'), filter.error)]),
    ...(filter.from === undefined ? [] : [one('from', t('facet.from'), time.short(filter.from))]),
    ...(filter.to === undefined ? [] : [one('to', t('facet.to'), time.short(filter.to))]),
  ];
}

function Chips({ state }: { state: TasksUrl }) {
  const t = useT();
  const time = useTime();
  const chips = chipsOf(state.filter, t, time);
  return chips.map((chip) => (
    <span
      key={chip.key}
      className="border-line2 text-ink2 inline-flex h-7.5 max-w-72 items-center gap-1.5 rounded-md border pl-2 text-xs"
    >
      {chip.label}
      <b className="text-ink truncate font-semibold">{chip.value}</b>
      <Link
        href={hrefOf(withFilter(state, chip.off))}
        scroll={false}
        aria-label={t('board.removeFilter', { name: chip.label })}
        className="text-ink3 hover:text-ink grid h-full w-6 place-items-center"
      >
        <X className="size-3" aria-hidden />
      </Link>
    </span>
  ));
}

function ViewsMenu({ state }: { state: TasksUrl }) {
  const t = useT();
  const views = useViews();
  const [naming, setNaming] = useState(false);
  const search = hrefOf(state);
  const here = views.all.find((view) => view.href === search);
  return (
    <>
      <Menu
        trigger={
          <button type="button" className={buttonClass({}, 'max-w-44')}>
            <Bookmark className="size-3.5" aria-hidden />
            <span className="truncate">{here?.name ?? t('views.title')}</span>
          </button>
        }
      >
        {views.all.map((view) => (
          <MenuItem key={view.name} onSelect={() => views.open(view)}>
            {view.name}
          </MenuItem>
        ))}
        {views.all.length > 0 && <MenuLine />}
        {here === undefined ? (
          <MenuItem onSelect={() => setNaming(true)}>{t('views.save')}</MenuItem>
        ) : (
          <MenuItem danger onSelect={() => views.remove(here.name)}>
            {t('views.remove', { name: here.name })}
          </MenuItem>
        )}
      </Menu>
      <Dialog open={naming} onOpenChange={setNaming} title={t('views.save')} description={search}>
        <form
          className="flex gap-2 pt-2"
          onSubmit={(event) => {
            event.preventDefault();
            const name = new FormData(event.currentTarget).get('name');
            if (typeof name !== 'string' || name.trim() === '') return;
            views.save({ name: name.trim().slice(0, 60), href: search });
            setNaming(false);
          }}
        >
          <input
            name="name"
            maxLength={60}
            autoFocus
            aria-label={t('views.name')}
            placeholder={t('views.name')}
            className={inputClass()}
          />
          <Button type="submit" kind="primary" className="h-8">
            {t('action.save')}
          </Button>
        </form>
      </Dialog>
    </>
  );
}
