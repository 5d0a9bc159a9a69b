'use client';
import type { TaskDetail, TaskRow } from '@leasehold/wire';
import { SearchX, TriangleAlert } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { problemText, problemTitle, useFaded } from '../api/acting';
import { ApiError } from '../api/call';
import { useT } from '../i18n';
import { RowTime, timeOf } from '../board/row-time';
import { Button, LinkButton } from '../ui/button';
import { CopyButton } from '../ui/copy';
import { Code, Page, PageHead, Section } from '../ui/layout';
import { Empty, Loading } from '../ui/states';
import { StateMark } from '../ui/state-mark';
import { Attempts } from './attempts';
import { Logs } from './logs';
import { ErrorCard, ProgressLine, WhyList } from './parts';
import { TaskActions } from './task-actions';
import { TaskFacts } from './task-facts';
import { Timeline } from './timeline';
import { useTask } from './use-task';
import { Values } from './values';

const Reveal = lazy(async () => ({ default: (await import('../access/reveal')).Reveal }));

function hidesSomething({ args, results = [] }: TaskDetail): boolean {
  return [...args, ...results].some(({ hidden }) => hidden === true);
}

export function TaskPage({ id }: { id: string }) {
  const { detail, row, error, retry } = useTask(id);
  if (row === undefined)
    return error === null ? <Loading /> : <NoTask id={id} error={error} onAgain={() => void retry()} />;
  return <TaskBody row={row} detail={detail} />;
}

export function NoTask({ id, error, onAgain }: { id: string; error: Error; onAgain: () => void }) {
  const t = useT();
  const gone = error instanceof ApiError && error.code === 'not-found';
  return (
    <Empty
      icon={gone ? SearchX : TriangleAlert}
      title={gone ? t('task.gone') : problemTitle(error, t)}
      action={
        <>
          <Button onClick={onAgain}>{t('load.again')}</Button>
          <LinkButton href="/tasks">{t('nav.tasks')}</LinkButton>
        </>
      }
    >
      <Code>{id}</Code>
      <p className="mt-1">{gone ? t('task.goneText') : problemText(error, t)}</p>
    </Empty>
  );
}

function TaskBody({ row, detail }: { row: TaskRow; detail: TaskDetail | undefined }) {
  const t = useT();
  const faded = useFaded(row.id);
  return (
    <Page className={faded ? 'opacity-60' : ''}>
      <title>{`${row.name} · Leasehold`}</title>
      <PageHead
        title={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {row.name}
            <StateMark state={row.state} className="text-sm!" />
          </span>
        }
        note={<TaskNote row={row} />}
        actions={detail === undefined ? undefined : <TaskActions row={row} detail={detail} />}
      />
      {detail === undefined ? (
        <Loading rows={5} />
      ) : (
        <div className="grid gap-x-10 gap-y-7 lg:grid-cols-[minmax(0,1fr)_320px]">
          <div className="flex min-w-0 flex-col gap-7">
            <WhyList why={detail.why} />
            <ProgressLine progress={row.progress} />
            {detail.error !== undefined && showsError(row) && (
              <ErrorCard error={detail.error} runbook={detail.handler?.runbookUrl} />
            )}
            <Section title={t('task.args')}>
              <Values values={named(detail)} />
              {hidesSomething(detail) && (
                <Suspense>
                  <Reveal id={row.id} />
                </Suspense>
              )}
            </Section>
            {detail.results !== undefined && (
              <Section title={t('task.results')}>
                <Values values={detail.results} />
              </Section>
            )}
            <Attempts row={row} attempts={detail.attempts} />
            <Timeline history={detail.history} whole={detail.historyWhole} />
            <Logs id={row.id} logs={detail.logs} />
          </div>
          <TaskFacts row={row} detail={detail} />
        </div>
      )}
    </Page>
  );
}

/** An error of an earlier try is told with its attempt; up here stands the one that counts now. */
function showsError(row: TaskRow): boolean {
  return row.state === 'FAILURE' || row.state === 'RETRY';
}

/** Arguments that were sent without a name are called as their handler calls them. */
function named({ args, handler }: TaskDetail): TaskDetail['args'] {
  return args.map((arg, i) => {
    const name = arg.name ?? handler?.args[i]?.name;
    return name === undefined ? arg : { ...arg, name };
  });
}

function TaskNote({ row }: { row: TaskRow }) {
  const t = useT();
  const { word } = timeOf(row);
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
      <span className="inline-flex min-w-0 items-center">
        <Code>{row.id}</Code>
        <CopyButton text={row.id} label={t('task.copyId')} />
      </span>
      <span>{t('row.attempt', { n: row.attempt.n, max: row.attempt.max })}</span>
      <span>
        {t(word)} <RowTime row={row} />
      </span>
    </span>
  );
}
