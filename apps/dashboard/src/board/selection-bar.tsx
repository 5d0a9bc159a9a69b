'use client';
import type { BulkActionName, TaskFilter, TaskRow } from '@leasehold/wire';
import { BULK_LIMITS, EDGES, isEnded, type TaskState } from '@leasehold/core/model';
import { CirclePause, X } from 'lucide-react';
import { useState } from 'react';
import { useBulkActions, type Meant } from '../api/bulk-actions';
import dynamic from 'next/dynamic';
import { useT } from '../i18n';
import { useLink } from '../live/hooks';
import { grouped } from '../look/number';
import { Button } from '../ui/button';
import { ReasonDialog } from '../ui/reason-dialog';
import type { Selection } from './use-selection';

const BulkDialog = dynamic(async () => (await import('../bulk/bulk-dialog')).BulkDialog, { ssr: false });

const RETRY_FROM: readonly string[] = EDGES.find((edge) => edge.cause === 'retried-by-operator')?.from ?? [];

/** As the state machine has it; the server decides in the end. */
export function canRetry(state: TaskState): boolean {
  return RETRY_FROM.includes(state);
}

export function canCancel(row: TaskRow): boolean {
  return !isEnded(row.state) && row.cancelling !== true;
}

interface Asked {
  readonly meant: Meant;
  readonly first: BulkActionName;
}

interface Props {
  readonly selection: Selection;
  readonly arrivals: number;
  /** What the list shows, and how many that are. */
  readonly filter: TaskFilter;
  readonly total: number;
  readonly readOnly: boolean;
}

/** Takes the place of the tools while rows are selected, and says that updates are paused. */
export function SelectionBar({ selection, arrivals, filter, total, readOnly }: Props) {
  const t = useT();
  const bulk = useBulkActions();
  const { revision } = useLink();
  const [cancelling, setCancelling] = useState(false);
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const retriable = selection.rows.filter(
    (row) => canRetry(row.state) && row.state !== 'SUCCESS' && row.state !== 'SCHEDULED',
  );
  const cancellable = selection.rows.filter(canCancel);
  const start = async (action: 'retry' | 'cancel', tasks: readonly TaskRow[], reason: string): Promise<void> => {
    setCancelling(false);
    const typed = tasks.length > BULK_LIMITS.untyped && action === 'cancel' ? { typed: String(tasks.length) } : {};
    const request = { action, meant: { tasks }, count: tasks.length, asOf: revision, reason, ...typed };
    if (await bulk.start(request)) selection.clear();
  };
  return (
    <div
      role="toolbar"
      aria-label={t('bulk.title')}
      className="bg-accent/8 flex flex-wrap items-center gap-2 px-3.5 py-2.5"
    >
      <b className="flex h-7.5 items-center">{t('bulk.selected', { n: grouped(selection.rows.length) })}</b>
      <span className="text-retry flex items-center gap-1.5 text-xs font-semibold" role="status">
        <CirclePause className="size-3.5" aria-hidden />
        {arrivals > 0 ? t('bulk.pausedWith', { n: grouped(arrivals) }) : t('bulk.paused')}
      </span>
      {!readOnly && total > selection.rows.length && (
        <Button kind="ghost" onClick={() => setAsked({ meant: { filter }, first: 'retry' })}>
          {t('bulk.all', { n: grouped(total) })}
        </Button>
      )}
      <span className="grow" />
      {!readOnly && (
        <Button kind="ghost" onClick={() => setAsked({ meant: { tasks: selection.rows }, first: 'reprioritise' })}>
          {t('bulk.more')}
        </Button>
      )}
      {!readOnly && cancellable.length > 0 && (
        <Button kind="danger" onClick={() => setCancelling(true)}>
          {t('bulk.cancel', { n: cancellable.length })}
        </Button>
      )}
      {!readOnly && retriable.length > 0 && (
        <Button kind="primary" onClick={() => void start('retry', retriable, '')}>
          {t('bulk.retry', { n: retriable.length })}
        </Button>
      )}
      <Button kind="ghost" onClick={selection.clear}>
        <X className="size-3.5" aria-hidden />
        {t('bulk.clear')}
      </Button>
      {asked !== undefined && (
        <BulkDialog
          open
          onOpenChange={() => setAsked(undefined)}
          meant={asked.meant}
          first={asked.first}
          onStarted={selection.clear}
        />
      )}
      <ReasonDialog
        open={cancelling}
        onOpenChange={setCancelling}
        title={t('cancel.titleMany', { n: cancellable.length })}
        text={t('cancel.text')}
        action={t('bulk.cancel', { n: cancellable.length })}
        typed={cancellable.length > BULK_LIMITS.untyped ? String(cancellable.length) : undefined}
        onDone={(reason) => void start('cancel', cancellable, reason)}
      />
    </div>
  );
}
