'use client';
import type { TaskRow, WorkflowDetail, WorkflowPicture, WorkflowRow } from '@leasehold/wire';
import { isWorkflowEnded } from '@leasehold/core/model';
import { Ban, RotateCw } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useMemo, useState } from 'react';
import { useMissing } from '../access/may';
import { useActions } from '../api/actions';
import { useFaded } from '../api/acting';
import { Ago, RowTime } from '../board/row-time';
import { useT } from '../i18n';
import { grouped, shortId } from '../look/number';
import { STATE_ORDER, TASK_LOOK, WORKFLOW_LOOK } from '../look/state';
import { WhyText } from '../look/why';
import { NoTask } from '../task/task-page';
import { plain } from '../task/parts';
import { ReasonButton } from '../ui/button';
import { CopyButton } from '../ui/copy';
import { Code, Page, PageHead, Section, TextLink } from '../ui/layout';
import { ReasonDialog } from '../ui/reason-dialog';
import { StackBar } from '../ui/stack-bar';
import { Loading } from '../ui/states';
import { StateMark, WorkflowMark } from '../ui/state-mark';
import { Table, type Column } from '../ui/table';
import { RetryFrom } from './retry-from';
import { useWorkflow } from './use-workflow';

const FlowGraph = dynamic(async () => (await import('./flow-graph')).FlowGraph, { ssr: false });
const Gantt = dynamic(async () => (await import('./gantt')).Gantt, { ssr: false });

/** A thousand chords have a thousand barriers; the graph shows how far they are. */
const BARRIERS_SHOWN = 12;

export function WorkflowPage({ id }: { id: string }) {
  const { detail, row, rows, error, retry } = useWorkflow(id);
  if (row === undefined)
    return error === null ? <Loading /> : <NoTask id={id} error={error} onAgain={() => void retry()} />;
  return <WorkflowBody row={row} detail={detail} rows={rows} />;
}

function WorkflowBody({
  row,
  detail,
  rows,
}: {
  row: WorkflowRow;
  detail: WorkflowDetail | undefined;
  rows: ReadonlyMap<string, TaskRow>;
}) {
  const t = useT();
  const faded = useFaded(row.id);
  const members = useMemo(
    () => [...rows.values()].toSorted((a, b) => (a.workflow?.index ?? 0) - (b.workflow?.index ?? 0)),
    [rows],
  );
  return (
    <Page className={faded ? 'opacity-60' : ''}>
      <title>{`${row.name === '' ? shortId(row.id) : row.name} · Leasehold`}</title>
      <PageHead
        title={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {row.name === '' ? t(`flow.kind.${row.kind}`) : row.name}
            <WorkflowMark state={row.state} className="text-sm!" />
          </span>
        }
        note={
          <span className="flex flex-wrap items-center gap-x-3">
            <span className="inline-flex items-center">
              <Code>{row.id}</Code>
              <CopyButton text={row.id} label={t('task.copyId')} />
            </span>
            <span>{t(`flow.kind.${row.kind}`)}</span>
            <span>
              {t('time.created')} <Ago ms={row.createdMs} /> · {row.by}
            </span>
            {row.generation > 1 && <span>{t('flow.generation', { n: row.generation })}</span>}
          </span>
        }
        actions={<FlowActions row={row} />}
      />
      {row.reason !== undefined && <p className="text-ink2 mb-3">{plain(row.reason)}</p>}
      <Progress row={row} />
      {detail === undefined ? (
        <Loading rows={4} />
      ) : (
        <div className="mt-7 flex flex-col gap-7">
          <FlowPicture detail={detail} rows={rows} />
          {rows.size > 0 && <Gantt rows={members} />}
          {detail.failures.length > 0 && <Failures failures={detail.failures} />}
          <Members rows={members} total={row.tasks} flow={row} />
        </div>
      )}
    </Page>
  );
}

function Progress({ row }: { row: WorkflowRow }) {
  const t = useT();
  const parts = STATE_ORDER.filter((state) => (row.states[state] ?? 0) > 0);
  return (
    <section aria-label={t('flow.progress')}>
      <StackBar states={row.states} height={8} />
      <p className="mt-1.5 flex flex-wrap gap-x-4 gap-y-0.5 text-xs">
        <b>{t('flow.doneOf', { done: grouped(row.states['SUCCESS'] ?? 0), total: grouped(row.tasks) })}</b>
        {parts.map((state) => (
          <TextLink
            key={state}
            href={`/tasks?state=${state}&workflow=${encodeURIComponent(row.id)}`}
            className={TASK_LOOK[state].text}
          >
            {grouped(row.states[state] ?? 0)} {t(TASK_LOOK[state].word)}
          </TextLink>
        ))}
      </p>
    </section>
  );
}

