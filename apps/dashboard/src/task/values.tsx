'use client';
import type { ShownValue } from '@leasehold/wire';
import { EyeOff } from 'lucide-react';
import { stringifyLossless } from '../api/lossless';
import { useT } from '../i18n';
import { bytesText } from '../look/number';
import { CopyButton } from '../ui/copy';
import { JsonTree } from '../ui/json-tree';

/** Arguments or results: type, name and value, digit for digit. Hidden ones say so; large ones are previews. */
export function Values({ values }: { values: readonly ShownValue[] }) {
  const t = useT();
  if (values.length === 0) return <p className="text-ink3 py-2">{t('value.none')}</p>;
  return (
    <ul className="divide-line divide-y">
      {values.map((each, index) => (
        <li
          key={index}
          className="group grid grid-cols-[minmax(84px,26%)_minmax(0,1fr)_24px] gap-x-3 py-1.5 max-sm:grid-cols-[minmax(0,1fr)_24px]"
        >
          <div className="min-w-0 max-sm:col-span-2">
            <span className="font-semibold wrap-anywhere">{each.name ?? `[${index}]`}</span>{' '}
            <span className="text-2xs text-ink3 font-mono">{each.type}</span>
          </div>
          <OneValue shown={each} />
          {each.hidden !== true && (
            <CopyButton
              text={typeof each.value === 'string' ? each.value : stringifyLossless(each.value)}
              className="-my-1 opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function OneValue({ shown }: { shown: ShownValue }) {
  const t = useT();
  if (shown.hidden === true) {
    return (
      <span className="text-ink3 inline-flex items-center gap-1.5">
        <EyeOff className="size-3.5" aria-hidden />
        {t('value.hidden')}
      </span>
    );
  }
  return (
    <div className="min-w-0">
      {typeof shown.value === 'object' && shown.value !== null ? (
        <JsonTree value={shown.value} open />
      ) : (
        <span className="font-mono text-xs wrap-anywhere whitespace-pre-wrap">{String(shown.value)}</span>
      )}
      {shown.cut !== undefined && (
        <p className="text-retry text-xs">{t('value.cut', { size: bytesText(shown.cut) })}</p>
      )}
    </div>
  );
}
