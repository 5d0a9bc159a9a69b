'use client';
import type { ErrorRow, TaskOrder } from '@leasehold/wire';
import { clsx } from 'clsx';
import { CircleCheck, Unplug, type LucideIcon } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { Ago, RowTime } from '../board/row-time';
import { useT } from '../i18n';
import { useRows, useSummary, useTasks } from '../live/hooks';
import { nodeName } from '../look/node-name';
import { grouped } from '../look/number';
import { WhyText } from '../look/why';
import { plain } from '../task/parts';
import { useNow, useTime } from '../time';
import { Page, PageHead, Section, TextLink } from '../ui/layout';
import { LeaseCountdown, leaseLeft } from '../ui/lease-bar';
import { Loading } from '../ui/states';
import { StateMark } from '../ui/state-mark';
import { LeaderCard } from './leader-card';

const RatesChart = dynamic(async () => (await import('./rates-chart')).RatesChart, {
  ssr: false,
  loading: () => <div className="h-26" />,
});

/** What is wrong now, and where to look. Every number leads to the list behind it. */
export function TriagePage() {
  const t = useT();
  const summary = useSummary();
  if (summary.triage === undefined || summary.states === undefined) return <Loading />;
  return (
    <Page>
      <title>{`${t('nav.triage')} · Leasehold`}</title>
      <PageHead title={t('nav.triage')} note={t('triage.note')} />
      <Tiles />
      <div className="mt-7 grid gap-x-10 gap-y-7 lg:grid-cols-[minmax(0,1fr)_320px]">
        <div className="flex min-w-0 flex-col gap-7">
          <FailingNow />
          <WaitingLong />
        </div>
        <div className="flex min-w-0 flex-col gap-7">
          <Throughput />
          <LeaderCard />
          <NoWorker />
          <EndingLeases />
        </div>
      </div>
    </Page>
  );
}

function Tile({
  href,
  label,
  value,
  tone,
  icon: Icon,
}: {
  href: string;
  label: string;
  value: string;
  tone: string | undefined;
  icon?: LucideIcon;
}) {
  return (
    <Link
      href={href}
      className="border-line hover:bg-ink/3 flex min-w-0 flex-col border-r px-4 py-2.5 last:border-r-0 max-md:border-b"
    >
      <span className="text-ink3 truncate text-xs">{label}</span>
      <span className={clsx('flex items-center gap-1.5 text-xl font-semibold', tone)}>
        {Icon !== undefined && <Icon className="size-4" aria-hidden />}
        {value}
      </span>
    </Link>
  );
}

function Tiles() {
  const t = useT();
  const { triage, states } = useSummary();
  if (triage === undefined || states === undefined) return null;
  const alarm = (n: number, tone: string): string | undefined => (n > 0 ? tone : undefined);
  return (
    <div className="border-line grid grid-cols-2 rounded-lg border sm:grid-cols-3 md:grid-cols-6">
      <Tile
        href="/tasks?state=FAILURE&sort=-updated"
        label={t('triage.failed')}
        value={grouped(triage.failed)}
        tone={alarm(triage.failed, 'text-failure')}
      />
      <Tile
        href="/tasks?state=PENDING&sort=schedule"
        label={t('triage.waitingLong')}
        value={grouped(triage.waitingLong)}
        tone={alarm(triage.waitingLong, 'text-retry')}
      />
      <Tile
        href="/tasks?state=STARTED&sort=started"
        label={t('triage.runningLong')}
        value={grouped(triage.runningLong)}
        tone={alarm(triage.runningLong, 'text-retry')}
      />
      <Tile
        href="/nodes"
        label={t('triage.leasesEnding')}
        value={grouped(triage.leasesEnding)}
        tone={alarm(triage.leasesEnding, 'text-retry')}
      />
      <Tile
        href="/queues"
        label={t('triage.noWorker')}
        value={grouped(triage.queuesWithoutWorker.length)}
        tone={alarm(triage.queuesWithoutWorker.length, 'text-retry')}
      />
      <Tile
        href="/tasks?state=STARTED"
        label={t('state.STARTED')}
        value={grouped(states.states['STARTED'] ?? 0)}
        tone="text-started"
      />
    </div>
  );
}

function Calm({ children }: { children: ReactNode }) {
  return (
    <p className="text-ink3 flex items-center gap-2 py-4">
      <CircleCheck className="text-started size-4" aria-hidden />
      {children}
    </p>
  );
}

function FailingNow() {
  const t = useT();
  const { view } = useRows('errors', {}, { offset: 0, limit: 8 });
  const rows = view?.rows ?? [];
  return (
    <Section title={t('triage.failing')} aside={<TextLink href="/errors">{t('triage.all')}</TextLink>}>
      {rows.length === 0 ? (
        <Calm>{t('triage.nothingFails')}</Calm>
      ) : (
        rows.map((error) => <ErrorLine key={error.id} error={error} />)
      )}
    </Section>
  );
}

