'use client';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import Link from 'next/link';
import { Toast } from 'radix-ui';
import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { useT } from '../i18n';
import { buttonClass } from './button';

export interface Notice {
  readonly kind: 'done' | 'refused';
  readonly title: string;
  readonly text?: string;
  /** Where what was made can be seen. */
  readonly link?: { readonly href: string; readonly label: string };
}

type Shown = Notice & { readonly id: number };

const Notify = createContext<((notice: Notice) => void) | null>(null);

export function useNotify(): (notice: Notice) => void {
  const notify = useContext(Notify);
  if (notify === null) throw new Error('useNotify needs a ToastProvider around it');
  return notify;
}

let nextId = 1;

export function ToastProvider({ children }: { children: ReactNode }) {
  const t = useT();
  // Not on the server: Radix gives its viewport a style attribute, which the page's CSP refuses in HTML.
  const [mounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  const [shown, setShown] = useState<readonly Shown[]>([]);
  const notify = useCallback(
    (notice: Notice) => setShown((all) => [...all.slice(-3), { ...notice, id: nextId++ }]),
    [],
  );
  const drop = useCallback((id: number) => setShown((all) => all.filter((one) => one.id !== id)), []);
  const label = useMemo(() => t('toast.region', { hotkey: '{hotkey}' }), [t]);
  return (
    <Notify value={notify}>
      <Toast.Provider label={label} duration={7_000} swipeDirection="right">
        {children}
        {shown.map((one) => (
          <ToastCard key={one.id} notice={one} onClose={() => drop(one.id)} />
        ))}
        {mounted && (
          <Toast.Viewport className="fixed right-3 bottom-3 z-50 flex w-[min(380px,calc(100vw-24px))] flex-col gap-2 outline-none max-sm:bottom-16" />
        )}
      </Toast.Provider>
    </Notify>
  );
}

function ToastCard({ notice, onClose }: { notice: Shown; onClose: () => void }) {
  const t = useT();
  const refused = notice.kind === 'refused';
  return (
    <Toast.Root
      type="foreground"
      duration={refused ? 20_000 : 7_000}
      onOpenChange={(open) => !open && onClose()}
      className="border-line2 bg-raised shadow-pop flex items-start gap-2.5 rounded-lg border py-2.5 pr-2 pl-3"
    >
      {refused ? (
        <CircleAlert className="text-failure mt-px size-4 shrink-0" aria-hidden />
      ) : (
        <CircleCheck className="text-started mt-px size-4 shrink-0" aria-hidden />
      )}
      <div className="min-w-0 grow">
        <Toast.Title className="font-semibold wrap-anywhere">{notice.title}</Toast.Title>
        {notice.text !== undefined && (
          <Toast.Description className="text-ink2 mt-0.5 wrap-anywhere">{notice.text}</Toast.Description>
        )}
        {notice.link !== undefined && (
          <Toast.Action altText={notice.link.label} asChild>
            <Link href={notice.link.href} className="text-accent mt-1 inline-block font-semibold hover:underline">
              {notice.link.label}
            </Link>
          </Toast.Action>
        )}
      </div>
      <Toast.Close className={buttonClass({ kind: 'ghost', size: 'icon-sm' })} aria-label={t('action.close')}>
        <X className="size-3.5" aria-hidden />
      </Toast.Close>
    </Toast.Root>
  );
}
