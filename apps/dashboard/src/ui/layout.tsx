import { clsx } from 'clsx';
import Link from 'next/link';
import type { ReactNode } from 'react';

/** The body of a page that reads from top to bottom. */
export function Page({ children, className }: { children: ReactNode; className?: string }) {
  return <div className={clsx('mx-auto w-full max-w-6xl px-4 pt-4 pb-16 sm:px-6', className)}>{children}</div>;
}

export function PageHead({ title, note, actions }: { title: ReactNode; note?: ReactNode; actions?: ReactNode }) {
  return (
    <header className="mb-4 flex flex-wrap items-start gap-x-4 gap-y-2">
      <div className="min-w-0 grow">
        <h1 className="text-lg leading-6 font-semibold wrap-anywhere">{title}</h1>
        {note !== undefined && <div className="text-ink2 mt-0.5 wrap-anywhere">{note}</div>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
    </header>
  );
}

export function Section({
  title,
  aside,
  children,
  className,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section aria-label={title} className={clsx('min-w-0', className)}>
      <div className="border-line flex min-h-8 items-end gap-3 border-b pb-1.5">
        <h2 className="text-xs font-semibold">{title}</h2>
        {aside !== undefined && <div className="text-ink3 ml-auto text-xs">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** Term and value pairs in hairline rows. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="divide-line divide-y">{children}</dl>;
}

export function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap gap-x-4 py-1.5">
      <dt className="text-ink3 w-28 shrink-0">{term}</dt>
      <dd className="min-w-0 flex-1 wrap-anywhere">{children}</dd>
    </div>
  );
}

export function TextLink({ href, children, className }: { href: string; children: ReactNode; className?: string }) {
  return (
    <Link href={href} className={clsx('text-accent hover:underline', className)}>
      {children}
    </Link>
  );
}

export function Tag({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <span
      className={clsx(
        'border-line2 text-ink2 inline-block max-w-full truncate rounded border px-1.5 align-bottom text-xs',
        className,
      )}
    >
      {children}
    </span>
  );
}

export function Code({ children, className }: { children: ReactNode; className?: string }) {
  return <code className={clsx('font-mono text-xs wrap-anywhere', className)}>{children}</code>;
}
