'use client';
import { useRouter } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { useT, type PlainKey } from '../i18n';
import { Dialog } from '../ui/dialog';
import { NAV } from './nav';

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
  const latest = useRef(handle);
  useEffect(() => {
    latest.current = handle;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target) || isCovered()) return;
      if (latest.current(event.key, event)) event.preventDefault();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

/** Keys that work on every page: g then a letter, n, w, ?, Ctrl-K. */
export function useFrameKeys({ onPalette, onSheet }: { onPalette: () => void; onSheet: () => void }): void {
  const router = useRouter();
  const goUntil = useRef(0);
  useKeys((key) => {
    if (performance.now() < goUntil.current) {
      goUntil.current = 0;
      const item = NAV.find((one) => one.key === key);
      if (item !== undefined) router.push(item.href);
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

const SHEET: readonly (readonly [PlainKey, readonly (readonly [readonly string[], PlainKey])[]])[] = [
  [
    'keys.everywhere',
    [
      [['Ctrl', 'K'], 'keys.palette'],
      [['?'], 'keys.sheet'],
      [['n'], 'action.newTask'],
      [['w'], 'action.newWorkflow'],
    ],
  ],
  ['keys.go', NAV.map((item) => [['g', item.key], item.word] as const)],
  [
    'keys.list',
    [
      [['j'], 'keys.down'],
      [['k'], 'keys.up'],
      [['Enter'], 'keys.open'],
      [['x'], 'keys.select'],
      [['/'], 'keys.search'],
      [['.'], 'keys.showNew'],
      [['Esc'], 'keys.clear'],
    ],
  ],
  [
    'keys.builder',
    [
      [['↑'], 'keys.up'],
      [['↓'], 'keys.down'],
      [['a'], 'builder.addStep'],
      [['Alt', '↑↓'], 'keys.move'],
      [['Alt', '→'], 'keys.nest'],
      [['Alt', '←'], 'keys.unnest'],
      [['d'], 'builder.duplicate'],
      [['Del'], 'builder.remove'],
      [['Ctrl', 'Z'], 'builder.undo'],
    ],
  ],
];

export function Kbd({ children }: { children: string }) {
  return (
    <kbd className="border-line2 bg-bg text-ink2 text-2xs inline-block min-w-5 rounded border px-1 text-center font-mono leading-4.5">
      {children}
    </kbd>
  );
}

export function KeyboardSheet({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const t = useT();
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('keys.title')} wide>
      <div className="grid gap-x-10 gap-y-5 pt-1 sm:grid-cols-2">
        {SHEET.map(([title, rows]) => (
          <section key={title}>
            <h3 className="text-ink3 border-line border-b pb-1 text-xs font-semibold">{t(title)}</h3>
            <dl>
              {rows.map(([keys, what]) => (
                <div key={keys.join('')} className="flex items-center justify-between gap-4 py-1">
                  <dt className="text-ink2">{t(what)}</dt>
                  <dd className="flex gap-1">
                    {keys.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
