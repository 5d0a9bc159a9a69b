'use client';
import { clsx } from 'clsx';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useT } from '../i18n';

/** A designed nothing: what this place shows, why it is empty, and what to do next. */
export function Empty({
  icon: Icon,
  title,
  children,
  action,
  className,
  heading: Heading = 'p',
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  className?: string;
  /** `h1` where this is all that the page has. */
  heading?: 'p' | 'h1';
}) {
  return (
    <div className={clsx('mx-auto flex max-w-sm flex-col items-center px-6 py-14 text-center', className)}>
      <span className="border-line2 text-ink3 mb-3 grid size-10 place-items-center rounded-full border border-dashed">
        <Icon className="size-4.5" aria-hidden />
      </span>
      <Heading className="text-base font-semibold">{title}</Heading>
      {children !== undefined && <div className="text-ink2 mt-1 text-balance">{children}</div>}
      {action !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

export function Loading({ rows = 8 }: { rows?: number }) {
  const t = useT();
  return (
    <div role="status" aria-label={t('load.loading')} className="animate-pulse-dot px-4 py-3">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} className="border-line flex items-center gap-6 border-b py-3.5">
          <span className="bg-ink/8 h-3 w-20 rounded" />
          <span className={clsx('bg-ink/8 h-3 rounded', i % 3 === 0 ? 'w-1/2' : i % 3 === 1 ? 'w-1/3' : 'w-2/5')} />
          <span className="bg-ink/8 ml-auto h-3 w-16 rounded" />
        </div>
      ))}
    </div>
  );
}
