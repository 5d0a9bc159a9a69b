'use client';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useT } from '../i18n';

const PAGE = 100;

function Scalar({ value }: { value: unknown }) {
  if (typeof value === 'string') return <span className="text-ink wrap-anywhere whitespace-pre-wrap">"{value}"</span>;
  if (value === null) return <span className="text-ink3">null</span>;
  return (
    <span className="text-pending wrap-anywhere">
      {typeof value === 'bigint' ? value.toString() : JSON.stringify(value)}
    </span>
  );
}

/** A value as a tree that opens branch by branch: what is closed costs nothing. Everything in it is text. */
export function JsonTree({ value, name, open = false }: { value: unknown; name?: string; open?: boolean }) {
  const label = name === undefined ? null : <span className="text-ink3">{name}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="pl-4 font-mono text-xs leading-[18px]">
        {label}
        <Scalar value={value} />
      </div>
    );
  }
  return <Branch value={value} label={label} open={open} />;
}

function Branch({ value, label, open: first }: { value: object; label: React.ReactNode; open: boolean }) {
  const t = useT();
  const [open, setOpen] = useState(first);
  const [shown, setShown] = useState(PAGE);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  return (
    <div className="font-mono text-xs leading-[18px]">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="hover:bg-ink/5 flex max-w-full items-center rounded"
      >
        <ChevronRight
          className={open ? 'text-ink3 size-4 shrink-0 rotate-90' : 'text-ink3 size-4 shrink-0'}
          aria-hidden
        />
        {label}
        <span className="text-ink3">{isList ? `[ ${entries.length} ]` : `{ ${entries.length} }`}</span>
      </button>
      {open && (
        <div className="border-line ml-2 border-l pl-2">
          {entries.slice(0, shown).map(([key, each]) => (
            <JsonTree key={key} name={key} value={each} />
          ))}
          {entries.length > shown && (
            <button type="button" className="text-accent pl-4 hover:underline" onClick={() => setShown(shown + PAGE)}>
              {t('value.more', { n: entries.length - shown })}
            </button>
          )}
        </div>
      )}
    </div>
  );
}
