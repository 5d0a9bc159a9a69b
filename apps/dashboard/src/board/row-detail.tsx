'use client';
import type { TaskRow } from '@leasehold/wire';
import type { ReactNode } from 'react';
import { useT } from '../i18n';
import { grouped, shortId } from '../look/number';
import { WhyText } from '../look/why';
import { useTime } from '../time';
import { CopyButton } from '../ui/copy';
import { LinkButton } from '../ui/button';
import { Code, Tag, TextLink } from '../ui/layout';

/** What the row itself knows, unabridged. Payloads, logs and history are on the task's page, where they are asked for. */
export function RowDetail({ row }: { row: TaskRow }) {
  const t = useT();
  return (
    <div
      role="region"
      aria-label={t('row.expanded', { name: row.name, id: shortId(row.id) })}
      className="border-line bg-ink/2 h-34 overflow-auto border-t px-3.5 py-2.5 sm:pl-15"
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-8 gap-y-2.5 @2xl:grid-cols-[minmax(0,1fr)_300px]">
        <div className="flex min-w-0 flex-col gap-2.5">
          <Part term={t('row.args')}>
            {row.args === '' ? <span className="text-ink3">{t('row.noArgs')}</span> : <Code>{row.args}</Code>}
          </Part>
          {row.error !== undefined && (
            <Part term={t('row.error')}>
              <TextLink href={`/errors/${encodeURIComponent(row.error.fingerprint)}`}>{row.error.type}</TextLink>
              <p className="text-failure font-mono text-xs wrap-anywhere">{row.error.message}</p>
            </Part>
          )}
          {row.why !== undefined && (
            <Part term={t('state.WAITING')}>
              <WhyText reason={row.why} />
            </Part>
          )}
          <span className="flex flex-wrap items-center gap-2">
            <LinkButton href={`/tasks/${encodeURIComponent(row.id)}`} size="sm" prefetch={false}>
              {t('row.open')}
            </LinkButton>
            <Code className="text-ink3">{row.id}</Code>
            <CopyButton text={row.id} label={t('task.copyId')} />
          </span>
        </div>
        <div className="flex min-w-0 flex-col gap-2.5">
          <Times row={row} />
          <Part term={t('row.place')}>
            <span className="flex flex-wrap gap-1">
              <Tag>{row.queue}</Tag>
              {row.tags?.map((tag) => (
                <Tag key={tag}>{tag}</Tag>
              ))}
            </span>
            {row.workflow !== undefined && (
              <TextLink href={`/workflows/${encodeURIComponent(row.workflow.id)}`}>
                {t('row.workflow')} {shortId(row.workflow.id)} · {row.workflow.index + 1}
              </TextLink>
            )}
          </Part>
        </div>
      </div>
    </div>
  );
}

function Times({ row }: { row: TaskRow }) {
  const t = useT();
  const time = useTime();
  const lines: readonly (readonly [string, number | undefined])[] = [
    [t('time.created'), row.createdMs],
    [t('time.started'), row.startedMs],
    [t('time.ended'), row.endedMs],
  ];
  return (
    <Part term={`${t('row.times')} · ${time.zone}`}>
      <dl className="grid grid-cols-[72px_minmax(0,1fr)] text-xs">
        {lines.map(([term, ms]) =>
          ms === undefined ? null : (
            <div key={term} className="contents">
              <dt className="text-ink3">{term}</dt>
              <dd title={time.full(ms)}>{time.short(ms)}</dd>
            </div>
          ),
        )}
        <dt className="text-ink3">{t('column.revision')}</dt>
        <dd>{grouped(row.revision)}</dd>
      </dl>
    </Part>
  );
}

function Part({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <div className="text-2xs text-ink3 font-semibold">{term}</div>
      <div className="min-w-0 wrap-anywhere">{children}</div>
    </div>
  );
}
