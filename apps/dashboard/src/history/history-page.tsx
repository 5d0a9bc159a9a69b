'use client';
import type { HistorySpan, Moment } from '@leasehold/wire';
import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useRouter, useSearchParams } from 'next/navigation';
import { useEffect, useState, type FormEvent } from 'react';
import { problemText } from '../api/acting';
import { ApiError, call } from '../api/call';
import { paths } from '../api/paths';
import { useT } from '../i18n';
import { STATE_ORDER } from '../look/state';
import { grouped } from '../look/number';
import { useTime } from '../time';
import { Button, LinkButton } from '../ui/button';
import { Field, inputClass } from '../ui/field';
import { Page, PageHead, Section } from '../ui/layout';
import { Empty, Loading } from '../ui/states';
import { StateMark } from '../ui/state-mark';
import { DifferenceView } from './difference-view';

const REVISION = /^[1-9]\d{0,18}$/;

function useMoments() {
  const router = useRouter();
  const params = useSearchParams();
  const read = (name: string): string | undefined => {
    const value = params.get(name);
    return value !== null && REVISION.test(value) ? value : undefined;
  };
  const [rev, to] = [read('rev'), read('to')];
  const go = (next: { readonly rev?: string | undefined; readonly to?: string | undefined }): void => {
    const search = new URLSearchParams();
    if (next.rev !== undefined) search.set('rev', next.rev);
    if (next.to !== undefined) search.set('to', next.to);
    router.replace(`/history?${search.toString()}`, { scroll: false });
  };
  return { rev, to, go };
}

export function HistoryPage() {
  const t = useT();
  const { rev, to, go } = useMoments();
  const span = useQuery({
    queryKey: ['history'],
    queryFn: ({ signal }) => call({ answer: 'HistorySpan', path: paths.history(), signal }),
    refetchInterval: 30_000,
  });
  const moment = useQuery({
    queryKey: ['moment', rev],
    queryFn: ({ signal }) => call({ answer: 'Moment', path: paths.moment({ rev: rev ?? '' }), signal }),
    enabled: rev !== undefined,
    staleTime: Infinity,
    retry: false,
  });
  return (
    <Page>
      <title>{`${t('nav.history')} · Leasehold`}</title>
      <PageHead title={t('nav.history')} note={<KeptNote span={span.data} />} />
      <Section title={t('history.slider')} aside={span.data && t('history.samples', { n: span.data.samples.length })}>
        {span.data === undefined ? (
          <Loading rows={1} />
        ) : (
          <Slider span={span.data} rev={rev} onPick={(next) => go({ rev: next, to })} />
        )}
        <Entries onPick={(next) => go({ rev: next, to })} />
      </Section>
      <div className="mt-7">
        {rev === undefined ? (
          <Empty icon={History} title={t('history.none')}>
            {t('history.noneText')}
          </Empty>
        ) : moment.error !== null ? (
          <NoMoment rev={rev} error={moment.error} />
        ) : moment.data === undefined ? (
          <Loading rows={3} />
        ) : (
          <>
            <Chosen moment={moment.data} />
            <DifferenceView from={rev} to={to} onTo={(next) => go({ rev, to: next })} />
          </>
        )}
      </div>
    </Page>
  );
}

function KeptNote({ span }: { span: HistorySpan | undefined }) {
  const t = useT();
  if (span === undefined) return <>{t('history.text')}</>;
  const now = t('history.atRevision', { rev: grouped(span.now.revision) });
  const { floor } = span;
  const kept =
    floor === undefined
      ? t('history.keptUnknown', { now })
      : floor === '0'
        ? t('history.keptAll', { now })
        : t('history.kept', { floor: t('history.atRevision', { rev: grouped(floor) }), now });
  return (
    <>
      {t('history.text')} <span data-testid="kept">{kept}</span>
    </>
  );
}

/** Along the leader's samples; the thumb moves at once, the address follows when it rests. */
function Slider({ span, rev, onPick }: { span: HistorySpan; rev: string | undefined; onPick: (rev: string) => void }) {
  const t = useT();
  const time = useTime();
  const { samples } = span;
  const placed = rev === undefined ? -1 : samples.findLastIndex((sample) => BigInt(sample.revision) <= BigInt(rev));
  const [moved, setMoved] = useState<number | undefined>(undefined);
  useEffect(() => setMoved(undefined), [rev]);
  useEffect(() => {
    const sample = moved === undefined ? undefined : samples[moved];
    if (sample === undefined) return undefined;
    const timer = setTimeout(() => onPick(sample.revision), 300);
    return () => clearTimeout(timer);
    // Only a new place starts the wait anew.
  }, [moved]);
  const at = moved ?? (placed < 0 ? samples.length - 1 : placed);
  const sample = samples[at];
  if (sample === undefined) return <p className="text-ink2 py-3">{t('history.sliderNone')}</p>;
  return (
    <div className="py-3">
      <input
        type="range"
        min={0}
        max={samples.length - 1}
        value={at}
        onChange={(event) => setMoved(Number(event.target.value))}
        aria-label={t('history.slider')}
        aria-valuetext={`${time.full(sample.atMs)}, ${t('history.atRevision', { rev: sample.revision })}`}
        className="accent-accent w-full"
      />
      <div className="text-ink3 mt-1 flex flex-wrap justify-between gap-x-4 text-xs">
        <span>{time.short(samples[0]?.atMs ?? 0)}</span>
        <span className="text-ink font-semibold">
          {time.full(sample.atMs)} · {t('history.atRevision', { rev: grouped(sample.revision) })}
        </span>
        <span>{time.short(samples.at(-1)?.atMs ?? 0)}</span>
      </div>
    </div>
  );
}

