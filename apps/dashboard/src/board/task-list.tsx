'use client';
import type { LeaseView, TaskFilter, TaskOrder, TaskRow, TaskSort } from '@leasehold/wire';
import { useVirtualizer } from '@tanstack/react-virtual';
import { clsx } from 'clsx';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useKeys } from '../frame/shortcuts';
import { useT } from '../i18n';
import { useRows, type Live } from '../live/hooks';
import { grouped } from '../look/number';
import { Loading } from '../ui/states';
import { ROW_GRID, ROW_HEIGHT, TaskRowView } from './task-row';
import type { Selection } from './use-selection';

const WINDOW = 120;
const MARGIN = 30;

interface Props {
  readonly live: Live<'tasks'>;
  readonly order: TaskOrder;
  readonly filter: TaskFilter;
  readonly selection: Selection;
  readonly onOrder: (order: TaskOrder) => void;
  readonly empty: ReactNode;
}

function useLeases(): ReadonlyMap<string, LeaseView> {
  const { view } = useRows('nodes');
  return useMemo(() => new Map((view?.rows ?? []).map((node) => [node.id, node.lease])), [view]);
}

/** Order and membership stand still while somebody looks closely: pointer inside, rows selected, a row current, or scrolled. */
function useFreeze(live: Live<'tasks'>, holds: readonly boolean[]): void {
  const frozen = holds.includes(true);
  const { freeze } = live;
  useEffect(() => freeze(frozen), [freeze, frozen]);
}

/** Asks for the part of the list that is in view, with a margin, when the rows held do not cover it. */
function useWindow(live: Live<'tasks'>, first: number, last: number): void {
  const { view, moveWindow } = live;
  const offset = view?.offset ?? 0;
  const held = view?.rows.length ?? 0;
  const total = view?.total ?? 0;
  const asked = useRef(0);
  useEffect(() => {
    if (view === undefined || total === 0) return;
    const covered = first >= offset && Math.min(last, total - 1) < offset + held;
    if (covered && asked.current === offset) return;
    const wanted = Math.max(0, first - MARGIN);
    if (covered || wanted === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = wanted;
      moveWindow({ offset: wanted, limit: WINDOW });
    }, 40);
    return () => clearTimeout(timer);
  }, [view, moveWindow, offset, held, total, first, last]);
}

export function TaskList({ live, order, selection, onOrder, empty, filter }: Props) {
  const t = useT();
  const { view } = live;
  const leases = useLeases();
  const scroller = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState(false);
  const [scrolled, setScrolled] = useState(false);
  const [current, setCurrent] = useState<string | null>(null);
  const rows = useVirtualizer({
    count: view?.total ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 6,
  });
  const items = rows.getVirtualItems();
  useFreeze(live, [hover, selection.ids.size > 0, scrolled, current !== null]);
  useWindow(live, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    setCurrent(null);
  }, [filter, order]);

  const release = useCallback(() => {
    live.release();
    scroller.current?.scrollTo({ top: 0 });
    setCurrent(null);
  }, [live]);
  const shown = useMemo(() => view?.rows ?? [], [view]);
  useListKeys({
    rows: shown,
    offset: view?.offset ?? 0,
    current,
    setCurrent,
    selection,
    release,
    reveal: (index) => rows.scrollToIndex(index),
  });

  const departed = useMemo(() => new Set(view?.departed), [view?.departed]);
  if (view === undefined) return <Loading rows={10} />;
  return (
    <div className={clsx('@container relative flex min-h-0 flex-1 flex-col', live.old && 'opacity-60')}>
      <ShowNew count={view.frozen ? view.newCount : 0} onShow={release} />
      <div
        ref={scroller}
        role="grid"
        aria-label={t('board.list')}
        aria-rowcount={view.total + 1}
        aria-multiselectable
        aria-busy={live.old}
        tabIndex={0}
        onPointerEnter={(event) => event.pointerType === 'mouse' && setHover(true)}
        onPointerLeave={() => setHover(false)}
        onScroll={(event) => setScrolled(event.currentTarget.scrollTop > 8)}
        className="min-h-0 flex-1 overflow-auto outline-none"
      >
        <HeadRow order={order} onOrder={onOrder} rows={shown} selection={selection} />
        {view.total === 0 ? (
          <div role="row">
            <div role="gridcell">{empty}</div>
          </div>
        ) : (
          <div role="rowgroup" className="relative" style={{ height: rows.getTotalSize() }}>
            {items.map((item) => {
              const row = view.rows[item.index - view.offset];
              if (row === undefined) return <Placeholder key={`at-${item.index}`} top={item.start} />;
              return (
                <TaskRowView
                  key={row.id}
                  row={row}
                  index={item.index}
                  top={item.start}
                  lease={row.node === undefined ? undefined : leases.get(row.node)}
                  selected={selection.ids.has(row.id)}
                  current={row.id === current}
                  departed={departed.has(row.id)}
                  onSelect={selection.toggle}
                  onCurrent={setCurrent}
                />
              );
            })}
          </div>
        )}
      </div>
    </div>
  );
}

