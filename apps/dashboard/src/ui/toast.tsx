'use client';
import { createContext, lazy, Suspense, useCallback, useContext, useState, type ReactNode } from 'react';

export interface Notice {
  readonly kind: 'done' | 'refused';
  readonly title: string;
  readonly text?: string;
  /** Where what was made can be seen. */
  readonly link?: { readonly href: string; readonly label: string };
  /** Where it can be taken back. */
  readonly undo?: { readonly label: string; readonly run: () => void };
}

export type Shown = Notice & { readonly id: number };

const Cards = lazy(async () => ({ default: (await import('./toast-cards')).ToastCards }));

const Notify = createContext<((notice: Notice) => void) | null>(null);

export function useNotify(): (notice: Notice) => void {
  const notify = useContext(Notify);
  if (notify === null) throw new Error('useNotify needs a ToastProvider around it');
  return notify;
}

let nextId = 1;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [used, setUsed] = useState(false);
  const [shown, setShown] = useState<readonly Shown[]>([]);
  const notify = useCallback((notice: Notice) => {
    setUsed(true);
    setShown((all) => [...all.slice(-3), { ...notice, id: nextId++ }]);
  }, []);
  const drop = useCallback((id: number) => setShown((all) => all.filter((one) => one.id !== id)), []);
  return (
    <Notify value={notify}>
      {children}
      {used && (
        <Suspense>
          <Cards shown={shown} onDrop={drop} />
        </Suspense>
      )}
    </Notify>
  );
}
