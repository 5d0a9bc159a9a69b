/** What a column is, but for its cells: exhaustive, so that a new column of the URL needs a head, a width and a sort here. */
import type { TaskColumn, TaskSort, TasksUrl } from '@leasehold/wire';
import type { PlainKey } from '../i18n';

export interface ColumnLook {
  readonly head: PlainKey;
  /** A track of the row's grid. */
  readonly track: string;
  /** The least that the track needs, px: from their sum on the list scrolls sideways. */
  readonly minPx: number;
  readonly sort?: TaskSort;
  readonly right?: boolean;
}

export const COLUMN_LOOK: Readonly<Record<TaskColumn, ColumnLook>> = {
  state: { head: 'column.state', track: '128px', minPx: 128 },
  task: { head: 'column.task', track: 'minmax(220px,1fr)', minPx: 220, sort: 'name' },
  queue: { head: 'column.queue', track: '96px', minPx: 96, sort: 'queue' },
  node: { head: 'column.heldBy', track: '152px', minPx: 152 },
  time: { head: 'column.time', track: '108px', minPx: 108, sort: 'updated', right: true },
  attempt: { head: 'column.attempt', track: '84px', minPx: 84, sort: 'attempt', right: true },
  priority: { head: 'column.priority', track: '84px', minPx: 84, sort: 'priority', right: true },
  created: { head: 'column.created', track: '128px', minPx: 128, sort: 'created', right: true },
  tags: { head: 'column.tags', track: '140px', minPx: 140 },
  workflow: { head: 'column.workflow', track: '110px', minPx: 110 },
  id: { head: 'column.id', track: '252px', minPx: 252 },
  revision: { head: 'column.revision', track: '104px', minPx: 104, right: true },
};

export const USUAL_COLUMNS: readonly TaskColumn[] = ['state', 'task', 'queue', 'node', 'time'];

/** The columns that a URL shows; a list without its tasks would say nothing, so `task` is always among them. */
export function columnsOf({ cols }: TasksUrl, usual = USUAL_COLUMNS): readonly TaskColumn[] {
  if (cols === undefined) return usual;
  return cols.includes('task') ? cols : ['task', ...cols];
}

/** The URL with one column shown or hidden; the usual ones are not spelled out. */
export function withColumn(
  state: TasksUrl,
  column: TaskColumn,
  order: readonly TaskColumn[],
  usual = USUAL_COLUMNS,
): TasksUrl {
  const now = columnsOf(state, usual);
  const next = now.includes(column)
    ? now.filter((each) => each !== column)
    : [...now, column].toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
  const { cols: _cols, ...rest } = state;
  return next.join() === usual.join() ? rest : { ...rest, cols: next };
}

const FIRST_TRACK_PX = 52;
const GAP_PX = 8;

export function trackOf(columns: readonly TaskColumn[]): { readonly tracks: string; readonly minPx: number } {
  const looks = columns.map((column) => COLUMN_LOOK[column]);
  return {
    tracks: [`${FIRST_TRACK_PX}px`, ...looks.map(({ track }) => track)].join(' '),
    minPx: looks.reduce((sum, { minPx }) => sum + minPx + GAP_PX, FIRST_TRACK_PX + 14),
  };
}
