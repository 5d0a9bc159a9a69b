'use client';
import type { Rates } from '@leasehold/wire';
import { useMemo } from 'react';
import { useT } from '../i18n';
import { useSummary } from '../live/hooks';
import { useTime } from '../time';

interface Bucket {
  readonly fromMs: number;
  readonly succeeded: number;
  readonly failed: number;
}

const BARS = 100;

/** Whole groups of seconds, aligned to the clock, so that bars do not change their meaning from second to second. */
function bucketsOf(rates: Rates): { readonly buckets: readonly Bucket[]; readonly seconds: number } {
  const length = rates.succeeded.length;
  const seconds = Math.max(1, Math.ceil(length / BARS));
  const firstSecond = rates.second - length + 1;
  const buckets = new Map<number, { succeeded: number; failed: number }>();
  for (let i = 0; i < length; i++) {
    const start = Math.floor((firstSecond + i) / seconds) * seconds;
    const bucket = buckets.get(start) ?? { succeeded: 0, failed: 0 };
    bucket.succeeded += rates.succeeded[i] ?? 0;
    bucket.failed += rates.failed[i] ?? 0;
    buckets.set(start, bucket);
  }
  return { seconds, buckets: [...buckets].map(([start, counts]) => ({ fromMs: start * 1_000, ...counts })) };
}

/** What ended, second by second: where it went wrong shows at a glance. */
export function RateStrip({ height = 48 }: { height?: number }) {
  const t = useT();
  const time = useTime();
  const { rates } = useSummary();
  const data = useMemo(() => (rates === undefined ? null : bucketsOf(rates)), [rates]);
  if (data === null) return <div className="h-16" />;
  const { buckets, seconds } = data;
  const peak = Math.max(1, ...buckets.map((bucket) => bucket.succeeded + bucket.failed));
  const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
  const succeeded = buckets.reduce((sum, bucket) => sum + bucket.succeeded, 0);
  const first = buckets[0];
  return (
    <figure aria-label={t('rates.label', { succeeded, failed })} className="min-w-0">
      <svg
        viewBox={`0 0 ${buckets.length} ${height}`}
        preserveAspectRatio="none"
        width="100%"
        height={height}
        aria-hidden
        className="border-line block border-b"
      >
        {buckets.map((bucket, index) => {
          const good = (bucket.succeeded / peak) * (height - 4);
          const bad = bucket.failed === 0 ? 0 : Math.max(2, (bucket.failed / peak) * (height - 4));
          return (
            <g key={bucket.fromMs}>
              <title>{`${time.clock(bucket.fromMs)} · ${bucket.succeeded} · ${bucket.failed}`}</title>
              <rect x={index + 0.12} width={0.76} y={height - good} height={good} className="fill-success/55" />
              <rect x={index + 0.12} width={0.76} y={height - good - bad} height={bad} className="fill-failure" />
            </g>
          );
        })}
      </svg>
      <figcaption className="text-2xs text-ink3 flex justify-between gap-3 pt-0.5">
        <span>{first === undefined ? '' : time.minute(first.fromMs)}</span>
        <span className="truncate">{t('rates.caption', { seconds, zone: time.zone })}</span>
        <span>{t('rates.now')}</span>
      </figcaption>
    </figure>
  );
}
