'use client';
import type { TaskRow, TasksUrl, Window } from '@leasehold/wire';
import type { TaskState } from '@leasehold/core/model';
import { useVirtualizer } from '@tanstack/react-virtual';
import { clsx } from 'clsx';
import Link from 'next/link';
import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { useFaded } from '../api/acting';
import { useT } from '../i18n';
import { useTasks } from '../live/hooks';
import { grouped, shortId } from '../look/number';
import { STATE_ORDER, TASK_LOOK } from '../look/state';
import { Tag } from '../ui/layout';
import { LookIcon } from '../ui/state-mark';
import { SecondLine } from './cells';
import { RowTime } from './row-time';
import type { Selection } from './use-selection';
import { useWindow } from './use-window';

const CARD_PX = 76;
const FIRST: Window = { offset: 0, limit: 60 };

/** A column for each state. What a task's state is, etcd says: cards are looked at and selected, never dragged. */
export function Kanban({ state, selection }: { state: TasksUrl; selection: Selection }) {
  const t = useT();
  const wanted = state.filter.state;
  const shown = STATE_ORDER.filter((each) => wanted === undefined || wanted.includes(each));
  return (
    <div
      role="group"
      aria-label={t('kanban.label')}
      className="border-line flex min-h-0 flex-1 overflow-x-auto border-t"
    >
      <p className="sr-only">{t('kanban.note')}</p>
      {shown.map((each) => (
        <StateColumn key={each} of={each} url={state} selection={selection} />
      ))}
    </div>
  );
}

function StateColumn({ of, url, selection }: { of: TaskState; url: TasksUrl; selection: Selection }) {
  const t = useT();
  const { filter, order } = url;
  const asked = useMemo(() => ({ ...filter, state: [of] }), [filter, of]);
  const live = useTasks({ filter: asked, order, window: FIRST });
  const { view, freeze, release } = live;
  const scroller = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState(false);
  const [scrolled, setScrolled] = useState(false);
  const frozen = hover || scrolled || selection.ids.size > 0;
  useEffect(() => freeze(frozen), [freeze, frozen]);
  const { see } = selection;
  useEffect(() => see(view?.rows ?? []), [see, view?.rows]);
  const cards = useVirtualizer({
    count: view?.total ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD_PX,
    overscan: 4,
  });
  const items = cards.getVirtualItems();
  useWindow(live, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  const departed = useMemo(() => new Set(view?.departed), [view?.departed]);
  const look = TASK_LOOK[of];
  return (
    <section
      aria-label={t(look.word)}
      data-column={of}
      className={clsx(
        'border-line flex w-60 min-w-60 flex-1 flex-col border-r last:border-r-0',
        live.old && 'opacity-60',
      )}
    >
      <h2 className="border-line flex h-9 items-center gap-2 border-b px-3 text-xs font-semibold">
        <LookIcon look={look} />
        <span className={look.text}>{t(look.word)}</span>
        <span className="text-ink3 font-normal">{view === undefined ? '' : grouped(view.total)}</span>
        <span className="grow" />
        {view !== undefined && view.frozen && view.newCount > 0 && (
          <button
            type="button"
            onClick={() => {
              release();
              scroller.current?.scrollTo({ top: 0 });
            }}
            className="bg-accent text-onaccent text-2xs rounded-full px-2 py-0.5"
          >
            {t('board.showNew', { n: grouped(view.newCount) })}
          </button>
        )}
      </h2>
      <div
        ref={scroller}
        tabIndex={0}
        role="group"
        aria-label={t(look.word)}
        onPointerEnter={(event) => event.pointerType === 'mouse' && setHover(true)}
        onPointerLeave={() => setHover(false)}
        onScroll={(event) => setScrolled(event.currentTarget.scrollTop > 8)}
        className="min-h-0 flex-1 overflow-y-auto"
      >
        {view?.total === 0 && <p className="text-ink3 px-3 py-3 text-xs">{t('kanban.none')}</p>}
        {/* Not before there are cards: a style that the server writes into the page breaks its policy. */}
        {view !== undefined && view.total > 0 && (
          <ul className="relative" style={{ height: cards.getTotalSize() }}>
            {items.map((item) => {
              const row = view?.rows[item.index - view.offset];
              return row === undefined ? null : (
                <Card
                  key={row.id}
                  row={row}
                  top={item.start}
                  selected={selection.ids.has(row.id)}
                  departed={departed.has(row.id)}
                  onSelect={selection.toggle}
                />
              );
            })}
          </ul>
        )}
      </div>
    </section>
  );
}

interface CardProps {
  readonly row: TaskRow;
  readonly top: number;
  readonly selected: boolean;
  readonly departed: boolean;
  readonly onSelect: (row: TaskRow, range: boolean) => void;
}

const Card = memo(function Card({ row, top, selected, departed, onSelect }: CardProps) {
  const t = useT();
  const faded = useFaded(row.id);
  return (
    <li
      data-task={row.id}
      style={{ transform: `translateY(${top}px)` }}
      className={clsx(
        'border-line absolute inset-x-0 top-0 flex h-19 flex-col gap-0.5 border-b px-3 py-2',
        selected ? 'bg-accent/9' : 'hover:bg-ink/3',
        departed && 'opacity-45',
        faded && 'pointer-events-none opacity-45',
      )}
    >
      <div className="flex items-center gap-2">
        <Link
          href={`/tasks/${encodeURIComponent(row.id)}`}
          prefetch={false}
          className="min-w-0 truncate font-semibold hover:underline"
        >
          {row.name}
        </Link>
        <span className="text-2xs text-ink3 font-mono">{shortId(row.id)}</span>
        <span className="grow" />
        <input
          type="checkbox"
          checked={selected}
          onChange={() => onSelect(row, false)}
          aria-label={t('row.select', { name: row.name })}
          className="size-3.5 shrink-0"
        />
      </div>
      <SecondLine row={row} />
      <div className="text-2xs text-ink3 flex items-center gap-2">
        <Tag className="text-2xs!">{row.queue}</Tag>
        <span className="grow" />
        <RowTime row={row} />
      </div>
    </li>
  );
});
