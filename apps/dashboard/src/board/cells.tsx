'use client';
import type { LeaseView, TaskColumn, TaskRow } from '@leasehold/wire';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { useT } from '../i18n';
import { useNodeName } from '../look/node-name';
import { grouped, shortId } from '../look/number';
import { TASK_LOOK } from '../look/state';
import { WhyText } from '../look/why';
import { useTime } from '../time';
import { Tag, TextLink } from '../ui/layout';
import { LeaseBar } from '../ui/lease-bar';
import { LookIcon, StateMark } from '../ui/state-mark';
import { RowTime } from './row-time';

export interface CellContext {
  readonly row: TaskRow;
  readonly lease: LeaseView | undefined;
  readonly departed: boolean;
  readonly onCurrent: (id: string) => void;
}

/** The cell of each column: exhaustive. */
export const CELLS: Readonly<Record<TaskColumn, (context: CellContext) => ReactNode>> = {
  state: (context) => <StateCell {...context} />,
  task: (context) => <TaskCell {...context} />,
  queue: ({ row }) => <Tag>{row.queue}</Tag>,
  node: (context) => <HolderCell {...context} />,
  time: ({ row }) => <TimeCell row={row} />,
  attempt: ({ row }) => (
    <>
      {row.attempt.n}
      <span className="text-ink3"> / {row.attempt.max}</span>
    </>
  ),
  priority: ({ row }) => row.priority,
  created: ({ row }) => <CreatedCell row={row} />,
  tags: ({ row }) => <TagsCell row={row} />,
  workflow: ({ row }) => <WorkflowCell row={row} />,
  id: ({ row }) => <span className="block truncate font-mono text-xs">{row.id}</span>,
  revision: ({ row }) => grouped(row.revision),
};

function StateCell({ row, departed }: CellContext) {
  const t = useT();
  const cancelling = row.cancelling === true && row.state === 'STARTED';
  return (
    <>
      <StateMark state={row.state} />
      <div className="text-2xs text-ink3 truncate">
        {departed
          ? t('row.departed')
          : cancelling
            ? t('row.cancelling')
            : t('row.attempt', { n: row.attempt.n, max: row.attempt.max })}
      </div>
    </>
  );
}

function TaskCell({ row, onCurrent }: CellContext) {
  return (
    <>
      <Link
        href={`/tasks/${encodeURIComponent(row.id)}`}
        prefetch={false}
        onFocus={() => onCurrent(row.id)}
        className="flex min-w-0 items-baseline gap-2 hover:underline"
      >
        <LookIcon look={TASK_LOOK[row.state]} className="self-center @2xl:hidden" />
        <span className="truncate font-semibold">{row.name}</span>
        <span className="text-2xs text-ink3 shrink-0 font-mono max-sm:hidden" title={row.id}>
          {shortId(row.id)}
        </span>
      </Link>
      <SecondLine row={row} />
    </>
  );
}

export function SecondLine({ row }: { row: TaskRow }) {
  const { error, progress, why } = row;
  const showError = error !== undefined && (row.state === 'FAILURE' || row.state === 'RETRY');
  return (
    <div className="text-ink3 truncate text-xs">
      <span className="text-ink2 font-mono">({row.args})</span>
      {showError && (
        <span className={row.state === 'FAILURE' ? 'text-failure' : ''}>
          {' '}
          · {error.type}: {error.message}
        </span>
      )}
      {!showError && why !== undefined && (
        <span>
          {' · '}
          <WhyText reason={why} />
        </span>
      )}
      {progress !== undefined && row.state === 'STARTED' && (
        <span>
          {progress.fraction !== undefined && ` · ${Math.round(progress.fraction * 100)} %`}
          {progress.message !== undefined && ` · ${progress.message}`}
        </span>
      )}
    </div>
  );
}

function HolderCell({ row, lease }: CellContext) {
  const t = useT();
  const name = useNodeName();
  if (row.state !== 'STARTED' || row.node === undefined) return <span className="text-ink3">–</span>;
  return (
    <>
      <div className="flex items-center gap-2">
        <Link href={`/nodes/${encodeURIComponent(row.node)}`} prefetch={false} className="truncate hover:underline">
          {name(row.node)}
        </Link>
        {lease !== undefined && <LeaseBar lease={lease} />}
      </div>
      {row.token !== undefined ? (
        <div className="text-2xs text-ink3 truncate">{t('row.token', { token: grouped(row.token) })}</div>
      ) : (
        <div className="text-2xs text-failure truncate font-semibold">{t('row.lost')}</div>
      )}
    </>
  );
}

function TimeCell({ row }: { row: TaskRow }) {
  const t = useT();
  return (
    <>
      <RowTime row={row} />
      {row.priority > 0 && <div className="text-2xs text-ink3">{t('row.priority', { n: row.priority })}</div>}
    </>
  );
}

function CreatedCell({ row }: { row: TaskRow }) {
  const time = useTime();
  return <time title={time.full(row.createdMs)}>{time.short(row.createdMs)}</time>;
}

function TagsCell({ row }: { row: TaskRow }) {
  if (row.tags === undefined) return <span className="text-ink3">–</span>;
  return (
    <span className="flex gap-1 overflow-hidden" title={row.tags.join(', ')}>
      {row.tags.map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
    </span>
  );
}

function WorkflowCell({ row }: { row: TaskRow }) {
  if (row.workflow === undefined) return <span className="text-ink3">–</span>;
  return (
    <TextLink href={`/workflows/${encodeURIComponent(row.workflow.id)}`} className="font-mono text-xs">
      {shortId(row.workflow.id)}
    </TextLink>
  );
}
