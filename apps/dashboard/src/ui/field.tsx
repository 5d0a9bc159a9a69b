'use client';
import { clsx } from 'clsx';
import { useId, type ComponentProps, type ReactNode } from 'react';

const INPUT =
  'w-full min-w-0 rounded-md border border-line2 bg-panel px-2.5 text-sm text-ink outline-none hover:border-ink3 focus-visible:border-accent focus-visible:ring-2 focus-visible:ring-accent/35 aria-invalid:border-failure disabled:text-ink3';

export const inputClass = (more?: string): string => clsx(INPUT, 'h-8', more);
export const areaClass = (more?: string): string => clsx(INPUT, 'py-1.5 font-mono text-xs leading-[18px]', more);

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input autoComplete="off" spellCheck={false} {...rest} className={inputClass(className)} />;
}

export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select {...rest} className={inputClass(clsx('pr-1', className))} />;
}

export function Area({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea spellCheck={false} rows={4} {...rest} className={areaClass(className)} />;
}

interface FieldProps {
  readonly label: string;
  /** Shown after the label in mono: a type. */
  readonly type?: string | undefined;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  readonly className?: string;
  readonly children: (props: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': true | undefined;
  }) => ReactNode;
}

/** A labelled control with its help and its error, tied together for screen readers. */
export function Field({ label, type, help, error, className, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const note = error ?? help;
  return (
    <div className={clsx('min-w-0', className)}>
      <label htmlFor={id} className="mb-1 flex flex-wrap items-baseline gap-x-2">
        <span className="text-xs font-semibold wrap-anywhere">{label}</span>
        {type !== undefined && <span className="text-2xs text-ink3 font-mono">{type}</span>}
      </label>
      {children({
        id,
        'aria-describedby': note === undefined ? undefined : noteId,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {note !== undefined && (
        <p
          id={noteId}
          role={error === undefined ? undefined : 'alert'}
          className={clsx('mt-1 text-xs wrap-anywhere', error === undefined ? 'text-ink3' : 'text-failure')}
        >
          {note}
        </p>
      )}
    </div>
  );
}
