'use client';
import { useLayoutEffect, useRef, type RefObject } from 'react';
import type { Live } from '../live/hooks';

interface Anchor {
  readonly sub: string;
  readonly id: string;
  readonly index: number;
}

/**
 * What the reader looks at stays where it is. While he looks the order stands still, but a list that is asked for anew
 * (after a reconnect, after a relist) begins with what came meanwhile: then the list is moved under him by as much.
 */
export function useAnchor(
  view: Live<'tasks'>['view'],
  first: number,
  heightPx: number,
  scroller: RefObject<HTMLElement | null>,
): void {
  const anchor = useRef<Anchor | null>(null);
  useLayoutEffect(() => {
    if (view === undefined) return;
    const { sub, rows, offset, frozen, seq } = view;
    const known = anchor.current;
    // Only a snapshot has number 0; a change moves nothing while frozen, unless the reader asked to be shown what is new.
    if (frozen && seq === 0 && known?.sub === sub) {
      const at = rows.findIndex(({ id }) => id === known.id);
      const moved = at < 0 ? 0 : offset + at - known.index;
      if (moved !== 0) {
        anchor.current = { ...known, index: known.index + moved };
        scroller.current?.scrollBy({ top: moved * heightPx });
        return;
      }
    }
    const row = rows[first - offset];
    anchor.current = row === undefined ? known : { sub, id: row.id, index: first };
  }, [view, first, heightPx, scroller]);
}
