'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { BulkActionName, BulkCount } from '@leasehold/wire';
import { LIMITS } from '@leasehold/core/model';
import { useState, type FormEvent } from 'react';
import { countBulk, useBulkActions, type Meant } from '../api/bulk-actions';
import { problemText } from '../api/acting';
import { useT } from '../i18n';
import { grouped } from '../look/number';
import { plain } from '../task/parts';
import { useTime } from '../time';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Field, Input, Select } from '../ui/field';
import { Tag } from '../ui/layout';
import { PrioritySelect } from './priority-select';
import { BULK_ACTIONS, BULK_TITLES, filterWords } from './words';

interface Props {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly meant: Meant;
  readonly first: BulkActionName;
  readonly onStarted?: () => void;
}

/** Restates what is meant, counts it, and asks why; the count on the button is the count that is acted on. */
export function BulkDialog(props: Props) {
  const t = useT();
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={t('bulk.ask')} description={t('bulk.askText')}>
      <BulkForm {...props} />
    </Dialog>
  );
}

function BulkForm({ onOpenChange, meant, first, onStarted }: Props) {
  const t = useT();
  const { start } = useBulkActions();
  const [action, setAction] = useState<BulkActionName>(first);
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const [priority, setPriority] = useState('0');
  const counted = useQuery({
    queryKey: ['bulk-count', action, meant],
    queryFn: ({ signal }) => countBulk(action, meant, signal),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
  });
  const count = counted.isPlaceholderData ? undefined : counted.data;
  const level = Number(priority);
  const ready = count !== undefined && count.count > 0 && (!count.typed || typed.trim() === String(count.count));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!ready) return;
    onOpenChange(false);
    const request = { action, meant, count: count.count, asOf: count.asOf, reason: reason.trim() };
    const more = count.typed ? { typed: typed.trim() } : {};
    void start({ ...request, ...more, ...(action === 'reprioritise' ? { priority: level } : {}) }, onStarted);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3 pt-2">
      <Means meant={meant} />
      <Field label={t('bulk.actionLabel')}>
        {(props) => (
          <Select {...props} value={action} onChange={(event) => setAction(event.target.value as BulkActionName)}>
            {(Object.keys(BULK_ACTIONS) as BulkActionName[]).map((each) => (
              <option key={each} value={each}>
                {t(BULK_ACTIONS[each])}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {action === 'reprioritise' && (
        <Field label={t('bulk.priority')} help={t('bulk.priorityHelp', { max: LIMITS.priorityMax })}>
          {(props) => <PrioritySelect {...props} value={priority} onPriority={setPriority} />}
        </Field>
      )}
      <Counted count={count} error={counted.error} onAgain={() => void counted.refetch()} />
      <Field label={t('reason.optional')} help={t('reason.help')}>
        {(props) => (
          <Input {...props} maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
        )}
      </Field>
      {count?.typed === true && (
        <Field label={t('reason.typeCount', { n: count.count })}>
          {(props) => (
            <Input {...props} inputMode="numeric" value={typed} onChange={(event) => setTyped(event.target.value)} />
          )}
        </Field>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={() => onOpenChange(false)}>{t('action.back')}</Button>
        <Button
          type="submit"
          kind={action === 'retry' || action === 'reprioritise' ? 'primary' : 'danger'}
          disabled={!ready}
        >
          {count === undefined ? t('bulk.counting') : t(BULK_TITLES[action], { n: grouped(count.count) })}
        </Button>
      </div>
    </form>
  );
}

function Means({ meant }: { meant: Meant }) {
  const t = useT();
  const time = useTime();
  const filter = 'filter' in meant ? meant.filter : { picked: meant.tasks.length };
  return (
    <p className="flex flex-wrap gap-1" aria-label={t('bulk.filter')}>
      {filterWords(filter, t, time).map(({ part, value }) => (
        <Tag key={part}>{part === '' ? value : `${part}: ${plain(value)}`}</Tag>
      ))}
    </p>
  );
}

function Counted(props: { count: BulkCount | undefined; error: unknown; onAgain: () => void }) {
  const t = useT();
  const { count, error, onAgain } = props;
  const impossible = count === undefined ? 0 : count.count - count.possible;
  return (
    <div className="border-line flex items-start gap-3 border-y py-2" role="status">
      <div className="min-w-0 grow">
        {error !== null && <p className="text-failure wrap-anywhere">{problemText(error, t)}</p>}
        {error === null && count === undefined && <p className="text-ink3">{t('bulk.counting')}</p>}
        {count !== undefined && (
          <p className="font-semibold">{t('bulk.counted', { n: grouped(count.count), rev: grouped(count.asOf) })}</p>
        )}
        {impossible > 0 && <p className="text-retry text-xs">{t('bulk.impossible', { n: grouped(impossible) })}</p>}
      </div>
      <Button size="sm" onClick={onAgain}>
        {t('bulk.countAgain')}
      </Button>
    </div>
  );
}
