'use client';
import { useEffect, useRef } from 'react';
import type { Live } from '../live/hooks';

const WINDOW = 120;
const MARGIN = 30;

/** Asks for the part of the list that is in view, with a margin, when the rows held do not cover it. */
export function useWindow(live: Live<'tasks'>, first: number, last: number): void {
  const { view, moveWindow } = live;
  const offset = view?.offset ?? 0;
  const held = view?.rows.length ?? 0;
  const total = view?.total ?? 0;
  const asked = useRef(0);
  useEffect(() => {
    if (view === undefined || total === 0) return;
    const covered = first >= offset && Math.min(last, total - 1) < offset + held;
    if (covered && asked.current === offset) return;
    const wanted = Math.max(0, first - MARGIN);
    if (covered || wanted === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = wanted;
      moveWindow({ offset: wanted, limit: WINDOW });
    }, 40);
    return () => clearTimeout(timer);
  }, [view, moveWindow, offset, held, total, first, last]);
}
