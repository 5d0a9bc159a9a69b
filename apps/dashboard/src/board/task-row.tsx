'use client';
import type { LeaseView, TaskRow } from '@leasehold/wire';
import { clsx } from 'clsx';
import Link from 'next/link';
import { memo, useState, type MouseEvent } from 'react';
import { useFaded } from '../api/acting';
import { useT } from '../i18n';
import { grouped, shortId } from '../look/number';
import { useNodeName } from '../look/node-name';
import { TASK_LOOK } from '../look/state';
import { WhyText } from '../look/why';
import { Tag } from '../ui/layout';
import { LeaseBar } from '../ui/lease-bar';
import { LookIcon, StateMark } from '../ui/state-mark';
import { RowTime } from './row-time';

export const ROW_HEIGHT = 52;
export const ROW_GRID =
  'grid grid-cols-[34px_minmax(0,1fr)_auto] @2xl:grid-cols-[34px_128px_minmax(0,1fr)_96px_152px_108px] gap-x-2 pr-3.5';

interface Props {
  readonly row: TaskRow;
  readonly index: number;
  readonly top: number;
  readonly lease: LeaseView | undefined;
  readonly selected: boolean;
  readonly current: boolean;
  readonly departed: boolean;
  readonly onSelect: (row: TaskRow, range: boolean) => void;
  readonly onCurrent: (id: string) => void;
}

/** Cells change in place under a brief tint; the row itself never moves by itself. */
export const TaskRowView = memo(function TaskRowView(props: Props) {
  const { row, index, top, selected, current, departed, onSelect, onCurrent } = props;
  const t = useT();
  const faded = useFaded(row.id);
  const href = `/tasks/${encodeURIComponent(row.id)}`;
  const select = (event: MouseEvent): void => {
    event.stopPropagation();
    onSelect(row, event.shiftKey);
  };
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      data-task={row.id}
      data-departed={departed || undefined}
      onClick={() => onCurrent(row.id)}
      style={{ transform: `translateY(${top}px)` }}
      className={clsx(
        ROW_GRID,
        'group border-line absolute inset-x-0 top-0 h-13 border-b pt-1.75',
        selected ? 'bg-accent/9' : 'hover:bg-ink/3',
        current && 'shadow-[inset_2px_0_0_var(--accent)]',
        departed && 'opacity-45',
        faded && 'pointer-events-none opacity-45',
      )}
    >
      <ChangeTint revision={row.revision} />
      <div role="gridcell" className="relative flex justify-center pt-0.5">
        <input
          type="checkbox"
          checked={selected}
          onChange={() => undefined}
          onClick={select}
          aria-label={t('row.select', { name: row.name })}
          className="size-3.5 after:absolute after:inset-x-0 after:-inset-y-2"
        />
      </div>
      <StateCell row={row} departed={departed} />
      <div role="gridcell" className="relative min-w-0">
        <Link
          href={href}
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
      </div>
      <div role="gridcell" className="relative hidden min-w-0 @2xl:block">
        <Tag>{row.queue}</Tag>
      </div>
      <HolderCell row={row} lease={props.lease} />
      <div role="gridcell" className="relative text-right whitespace-nowrap">
        <RowTime row={row} />
        {row.priority > 0 && <div className="text-2xs text-ink3">{t('row.priority', { n: row.priority })}</div>}
      </div>
    </div>
  );
});

/** A layer that is made anew at each revision, so that its fade starts again. Not at first sight. */
function ChangeTint({ revision }: { revision: string }) {
  const [first] = useState(revision);
  if (revision === first) return null;
  return <span key={revision} aria-hidden className="animate-tint pointer-events-none absolute inset-0" />;
}

function StateCell({ row, departed }: { row: TaskRow; departed: boolean }) {
  const t = useT();
  const cancelling = row.cancelling === true && row.state === 'STARTED';
  return (
    <div role="gridcell" className="relative hidden min-w-0 @2xl:block">
      <StateMark state={row.state} />
      <div className="text-2xs text-ink3 truncate">
        {departed
          ? t('row.departed')
          : cancelling
            ? t('row.cancelling')
            : t('row.attempt', { n: row.attempt.n, max: row.attempt.max })}
      </div>
    </div>
  );
}

function SecondLine({ row }: { row: TaskRow }) {
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

function HolderCell({ row, lease }: { row: TaskRow; lease: LeaseView | undefined }) {
  const t = useT();
  const name = useNodeName();
  const held = row.state === 'STARTED' && row.node !== undefined;
  return (
    <div role="gridcell" className="relative hidden min-w-0 @2xl:block">
      {held ? (
        <>
          <div className="flex items-center gap-2">
            <Link href={`/nodes/${encodeURIComponent(row.node ?? '')}`} className="truncate hover:underline">
              {name(row.node ?? '')}
            </Link>
            {lease !== undefined && <LeaseBar lease={lease} />}
          </div>
          {row.token !== undefined ? (
            <div className="text-2xs text-ink3 truncate">{t('row.token', { token: grouped(row.token) })}</div>
          ) : (
            <div className="text-2xs text-failure truncate font-semibold">{t('row.lost')}</div>
          )}
        </>
      ) : (
        <span className="text-ink3">–</span>
      )}
    </div>
  );
}
