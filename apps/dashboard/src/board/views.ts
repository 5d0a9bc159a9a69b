'use client';
import { useRouter } from 'next/navigation';
import { useCallback, useEffect, useState } from 'react';

export interface SavedView {
  readonly name: string;
  readonly href: string;
}

const STORE = 'leasehold.views';

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false;
  const { name, href } = value as Partial<Record<string, unknown>>;
  return typeof name === 'string' && typeof href === 'string' && /^\/tasks(\?|$)/.test(href);
}

/** Kept in this browser. What was damaged or tampered with there is left out. */
function read(): readonly SavedView[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(STORE) ?? '[]');
    return Array.isArray(value) ? value.filter(isView).slice(0, 50) : [];
  } catch {
    return [];
  }
}

export function useViews() {
  const router = useRouter();
  const [all, setAll] = useState<readonly SavedView[]>([]);
  useEffect(() => setAll(read()), []);
  const keep = useCallback((next: readonly SavedView[]) => {
    setAll(next);
    localStorage.setItem(STORE, JSON.stringify(next));
  }, []);
  return {
    all,
    open: (view: SavedView) => router.push(view.href),
    save: (view: SavedView) => keep([...all.filter((each) => each.name !== view.name), view]),
    remove: (name: string) => keep(all.filter((each) => each.name !== name)),
  };
}
