'use client';
import type { QueueRow } from '@leasehold/wire';
import { CirclePause, CirclePlay, Layers, Unplug } from 'lucide-react';
import { useSearchParams } from 'next/navigation';
import { useState } from 'react';
import { useMissing } from '../access/may';
import { useActions } from '../api/actions';
import { useFaded } from '../api/acting';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { useRows } from '../live/hooks';
import { grouped } from '../look/number';
import { STATE_ORDER, TASK_LOOK } from '../look/state';
import { useTime } from '../time';
import { Button, LinkButton } from '../ui/button';
import { Page, PageHead, TextLink } from '../ui/layout';
import { ShareBar } from '../ui/lease-bar';
import { ReasonDialog } from '../ui/reason-dialog';
import { Empty, Loading } from '../ui/states';
import { StackBar } from '../ui/stack-bar';
import { Table, type Column } from '../ui/table';
import { DrainQueue } from './queue-drain';

export function QueuesPage() {
  const t = useT();
  const wanted = useSearchParams().get('q') ?? '';
  const { view } = useRows('queues');
  const columns = useColumns();
  if (view === undefined) return <Loading />;
  const rows = view.rows.filter((queue) => wanted === '' || queue.id === wanted || queue.id.includes(wanted));
  return (
    <Page>
      <title>{`${t('nav.queues')} · Leasehold`}</title>
      <PageHead
        title={t('nav.queues')}
        note={t('queue.note')}
        actions={wanted === '' ? undefined : <LinkButton href="/queues">{t('board.clearFilters')}</LinkButton>}
      />
      <Table
        label={t('nav.queues')}
        actionsLabel={t('table.actions')}
        columns={columns}
        rows={rows}
        rowKey={(queue) => queue.id}
        empty={
          <Empty icon={Layers} title={t('queue.none')}>
            {t('queue.noneText')}
          </Empty>
        }
      />
    </Page>
  );
}

function useColumns(): readonly Column<QueueRow>[] {
  const t = useT();
  const time = useTime();
  return [
    { key: 'name', head: t('facet.queue'), grows: true, cell: (queue) => <NameCell queue={queue} /> },
    { key: 'tasks', head: t('nav.tasks'), from: 'md', cell: (queue) => <Depths queue={queue} /> },
    {
      key: 'running',
      head: t('node.running'),
      cell: (queue) => {
        const bound = queue.limit ?? queue.capacity;
        return (
          <div className="w-20">
            {queue.running} <span className="text-ink3">/ {bound === 0 ? '–' : bound}</span>
            <ShareBar share={bound === 0 ? 0 : queue.running / bound} className="mt-1.5" />
          </div>
        );
      },
    },
    {
      key: 'oldest',
      head: t('queue.oldest'),
      from: 'sm',
      right: true,
      cell: (queue) => (queue.oldestMs === undefined ? '–' : <Ago ms={queue.oldestMs} />),
    },
    {
      key: 'wait',
      head: t('queue.wait'),
      from: 'lg',
      right: true,
      cell: ({ wait }) => (wait === undefined ? '–' : `${time.span(wait.p50Ms)} · ${time.span(wait.p95Ms)}`),
    },
    {
      key: 'run',
      head: t('queue.run'),
      from: 'lg',
      right: true,
      cell: ({ run }) => (run === undefined ? '–' : `${time.span(run.p50Ms)} · ${time.span(run.p95Ms)}`),
    },
    { key: 'act', head: '', right: true, cell: (queue) => <PauseButton queue={queue} /> },
  ];
}

function NameCell({ queue }: { queue: QueueRow }) {
  const t = useT();
  const time = useTime();
  const { paused, ordered, rate } = queue;
  const traits = [
    ...(ordered === true ? [t('queue.ordered')] : []),
    ...(rate === undefined ? [] : [t('queue.rate', { count: grouped(rate.count), span: time.span(rate.intervalMs) })]),
  ];
  return (
    <div className="min-w-0">
      <TextLink href={`/queues/${encodeURIComponent(queue.id)}`} className="text-ink! font-semibold">
        {queue.id}
      </TextLink>
      {paused !== undefined ? (
        <p className="text-retry text-xs wrap-anywhere" title={time.full(paused.sinceMs)}>
          <CirclePause className="mr-1 inline size-3 align-[-2px]" aria-hidden />
          {t('queue.pausedBy', { by: paused.by, reason: paused.reason })} · <Ago ms={paused.sinceMs} /> ·{' '}
          {queue.running > 0 ? t('queue.draining', { n: queue.running }) : t('queue.drained')}
        </p>
      ) : queue.hasWorker ? (
        <p className="text-2xs text-ink3">{[t('queue.workers', { n: queue.workers }), ...traits].join(' · ')}</p>
      ) : (
        <p className="text-retry text-xs">
          <Unplug className="mr-1 inline size-3 align-[-2px]" aria-hidden />
          {t('queue.noWorkerLong')}
        </p>
      )}
    </div>
  );
}

/** How its tasks divide over the states: one bar, and each number a link. */
export function Depths({ queue }: { queue: Pick<QueueRow, 'id' | 'states'> }) {
  const t = useT();
  const parts = STATE_ORDER.filter((state) => (queue.states[state] ?? 0) > 0);
  return (
    <div className="min-w-40">
      <StackBar states={queue.states} />
      <p className="text-2xs mt-0.5 flex flex-wrap gap-x-2.5">
        {parts.map((state) => (
          <TextLink
            key={state}
            href={`/tasks?state=${state}&queue=${encodeURIComponent(queue.id)}`}
            className={`inline-flex min-h-6 items-center ${TASK_LOOK[state].text}`}
          >
            {grouped(queue.states[state] ?? 0)} {t(TASK_LOOK[state].word)}
          </TextLink>
        ))}
      </p>
    </div>
  );
}

export function PauseButton({ queue }: { queue: QueueRow }) {
  const t = useT();
  const missing = useMissing('queue.pause');
  const { pauseQueue, resumeQueue } = useActions();
  const faded = useFaded(queue.id);
  const [open, setOpen] = useState(false);
  const seen = { id: queue.id, name: queue.id, revision: queue.revision };
  if (missing !== undefined) return null;
  if (queue.paused !== undefined) {
    return (
      <Button
        size="sm"
        disabled={faded}
        onClick={() => void resumeQueue(seen)}
        aria-label={t('queue.resumeOf', { name: queue.id })}
      >
        <CirclePlay className="size-3.5" aria-hidden />
        {t('queue.resume')}
      </Button>
    );
  }
  return (
    <div className="flex justify-end gap-1">
      <DrainQueue queue={queue} disabled={faded} />
      <Button
        kind="ghost"
        size="sm"
        disabled={faded}
        onClick={() => setOpen(true)}
        aria-label={t('queue.pauseOf', { name: queue.id })}
      >
        <CirclePause className="size-3.5" aria-hidden />
        {t('queue.pause')}
      </Button>
      <ReasonDialog
        open={open}
        onOpenChange={setOpen}
        title={t('queue.pauseTitle', { name: queue.id })}
        text={t('queue.pauseText')}
        action={t('queue.pause')}
        required
        onDone={(reason) => {
          setOpen(false);
          void pauseQueue(seen, reason);
        }}
      />
    </div>
  );
}
