'use client';
import type { QueueDetail, QueueRow, SettingsView } from '@leasehold/wire';
import { useQuery } from '@tanstack/react-query';
import { CirclePause, CirclePlay, SearchX, Unplug } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useActing } from '../api/acting';
import { postSettings } from '../api/actions';
import { call } from '../api/call';
import { paths, type SettingsTarget } from '../api/paths';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { useLink, useRows } from '../live/hooks';
import { useRev } from '../live/rev';
import { useNodeName } from '../look/node-name';
import { grouped } from '../look/number';
import { useTime } from '../time';
import { Button, LinkButton } from '../ui/button';
import { Fact, Facts, Page, PageHead, Section, TextLink } from '../ui/layout';
import { ReasonDialog } from '../ui/reason-dialog';
import { Empty, Loading } from '../ui/states';
import { Table, type Column } from '../ui/table';
import { Depths, PauseButton } from './queues-page';

const AGAIN_MS = 2_000;
type NameRow = QueueDetail['names'][number];

export function QueuePage({ name }: { name: string }) {
  const t = useT();
  const rev = useRev();
  const filter = useMemo(() => ({ ids: [name] }), [name]);
  const { view } = useRows('queues', filter, ONE);
  const query = useQuery({
    queryKey: ['queue', name, rev ?? ''],
    queryFn: ({ signal }) => call({ answer: 'QueueDetail', path: paths.queueDetail(name, rev), signal }),
    refetchInterval: rev === undefined ? AGAIN_MS : false,
    enabled: view !== undefined,
    retry: false,
  });
  if (view === undefined) return <Loading />;
  const queue = view.rows.find((row) => row.id === name);
  if (queue === undefined) return <NoQueue name={name} />;
  return (
    <Page>
      <title>{`${name} · Leasehold`}</title>
      <PageHead
        title={name}
        note={<Service queue={queue} />}
        actions={
          <>
            <LinkButton href={`/tasks?queue=${encodeURIComponent(name)}`}>{t('queue.tasks')}</LinkButton>
            <PauseButton queue={queue} />
          </>
        }
      />
      <div className="grid gap-x-10 gap-y-7 lg:grid-cols-[minmax(0,1fr)_320px]">
        <div className="flex min-w-0 flex-col gap-7">
          <Section title={t('nav.tasks')}>
            <div className="py-3">
              <Depths queue={queue} />
            </div>
          </Section>
          {query.data === undefined ? <Loading rows={3} /> : <Names queue={queue} detail={query.data} />}
        </div>
        <aside aria-label={t('task.summary')} className="flex min-w-0 flex-col gap-7">
          <Speed queue={queue} ended={query.data?.ended} />
          {query.data !== undefined && <Everything settings={query.data.everything} />}
        </aside>
      </div>
    </Page>
  );
}

const ONE = { offset: 0, limit: 1 } as const;

function NoQueue({ name }: { name: string }) {
  const t = useT();
  return (
    <Empty
      icon={SearchX}
      heading="h1"
      title={t('queue.unknown', { name })}
      action={<LinkButton href="/queues">{t('nav.queues')}</LinkButton>}
    >
      <title>{`${name} · Leasehold`}</title>
      {t('queue.noneText')}
    </Empty>
  );
}

/** Whether it goes on, and who sees to it. */
function Service({ queue }: { queue: QueueRow }) {
  const t = useT();
  const { paused } = queue;
  if (paused !== undefined) return <PausedNote paused={paused} />;
  if (queue.hasWorker) return <>{t('queue.workers', { n: queue.workers })}</>;
  return (
    <span className="text-retry">
      <Unplug className="mr-1 inline size-3 align-[-2px]" aria-hidden />
      {t('queue.noWorkerLong')}
    </span>
  );
}

function PausedNote({ paused }: { paused: NonNullable<SettingsView['paused']> }) {
  const t = useT();
  return (
    <span className="text-retry wrap-anywhere">
      <CirclePause className="mr-1 inline size-3 align-[-2px]" aria-hidden />
      {t('queue.pausedBy', { by: paused.by, reason: paused.reason })} · <Ago ms={paused.sinceMs} />
    </span>
  );
}

function Speed({ queue, ended }: { queue: QueueRow; ended: readonly number[] | undefined }) {
  const t = useT();
  const time = useTime();
  const pair = (p: QueueRow['wait']): string =>
    p === undefined || p.count === 0 ? '–' : `${time.span(p.p50Ms)} · ${time.span(p.p95Ms)}`;
  const bound = queue.limit ?? queue.capacity;
  return (
    <Section title={t('queue.speed')}>
      <Facts>
        <Fact term={t('queue.ended')}>
          {ended === undefined ? '–' : t('queue.perMinute', { n: grouped(ended.reduce((sum, n) => sum + n, 0)) })}
          {ended !== undefined && <Bars values={ended} />}
        </Fact>
        <Fact term={t('queue.oldest')}>{queue.oldestMs === undefined ? '–' : <Ago ms={queue.oldestMs} />}</Fact>
        <Fact term={t('queue.wait')}>{pair(queue.wait)}</Fact>
        <Fact term={t('queue.run')}>{pair(queue.run)}</Fact>
        <Fact term={t('node.running')}>
          {queue.running} / {bound === 0 ? '–' : bound}
        </Fact>
        <Fact term={t('queue.limit')}>{queue.limit ?? t('queue.noLimit')}</Fact>
        <Fact term={t('queue.rateLimit')}>{useRate(queue.rate)}</Fact>
        {queue.ordered === true && <Fact term={t('queue.order')}>{t('queue.ordered')}</Fact>}
      </Facts>
    </Section>
  );
}

