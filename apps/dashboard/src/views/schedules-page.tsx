'use client';
import type { ScheduleRow } from '@leasehold/wire';
import { CalendarClock, CirclePause, Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { Ago } from '../board/row-time';
import { useT, useWords, type Translate } from '../i18n';
import { useLink, useRows } from '../live/hooks';
import { grouped } from '../look/number';
import { plain } from '../task/parts';
import { Button } from '../ui/button';
import { Code, Page, PageHead, Tag, TextLink } from '../ui/layout';
import { Empty, Loading } from '../ui/states';
import { Table, type Column } from '../ui/table';
import { cronWords } from './cron';
import { ScheduleDialog } from './schedule-dialog';

export const scheduleHref = (id: string): string => `/schedules/${encodeURIComponent(id)}`;

export function SchedulesPage() {
  const t = useT();
  const { language } = useWords();
  const router = useRouter();
  const { hello } = useLink();
  const { view } = useRows('schedules');
  const [making, setMaking] = useState(false);
  if (view === undefined) return <Loading />;
  return (
    <Page>
      <title>{`${t('nav.schedules')} · Leasehold`}</title>
      <PageHead
        title={t('nav.schedules')}
        note={t('schedule.note')}
        actions={
          hello?.readOnly !== true && (
            <Button kind="primary" onClick={() => setMaking(true)}>
              <Plus className="size-3.5" aria-hidden />
              {t('schedule.new')}
            </Button>
          )
        }
      />
      <Table
        label={t('nav.schedules')}
        columns={columnsOf(t, (spec) => cronWords(spec, language))}
        rows={view.rows}
        rowKey={(row) => row.id}
        empty={
          <Empty icon={CalendarClock} title={t('schedule.none')}>
            {t('schedule.noneText')}
          </Empty>
        }
      />
      <ScheduleDialog open={making} onOpenChange={setMaking} onSaved={(id) => router.push(scheduleHref(id))} />
    </Page>
  );
}

function columnsOf(t: Translate, words: (spec: string) => string | undefined): readonly Column<ScheduleRow>[] {
  return [
    {
      key: 'what',
      head: t('schedule.what'),
      grows: true,
      cell: (row) => (
        <div className="min-w-0">
          <TextLink href={scheduleHref(row.id)} className="text-ink! block truncate font-semibold">
            {row.id}
          </TextLink>
          <Tag>{row.target}</Tag>
          {row.paused !== undefined && (
            <p className="text-retry text-xs wrap-anywhere">
              <CirclePause className="mr-1 inline size-3 align-[-2px]" aria-hidden />
              {t('schedule.paused', { by: plain(row.paused.by), reason: plain(row.paused.reason) })}
            </p>
          )}
        </div>
      ),
    },
    {
      key: 'when',
      head: t('schedule.when'),
      from: 'sm',
      cell: (row) => (
        <>
          <p>{words(row.spec)}</p>
          <p className="text-2xs text-ink3">
            <Code className="text-2xs!">{row.spec}</Code> · {row.zone}
          </p>
        </>
      ),
    },
    {
      key: 'next',
      head: t('schedule.next'),
      right: true,
      cell: (row) => (row.nextMs === undefined ? '–' : <Ago ms={row.nextMs} />),
    },
    {
      key: 'last',
      head: t('schedule.last'),
      from: 'md',
      right: true,
      cell: (row) => (row.lastMs === undefined ? '–' : <Ago ms={row.lastMs} />),
    },
    { key: 'fired', head: t('schedule.fired'), from: 'md', right: true, cell: (row) => grouped(row.fired) },
  ];
}
