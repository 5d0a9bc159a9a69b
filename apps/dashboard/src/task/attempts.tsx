'use client';
import type { TaskDetail, TaskRow } from '@leasehold/wire';
import { clsx } from 'clsx';
import { Unplug } from 'lucide-react';
import { useT } from '../i18n';
import { CAUSE_WORD } from '../look/cause';
import { useNodeName } from '../look/node-name';
import { grouped } from '../look/number';
import { useNow, useTime } from '../time';
import { Section, TextLink } from '../ui/layout';
import { plain } from './parts';

type Attempt = TaskDetail['attempts'][number];

/** How each try went. One that was lost with its node's lease is outlined: lost is a fate of an attempt, not a state. */
export function Attempts({ row, attempts }: { row: TaskRow; attempts: readonly Attempt[] }) {
  const t = useT();
  if (attempts.length === 0) return null;
  return (
    <Section title={t('task.attempts')} aside={t('row.attempt', { n: row.attempt.n, max: row.attempt.max })}>
      <ol className="divide-line divide-y" data-testid="attempts">
        {attempts.toReversed().map((attempt) => (
          <AttemptRow key={attempt.attempt} attempt={attempt} />
        ))}
      </ol>
    </Section>
  );
}

function AttemptRow({ attempt }: { attempt: Attempt }) {
  const t = useT();
  const name = useNodeName();
  const time = useTime();
  const { cause, error, node, startedMs, endedMs, token } = attempt;
  const lost = cause === 'lost' || cause === 'quarantined';
  return (
    <li className="grid grid-cols-[26px_minmax(0,1fr)_auto] gap-x-3 py-2">
      <span
        className={clsx(
          'grid size-6 place-items-center rounded-full border text-xs font-semibold',
          lost ? 'border-failure text-failure border-dashed' : 'border-line2 text-ink2',
        )}
      >
        {attempt.attempt}
      </span>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2">
          <span
            className={clsx(
              'inline-flex items-center gap-1 font-semibold',
              cause === 'succeeded'
                ? 'text-success'
                : cause === undefined
                  ? 'text-started'
                  : error !== undefined || lost
                    ? 'text-failure'
                    : '',
            )}
          >
            {lost && <Unplug className="size-3.5" aria-hidden />}
            {cause === undefined ? t('state.STARTED') : t(CAUSE_WORD[cause])}
          </span>
          {node !== undefined && <TextLink href={`/nodes/${encodeURIComponent(node)}`}>{name(node)}</TextLink>}
          {token !== undefined && (
            <span className="text-ink3 text-xs">{t('row.token', { token: grouped(token) })}</span>
          )}
        </p>
        {error !== undefined && (
          <p className="text-ink2 font-mono text-xs wrap-anywhere">
            {plain(error.type)}: {plain(error.message)}
          </p>
        )}
      </div>
      <div className="text-right">
        <AttemptSpan startedMs={startedMs} endedMs={endedMs} />
        {startedMs !== undefined && <p className="text-2xs text-ink3">{time.clock(startedMs)}</p>}
      </div>
    </li>
  );
}

function AttemptSpan({ startedMs, endedMs }: { startedMs: number | undefined; endedMs: number | undefined }) {
  const time = useTime();
  if (startedMs === undefined) return null;
  return endedMs === undefined ? <Running sinceMs={startedMs} /> : <span>{time.span(endedMs - startedMs)}</span>;
}

function Running({ sinceMs }: { sinceMs: number }) {
  const time = useTime();
  return <span className="text-started">{time.stopwatch(useNow('fast') - sinceMs)}</span>;
}
