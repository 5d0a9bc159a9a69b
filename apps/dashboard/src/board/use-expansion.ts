'use client';
import { useCallback, useMemo, useState } from 'react';

export interface Expansion {
  readonly ids: ReadonlySet<string>;
  toggle(id: string): void;
}

/** Which rows are open, by id: what comes from the server never opens or closes one. */
export function useExpansion(): Expansion {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => {
    setIds((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  return useMemo(() => ({ ids, toggle }), [ids, toggle]);
}
