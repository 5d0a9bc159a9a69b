'use client';
import type { AuditRow } from '@leasehold/wire';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import { problemText, problemTitle } from '../api/acting';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { Ago } from '../board/row-time';
import { useT, type Translate } from '../i18n';
import { grouped, shortId } from '../look/number';
import { plain } from '../task/parts';
import { Button, buttonClass } from '../ui/button';
import { Code, Page, PageHead, TextLink } from '../ui/layout';
import { Empty, Loading } from '../ui/states';
import { Table, type Column } from '../ui/table';

const PAGE_ROWS = 50;

export function AuditPage() {
  const t = useT();
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  const query = useQuery({
    queryKey: ['audit', cursor ?? ''],
    queryFn: ({ signal }) => call({ answer: 'AuditPage', path: paths.audit(PAGE_ROWS, cursor), signal }),
    placeholderData: keepPreviousData,
    refetchInterval: cursor === undefined ? 5_000 : false,
  });
  const page = query.data;
  if (page === undefined) {
    if (query.error === null) return <Loading />;
    return (
      <Empty icon={ScrollText} title={problemTitle(query.error, t)}>
        {problemText(query.error, t)}
      </Empty>
    );
  }
  return (
    <Page>
      <title>{`${t('nav.audit')} · Leasehold`}</title>
      <PageHead
        title={t('nav.audit')}
        note={t('audit.note')}
        actions={
          <>
            <span className="text-ink3 self-center text-xs">{t('audit.count', { n: grouped(page.total) })}</span>
            <a className={buttonClass({ size: 'sm' })} href={paths.auditFile()} download>
              {t('audit.file')}
            </a>
          </>
        }
      />
      <Table
        label={t('nav.audit')}
        columns={columnsOf(t)}
        rows={page.rows}
        rowKey={(row) => row.id}
        empty={
          <Empty icon={ScrollText} title={t('audit.none')}>
            {t('audit.noneText')}
          </Empty>
        }
      />
      <div className="mt-4 flex gap-2">
        {cursor !== undefined && <Button onClick={() => setCursor(undefined)}>{t('audit.newest')}</Button>}
        {page.next !== undefined && <Button onClick={() => setCursor(page.next)}>{t('audit.older')}</Button>}
      </div>
    </Page>
  );
}

/** Where what an operation changed can be seen; undefined for what has no page of its own. */
function targetHref(operation: string, target: string): string | undefined {
  const id = encodeURIComponent(target);
  const [kind] = operation.split('.');
  if (kind === 'task' || kind === 'lock') return `/tasks/${id}`;
  if (kind === 'workflow') return `/workflows/${id}`;
  if (kind === 'schedule') return `/schedules/${id}`;
  if (kind === 'node') return `/nodes/${id}`;
  return target.startsWith('queue:') ? '/queues' : undefined;
}

function Target({ row }: { row: AuditRow }) {
  return (
    <div className="min-w-0">
      {row.targets.slice(0, 5).map((target) => {
        const href = targetHref(row.operation, target);
        const name = <Code>{shortId(target)}</Code>;
        return (
          <p key={target} title={target}>
            {href === undefined ? name : <TextLink href={href}>{name}</TextLink>}
          </p>
        );
      })}
      {row.targets.length > 5 && <p className="text-2xs text-ink3">+{row.targets.length - 5}</p>}
    </div>
  );
}

function columnsOf(t: Translate): readonly Column<AuditRow>[] {
  return [
    { key: 'when', head: t('audit.when'), cell: (row) => <Ago ms={row.atMs} /> },
    {
      key: 'who',
      head: t('audit.who'),
      from: 'sm',
      cell: (row) => (
        <>
          <p className="wrap-anywhere">{plain(row.actor)}</p>
          <p className="text-2xs text-ink3">{[row.role, row.method, row.address].filter(Boolean).join(' · ')}</p>
        </>
      ),
    },
    {
      key: 'did',
      head: t('audit.did'),
      grows: true,
      cell: (row) => (
        <div className="min-w-0">
          <Code>{row.operation}</Code>
          {row.outcome === 'refused' && (
            <span className="text-failure ml-2 text-xs font-semibold">{t('audit.refused')}</span>
          )}
          {row.detail !== null && row.detail !== undefined && (
            <p className="text-2xs text-ink3 truncate font-mono" title={JSON.stringify(row.detail)}>
              {plain(JSON.stringify(row.detail))}
            </p>
          )}
        </div>
      ),
    },
    { key: 'on', head: t('audit.on'), cell: (row) => <Target row={row} /> },
    { key: 'why', head: t('audit.why'), from: 'md', cell: (row) => plain(row.reason ?? '–') },
    {
      key: 'revision',
      head: t('audit.revision'),
      from: 'md',
      right: true,
      cell: (row) => (
        <Code>
          {row.revisionSeen === undefined ? '' : `${grouped(row.revisionSeen)} → `}
          {grouped(row.revision)}
        </Code>
      ),
    },
  ];
}
