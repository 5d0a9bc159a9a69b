'use client';
import { elementType } from '@leasehold/core/model';
import { useT } from '../i18n';
import { Area, Field, Input, Select } from '../ui/field';
import { rangeText, type ArgSpec } from './args';

interface Props {
  readonly specs: readonly ArgSpec[];
  readonly texts: readonly string[];
  readonly problems: ReadonlyMap<number, string>;
  readonly touched: ReadonlySet<number> | 'all';
  readonly onChange: (index: number, text: string) => void;
  readonly onBlur?: (index: number) => void;
  /** Positions whose stored value is hidden: left as they are unless something is typed. */
  readonly hidden?: ReadonlySet<number>;
}

/** One field per argument, from the types that the live workers advertise. */
export function ArgFields({ specs, texts, problems, touched, onChange, onBlur, hidden }: Props) {
  const t = useT();
  if (specs.length === 0) return <p className="text-ink3 text-xs">{t('form.noArgs')}</p>;
  return (
    <div className="flex flex-col gap-3">
      {specs.map((spec, index) => (
        <ArgField
          key={`${spec.name}-${index}`}
          spec={spec}
          text={texts[index] ?? ''}
          problem={touched === 'all' || touched.has(index) ? problems.get(index) : undefined}
          hidden={hidden?.has(index) ?? false}
          onChange={(text) => onChange(index, text)}
          onBlur={() => onBlur?.(index)}
        />
      ))}
    </div>
  );
}

interface OneProps {
  readonly spec: ArgSpec;
  readonly text: string;
  readonly problem: string | undefined;
  readonly hidden: boolean;
  readonly onChange: (text: string) => void;
  readonly onBlur: () => void;
}

function ArgField({ spec, text, problem, hidden, onChange, onBlur }: OneProps) {
  const t = useT();
  const range = rangeText(spec.type);
  const help = [
    spec.help,
    range,
    elementType(spec.type) !== null ? t('form.sliceHelp') : undefined,
    spec.type === 'bytes' ? t('form.bytesHelp') : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
  const type = `${spec.type}${spec.optional === true ? ` · ${t('form.optional')}` : ''}`;
  return (
    <Field label={spec.name} type={type} help={help === '' ? undefined : help} error={problem}>
      {(props) => {
        const all = { ...props, value: text, onBlur, placeholder: hidden ? t('form.hiddenKept') : undefined };
        if (spec.type === 'bool') {
          return (
            <Select {...all} onChange={(event) => onChange(event.target.value)}>
              <option value="">{t('form.choose')}</option>
              <option value="true">true</option>
              <option value="false">false</option>
            </Select>
          );
        }
        if (spec.type === 'json' || elementType(spec.type) !== null || spec.type === 'bytes') {
          return (
            <Area {...all} rows={spec.type === 'json' ? 5 : 3} onChange={(event) => onChange(event.target.value)} />
          );
        }
        return (
          <Input
            {...all}
            type={spec.secret === true ? 'password' : 'text'}
            autoComplete="off"
            inputMode={range !== undefined ? 'numeric' : undefined}
            className={spec.type === 'string' ? '' : 'font-mono text-xs!'}
            onChange={(event) => onChange(event.target.value)}
          />
        );
      }}
    </Field>
  );
}