function Placeholder({ top }: { top: number }) {
  return (
    <div
      aria-hidden
      className="border-line absolute inset-x-0 top-0 h-13 border-b px-12 pt-4"
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className="bg-ink/6 block h-3 w-1/3 rounded" />
    </div>
  );
}

function ShowNew({ count, onShow }: { count: number; onShow: () => void }) {
  const t = useT();
  return (
    <div role="status" className="pointer-events-none absolute inset-x-0 top-1 z-20 flex justify-center">
      {count > 0 && (
        <button
          type="button"
          onClick={onShow}
          className="bg-accent text-onaccent shadow-pop pointer-events-auto rounded-full px-3 py-1 text-xs font-semibold"
        >
          {t('board.showNew', { n: grouped(count) })}
        </button>
      )}
    </div>
  );
}

interface HeadProps {
  readonly order: TaskOrder;
  readonly onOrder: (order: TaskOrder) => void;
  readonly rows: readonly TaskRow[];
  readonly selection: Selection;
}

function HeadRow({ order, onOrder, rows, selection }: HeadProps) {
  const t = useT();
  const all = rows.length > 0 && rows.every((row) => selection.ids.has(row.id));
  const head = (by: TaskSort | null, label: string, className = ''): ReactNode => (
    <SortHead by={by} label={label} order={order} onOrder={onOrder} className={className} />
  );
  return (
    <div role="rowgroup" className="bg-bg sticky top-0 z-10">
      <div
        role="row"
        aria-rowindex={1}
        className={clsx(ROW_GRID, 'border-line text-2xs text-ink3 h-8 items-center border-b font-semibold')}
      >
        <div role="columnheader" className="flex justify-center">
          <input
            type="checkbox"
            checked={all}
            ref={(box) => {
              if (box !== null) box.indeterminate = !all && selection.ids.size > 0;
            }}
            onChange={() => (all ? selection.clear() : selection.set(rows))}
            aria-label={t('board.selectShown', { n: rows.length })}
            className="size-3.5"
          />
        </div>
        {head(null, t('column.state'), 'hidden @2xl:block')}
        {head('name', t('column.task'))}
        {head('queue', t('column.queue'), 'hidden @2xl:block')}
        {head(null, t('column.heldBy'), 'hidden @2xl:block')}
        {head('updated', t('column.time'), 'text-right')}
      </div>
    </div>
  );
}

function SortHead({
  by,
  label,
  order,
  onOrder,
  className,
}: {
  by: TaskSort | null;
  label: string;
  order: TaskOrder;
  onOrder: (order: TaskOrder) => void;
  className: string;
}) {
  const active = by === order.by;
  const Arrow = order.desc ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      aria-sort={by === null ? undefined : active ? (order.desc ? 'descending' : 'ascending') : 'none'}
      className={className}
    >
      {by === null ? (
        label
      ) : (
        <button
          type="button"
          className={clsx('hover:text-ink inline-flex items-center gap-1', active && 'text-ink')}
          onClick={() => onOrder({ by, desc: active ? !order.desc : by === 'updated' })}
        >
          {label}
          {active && <Arrow className="size-3" aria-hidden />}
        </button>
      )}
    </div>
  );
}

interface ListKeys {
  readonly rows: readonly TaskRow[];
  readonly offset: number;
  readonly current: string | null;
  readonly setCurrent: (id: string | null) => void;
  readonly selection: Selection;
  readonly release: () => void;
  readonly reveal: (index: number) => void;
}

function useListKeys({ rows, offset, current, setCurrent, selection, release, reveal }: ListKeys): void {
  const router = useRouter();
  const step = (by: number): void => {
    const at = rows.findIndex((row) => row.id === current);
    const next = Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by));
    setCurrent(rows[next]?.id ?? null);
    reveal(offset + next);
  };
  useKeys((key, event) => {
    const row = rows.find((each) => each.id === current);
    const inList =
      event.target === document.body ||
      (event.target instanceof Element && event.target.closest('[role="grid"]') !== null);
    if (key === 'j' || (inList && key === 'ArrowDown')) step(1);
    else if (key === 'k' || (inList && key === 'ArrowUp')) step(-1);
    else if (key === 'x' && row !== undefined) selection.toggle(row, false);
    else if (
      key === 'Enter' &&
      row !== undefined &&
      !(event.target instanceof HTMLButtonElement) &&
      !(event.target instanceof HTMLAnchorElement)
    )
      router.push(`/tasks/${encodeURIComponent(row.id)}`);
    else if (key === '.') release();
    else if (key === 'Escape') {
      selection.clear();
      setCurrent(null);
    } else return false;
    return true;
  });
}
