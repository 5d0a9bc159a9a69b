'use client';
import type { LeaseView, TaskColumn, TaskRow } from '@leasehold/wire';
import { clsx } from 'clsx';
import { ChevronRight } from 'lucide-react';
import { memo, useState, type MouseEvent } from 'react';
import { useFaded } from '../api/acting';
import { usePrefs } from '../frame/prefs';
import { useT } from '../i18n';
import { CELLS } from './cells';
import { COLUMN_LOOK } from './columns';
import { RowDetail } from './row-detail';

/** In the compact one, the second lines of all cells lie below its edge. */
export const ROW_HEIGHT_PX = { comfortable: 52, compact: 30 } as const;
/** Of the part that opens below a row. It has a fixed height, so that rows below it have a place before it is drawn. */
export const DETAIL_HEIGHT_PX = 136;

/** In a narrow list: box, task and time. The columns are for a wide one. */
export const ROW_GRID =
  'grid grid-cols-[52px_minmax(0,1fr)_auto] @2xl:grid-cols-(--tracks) @2xl:min-w-(--list-min) gap-x-2 pr-3.5';
const NARROW: readonly TaskColumn[] = ['task', 'time'];
export const cellClass = (column: TaskColumn): string =>
  clsx(NARROW.includes(column) ? '' : 'hidden @2xl:block', COLUMN_LOOK[column].right === true && 'text-right');

interface Props {
  readonly row: TaskRow;
  readonly columns: readonly TaskColumn[];
  readonly index: number;
  readonly top: number;
  readonly lease: LeaseView | undefined;
  readonly selected: boolean;
  readonly expanded: boolean;
  readonly current: boolean;
  readonly departed: boolean;
  readonly onSelect: (row: TaskRow, range: boolean) => void;
  readonly onExpand: (id: string) => void;
  readonly onCurrent: (id: string) => void;
}

/** Cells change in place under a brief tint; the row itself never moves by itself. */
export const TaskRowView = memo(function TaskRowView(props: Props) {
  const { row, columns, index, top, selected, expanded, current, departed, onSelect, onExpand, onCurrent } = props;
  const t = useT();
  const faded = useFaded(row.id);
  const { density } = usePrefs();
  const select = (event: MouseEvent): void => {
    event.stopPropagation();
    onSelect(row, event.shiftKey);
  };
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      data-task={row.id}
      data-departed={departed || undefined}
      onClick={() => onCurrent(row.id)}
      style={{ transform: `translateY(${top}px)` }}
      className={clsx(
        'group border-line absolute inset-x-0 top-0 border-b @2xl:min-w-(--list-min)',
        selected ? 'bg-accent/9' : 'hover:bg-ink/3',
        current && 'shadow-[inset_2px_0_0_var(--accent)]',
        departed && 'opacity-45',
        faded && 'pointer-events-none opacity-45',
      )}
    >
      <ChangeTint revision={row.revision} />
      <div
        role="presentation"
        className={clsx(ROW_GRID, density === 'compact' ? 'h-7.25 overflow-hidden pt-1' : 'h-12.75 pt-1.75')}
      >
        <div role="gridcell" className="relative flex items-start gap-1 pt-0.5 pl-1.5">
          <button
            type="button"
            aria-label={t('row.expand', { name: row.name })}
            aria-expanded={expanded}
            onClick={(event) => {
              event.stopPropagation();
              onExpand(row.id);
            }}
            className="text-ink3 hover:text-ink -mt-1 grid size-6 place-items-center rounded"
          >
            <ChevronRight className={clsx('size-3.5', expanded && 'rotate-90')} aria-hidden />
          </button>
          <span className="relative grid w-4 place-items-center">
            <input
              type="checkbox"
              checked={selected}
              onChange={() => undefined}
              onClick={select}
              aria-label={t('row.select', { name: row.name })}
              className="size-3.5 after:absolute after:-inset-x-1 after:-inset-y-2"
            />
          </span>
        </div>
        {columns.map((column) => (
          <div key={column} role="gridcell" className={clsx('relative min-w-0 whitespace-nowrap', cellClass(column))}>
            {CELLS[column]({ row, lease: props.lease, departed, onCurrent })}
          </div>
        ))}
      </div>
      {expanded && (
        <div role="gridcell">
          <RowDetail row={row} />
        </div>
      )}
    </div>
  );
});

/** A layer that is made anew at each revision, so that its fade starts again. Not at first sight. */
function ChangeTint({ revision }: { revision: string }) {
  const [first] = useState(revision);
  if (revision === first) return null;
  return <span key={revision} aria-hidden className="animate-tint pointer-events-none absolute inset-0" />;
}
