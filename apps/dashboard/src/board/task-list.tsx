'use client';
import type { LeaseView, TaskColumn, TaskFilter, TaskOrder, TaskRow } from '@leasehold/wire';
import { useVirtualizer } from '@tanstack/react-virtual';
import { clsx } from 'clsx';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useRouter } from 'next/navigation';
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type ReactNode,
  type RefObject,
} from 'react';
import { usePrefs } from '../frame/prefs';
import { useKeys } from '../frame/shortcuts';
import { useT } from '../i18n';
import { useRows, type Live } from '../live/hooks';
import { useRev, withRev } from '../live/rev';
import { grouped } from '../look/number';
import { Loading } from '../ui/states';
import { COLUMN_LOOK, trackOf } from './columns';
import { cellClass, DETAIL_HEIGHT_PX, ROW_GRID, ROW_HEIGHT_PX, TaskRowView } from './task-row';
import type { Expansion } from './use-expansion';
import { useListTable, type ListTable } from './use-list-table';
import type { Selection } from './use-selection';
import { useAnchor } from './use-anchor';
import { useWindow } from './use-window';

interface Props {
  readonly live: Live<'tasks'>;
  readonly order: TaskOrder;
  readonly filter: TaskFilter;
  readonly columns: readonly TaskColumn[];
  readonly selection: Selection;
  readonly expansion: Expansion;
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

const NO_ROWS: TaskRow[] = [];

/** Heights are known before rows are drawn: a row's own, and that of its open part. */
function useVirtualRows(view: Live<'tasks'>['view'], expansion: Expansion, scroller: RefObject<HTMLDivElement | null>) {
  const offset = view?.offset ?? 0;
  const rows = view?.rows ?? NO_ROWS;
  const rowPx = ROW_HEIGHT_PX[usePrefs().density];
  const open = rows.flatMap((row, index) => (expansion.ids.has(row.id) ? [offset + index] : []));
  const virtual = useVirtualizer({
    count: view?.total ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (open.includes(index) ? rowPx + DETAIL_HEIGHT_PX : rowPx),
    overscan: 6,
  });
  const places = `${rowPx} ${open.join()}`;
  useLayoutEffect(() => virtual.measure(), [virtual, places]);
  return virtual;
}

export function TaskList({ live, order, selection, expansion, onOrder, empty, filter, columns }: Props) {
  const t = useT();
  const { view } = live;
  const leases = useLeases();
  const scroller = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState(false);
  const [scrolled, setScrolled] = useState(false);
  const [current, setCurrent] = useState<string | null>(null);
  const shown = useMemo(() => [...(view?.rows ?? NO_ROWS)], [view?.rows]);
  const table = useListTable({ rows: shown, columns, order, onOrder, expanded: expansion.ids });
  const rows = useVirtualRows(view, expansion, scroller);
  const items = rows.getVirtualItems();
  const rowPx = ROW_HEIGHT_PX[usePrefs().density];
  useAnchor(view, Math.floor((rows.scrollOffset ?? 0) / rowPx), rowPx, scroller);
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
  useListKeys({
    rows: shown,
    offset: view?.offset ?? 0,
    current,
    setCurrent,
    selection,
    expansion,
    release,
    reveal: (index) => rows.scrollToIndex(index),
  });

  const departed = useMemo(() => new Set(view?.departed), [view?.departed]);
  const { tracks, minPx } = trackOf(table.columns);
  if (view === undefined) return <Loading rows={10} />;
  return (
    <div
      style={{ '--tracks': tracks, '--list-min': `${minPx}px` } as CSSProperties}
      className={clsx('@container relative flex min-h-0 flex-1 flex-col', live.old && 'opacity-60')}
    >
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
        <HeadRow table={table} rows={shown} selection={selection} />
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
                  columns={table.columns}
                  index={item.index}
                  top={item.start}
                  lease={row.node === undefined ? undefined : leases.get(row.node)}
                  selected={selection.ids.has(row.id)}
                  expanded={table.isExpanded(row.id)}
                  current={row.id === current}
                  departed={departed.has(row.id)}
                  onSelect={selection.toggle}
                  onExpand={expansion.toggle}
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
  readonly table: ListTable;
  readonly rows: readonly TaskRow[];
  readonly selection: Selection;
}

function HeadRow({ table, rows, selection }: HeadProps) {
  const t = useT();
  const all = rows.length > 0 && rows.every((row) => selection.ids.has(row.id));
  return (
    <div role="rowgroup" className="bg-bg sticky top-0 z-10 @2xl:min-w-(--list-min)">
      <div
        role="row"
        aria-rowindex={1}
        className={clsx(ROW_GRID, 'border-line text-2xs text-ink3 h-8 items-center border-b font-semibold')}
      >
        <div role="columnheader" className="flex justify-end pr-0.5">
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
        {table.columns.map((column) => (
          <ColumnHead key={column} column={column} table={table} />
        ))}
      </div>
    </div>
  );
}

const ARIA_SORT = { asc: 'ascending', desc: 'descending' } as const;

function ColumnHead({ column, table }: { column: TaskColumn; table: ListTable }) {
  const t = useT();
  const { head, sort } = COLUMN_LOOK[column];
  const sorted = table.sortOf(column);
  const Arrow = sorted === 'desc' ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      aria-sort={sort === undefined ? undefined : sorted === false ? 'none' : ARIA_SORT[sorted]}
      className={clsx('min-w-0 truncate', cellClass(column))}
    >
      {sort === undefined ? (
        t(head)
      ) : (
        <button
          type="button"
          className={clsx('hover:text-ink inline-flex items-center gap-1', sorted !== false && 'text-ink')}
          onClick={() => table.toggleSort(column)}
        >
          {t(head)}
          {sorted !== false && <Arrow className="size-3" aria-hidden />}
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
  readonly expansion: Expansion;
  readonly release: () => void;
  readonly reveal: (index: number) => void;
}

function useListKeys({ rows, offset, current, setCurrent, selection, expansion, release, reveal }: ListKeys): void {
  const router = useRouter();
  const rev = useRev();
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
      router.push(withRev(`/tasks/${encodeURIComponent(row.id)}`, rev));
    else if (key === 'o' && row !== undefined) expansion.toggle(row.id);
    else if (key === '.') release();
    else if (key === 'Escape') {
      selection.clear();
      setCurrent(null);
    } else return false;
    return true;
  });
}