function FlowActions({ row }: { row: WorkflowRow }) {
  const t = useT();
  const { retryWorkflow, cancelWorkflow } = useActions();
  const [cancelling, setCancelling] = useState(false);
  const seen = { id: row.id, name: row.name === '' ? shortId(row.id) : row.name, revision: row.revision };
  const mayRetry = useMissing('workflow.retry');
  const mayCancel = useMissing('workflow.cancel');
  const state = t(WORKFLOW_LOOK[row.state].word);
  const ended = isWorkflowEnded(row.state);
  const noCancel = mayCancel ?? (ended || row.state === 'CANCELLING' ? t('task.noCancel', { state }) : undefined);
  const noRetry = mayRetry ?? (ended && row.state !== 'SUCCESS' ? undefined : t('flow.noRetry', { state }));
  return (
    <>
      <ReasonButton kind="danger" reason={noCancel} onClick={() => setCancelling(true)}>
        <Ban className="size-3.5" aria-hidden />
        {t('flow.cancel')}
      </ReasonButton>
      <ReasonButton kind="primary" reason={noRetry} onClick={() => void retryWorkflow(seen)}>
        <RotateCw className="size-3.5" aria-hidden />
        {t('flow.retryFailed')}
      </ReasonButton>
      <ReasonDialog
        open={cancelling}
        onOpenChange={setCancelling}
        title={t('cancel.title', { name: seen.name })}
        text={t('flow.cancelText')}
        action={t('flow.cancel')}
        onDone={(reason) => {
          setCancelling(false);
          void cancelWorkflow(seen, reason);
        }}
      />
    </>
  );
}

/** One task's state is as live as its row; of many together the server counts. */
function livePicture(picture: WorkflowPicture, rows: ReadonlyMap<string, TaskRow>): WorkflowPicture {
  const nodes = picture.nodes.map((node) => {
    const state = node.taskId === undefined ? undefined : rows.get(node.taskId)?.state;
    return state === undefined || node.states[state] === 1 ? node : { ...node, states: { [state]: 1 } };
  });
  return { ...picture, nodes };
}

function FlowPicture({ detail, rows }: { detail: WorkflowDetail; rows: ReadonlyMap<string, TaskRow> }) {
  const t = useT();
  const { graph, picture } = detail;
  const live = useMemo(() => (picture === undefined ? undefined : livePicture(picture, rows)), [picture, rows]);
  if (live === undefined) return <p className="text-ink3 text-xs">{t('flow.tooLarge')}</p>;
  const barriers = (graph?.joins ?? []).filter((join) => join.join > 0).slice(0, BARRIERS_SHOWN);
  return (
    <Section title={t('flow.graph')} aside={t('board.asOf', { rev: grouped(detail.asOf) })}>
      <FlowGraph picture={live} workflowId={detail.row.id} />
      {barriers.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-x-5 gap-y-1 text-xs">
          {barriers.map((join) => (
            <li key={join.join} className="text-ink2">
              {t('flow.barrier', { n: join.join, done: Math.max(0, join.slots - join.left), total: join.slots })}
              <span className="text-ink3"> · {join.policy}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Failures({ failures }: { failures: WorkflowDetail['failures'] }) {
  const t = useT();
  return (
    <Section title={t('flow.failures')} aside={failures.length}>
      <ul className="divide-line divide-y">
        {failures.map((failure) => (
          <li key={failure.taskId} className="py-1.5">
            <TextLink href={`/tasks/${encodeURIComponent(failure.taskId)}`} className="font-semibold">
              {failure.name}
            </TextLink>
            <span className="text-ink3 ml-2 text-xs">{t('task.attemptN', { n: failure.attempt })}</span>
            <p className="text-ink2 font-mono text-xs wrap-anywhere">{plain(failure.error)}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Members({ rows, total, flow }: { rows: readonly TaskRow[]; total: number; flow: WorkflowRow }) {
  const t = useT();
  const columns: readonly Column<TaskRow>[] = [
    { key: 'n', head: '#', cell: (row) => <span className="text-ink3">{(row.workflow?.index ?? 0) + 1}</span> },
    { key: 'state', head: t('facet.state'), cell: (row) => <StateMark state={row.state} /> },
    {
      key: 'task',
      head: t('column.task'),
      grows: true,
      cell: (row) => (
        <div className="min-w-0">
          <TextLink href={`/tasks/${encodeURIComponent(row.id)}`} className="text-ink! font-semibold">
            {row.name}
          </TextLink>
          <p className="text-ink3 truncate text-xs">
            <span className="font-mono">({row.args})</span>
            {row.error !== undefined && row.state === 'FAILURE' && (
              <span className="text-failure"> · {row.error.message}</span>
            )}
            {row.why !== undefined && (
              <>
                {' · '}
                <WhyText reason={row.why} />
              </>
            )}
          </p>
        </div>
      ),
    },
    {
      key: 'attempt',
      head: t('sort.attempt'),
      from: 'md',
      right: true,
      cell: (row) => `${row.attempt.n}/${row.attempt.max}`,
    },
    { key: 'time', head: t('column.time'), from: 'sm', right: true, cell: (row) => <RowTime row={row} /> },
    { key: 'again', head: '', right: true, cell: (row) => <RetryFrom flow={flow} member={row} /> },
  ];
  return (
    <Section
      title={t('flow.members')}
      aside={
        <TextLink href={`/tasks?workflow=${encodeURIComponent(flow.id)}`}>
          {t('flow.shown', { n: grouped(rows.length), total: grouped(total) })}
        </TextLink>
      }
    >
      <Table
        label={t('flow.members')}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.id}
        actionsLabel={t('flow.retryFrom')}
      />
    </Section>
  );
}
