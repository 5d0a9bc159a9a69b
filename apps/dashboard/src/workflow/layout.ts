/** A layered layout: pure. Columns by longest path from the start, rows by the mean place of what comes before. */
export interface GraphItem {
  readonly index: number;
  readonly after: readonly number[];
}

export interface Placed {
  readonly index: number;
  readonly column: number;
  readonly row: number;
}

export interface GraphLayout {
  readonly places: ReadonlyMap<number, Placed>;
  readonly columns: number;
  readonly rows: number;
  readonly edges: readonly (readonly [from: number, to: number])[];
}

export function layoutGraph(items: readonly GraphItem[]): GraphLayout {
  const columns = columnsOf(items);
  const byColumn = new Map<number, GraphItem[]>();
  for (const item of items) {
    const column = columns.get(item.index) ?? 0;
    byColumn.set(column, [...(byColumn.get(column) ?? []), item]);
  }
  const places = new Map<number, Placed>();
  const tallest = Math.max(1, ...[...byColumn.values()].map((column) => column.length));
  for (const column of [...byColumn.keys()].toSorted((a, b) => a - b)) {
    const sorted = (byColumn.get(column) ?? []).toSorted(
      (a, b) => meanRow(a, places) - meanRow(b, places) || a.index - b.index,
    );
    const first = (tallest - sorted.length) / 2;
    sorted.forEach(({ index }, i) => places.set(index, { index, column, row: first + i }));
  }
  const edges = items.flatMap((item) =>
    item.after.filter((from) => places.has(from)).map((from) => [from, item.index] as const),
  );
  return { places, columns: byColumn.size, rows: tallest, edges };
}

/** Tasks are numbered so that what comes before has a lower number or is known already; a cycle cannot occur. */
function columnsOf(items: readonly GraphItem[]): ReadonlyMap<number, number> {
  const byIndex = new Map(items.map((item) => [item.index, item]));
  const columns = new Map<number, number>();
  const open = new Set<number>();
  const columnOf = (index: number): number => {
    const known = columns.get(index);
    if (known !== undefined) return known;
    if (open.has(index)) return 0;
    open.add(index);
    const after = byIndex.get(index)?.after ?? [];
    const column =
      after.length === 0 ? 0 : 1 + Math.max(...after.filter((each) => byIndex.has(each)).map(columnOf), -1);
    open.delete(index);
    columns.set(index, column);
    return column;
  };
  for (const { index } of items) columnOf(index);
  return columns;
}

function meanRow(item: GraphItem, places: ReadonlyMap<number, Placed>): number {
  const rows = item.after.map((from) => places.get(from)?.row).filter((row) => row !== undefined);
  return rows.length === 0 ? item.index : rows.reduce((sum, row) => sum + row, 0) / rows.length;
}
