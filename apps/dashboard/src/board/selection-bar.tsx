'use client';
import type { Done, TaskRow } from '@leasehold/wire';
import { EDGES, isEnded, type TaskState } from '@leasehold/core/model';
import { CirclePause, X } from 'lucide-react';
import { useState } from 'react';
import { problemText, useActing } from '../api/acting';
import { send } from '../api/actions';
import { ApiError } from '../api/call';
import { useT } from '../i18n';
import { grouped } from '../look/number';
import { Button } from '../ui/button';
import { useNotify } from '../ui/toast';
import { ReasonDialog } from '../ui/reason-dialog';
import type { Selection } from './use-selection';

const RETRY_FROM: readonly string[] = EDGES.find((edge) => edge.cause === 'retried-by-operator')?.from ?? [];

/** As the state machine has it; the server decides in the end. */
export function canRetry(state: TaskState): boolean {
  return RETRY_FROM.includes(state);
}

export function canCancel(row: TaskRow): boolean {
  return !isEnded(row.state) && row.cancelling !== true;
}

/** Four at a time: each is guarded by the revision that was seen, so one conflict spoils nothing else. */
async function each(
  rows: readonly TaskRow[],
  run: (row: TaskRow) => Promise<Done>,
): Promise<{ done: Done[]; failed: unknown[] }> {
  const queue = [...rows];
  const done: Done[] = [];
  const failed: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
      try {
        done.push(await run(row));
      } catch (error) {
        failed.push(error);
      }
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return { done, failed };
}

function useBatch(): (
  what: 'retry' | 'cancel',
  rows: readonly TaskRow[],
  run: (row: TaskRow) => Promise<Done>,
) => Promise<void> {
  const t = useT();
  const notify = useNotify();
  const { act } = useActing();
  return async (what, rows, run) => {
    let failures: readonly unknown[] = [];
    await act({
      ids: rows.map((row) => row.id),
      run: async () => {
        const { done, failed } = await each(rows, run);
        failures = failed;
        const last = done.reduce<Done | undefined>(
          (a, b) => (a === undefined || BigInt(b.revision) > BigInt(a.revision) ? b : a),
          undefined,
        );
        if (last === undefined) throw failed[0];
        return last;
      },
      said: () => ({
        title: t(what === 'retry' ? 'toast.retriedMany' : 'toast.cancelledMany', { n: rows.length - failures.length }),
      }),
    });
    if (failures.length === 0 || failures.length === rows.length) return;
    const conflicts = failures.filter((error) => error instanceof ApiError && error.code === 'conflict').length;
    notify({
      kind: 'refused',
      title: t('toast.someRefused', { n: failures.length, conflicts }),
      text: problemText(failures[0], t),
    });
  };
}

interface Props {
  readonly selection: Selection;
  readonly arrivals: number;
  readonly readOnly: boolean;
}

/** Takes the place of the tools while rows are selected, and says that updates are paused. */
export function SelectionBar({ selection, arrivals, readOnly }: Props) {
  const t = useT();
  const batch = useBatch();
  const [cancelling, setCancelling] = useState(false);
  const retriable = selection.rows.filter(
    (row) => canRetry(row.state) && row.state !== 'SUCCESS' && row.state !== 'SCHEDULED',
  );
  const cancellable = selection.rows.filter(canCancel);
  const retry = async (): Promise<void> => {
    await batch('retry', retriable, (row) => send.retryTask(row));
    selection.clear();
  };
  const cancel = async (reason: string): Promise<void> => {
    setCancelling(false);
    await batch('cancel', cancellable, (row) => send.cancelTask(row, reason));
    selection.clear();
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
      <span className="grow" />
      {!readOnly && cancellable.length > 0 && (
        <Button kind="danger" onClick={() => setCancelling(true)}>
          {t('bulk.cancel', { n: cancellable.length })}
        </Button>
      )}
      {!readOnly && retriable.length > 0 && (
        <Button kind="primary" onClick={() => void retry()}>
          {t('bulk.retry', { n: retriable.length })}
        </Button>
      )}
      <Button kind="ghost" onClick={selection.clear}>
        <X className="size-3.5" aria-hidden />
        {t('bulk.clear')}
      </Button>
      <ReasonDialog
        open={cancelling}
        onOpenChange={setCancelling}
        title={t('cancel.titleMany', { n: cancellable.length })}
        text={t('cancel.text')}
        action={t('bulk.cancel', { n: cancellable.length })}
        typed={cancellable.length > 100 ? String(cancellable.length) : undefined}
        onDone={(reason) => void cancel(reason)}
      />
    </div>
  );
}
