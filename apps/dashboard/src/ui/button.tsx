import { clsx } from 'clsx';
import Link from 'next/link';
import type { ComponentProps, ReactNode } from 'react';

type Kind = 'plain' | 'primary' | 'danger' | 'ghost';

const BASE =
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md text-xs font-semibold whitespace-nowrap transition-colors disabled:cursor-not-allowed aria-disabled:cursor-not-allowed';
const SIZES = { md: 'h-7.5 px-3', sm: 'h-6.5 px-2', icon: 'size-7.5', 'icon-sm': 'size-6' } as const;
const KINDS: Readonly<Record<Kind, string>> = {
  plain: 'border border-line2 bg-panel text-ink hover:bg-ink/5 disabled:text-ink3 aria-disabled:text-ink3',
  primary:
    'bg-accent text-onaccent hover:bg-accent/88 disabled:bg-ink/10 disabled:text-ink3 aria-disabled:bg-ink/10 aria-disabled:text-ink3',
  danger:
    'border border-failure/45 text-failure hover:bg-failure/10 disabled:border-line2 disabled:text-ink3 aria-disabled:border-line2 aria-disabled:text-ink3 aria-disabled:hover:bg-transparent',
  ghost: 'text-ink2 hover:bg-ink/6 hover:text-ink disabled:text-ink3',
};

interface Style {
  readonly kind?: Kind | undefined;
  readonly size?: keyof typeof SIZES | undefined;
}

export function buttonClass({ kind = 'plain', size = 'md' }: Style, more?: string): string {
  return clsx(BASE, SIZES[size], KINDS[kind], more);
}

export function Button({ kind, size, className, ...rest }: Style & ComponentProps<'button'>) {
  return <button type="button" {...rest} className={buttonClass({ kind, size }, className)} />;
}

export function LinkButton({ kind, size, className, ...rest }: Style & ComponentProps<typeof Link>) {
  return <Link {...rest} className={buttonClass({ kind, size }, className)} />;
}

/** Why a button cannot be used is said, not hidden: it stays focusable, with the reason as its description. */
export function ReasonButton({
  reason,
  onClick,
  ...rest
}: Style & ComponentProps<'button'> & { readonly reason?: string | undefined; readonly children: ReactNode }) {
  if (reason === undefined) return <Button {...rest} onClick={onClick} />;
  return (
    <Button
      {...rest}
      aria-disabled
      title={reason}
      aria-description={reason}
      onClick={(event) => event.preventDefault()}
    />
  );
}
