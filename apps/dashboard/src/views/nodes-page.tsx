'use client';
import type { NodeRow } from '@leasehold/wire';
import { Crown, ServerOff } from 'lucide-react';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { useRows } from '../live/hooks';
import { nodeName } from '../look/node-name';
import { bytesText, shortId } from '../look/number';
import { useTime } from '../time';
import { Code, Page, PageHead, Section, Tag, TextLink } from '../ui/layout';
import { LeaseCountdown, ShareBar } from '../ui/lease-bar';
import { Empty, Loading } from '../ui/states';
import { Table, type Column } from '../ui/table';

export const nodeHref = (id: string): string => `/nodes/${encodeURIComponent(id)}`;

export function NodesPage() {
  const t = useT();
  const { view } = useRows('nodes');
  if (view === undefined) return <Loading />;
  const live = view.rows.filter((node) => node.departedMs === undefined);
  const departed = view.rows.filter((node) => node.departedMs !== undefined);
  return (
    <Page>
      <title>{`${t('nav.nodes')} · Leasehold`}</title>
      <PageHead title={t('nav.nodes')} note={t('node.note')} />
      <NodeTable nodes={live} empty={<NoNodes />} />
      {departed.length > 0 && (
        <Section title={t('node.departed')} aside={t('node.departedNote')} className="mt-8">
          <DepartedTable nodes={departed} />
        </Section>
      )}
    </Page>
  );
}

function NoNodes() {
  const t = useT();
  return (
    <Empty icon={ServerOff} title={t('node.none')}>
      {t('node.noneText')}
    </Empty>
  );
}

export function NodeBadges({ node }: { node: NodeRow }) {
  const t = useT();
  return (
    <>
      {node.leader && (
        <span className="text-accent inline-flex items-center gap-1 text-xs font-semibold">
          <Crown className="size-3" aria-hidden />
          {t('node.leader')}
        </span>
      )}
      {node.draining && <span className="text-retry text-xs font-semibold">{t('node.draining')}</span>}
    </>
  );
}

function useNodeColumns(): readonly Column<NodeRow>[] {
  const t = useT();
  const time = useTime();
  return [
    {
      key: 'node',
      head: t('facet.node'),
      grows: true,
      cell: (node) => (
        <div className="min-w-0">
          <div className="flex flex-wrap items-center gap-x-2">
            <TextLink href={nodeHref(node.id)} className="text-ink! font-semibold">
              {nodeName(node.id, node.host)}
            </TextLink>
            <NodeBadges node={node} />
          </div>
          <p className="text-2xs text-ink3 truncate">
            {node.host} · pid {node.pid} · {shortId(node.id)}
          </p>
        </div>
      ),
    },
    { key: 'lease', head: t('lock.lease'), cell: (node) => <LeaseCountdown lease={node.lease} /> },
    {
      key: 'running',
      head: t('node.running'),
      cell: (node) => (
        <div className="w-24">
          {node.running} <span className="text-ink3">/ {node.capacity}</span>
          <ShareBar share={node.running / Math.max(1, node.capacity)} className="mt-1.5" />
        </div>
      ),
    },
    {
      key: 'queues',
      head: t('nav.queues'),
      from: 'md',
      cell: (node) => (
        <div className="flex flex-wrap gap-1">
          {node.queues.map((queue) => (
            <Tag key={queue.name}>
              {queue.name} {queue.running}/{queue.concurrency}
            </Tag>
          ))}
        </div>
      ),
    },
    { key: 'handlers', head: t('node.handlers'), from: 'md', right: true, cell: (node) => node.handlers.length },
    {
      key: 'health',
      head: t('node.health'),
      from: 'lg',
      right: true,
      cell: ({ stats }) =>
        stats === undefined ? (
          '–'
        ) : (
          <div>
            <p>{t('node.delay', { ms: stats.eventLoopDelayMs.toFixed(1) })}</p>
            <p className="text-2xs text-ink3">
              {bytesText(stats.rssBytes)}
              {stats.clockSkewMs !== undefined && (
                <span className={Math.abs(stats.clockSkewMs) > 1_000 ? 'text-retry font-semibold' : ''}>
                  {' '}
                  · {t('node.skew', { ms: Math.round(stats.clockSkewMs) })}
                </span>
              )}
            </p>
          </div>
        ),
    },
    {
      key: 'since',
      head: t('node.up'),
      from: 'sm',
      right: true,
      cell: (node) => (
        <div>
          <p title={time.full(node.startedMs)}>
            <Ago ms={node.startedMs} />
          </p>
          <p className="text-2xs text-ink3">
            <Code>{node.version}</Code>
          </p>
        </div>
      ),
    },
  ];
}

function NodeTable({ nodes, empty }: { nodes: readonly NodeRow[]; empty: React.ReactNode }) {
  const t = useT();
  return (
    <Table label={t('nav.nodes')} columns={useNodeColumns()} rows={nodes} rowKey={(node) => node.id} empty={empty} />
  );
}

function DepartedTable({ nodes }: { nodes: readonly NodeRow[] }) {
  const t = useT();
  const columns: readonly Column<NodeRow>[] = [
    {
      key: 'node',
      head: t('facet.node'),
      grows: true,
      cell: (node) => <TextLink href={nodeHref(node.id)}>{nodeName(node.id, node.host)}</TextLink>,
    },
    { key: 'host', head: t('node.host'), from: 'sm', cell: (node) => node.host },
    { key: 'gone', head: t('node.goneSince'), right: true, cell: (node) => <Ago ms={node.departedMs ?? 0} /> },
  ];
  return (
    <Table
      label={t('node.departed')}
      columns={columns}
      rows={nodes}
      rowKey={(node) => node.id}
      rowClass={() => 'text-ink3'}
    />
  );
}