function useRate(rate: QueueRow['rate']): string {
  const t = useT();
  const time = useTime();
  return rate === undefined
    ? t('queue.noLimit')
    : t('queue.rateText', { n: rate.count, span: time.span(rate.intervalMs) });
}

function Bars({ values }: { values: readonly number[] }) {
  const peak = Math.max(1, ...values);
  return (
    <svg
      viewBox={`0 0 ${values.length} 20`}
      preserveAspectRatio="none"
      width="100%"
      height={20}
      aria-hidden
      className="border-line mt-1 block border-b"
    >
      {values.map((value, i) => {
        const height = (value / peak) * 19;
        return <rect key={i} x={i + 0.1} width={0.8} y={20 - height} height={height} className="fill-success/60" />;
      })}
    </svg>
  );
}

/** By task name: what waits, who knows it. A name that nobody knows waits for ever, and is said to. */
function Names({ queue, detail }: { queue: QueueRow; detail: QueueDetail }) {
  const t = useT();
  const time = useTime();
  const node = useNodeName();
  const columns: readonly Column<NameRow>[] = [
    {
      key: 'name',
      head: t('queue.name'),
      grows: true,
      cell: ({ name, settings }) => (
        <>
          <TextLink
            href={`/tasks?queue=${encodeURIComponent(queue.id)}&name=${encodeURIComponent(name)}`}
            className="text-ink! font-semibold"
          >
            {name}
          </TextLink>
          {settings.paused !== undefined && (
            <p className="text-xs">
              <PausedNote paused={settings.paused} />
            </p>
          )}
          {settings.limit !== undefined && (
            <p className="text-2xs text-ink3">
              {t('queue.limit')}: {settings.limit}
            </p>
          )}
        </>
      ),
    },
    {
      key: 'live',
      head: t('queue.live'),
      from: 'sm',
      cell: ({ states }) => <Depths queue={{ id: queue.id, states }} />,
    },
    {
      key: 'coverage',
      head: t('queue.coverage'),
      cell: ({ nodes }) =>
        nodes.length === 0 ? (
          <span className="text-retry text-xs">
            <Unplug className="mr-1 inline size-3 align-[-2px]" aria-hidden />
            {t('queue.unknownName')}
          </span>
        ) : (
          <span title={nodes.map(node).join(', ')}>
            {t('queue.coverageOf', { n: nodes.length, total: Math.max(queue.workers, nodes.length) })}
          </span>
        ),
    },
    {
      key: 'run',
      head: t('queue.run'),
      from: 'md',
      right: true,
      cell: ({ run }) => (run === undefined ? '–' : `${time.span(run.p50Ms)} · ${time.span(run.p95Ms)}`),
    },
    {
      key: 'pause',
      head: '',
      right: true,
      cell: ({ name, settings }) => <PauseSettings target={{ name }} title={name} settings={settings} />,
    },
  ];
  return (
    <Section
      title={t('queue.byName')}
      aside={detail.more > 0 ? t('queue.more', { n: detail.more }) : detail.names.length}
    >
      <Table
        label={t('queue.byName')}
        actionsLabel={t('table.actions')}
        columns={columns}
        rows={detail.names}
        rowKey={({ name }) => name}
        empty={<p className="text-ink2 py-3">{t('queue.noNames')}</p>}
      />
    </Section>
  );
}

function Everything({ settings }: { settings: SettingsView }) {
  const t = useT();
  return (
    <Section title={t('queue.everything')}>
      <div className="flex flex-wrap items-center justify-between gap-3 py-2">
        <p className="text-ink2 min-w-0 flex-1">
          {settings.paused === undefined ? t('queue.everythingText') : <PausedNote paused={settings.paused} />}
        </p>
        <PauseSettings target="all" title={t('queue.everything')} settings={settings} />
      </div>
    </Section>
  );
}

function PauseSettings({ target, title, settings }: { target: SettingsTarget; title: string; settings: SettingsView }) {
  const t = useT();
  const { hello } = useLink();
  const { act } = useActing();
  const [open, setOpen] = useState(false);
  if (hello?.readOnly === true) return null;
  const send = (verb: 'pause' | 'resume', reason: string): void => {
    void act({
      ids: [],
      run: () => postSettings(target, verb, settings.revision, reason),
      said: ({ revision }) => ({
        title: t(verb === 'pause' ? 'queue.pausedToast' : 'queue.resumedToast', { name: title }),
        text: t('toast.atRevision', { rev: revision }),
      }),
    });
  };
  if (settings.paused !== undefined) {
    return (
      <Button size="sm" onClick={() => send('resume', '')} aria-label={t('queue.resumeOf', { name: title })}>
        <CirclePlay className="size-3.5" aria-hidden />
        {t('queue.resume')}
      </Button>
    );
  }
  return (
    <>
      <Button kind="ghost" size="sm" onClick={() => setOpen(true)} aria-label={t('queue.pauseOf', { name: title })}>
        <CirclePause className="size-3.5" aria-hidden />
        {t('queue.pause')}
      </Button>
      <ReasonDialog
        open={open}
        onOpenChange={setOpen}
        title={t('queue.pauseNameTitle', { name: title })}
        text={t(target === 'all' ? 'queue.pauseAllText' : 'queue.pauseNameText')}
        action={t('queue.pause')}
        required
        onDone={(reason) => {
          setOpen(false);
          send('pause', reason);
        }}
      />
    </>
  );
}