function Entries({ onPick }: { onPick: (rev: string) => void }) {
  const t = useT();
  const time = useTime();
  const [wall, setWall] = useState('');
  const [digits, setDigits] = useState('');
  const [problem, setProblem] = useState<{ readonly of: 'time' | 'rev'; readonly text: string } | null>(null);
  const byTime = async (): Promise<void> => {
    const ms = time.fromInput(wall);
    if (ms === null) return setProblem({ of: 'time', text: t('history.timeBad', { zone: time.zone }) });
    try {
      const { revision } = await call({ answer: 'Moment', path: paths.moment({ time: String(ms) }) });
      setProblem(null);
      onPick(revision);
    } catch (error) {
      setProblem({ of: 'time', text: problemText(error, t) });
    }
  };
  const byRevision = (): void => {
    const revision = digits.replace(/[\s\u202f,]/g, '');
    if (!REVISION.test(revision)) return setProblem({ of: 'rev', text: t('history.revisionBad') });
    setProblem(null);
    onPick(revision);
  };
  const submit = (run: () => void) => (event: FormEvent) => {
    event.preventDefault();
    run();
  };
  return (
    <div className="flex flex-wrap items-start gap-x-8 gap-y-3 pb-2">
      <form noValidate onSubmit={submit(() => void byTime())} className="flex items-end gap-2">
        <Field label={t('history.time', { zone: time.zone })} error={problem?.of === 'time' ? problem.text : undefined}>
          {(field) => (
            <input
              {...field}
              type="datetime-local"
              step={1}
              value={wall}
              onChange={(event) => setWall(event.target.value)}
              className={inputClass()}
            />
          )}
        </Field>
        <Button type="submit">{t('history.go')}</Button>
      </form>
      <form noValidate onSubmit={submit(byRevision)} className="flex items-end gap-2">
        <Field label={t('history.revision')} error={problem?.of === 'rev' ? problem.text : undefined}>
          {(field) => (
            <input
              {...field}
              inputMode="numeric"
              autoComplete="off"
              value={digits}
              onChange={(event) => setDigits(event.target.value)}
              className={inputClass('w-36 tabular-nums')}
            />
          )}
        </Field>
        <Button type="submit">{t('history.go')}</Button>
      </form>
    </div>
  );
}

const THEN = [
  ['/', 'history.triage'],
  ['/nodes', 'history.nodes'],
  ['/locks', 'history.locks'],
  ['/queues', 'history.queues'],
  ['/workflows', 'history.workflows'],
] as const;

function Chosen({ moment }: { moment: Moment }) {
  const t = useT();
  const time = useTime();
  const { revision, atMs, states = {} } = moment;
  return (
    <Section title={t('history.chosen')}>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2 py-3" data-testid="chosen">
        <p>
          <b className="text-base">{t('history.atRevision', { rev: grouped(revision) })}</b>
          {atMs !== undefined && <span className="text-ink2 ml-3">{time.full(atMs)}</span>}
        </p>
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {STATE_ORDER.filter((state) => (states[state] ?? 0) > 0).map((state) => (
            <li key={state} className="flex items-baseline gap-1.5">
              <StateMark state={state} /> <b>{grouped(states[state] ?? 0)}</b>
            </li>
          ))}
        </ul>
      </div>
      <div className="flex flex-wrap gap-2 pb-5">
        <LinkButton kind="primary" href={`/tasks?rev=${revision}`}>
          {t('history.open')}
        </LinkButton>
        {THEN.map(([href, word]) => (
          <LinkButton key={href} href={`${href}?rev=${revision}`}>
            {t(word)}
          </LinkButton>
        ))}
        <LinkButton href={`/events?after=${revision}`}>{t('history.changes')}</LinkButton>
      </div>
    </Section>
  );
}

function NoMoment({ rev, error }: { rev: string; error: Error }) {
  const t = useT();
  const compacted = error instanceof ApiError && error.code === 'compacted';
  const floor = error instanceof ApiError ? error.problem?.fields?.['floor'] : undefined;
  return (
    <Empty icon={History} title={compacted ? t('past.compacted', { rev: grouped(rev) }) : t('problem.other')}>
      {!compacted
        ? problemText(error, t)
        : typeof floor === 'string'
          ? t('past.compactedText', { floor: grouped(floor) })
          : t('past.compactedUnknown')}
    </Empty>
  );
}
