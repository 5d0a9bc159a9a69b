'use client';
import { ARG_TYPES, type ArgType } from '@leasehold/core/model';
import { Plus, X } from 'lucide-react';
import { useT } from '../i18n';
import { Button } from '../ui/button';
import { Input, Select } from '../ui/field';

export interface FreeArg {
  readonly type: ArgType;
  readonly text: string;
}

/** Arguments of a name that nobody advertises: their types are chosen by hand. */
export function FreeArgs({
  args,
  problems,
  onChange,
}: {
  args: readonly FreeArg[];
  problems: ReadonlyMap<number, string>;
  onChange: (args: readonly FreeArg[]) => void;
}) {
  const t = useT();
  const set = (index: number, part: Partial<FreeArg>): void =>
    onChange(args.map((arg, i) => (i === index ? { ...arg, ...part } : arg)));
  return (
    <div className="flex flex-col gap-2">
      {args.map((arg, index) => (
        <div key={index} className="grid grid-cols-[112px_minmax(0,1fr)_auto] gap-2">
          <Select
            aria-label={t('form.typeOf', { n: index + 1 })}
            value={arg.type}
            onChange={(event) => set(index, { type: event.target.value as ArgType })}
          >
            {ARG_TYPES.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </Select>
          <Input
            aria-label={t('form.valueOf', { n: index + 1 })}
            aria-invalid={problems.has(index) || undefined}
            value={arg.text}
            onChange={(event) => set(index, { text: event.target.value })}
          />
          <Button
            kind="ghost"
            size="icon"
            aria-label={t('form.removeArg', { n: index + 1 })}
            onClick={() => onChange(args.filter((_, i) => i !== index))}
          >
            <X className="size-3.5" aria-hidden />
          </Button>
          {problems.has(index) && <p className="text-failure col-span-3 text-xs">{problems.get(index)}</p>}
        </div>
      ))}
      <span>
        <Button size="sm" onClick={() => onChange([...args, { type: 'string', text: '' }])}>
          <Plus className="size-3.5" aria-hidden />
          {t('form.addArg')}
        </Button>
      </span>
    </div>
  );
}
