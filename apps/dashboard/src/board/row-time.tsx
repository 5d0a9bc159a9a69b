'use client';
import type { TaskRow } from '@leasehold/wire';
import { useT, type PlainKey } from '../i18n';
import { useNow, useTime } from '../time';

/** The one time that matters in a state. */
export function timeOf(row: TaskRow): { readonly ms: number; readonly word: PlainKey; readonly running: boolean } {
  switch (row.state) {
    case 'STARTED':
      return { ms: row.startedMs ?? row.updatedMs, word: 'time.started', running: true };
    case 'RETRY':
      return { ms: row.scheduleMs, word: 'time.nextTry', running: false };
    case 'SCHEDULED':
      return { ms: row.scheduleMs, word: 'time.due', running: false };
    case 'PENDING':
      return { ms: row.scheduleMs, word: 'time.ready', running: false };
    case 'WAITING':
      return { ms: row.createdMs, word: 'time.created', running: false };
    case 'SUCCESS':
    case 'FAILURE':
    case 'CANCELLED':
      return { ms: row.endedMs ?? row.updatedMs, word: 'time.ended', running: false };
  }
}

function Stopwatch({ sinceMs }: { sinceMs: number }) {
  const time = useTime();
  return <>{time.stopwatch(useNow('fast') - sinceMs)}</>;
}

function Relative({ ms }: { ms: number }) {
  const time = useTime();
  return <>{time.relative(ms, useNow())}</>;
}

export function RowTime({ row }: { row: TaskRow }) {
  const t = useT();
  const time = useTime();
  const { ms, word, running } = timeOf(row);
  return (
    <time title={`${t(word)} ${time.full(ms)}`} suppressHydrationWarning>
      {running ? <Stopwatch sinceMs={ms} /> : <Relative ms={ms} />}
    </time>
  );
}

/** An instant as an age, with the whole of it behind. */
export function Ago({ ms }: { ms: number }) {
  const time = useTime();
  return (
    <time title={time.full(ms)}>
      <Relative ms={ms} />
    </time>
  );
}
