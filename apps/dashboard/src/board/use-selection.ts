'use client';
import type { TaskRow } from '@leasehold/wire';
import { useCallback, useEffect, useRef, useState } from 'react';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** The rows as last seen, also those that scrolled out of the window. */
  readonly rows: readonly TaskRow[];
  toggle(row: TaskRow, range: boolean): void;
  set(rows: readonly TaskRow[]): void;
  /** What is selected among these is kept as they say it is now: an action is guarded by the revision that was seen. */
  see(rows: readonly TaskRow[]): void;
  clear(): void;
}

/** Keyed by id: it survives every event, a reconnect and a relist. Shift takes everything between, as shown. */
export function useSelection(shown: readonly TaskRow[] | undefined): Selection {
  const [picked, setPicked] = useState<ReadonlyMap<string, TaskRow>>(new Map());
  const anchor = useRef<string | null>(null);
  const latest = useRef<readonly TaskRow[]>([]);
  useEffect(() => {
    latest.current = shown ?? [];
    setPicked((old) => refreshed(old, shown ?? []));
  }, [shown]);

  const toggle = useCallback((row: TaskRow, range: boolean) => {
    const rows = latest.current;
    const from = rows.findIndex((each) => each.id === anchor.current);
    const till = rows.findIndex((each) => each.id === row.id);
    setPicked((old) => {
      const next = new Map(old);
      if (range && from >= 0 && till >= 0) {
        for (const each of rows.slice(Math.min(from, till), Math.max(from, till) + 1)) next.set(each.id, each);
      } else if (next.has(row.id)) next.delete(row.id);
      else next.set(row.id, row);
      return next;
    });
    anchor.current = row.id;
  }, []);
  const set = useCallback((rows: readonly TaskRow[]) => setPicked(new Map(rows.map((row) => [row.id, row]))), []);
  const see = useCallback((rows: readonly TaskRow[]) => setPicked((old) => refreshed(old, rows)), []);
  const clear = useCallback(() => setPicked(new Map()), []);
  return { ids: new Set(picked.keys()), rows: [...picked.values()], toggle, set, see, clear };
}

function refreshed(old: ReadonlyMap<string, TaskRow>, shown: readonly TaskRow[]): ReadonlyMap<string, TaskRow> {
  const changed = shown.filter((row) => old.has(row.id) && old.get(row.id) !== row);
  if (changed.length === 0) return old;
  const next = new Map(old);
  for (const row of changed) next.set(row.id, row);
  return next;
}
