'use client';
/** TanStack Table over the rows at hand: columns, their order, sort and expansion. The server sorts, filters and cuts. */
import {
  columnOrderingFeature,
  columnVisibilityFeature,
  rowExpandingFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
} from '@tanstack/react-table';
import { TASK_COLUMNS, type TaskColumn, type TaskOrder, type TaskRow } from '@leasehold/wire';
import { useMemo } from 'react';
import { COLUMN_LOOK } from './columns';

const FEATURES = tableFeatures({
  columnOrderingFeature,
  columnVisibilityFeature,
  rowExpandingFeature,
  rowSortingFeature,
});

const COLUMNS: ColumnDef<typeof FEATURES, TaskRow>[] = TASK_COLUMNS.map((id) => ({
  id,
  accessorFn: (row: TaskRow) => row.id,
  enableSorting: COLUMN_LOOK[id].sort !== undefined,
  // Times are looked for newest first, names from A on.
  sortDescFirst: COLUMN_LOOK[id].right === true,
}));

export interface ListTable {
  readonly columns: readonly TaskColumn[];
  isExpanded(id: string): boolean;
  sortOf(column: TaskColumn): 'asc' | 'desc' | false;
  toggleSort(column: TaskColumn): void;
}

interface Options {
  readonly rows: TaskRow[];
  readonly columns: readonly TaskColumn[];
  readonly order: TaskOrder;
  readonly onOrder: (order: TaskOrder) => void;
  readonly expanded: ReadonlySet<string>;
}

export function useListTable({ rows, columns, order, onOrder, expanded }: Options): ListTable {
  const state = useMemo(
    () => ({
      columnOrder: [...columns],
      columnVisibility: Object.fromEntries(TASK_COLUMNS.map((id) => [id, columns.includes(id)])),
      expanded: Object.fromEntries([...expanded].map((id) => [id, true])),
      sorting: TASK_COLUMNS.filter((id) => COLUMN_LOOK[id].sort === order.by).map((id) => ({ id, desc: order.desc })),
    }),
    [columns, expanded, order],
  );
  const table = useTable({
    features: FEATURES,
    columns: COLUMNS,
    data: rows,
    getRowId: (row) => row.id,
    state,
    manualSorting: true,
    manualExpanding: true,
    enableSortingRemoval: false,
    getRowCanExpand: () => true,
    onSortingChange: (change) => {
      const [next] = typeof change === 'function' ? change(state.sorting) : change;
      const by = next === undefined ? undefined : COLUMN_LOOK[next.id as TaskColumn].sort;
      if (next !== undefined && by !== undefined) onOrder({ by, desc: next.desc });
    },
  });
  const visible = table.getVisibleLeafColumns().map(({ id }) => id as TaskColumn);
  const shown = visible.join();
  return {
    // The same array for the same columns, so that rows that did not change are not drawn again.
    columns: useMemo(() => shown.split(',') as TaskColumn[], [shown]),
    isExpanded: (id) => expanded.has(id),
    sortOf: (column) => table.getColumn(column)?.getIsSorted() ?? false,
    toggleSort: (column) => table.getColumn(column)?.toggleSorting(),
  };
}
