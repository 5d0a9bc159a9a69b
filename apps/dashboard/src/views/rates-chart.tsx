'use client';
import type { Rates } from '@leasehold/wire';
import { useMemo } from 'react';
import { Chart, type Line } from '../chart/chart';
import { useT, type Translate } from '../i18n';
import { useSummary } from '../live/hooks';
import { useTime } from '../time';

const HEIGHT_PX = 92;

/** The running second is left out: it would always look like a fall. */
function linesOf(rates: Rates, t: Translate): { readonly times: readonly number[]; readonly lines: readonly Line[] } {
  const length = rates.succeeded.length - 1;
  const first = rates.second - length;
  const times = Array.from({ length }, (_, i) => (first + i + 0.5) * 1_000);
  const whole = (values: readonly number[]): readonly number[] => values.slice(0, length);
  return {
    times,
    lines: [
      { label: t('state.FAILURE'), tone: 'failure', values: whole(rates.failed) },
      { label: t('state.SUCCESS'), tone: 'success', values: whole(rates.succeeded) },
    ],
  };
}

/** What ended, second by second, with the zone of its axis. */
export function RatesChart() {
  const t = useT();
  const time = useTime();
  const { rates } = useSummary();
  const drawn = useMemo(() => (rates === undefined ? undefined : linesOf(rates, t)), [rates, t]);
  if (drawn === undefined) return <div className="h-26" />;
  const [failed = 0, succeeded = 0] = drawn.lines.map(({ values }) => values.reduce<number>((a, b) => a + (b ?? 0), 0));
  return (
    <figure aria-label={t('rates.label', { succeeded, failed })} className="min-w-0">
      <Chart kind="bars" times={drawn.times} lines={drawn.lines} height={HEIGHT_PX} />
      <figcaption className="text-2xs text-ink3">{t('rates.caption', { seconds: 1, zone: time.zone })}</figcaption>
    </figure>
  );
}
