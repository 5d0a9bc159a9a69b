'use client';
import type { ErrorRow } from '@leasehold/wire';
import { CircleCheck } from 'lucide-react';
import { Ago } from '../board/row-time';
import { useT, type Translate } from '../i18n';
import { useRows } from '../live/hooks';
import { grouped } from '../look/number';
import { plain } from '../task/parts';
import { Page, PageHead, Tag, TextLink } from '../ui/layout';
import { Empty, Loading } from '../ui/states';
import { Table, type Column } from '../ui/table';

export const errorTasksHref = (fingerprint: string): string =>
  `/tasks?error=${encodeURIComponent(fingerprint)}&sort=-updated`;

export function ErrorsPage() {
  const t = useT();
  const { view } = useRows('errors');
  if (view === undefined) return <Loading />;
  return (
    <Page>
      <title>{`${t('nav.errors')} · Leasehold`}</title>
      <PageHead title={t('nav.errors')} note={t('error.note')} />
      <Table
        label={t('nav.errors')}
        columns={columnsOf(t)}
        rows={view.rows}
        rowKey={(error) => error.id}
        empty={
          <Empty icon={CircleCheck} title={t('error.none')}>
            {t('error.noneText')}
          </Empty>
        }
      />
    </Page>
  );
}

function columnsOf(t: Translate): readonly Column<ErrorRow>[] {
  return [
    {
      key: 'what',
      head: t('error.what'),
      grows: true,
      cell: (error) => (
        <div className="min-w-0">
          <TextLink href={`/errors/${encodeURIComponent(error.id)}`} className="text-ink! block truncate font-semibold">
            {plain(error.type)}
          </TextLink>
          <p className="text-ink2 truncate font-mono text-xs">{plain(error.message)}</p>
        </div>
      ),
    },
    {
      key: 'count',
      head: t('error.count'),
      right: true,
      cell: (error) => (
        <>
          <TextLink
            href={errorTasksHref(error.id)}
            className="text-failure! inline-block min-h-6 min-w-6 font-semibold"
          >
            {grouped(error.count)}
          </TextLink>
          <p className="text-2xs text-ink3 max-sm:hidden">{t('error.failing', { n: error.failing })}</p>
        </>
      ),
    },
    {
      key: 'names',
      head: t('error.names'),
      from: 'md',
      cell: (error) => (
        <div className="flex flex-wrap gap-1">
          {error.names.map((name) => (
            <Tag key={name}>{name}</Tag>
          ))}
        </div>
      ),
    },
    { key: 'first', head: t('error.first'), from: 'sm', right: true, cell: (error) => <Ago ms={error.firstMs} /> },
    { key: 'last', head: t('error.last'), right: true, cell: (error) => <Ago ms={error.lastMs} /> },
  ];
}
