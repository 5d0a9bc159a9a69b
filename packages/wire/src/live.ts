/**
 * A window that follows the board: a snapshot, then changes. One reducer for server tests and browser.
 *
 * L1  The window after a snapshot and any number of changes equals the window the server would send at that moment.
 * L2  A change applies to exactly one sequence number; an older one changes nothing, a newer one is a gap (`undefined`),
 *     and the client subscribes again.
 * L3  While frozen, order and membership do not change: rows are patched in place, departed rows stay marked, and
 *     arrivals are counted in `newCount`.
 */
export interface Row {
  readonly id: string;
}

export interface Snapshot<R extends Row = Row> {
  /** The client's name of the subscription. */
  readonly sub: string;
  readonly seq: number;
  /** Grows with every relist: rows of an older generation say nothing about this one. */
  readonly generation: number;
  readonly revision: string;
  readonly rows: readonly R[];
  /** Index of the first row in the whole list. */
  readonly offset: number;
  /** Rows that match, in the list that the window is cut from. */
  readonly total: number;
  /** Arrivals that a release would show. */
  readonly newCount: number;
  readonly frozen: boolean;
  /** Ids in `rows` that match no more (or are gone); shown greyed until release. */
  readonly departed: readonly string[];
}

/** What changed since the change before. Absent parts are unchanged. Parts apply in the order in which they stand here. */
export interface Change<R extends Row = Row> {
  readonly sub: string;
  readonly seq: number;
  readonly generation: number;
  readonly revision: string;
  /** Ids that leave the window. */
  readonly remove?: readonly string[];
  /** Rows that are put, in order: each at its index after the ones before were put. An id that is there is moved. */
  readonly insert?: readonly (readonly [index: number, row: R])[];
  /** Rows that stay where they are, with new content. */
  readonly patch?: readonly R[];
  readonly departed?: readonly string[];
  readonly offset?: number;
  readonly total?: number;
  readonly newCount?: number;
  readonly frozen?: boolean;
}

export type LiveView<R extends Row = Row> = Snapshot<R>;

/** The view after a change; the same object for one that is older, undefined when changes are missing between (L2). */
export function applyChange<R extends Row>(view: LiveView<R>, change: Change<R>): LiveView<R> | undefined {
  if (change.sub !== view.sub) return view;
  if (change.generation === view.generation && change.seq <= view.seq) return view;
  if (change.generation !== view.generation || change.seq !== view.seq + 1) return undefined;
  return {
    ...view,
    seq: change.seq,
    revision: change.revision,
    rows: applyRows(view.rows, change),
    departed: change.departed ?? view.departed,
    offset: change.offset ?? view.offset,
    total: change.total ?? view.total,
    newCount: change.newCount ?? view.newCount,
    frozen: change.frozen ?? view.frozen,
  };
}

function applyRows<R extends Row>(rows: readonly R[], { remove, insert, patch }: Change<R>): readonly R[] {
  if (remove === undefined && insert === undefined && patch === undefined) return rows;
  const leaving = new Set(remove);
  for (const [, row] of insert ?? []) leaving.add(row.id);
  const next = leaving.size === 0 ? [...rows] : rows.filter((row) => !leaving.has(row.id));
  for (const [index, row] of insert ?? []) next.splice(index, 0, row);
  if (patch === undefined) return next;
  const fresh = new Map(patch.map((row) => [row.id, row]));
  return next.map((row) => fresh.get(row.id) ?? row);
}

/** The change from one state of a window to the next; undefined when nothing differs but the revision. */
export function diffViews<R extends Row>(before: LiveView<R>, after: LiveView<R>): Change<R> | undefined {
  const rows = diffRows(before.rows, after.rows);
  const parts = {
    ...rows,
    ...(sameList(before.departed, after.departed) ? {} : { departed: after.departed }),
    ...(before.offset === after.offset ? {} : { offset: after.offset }),
    ...(before.total === after.total ? {} : { total: after.total }),
    ...(before.newCount === after.newCount ? {} : { newCount: after.newCount }),
    ...(before.frozen === after.frozen ? {} : { frozen: after.frozen }),
  };
  if (Object.keys(parts).length === 0) return undefined;
  const { sub, generation } = before;
  return { sub, generation, seq: before.seq + 1, revision: after.revision, ...parts };
}

type RowParts<R extends Row> = Pick<Change<R>, 'remove' | 'insert' | 'patch'>;

/** Rows are compared by identity: whoever renders them gives the same object for the same content. */
function diffRows<R extends Row>(before: readonly R[], after: readonly R[]): RowParts<R> {
  if (before === after) return {};
  const places = new Map(after.map((row, index) => [row.id, index]));
  const staying = before.filter((row) => places.has(row.id));
  const kept = keptIds(staying.map((row) => [row.id, places.get(row.id) ?? 0]));
  const old = new Map(before.map((row) => [row.id, row]));
  const remove = before.filter((row) => !places.has(row.id)).map((row) => row.id);
  const insert = after.flatMap((row, index) => (kept.has(row.id) ? [] : [[index, row] as const]));
  const patch = after.filter((row) => kept.has(row.id) && old.get(row.id) !== row);
  return {
    ...(remove.length === 0 ? {} : { remove }),
    ...(insert.length === 0 ? {} : { insert }),
    ...(patch.length === 0 ? {} : { patch }),
  };
}

/** The ids of a longest sequence that is already in its new order: these need not be moved. */
function keptIds(items: readonly (readonly [id: string, place: number])[]): ReadonlySet<string> {
  const tails: number[] = [];
  const previous: number[] = [];
  items.forEach(([, place], i) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((items[tails[middle] ?? 0]?.[1] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    previous[i] = low === 0 ? -1 : (tails[low - 1] ?? -1);
    tails[low] = i;
  });
  const kept = new Set<string>();
  for (let i = tails.at(-1) ?? -1; i >= 0; i = previous[i] ?? -1) kept.add(items[i]?.[0] ?? '');
  return kept;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => item === b[index]));
}
