'use client';
import type { BulkRow } from '@leasehold/wire';
import { Layers } from 'lucide-react';
import { Ago } from '../board/row-time';
import { useT, type Translate } from '../i18n';
import { useRows } from '../live/hooks';
import { grouped } from '../look/number';
import { plain } from '../task/parts';
import { useTime, type TimeFormat } from '../time';
import { Page, PageHead, Tag, TextLink } from '../ui/layout';
import { Empty, Loading } from '../ui/states';
import { Table, type Column } from '../ui/table';
import { BulkProgress, percent } from './progress';
import { BULK_STATES, BULK_TITLES, filterWords } from './words';

export function BulkPage() {
  const t = useT();
  const time = useTime();
  const { view } = useRows('bulks');
  if (view === undefined) return <Loading />;
  return (
    <Page>
      <title>{`${t('nav.bulk')} · Leasehold`}</title>
      <PageHead title={t('nav.bulk')} note={t('bulk.note')} />
      <Table
        label={t('nav.bulk')}
        columns={columnsOf(t, time)}
        rows={view.rows}
        rowKey={(row) => row.id}
        empty={
          <Empty icon={Layers} title={t('bulk.none')}>
            {t('bulk.noneText')}
          </Empty>
        }
      />
    </Page>
  );
}

function columnsOf(t: Translate, time: TimeFormat): readonly Column<BulkRow>[] {
  return [
    {
      key: 'what',
      head: t('bulk.what'),
      grows: true,
      cell: (row) => (
        <div className="min-w-0">
          <TextLink href={`/bulk/${encodeURIComponent(row.id)}`} className="text-ink! block truncate font-semibold">
            {t(BULK_TITLES[row.action], { n: grouped(row.total) })}
          </TextLink>
          <span className="mt-0.5 flex flex-wrap gap-1">
            {filterWords(row.filter, t, time).map(({ part, value }) => (
              <Tag key={part}>{part === '' ? value : `${part}: ${plain(value)}`}</Tag>
            ))}
          </span>
        </div>
      ),
    },
    {
      key: 'progress',
      head: t('bulk.progress'),
      cell: (row) => (
        <div className="min-w-28">
          <p className="mb-1 flex gap-2 text-xs whitespace-nowrap">
            <span className={row.state === 'ABORTED' ? 'text-retry font-semibold' : ''}>
              {t(BULK_STATES[row.state])}
            </span>
            <span className="text-ink3 ml-auto">{percent(row)}</span>
          </p>
          <BulkProgress row={row} />
        </div>
      ),
    },
    { key: 'done', head: t('bulk.done'), from: 'sm', right: true, cell: (row) => grouped(row.done) },
    { key: 'skipped', head: t('bulk.skipped'), from: 'md', right: true, cell: (row) => grouped(row.skipped) },
    { key: 'conflicted', head: t('bulk.conflicted'), from: 'md', right: true, cell: (row) => grouped(row.conflicted) },
    { key: 'by', head: t('bulk.by'), from: 'lg', cell: (row) => plain(row.by) },
    { key: 'started', head: t('bulk.started'), from: 'sm', right: true, cell: (row) => <Ago ms={row.createdMs} /> },
  ];
}
