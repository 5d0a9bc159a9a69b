'use client';
import type { ScheduleDetail, ScheduleRun } from '@leasehold/wire';
import { TASK_STATES, type TaskState, type WorkflowState } from '@leasehold/core/model';
import { useQuery } from '@tanstack/react-query';
import { CirclePause, SearchX } from 'lucide-react';
import { problemText } from '../api/acting';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { Ago } from '../board/row-time';
import { useT, useWords } from '../i18n';
import { useRows, useSummary } from '../live/hooks';
import { grouped } from '../look/number';
import { plain } from '../task/parts';
import { makeTimeFormat, useNow, useTime } from '../time';
import { LinkButton } from '../ui/button';
import { JsonTree } from '../ui/json-tree';
import { Code, Fact, Facts, Page, PageHead, Section, TextLink } from '../ui/layout';
import { StateMark, WorkflowMark } from '../ui/state-mark';
import { Empty, Loading } from '../ui/states';
import { cronWords, firesOf } from './cron';
import { ScheduleActions } from './schedule-actions';
import { MISSED_WORDS, OVERLAP_WORDS } from './schedule-dialog';

/** Read again whenever the record changes, and when the number of tasks does: a run has begun or ended. */
function useSchedule(id: string) {
  const { view } = useRows('schedules');
  const { states } = useSummary();
  const live = view?.rows.find((row) => row.id === id);
  const query = useQuery({
    queryKey: ['schedule', id, live?.revision ?? '', JSON.stringify(states?.states ?? {})],
    queryFn: ({ signal }) => call({ answer: 'ScheduleDetail', path: paths.schedule(id), signal }),
    placeholderData: (old) => (old?.row.id === id ? old : undefined),
    enabled: live !== undefined,
  });
  return { known: view !== undefined, live, detail: query.data, error: query.error };
}

export function SchedulePage({ id }: { id: string }) {
  const t = useT();
  const { language } = useWords();
  const { known, live, detail, error } = useSchedule(id);
  if (known && live === undefined) {
    return (
      <Empty
        icon={SearchX}
        heading="h1"
        title={t('schedule.unknown')}
        action={<LinkButton href="/schedules">{t('nav.schedules')}</LinkButton>}
      >
        <Code>{id}</Code>
        <p className="mt-1">{error === null ? t('schedule.unknownText') : problemText(error, t)}</p>
      </Empty>
    );
  }
  if (live === undefined || detail === undefined) return <Loading />;
  const words = cronWords(live.spec, language);
  return (
    <Page>
      <title>{`${id} · Leasehold`}</title>
      <PageHead
        title={id}
        note={
          <>
            {words !== undefined && <>{words} · </>}
            <Code>{live.spec}</Code> · {live.zone}
          </>
        }
        actions={<ScheduleActions detail={detail} row={live} />}
      />
      {live.paused !== undefined && (
        <p className="text-retry mb-4 wrap-anywhere">
          <CirclePause className="mr-1 inline size-3.5 align-[-2px]" aria-hidden />
          {t('schedule.paused', { by: plain(live.paused.by), reason: plain(live.paused.reason) })} ·{' '}
          <Ago ms={live.paused.sinceMs} />
        </p>
      )}
      <div className="grid gap-x-10 gap-y-7 lg:grid-cols-[minmax(0,1fr)_340px]">
        <div className="flex min-w-0 flex-col gap-7">
          <NextFive detail={detail} />
          <Runs runs={detail.runs} />
          <Section title={t('schedule.submits')}>
            <div className="py-2">
              <JsonTree value={detail.workflow} open />
            </div>
          </Section>
        </div>
        <Policies detail={detail} />
      </div>
    </Page>
  );
}