function ErrorLine({ error }: { error: ErrorRow }) {
  const t = useT();
  return (
    <Link
      href={`/errors/${encodeURIComponent(error.id)}`}
      className="border-line hover:bg-ink/3 grid grid-cols-[56px_minmax(0,1fr)_auto] gap-x-3 border-b py-2"
    >
      <span className="text-failure text-right text-base font-semibold">{grouped(error.count)}</span>
      <span className="min-w-0">
        <span className="flex items-baseline gap-2">
          <b className="truncate font-semibold">{plain(error.type)}</b>
          <span className="text-ink3 truncate text-xs">{error.names.join(', ')}</span>
        </span>
        <span className="text-ink2 block truncate font-mono text-xs">{plain(error.message)}</span>
      </span>
      <span className="text-ink3 text-right text-xs whitespace-nowrap">
        <Ago ms={error.lastMs} />
        <span className="text-2xs block">
          {t('triage.first')} <Ago ms={error.firstMs} />
        </span>
      </span>
    </Link>
  );
}

const OLDEST: TaskOrder = { by: 'schedule', desc: false };

function WaitingLong() {
  const t = useT();
  const { view } = useTasks({
    filter: { state: ['PENDING', 'RETRY'] },
    order: OLDEST,
    window: { offset: 0, limit: 8 },
  });
  const rows = view?.rows ?? [];
  return (
    <Section
      title={t('triage.longest')}
      aside={<TextLink href="/tasks?state=PENDING&sort=schedule">{t('triage.all')}</TextLink>}
    >
      {rows.length === 0 ? (
        <Calm>{t('triage.nothingWaits')}</Calm>
      ) : (
        rows.map((row) => (
          <Link
            key={row.id}
            href={`/tasks/${encodeURIComponent(row.id)}`}
            className="border-line hover:bg-ink/3 grid grid-cols-[112px_minmax(0,1fr)_auto] gap-x-3 border-b py-2 max-sm:grid-cols-[minmax(0,1fr)_auto]"
          >
            <StateMark state={row.state} className="max-sm:hidden!" />
            <span className="min-w-0">
              <b className="block truncate font-semibold">{row.name}</b>
              {row.why !== undefined && (
                <span className="text-ink2 block truncate text-xs">
                  <WhyText reason={row.why} />
                </span>
              )}
            </span>
            <span className="text-ink3 text-xs whitespace-nowrap">
              <RowTime row={row} />
            </span>
          </Link>
        ))
      )}
    </Section>
  );
}

function Throughput() {
  const t = useT();
  const time = useTime();
  const { rates } = useSummary();
  return (
    <Section title={t('triage.throughput')}>
      <div className="pt-2">
        <RatesChart />
      </div>
      {rates !== undefined && rates.run.count > 0 && (
        <p className="text-ink2 mt-1.5 flex flex-wrap gap-x-4 text-xs">
          <span>{t('board.waitP95', { span: time.span(rates.wait.p95Ms) })}</span>
          <span>{t('board.runP95', { span: time.span(rates.run.p95Ms) })}</span>
        </p>
      )}
    </Section>
  );
}

function NoWorker() {
  const t = useT();
  const { triage } = useSummary();
  if (triage === undefined) return null;
  const { queuesWithoutWorker: queues, namesWithoutWorker: names } = triage;
  if (queues.length + names.length === 0) return null;
  return (
    <Section title={t('triage.nobody')}>
      <ul className="py-1">
        {queues.map((queue) => (
          <li key={queue} className="flex items-center gap-2 py-1">
            <Unplug className="text-retry size-3.5" aria-hidden />
            <TextLink href={`/tasks?queue=${encodeURIComponent(queue)}`}>{queue}</TextLink>
            <span className="text-ink3 text-xs">{t('triage.queueUnserved')}</span>
          </li>
        ))}
        {names.map((name) => (
          <li key={name} className="flex items-center gap-2 py-1">
            <Unplug className="text-retry size-3.5" aria-hidden />
            <TextLink href={`/tasks?name=${encodeURIComponent(name)}`}>{name}</TextLink>
            <span className="text-ink3 text-xs">{t('triage.nameUnknown')}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Nodes by what is left of their leases, the shortest first: one that is not renewed shows before it is gone. */
function EndingLeases() {
  const t = useT();
  const now = useNow();
  const { view } = useRows('nodes');
  const nodes = (view?.rows ?? [])
    .filter((node) => node.departedMs === undefined)
    .toSorted((a, b) => leaseLeft(a.lease, now) / a.lease.ttlMs - leaseLeft(b.lease, now) / b.lease.ttlMs);
  return (
    <Section title={t('triage.leases')} aside={<TextLink href="/nodes">{t('triage.all')}</TextLink>}>
      {nodes.length === 0 ? (
        <p className="text-ink3 py-3">{t('node.none')}</p>
      ) : (
        <ul className="py-1">
          {nodes.slice(0, 6).map((node) => (
            <li key={node.id} className="flex items-center justify-between gap-3 py-1">
              <TextLink href={`/nodes/${encodeURIComponent(node.id)}`} className="truncate">
                {nodeName(node.id, node.host)}
              </TextLink>
              <LeaseCountdown lease={node.lease} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
