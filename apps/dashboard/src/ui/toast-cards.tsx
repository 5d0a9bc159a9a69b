'use client';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import Link from 'next/link';
import { Toast } from 'radix-ui';
import { useT } from '../i18n';
import { buttonClass } from './button';
import type { Notice, Shown } from './toast';

/** Its own tree: it is loaded with the first notice. */
export function ToastCards({ shown, onDrop }: { shown: readonly Shown[]; onDrop: (id: number) => void }) {
  const t = useT();
  return (
    <Toast.Provider label={t('toast.region', { hotkey: '{hotkey}' })} duration={7_000} swipeDirection="right">
      {shown.map((one) => (
        <ToastCard key={one.id} notice={one} onClose={() => onDrop(one.id)} />
      ))}
      <Toast.Viewport className="fixed right-3 bottom-3 z-50 flex w-[min(380px,calc(100vw-24px))] flex-col gap-2 outline-none max-sm:bottom-16" />
    </Toast.Provider>
  );
}

function ToastCard({ notice, onClose }: { notice: Notice; onClose: () => void }) {
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
        {notice.undo !== undefined && (
          <Toast.Action altText={notice.undo.label} asChild>
            <button
              type="button"
              className="text-accent mt-1 ml-3 inline-block font-semibold first:ml-0 hover:underline"
              onClick={notice.undo.run}
            >
              {notice.undo.label}
            </button>
          </Toast.Action>
        )}
      </div>
      <Toast.Close className={buttonClass({ kind: 'ghost', size: 'icon-sm' })} aria-label={t('action.close')}>
        <X className="size-3.5" aria-hidden />
      </Toast.Close>
    </Toast.Root>
  );
}