function NextFive({ detail }: { detail: ScheduleDetail }) {
  const t = useT();
  const { language } = useWords();
  const mine = useTime();
  const now = useNow();
  const { spec, zone, paused } = detail.row;
  const own = makeTimeFormat(zone, language);
  const after = Math.max(now, (detail.startMs ?? 0) - 1);
  const fires = firesOf(spec, zone, after, 5, detail.anchorMs);
  const left = detail.count === undefined ? 5 : Math.max(0, detail.count - detail.row.fired);
  const times = 'problem' in fires ? [] : fires.times.filter((ms) => ms <= (detail.endMs ?? Infinity)).slice(0, left);
  return (
    <Section title={t('schedule.nextFive')}>
      {paused !== undefined || times.length === 0 ? (
        <p className="text-ink3 py-3">{paused === undefined ? t('schedule.never') : '–'}</p>
      ) : (
        <div className="overflow-x-auto">
          <table className="w-full text-left">
            <thead>
              <tr className="text-2xs text-ink3">
                <th className="py-1.5 pr-3 font-semibold">{t('schedule.itsZone', { zone })}</th>
                <th className="py-1.5 pr-3 font-semibold">{t('schedule.myZone', { zone: mine.zone })}</th>
                <th className="py-1.5 text-right font-semibold">{t('schedule.next')}</th>
              </tr>
            </thead>
            <tbody>
              {times.map((ms) => (
                <tr key={ms} className="border-line border-t">
                  <td className="py-1.5 pr-3">{own.short(ms)}</td>
                  <td className="py-1.5 pr-3">{mine.short(ms)}</td>
                  <td className="py-1.5 text-right whitespace-nowrap">{mine.relative(ms, now)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}

function RunState({ run }: { run: ScheduleRun }) {
  return run.kind === 'task' ? (
    <StateMark state={TASK_STATES.find((state): state is TaskState => state === run.state) ?? 'PENDING'} />
  ) : (
    <WorkflowMark state={run.state as WorkflowState} />
  );
}

function Runs({ runs }: { runs: readonly ScheduleRun[] }) {
  const t = useT();
  const time = useTime();
  return (
    <Section title={t('schedule.runs')} aside={runs.length}>
      {runs.length === 0 ? (
        <p className="text-ink3 py-3">{t('schedule.noRuns')}</p>
      ) : (
        <ul className="divide-line divide-y">
          {runs.map((run) => (
            <li key={run.id} className="grid grid-cols-[112px_minmax(0,1fr)_auto] gap-x-3 py-2">
              <RunState run={run} />
              <TextLink href={`/${run.kind}s/${encodeURIComponent(run.id)}`} className="truncate">
                {run.instantMs === undefined ? t('schedule.byHand') : time.short(run.instantMs)}
              </TextLink>
              <span className="text-ink3 text-xs whitespace-nowrap">
                <Ago ms={run.createdMs} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Policies({ detail }: { detail: ScheduleDetail }) {
  const t = useT();
  const time = useTime();
  const { row, jitterMs } = detail;
  const missed = MISSED_WORDS[row.missed];
  const overlap = OVERLAP_WORDS[row.overlap];
  return (
    <aside aria-label={t('schedule.policy')}>
      <Section title={t('schedule.policy')}>
        <Facts>
          <Fact term={t('schedule.missed')}>
            <p>{missed === undefined ? row.missed : t(missed)}</p>
            <p className="text-ink3 text-xs">{t('schedule.window', { span: time.span(detail.missedWindowMs) })}</p>
          </Fact>
          <Fact term={t('schedule.overlap')}>{overlap === undefined ? row.overlap : t(overlap)}</Fact>
          {jitterMs !== undefined && (
            <Fact term={t('schedule.when')}>{t('schedule.jitter', { span: time.span(jitterMs) })}</Fact>
          )}
          <Fact term={t('schedule.fired')}>
            {grouped(row.fired)}
            {detail.count !== undefined && ` / ${grouped(detail.count)}`}
          </Fact>
          <Fact term={t('schedule.by')}>
            {plain(row.by)} · <Ago ms={row.updatedMs} />
          </Fact>
        </Facts>
      </Section>
    </aside>
  );
}
