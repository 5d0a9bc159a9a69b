'use client';
import { TASK_COLUMNS, type TaskColumn, type TasksUrl } from '@leasehold/wire';
import { clsx } from 'clsx';
import { Columns3, Kanban, Rows3 } from 'lucide-react';
import { useT } from '../i18n';
import { buttonClass } from '../ui/button';
import { Menu, MenuCheck, MenuItem, MenuLine } from '../ui/menu';
import { ownColumns, usePrefs } from '../frame/prefs';
import { COLUMN_LOOK, columnsOf, USUAL_COLUMNS, withColumn } from './columns';

interface Props {
  readonly state: TasksUrl;
  readonly go: (next: TasksUrl, how?: 'push' | 'replace') => void;
}

/** Every column, the usual ones first; in this order they stand in the list. */
const ORDER: readonly TaskColumn[] = [
  ...USUAL_COLUMNS,
  ...TASK_COLUMNS.filter((each) => !USUAL_COLUMNS.includes(each)),
];

/** How the tasks are laid out, and which columns: both are of the URL. */
export function LayoutTools({ state, go }: Props) {
  const t = useT();
  const layouts = [
    ['table', 'layout.table', Rows3],
    ['kanban', 'layout.kanban', Kanban],
  ] as const;
  return (
    <>
      <span role="group" aria-label={t('layout.label')} className="border-line2 flex rounded-md border max-sm:hidden">
        {layouts.map(([layout, word, Icon]) => (
          <button
            key={layout}
            type="button"
            aria-pressed={state.layout === layout}
            aria-label={t(word)}
            title={t(word)}
            onClick={() => go({ ...state, layout })}
            className={clsx(
              'grid h-7 w-8 place-items-center first:rounded-l-md last:rounded-r-md',
              state.layout === layout ? 'bg-accent/13 text-ink' : 'text-ink3 hover:text-ink',
            )}
          >
            <Icon className="size-3.5" aria-hidden />
          </button>
        ))}
      </span>
      {state.layout === 'table' && <ColumnsMenu state={state} go={go} />}
    </>
  );
}

function ColumnsMenu({ state, go }: Props) {
  const t = useT();
  const usual = ownColumns(usePrefs());
  const shown = columnsOf(state, usual);
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={t('columns.title')}
          title={t('columns.title')}
          className={buttonClass({ size: 'icon' }, 'max-sm:hidden')}
        >
          <Columns3 className="size-3.5" aria-hidden />
        </button>
      }
    >
      {ORDER.map((column) => (
        <MenuCheck
          key={column}
          checked={shown.includes(column)}
          disabled={column === 'task'}
          onChange={() => go(withColumn(state, column, ORDER, usual), 'replace')}
        >
          {t(COLUMN_LOOK[column].head)}
        </MenuCheck>
      ))}
      <MenuLine />
      <MenuItem
        onSelect={() => {
          const { cols: _cols, ...rest } = state;
          go(rest, 'replace');
        }}
      >
        {t('columns.reset')}
      </MenuItem>
    </Menu>
  );
}
