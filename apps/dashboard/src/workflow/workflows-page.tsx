'use client';
import type { WorkflowRow } from '@leasehold/wire';
import { GitFork } from 'lucide-react';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { useRows } from '../live/hooks';
import { grouped, shortId } from '../look/number';
import { LinkButton } from '../ui/button';
import { Page, PageHead, TextLink } from '../ui/layout';
import { StackBar } from '../ui/stack-bar';
import { Empty, Loading } from '../ui/states';
import { WorkflowMark } from '../ui/state-mark';
import { Table, type Column } from '../ui/table';

export function WorkflowsPage() {
  const t = useT();
  const { view } = useRows('workflows', {}, { offset: 0, limit: 200 });
  const columns = useColumns();
  if (view === undefined) return <Loading />;
  return (
    <Page>
      <title>{`${t('nav.workflows')} · Leasehold`}</title>
      <PageHead
        title={t('nav.workflows')}
        note={t('flow.note')}
        actions={
          <LinkButton href="/workflows/new" kind="primary" className="md:hidden">
            {t('action.newWorkflow')}
          </LinkButton>
        }
      />
      <Table
        label={t('nav.workflows')}
        columns={columns}
        rows={view.rows}
        rowKey={(flow) => flow.id}
        empty={
          <Empty
            icon={GitFork}
            title={t('flow.none')}
            action={
              <LinkButton href="/workflows/new" kind="primary">
                {t('action.newWorkflow')}
              </LinkButton>
            }
          >
            {t('flow.noneText')}
          </Empty>
        }
      />
      {view.total > view.rows.length && (
        <p className="text-ink3 py-2 text-xs">{t('flow.shown', { n: view.rows.length, total: grouped(view.total) })}</p>
      )}
    </Page>
  );
}

function useColumns(): readonly Column<WorkflowRow>[] {
  const t = useT();
  return [
    { key: 'state', head: t('facet.state'), from: 'sm', cell: (flow) => <WorkflowMark state={flow.state} /> },
    {
      key: 'name',
      head: t('facet.workflow'),
      grows: true,
      cell: (flow) => (
        <div className="min-w-0">
          <TextLink href={`/workflows/${encodeURIComponent(flow.id)}`} className="text-ink! font-semibold">
            {flow.name === '' ? shortId(flow.id) : flow.name}
          </TextLink>
          <p className="text-2xs text-ink3 truncate">
            {t(`flow.kind.${flow.kind}`)} · {t('board.total', { n: grouped(flow.tasks) })}
            {flow.reason !== undefined && ` · ${flow.reason}`}
          </p>
        </div>
      ),
    },
    {
      key: 'progress',
      head: t('flow.progress'),
      cell: (flow) => (
        <div className="min-w-28">
          <StackBar states={flow.states} />
          <p className="text-2xs text-ink3 mt-1">
            {t('flow.doneOf', { done: grouped(flow.states['SUCCESS'] ?? 0), total: grouped(flow.tasks) })}
            {flow.failed > 0 && <span className="text-failure"> · {t('flow.failedN', { n: flow.failed })}</span>}
          </p>
        </div>
      ),
    },
    { key: 'by', head: t('task.submittedBy'), from: 'lg', cell: (flow) => flow.by },
    { key: 'time', head: t('time.created'), right: true, from: 'sm', cell: (flow) => <Ago ms={flow.createdMs} /> },
  ];
}
