'use client';
import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { TASK_COLUMNS, type TaskColumn } from '@leasehold/wire';
import { basePath } from '../base-path';
import { USUAL_COLUMNS } from '../board/columns';
import { PREF_COOKIES, type Prefs } from './pref-names';

export { DENSITIES, SWITCHES, THEMES, type Prefs, type Theme } from './pref-names';

const COLUMNS: readonly string[] = TASK_COLUMNS;

/** The columns that this browser prefers. */
export function ownColumns({ columns }: Pick<Prefs, 'columns'>): readonly TaskColumn[] {
  const known = columns.split(',').filter((name): name is TaskColumn => COLUMNS.includes(name));
  return known.length === 0 ? USUAL_COLUMNS : known.includes('task') ? known : ['task', ...known];
}

interface PrefsStore extends Prefs {
  set<K extends keyof Prefs>(name: K, value: Prefs[K]): void;
}

const PrefsContext = createContext<PrefsStore | null>(null);

export function usePrefs(): PrefsStore {
  const prefs = useContext(PrefsContext);
  if (prefs === null) throw new Error('usePrefs needs a PrefsProvider around it');
  return prefs;
}

function keep(name: keyof Prefs, value: string): void {
  const path = basePath === '' ? '/' : basePath;
  document.cookie = `${PREF_COOKIES[name]}=${encodeURIComponent(value)}; path=${path}; max-age=31536000; samesite=lax`;
}

export function PrefsProvider({ initial, children }: { initial: Prefs; children: ReactNode }) {
  const [prefs, setPrefs] = useState(initial);
  const set = useCallback(<K extends keyof Prefs>(name: K, value: Prefs[K]): void => {
    keep(name, value);
    setPrefs((old) => ({ ...old, [name]: value }));
  }, []);

  useEffect(() => {
    document.documentElement.dataset['theme'] = prefs.theme;
    document.documentElement.lang = prefs.language;
    document.documentElement.dataset['density'] = prefs.density;
  }, [prefs.theme, prefs.language, prefs.density]);

  useEffect(() => {
    if (prefs.zone !== '') return;
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    setPrefs((old) => (old.zone === '' ? { ...old, zone } : old));
  }, [prefs.zone]);

  const store = useMemo(() => ({ ...prefs, set }), [prefs, set]);
  return <PrefsContext value={store}>{children}</PrefsContext>;
}
