'use client';
import { useRouter } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { useRev, withRev } from '../live/rev';
import { NAV } from './nav';
import { usePrefs } from './prefs';

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** True while a dialog or a menu has the keys. */
function isCovered(): boolean {
  return document.querySelector('[role="dialog"],[role="menu"]') !== null;
}

/** Single keys, when nobody is typing. The handler says whether it took the key. */
export function useKeys(handle: (key: string, event: KeyboardEvent) => boolean): void {
  const { shortcuts } = usePrefs();
  const latest = useRef(handle);
  useEffect(() => {
    latest.current = handle;
  });
  useEffect(() => {
    if (shortcuts === 'off') return undefined;
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target) || isCovered()) return;
      if (latest.current(event.key, event)) event.preventDefault();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [shortcuts]);
}

/** Keys that work on every page: g then a letter, n, w, ?, Ctrl-K. */
export function useFrameKeys({ onPalette, onSheet }: { onPalette: () => void; onSheet: () => void }): void {
  const router = useRouter();
  const rev = useRev();
  const goUntil = useRef(0);
  useKeys((key) => {
    if (performance.now() < goUntil.current) {
      goUntil.current = 0;
      const item = NAV.find((one) => one.key === key);
      if (item !== undefined) router.push(withRev(item.href, rev));
      return item !== undefined;
    }
    if (key === 'g') goUntil.current = performance.now() + 1_200;
    else if (key === 'n') router.push('/tasks/new');
    else if (key === 'w') router.push('/workflows/new');
    else if (key === '?') onSheet();
    else return false;
    return true;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      onPalette();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [onPalette]);
}

export function Kbd({ children }: { children: string }) {
  return (
    <kbd className="border-line2 bg-bg text-ink2 text-2xs inline-block min-w-5 rounded border px-1 text-center font-mono leading-4.5">
      {children}
    </kbd>
  );
}
