'use client';
import type { TaskRow } from '@leasehold/wire';
import { useVirtualizer } from '@tanstack/react-virtual';
import { clsx } from 'clsx';
import Link from 'next/link';
import { useMemo, useRef } from 'react';
import { useT } from '../i18n';
import { TASK_LOOK } from '../look/state';
import { useNow, useTime } from '../time';
import { Section } from '../ui/layout';
import { LookIcon } from '../ui/state-mark';
import { spansOf, ticksOf, type Span } from './spans';

const ROW_PX = 24;
const MAX_HEIGHT_PX = 360;
const TICKS = 6;
const SECOND_MS = 1_000;
const CLOCK_TO_MS = 10 * 60_000;

/** When each member waited and ran, on one axis, in the reader's zone. The bar is of the last attempt. */
export function Gantt({ rows }: { rows: readonly TaskRow[] }) {
  const t = useT();
  const time = useTime();
  const now = useNow();
  const running = rows.some((row) => row.endedMs === undefined);
  // What is over stands still.
  const nowMs = running ? now : 0;
  const spans = useMemo(() => spansOf(rows, nowMs), [rows, nowMs]);
  const fromMs = Math.min(...spans.map(({ waitFromMs }) => waitFromMs));
  const toMs = Math.max(fromMs + 1, ...spans.map((span) => span.toMs));
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: spans.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const at = (ms: number): number => ((ms - fromMs) / (toMs - fromMs)) * 100;
  const short = toMs - fromMs < SECOND_MS;
  // Below a second the clock says nothing: counted from the start.
  const ticks = short ? ticksOf(0, toMs - fromMs, TICKS).map((ms) => fromMs + ms) : ticksOf(fromMs, toMs, TICKS);
  const label = short
    ? (ms: number) => `+${time.span(ms - fromMs)}`
    : toMs - fromMs < CLOCK_TO_MS
      ? time.clock
      : time.minute;
  return (
    <Section title={t('gantt.title')} aside={`${time.zone} · ${t('gantt.whole', { span: time.span(toMs - fromMs) })}`}>
      <div
        className="text-2xs text-ink3 grid h-6 grid-cols-[180px_minmax(0,1fr)] items-center max-sm:grid-cols-[110px_minmax(0,1fr)]"
        aria-hidden
      >
        <span />
        <span className="relative mr-3.5 h-4 overflow-hidden">
          {ticks.map((ms) => (
            <span
              key={ms}
              className="absolute whitespace-nowrap max-sm:not-nth-[3n+1]:hidden"
              style={{ left: `${at(ms)}%` }}
            >
              {label(ms)}
            </span>
          ))}
        </span>
      </div>
      <div
        ref={scroller}
        role="list"
        aria-label={t('gantt.title')}
        tabIndex={0}
        className="overflow-y-auto"
        style={{ height: Math.min(MAX_HEIGHT_PX, spans.length * ROW_PX) }}
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const span = spans[item.index];
            return span === undefined ? null : (
              <Bar key={span.row.id} span={span} top={item.start} at={at} ticks={ticks} />
            );
          })}
        </div>
      </div>
    </Section>
  );
}

function Bar({
  span,
  top,
  at,
  ticks,
}: {
  span: Span;
  top: number;
  at: (ms: number) => number;
  ticks: readonly number[];
}) {
  const t = useT();
  const time = useTime();
  const { row, waitFromMs, runFromMs, toMs } = span;
  const look = TASK_LOOK[row.state];
  const waited = (runFromMs ?? toMs) - waitFromMs;
  const ran = runFromMs === undefined ? undefined : toMs - runFromMs;
  const told =
    ran === undefined
      ? t('gantt.waiting', { span: time.span(waited) })
      : t('gantt.ran', { wait: time.span(waited), run: time.span(ran) });
  const attempt = row.attempt.n > 1 ? ` · ${t('task.attemptN', { n: row.attempt.n })}` : '';
  return (
    <div
      role="listitem"
      style={{ transform: `translateY(${top}px)` }}
      className="border-line absolute inset-x-0 top-0 grid h-6 grid-cols-[180px_minmax(0,1fr)] items-center border-b text-xs max-sm:grid-cols-[110px_minmax(0,1fr)]"
    >
      <Link
        href={`/tasks/${encodeURIComponent(row.id)}`}
        prefetch={false}
        className="flex min-w-0 items-center gap-1.5 pr-2 hover:underline"
      >
        <LookIcon look={look} />
        <span className="text-ink3 text-2xs">{(row.workflow?.index ?? 0) + 1}</span>
        <span className="truncate">{row.name}</span>
        <span className="sr-only">
          {t(look.word)}, {told}
          {attempt}
        </span>
      </Link>
      <span className="relative mr-3.5 h-full" title={`${told}${attempt}`} aria-hidden>
        {ticks.map((ms) => (
          <span key={ms} className="border-line absolute inset-y-0 border-l" style={{ left: `${at(ms)}%` }} />
        ))}
        <span
          className="bg-ink/10 absolute top-2.5 h-1 rounded-full"
          style={{ left: `${at(waitFromMs)}%`, width: `${at(runFromMs ?? toMs) - at(waitFromMs)}%` }}
        />
        {runFromMs !== undefined && (
          <span
            className={clsx('absolute top-1.5 h-3 min-w-1 rounded-sm bg-current', look.text)}
            style={{ left: `${at(runFromMs)}%`, width: `${at(toMs) - at(runFromMs)}%` }}
          />
        )}
      </span>
    </div>
  );
}
