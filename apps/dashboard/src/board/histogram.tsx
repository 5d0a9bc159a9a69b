'use client';
import { serializeTasksUrl, type TaskHistogram, type TasksUrl } from '@leasehold/wire';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { Chart, type Line, type Tone } from '../chart/chart';
import { useRev } from '../live/rev';
import { useT, type Translate } from '../i18n';
import { grouped } from '../look/number';
import { STATE_ORDER, TASK_LOOK } from '../look/state';
import { useNow, useTime } from '../time';
import { withFilter } from './use-url';

const AGAIN_MS = 5_000;
const HEIGHT_PX = 76;
const PRESETS_MS = [5, 15, 60, 6 * 60, 24 * 60].map((minutes) => minutes * 60_000);

interface Props {
  readonly state: TasksUrl;
  readonly go: (next: TasksUrl, how?: 'push' | 'replace') => void;
}

function withoutTimes(state: TasksUrl): TasksUrl {
  const { from: _from, to: _to, ...filter } = state.filter;
  return withFilter(state, filter);
}

/** What matches, by the time it was created and by state. Dragging over it chooses a time; the URL has it. */
export function Histogram({ state, go }: Props) {
  const t = useT();
  const time = useTime();
  const { filter } = withoutTimes(state);
  const rev = useRev();
  const at = rev === undefined ? {} : { rev };
  const search = serializeTasksUrl({ filter, order: { by: 'created', desc: true }, layout: 'table', ...at });
  const { data, error } = useQuery({
    queryKey: ['histogram', search],
    queryFn: ({ signal }) => call({ answer: 'TaskHistogram', path: paths.histogram(search), signal }),
    refetchInterval: AGAIN_MS,
    placeholderData: (old) => old,
  });
  const parts = useMemo(() => (data === undefined ? undefined : partsOf(data, t)), [data, t]);
  const narrow = (from: number, to?: number): void =>
    go(withFilter(state, { ...filter, from, ...(to === undefined ? {} : { to }) }));
  if (data === undefined || parts === undefined)
    return <p className="text-ink3 flex h-26 items-center text-xs">{error === null ? '' : t('histogram.failed')}</p>;
  const { from = data.fromMs, to = parts.endMs } = state.filter;
  const chosen = state.filter.from !== undefined || state.filter.to !== undefined;
  const failed = data.states.FAILURE?.reduce((sum, n) => sum + n, 0) ?? 0;
  return (
    <figure aria-label={t('histogram.label', { n: data.total, failed })} className="min-w-0">
      <Chart
        kind="bars"
        times={parts.times}
        lines={parts.lines}
        height={HEIGHT_PX}
        chosen={chosen ? [Math.max(from, data.fromMs), Math.min(to, parts.endMs)] : undefined}
        onBrush={narrow}
      />
      <figcaption className="text-2xs text-ink3 flex flex-wrap items-center gap-x-4 gap-y-0.5">
        <Presets state={state} go={go} onChoose={narrow} />
        <span className="truncate">
          {t('histogram.caption', { step: time.span(data.stepMs), zone: time.zone })}
          {data.earlier > 0 && ` · ${t('histogram.earlier', { n: grouped(data.earlier) })}`}
        </span>
        <span className="grow" />
        <Legend lines={parts.lines} />
      </figcaption>
    </figure>
  );
}

/** Bars stand in the middle of their step. */
function partsOf({ states, fromMs, stepMs }: TaskHistogram, t: Translate) {
  const shown = STATE_ORDER.filter((state) => states[state] !== undefined);
  const length = states[shown[0] ?? 'SUCCESS']?.length ?? 0;
  const times = Array.from({ length }, (_, i) => fromMs + (i + 0.5) * stepMs);
  const lines: Line[] = shown.map((state) => ({
    label: t(TASK_LOOK[state].word),
    tone: state.toLowerCase() as Tone,
    values: states[state] ?? [],
  }));
  return { times, lines, endMs: fromMs + length * stepMs };
}

function Legend({ lines }: { lines: readonly Line[] }) {
  return (
    <ul className="flex flex-wrap gap-x-3 max-lg:hidden">
      {lines.map(({ label, tone }) => (
        <li key={tone} className="flex items-center gap-1">
          <svg width="7" height="7" aria-hidden>
            <rect width="7" height="7" rx="1.5" fill={`var(--${tone})`} />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  );
}

/** For the keyboard, and for the usual: what dragging does, by choice. */
function Presets({ state, go, onChoose }: Props & { onChoose: (fromMs: number) => void }) {
  const t = useT();
  const time = useTime();
  const now = useNow();
  const { from, to } = state.filter;
  const chosen = from !== undefined || to !== undefined;
  return (
    <select
      aria-label={t('histogram.preset')}
      value={chosen ? 'chosen' : 'whole'}
      onChange={({ target }) => {
        if (target.value === 'whole') go(withoutTimes(state));
        else onChoose(Math.floor(now - Number(target.value)));
      }}
      className="border-line2 bg-panel text-ink2 h-6 rounded border px-1 text-xs"
    >
      <option value="whole">{t('histogram.whole')}</option>
      {PRESETS_MS.map((ms) => (
        <option key={ms} value={ms}>
          {t('histogram.last', { span: time.span(ms) })}
        </option>
      ))}
      {chosen && <option value="chosen">{t('histogram.chosen')}</option>}
    </select>
  );
}
