'use client';
import { clsx } from 'clsx';
import { Search } from 'lucide-react';
import { useId, useMemo, useState, type KeyboardEvent } from 'react';
import { useT } from '../i18n';
import { inputClass } from '../ui/field';
import { signatureText, type Handler } from './use-handlers';

interface Props {
  readonly handlers: readonly Handler[];
  readonly value: string;
  readonly onPick: (name: string) => void;
  readonly autoFocus?: boolean;
}

/** The task names that live workers know, to be searched; another name can be typed and is taken as it is. */
export function NamePicker({ handlers, value, onPick, autoFocus = false }: Props) {
  const t = useT();
  const listId = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return handlers.filter(({ name, queue }) => `${name} ${queue}`.toLowerCase().includes(wanted));
  }, [handlers, text]);
  const typed = text.trim();
  const other = typed !== '' && !handlers.some(({ name }) => name === typed);
  const count = found.length + (other ? 1 : 0);
  const active = Math.min(at, count - 1);
  const pick = (index: number): void => {
    const name = found[index]?.name ?? (other ? typed : undefined);
    if (name !== undefined) onPick(name);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setAt(Math.min(count - 1, active + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, active - 1));
    else if (event.key === 'Enter') pick(active);
    else return;
    event.preventDefault();
  };
  return (
    <div className="flex min-h-0 flex-col gap-2">
      <span className="relative">
        <Search className="text-ink3 absolute top-2 left-2.5 size-3.5" aria-hidden />
        <input
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={count > 0 ? `${listId}-${active}` : undefined}
          aria-label={t('form.findName')}
          placeholder={t('form.findName')}
          autoFocus={autoFocus}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
          className={inputClass('pl-8')}
        />
      </span>
      <div
        id={listId}
        role="listbox"
        aria-label={t('form.names')}
        className="flex min-h-0 flex-col gap-px overflow-auto"
      >
        {found.map((handler, index) => (
          <Option
            key={handler.name}
            id={`${listId}-${index}`}
            selected={handler.name === value}
            active={index === active}
            onPick={() => pick(index)}
          >
            <span className="flex items-baseline gap-2">
              <span className="truncate font-semibold">{handler.name}</span>
              <span className="text-2xs text-ink3 ml-auto shrink-0">{handler.queue}</span>
            </span>
            <span className="text-2xs text-ink3 block truncate font-mono">{signatureText(handler)}</span>
          </Option>
        ))}
        {other && (
          <Option
            id={`${listId}-${found.length}`}
            selected={typed === value}
            active={active === found.length}
            onPick={() => pick(found.length)}
          >
            <span className="font-semibold">{t('form.useName', { name: typed })}</span>
            <span className="text-2xs text-retry block">{t('form.unknownName')}</span>
          </Option>
        )}
        {count === 0 && <p className="text-ink3 px-2 py-3 text-xs">{t('form.noWorkers')}</p>}
      </div>
    </div>
  );
}

function Option({
  id,
  selected,
  active,
  onPick,
  children,
}: {
  id: string;
  selected: boolean;
  active: boolean;
  onPick: () => void;
  children: React.ReactNode;
}) {
  return (
    <div
      id={id}
      role="option"
      aria-selected={selected}
      onClick={onPick}
      className={clsx(
        'min-w-0 cursor-pointer rounded-md px-2 py-1.5',
        selected ? 'bg-accent/14' : active ? 'bg-ink/5' : 'hover:bg-ink/5',
      )}
    >
      {children}
    </div>
  );
}
