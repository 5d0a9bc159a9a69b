'use client';
import { clsx } from 'clsx';
import type { LeaseView } from '@leasehold/wire';
import { useT } from '../i18n';
import { useNow, useTime } from '../time';

/** What is left of a lease now: it counts down from its last measurement. Never below nothing. */
export function leaseLeft(lease: LeaseView, nowMs: number): number {
  if (lease.ended === true) return 0;
  return Math.max(0, Math.min(lease.ttlMs, lease.remainingMs - (nowMs - lease.measuredMs)));
}

function toneOf(share: number): string {
  return share < 0.2 ? 'bg-failure' : share < 0.4 ? 'bg-retry' : 'bg-started';
}

function Bar({ share, className }: { share: number; className?: string | undefined }) {
  return (
    <span className={clsx('bg-line2 inline-block h-1 overflow-hidden rounded-full align-middle', className)}>
      <span className={clsx('block h-full', toneOf(share))} style={{ width: `${Math.round(share * 100)}%` }} />
    </span>
  );
}

export function LeaseBar({ lease, className = 'w-11' }: { lease: LeaseView; className?: string }) {
  const t = useT();
  const time = useTime();
  const left = leaseLeft(lease, useNow());
  const text = t('lease.left', { left: time.span(left), ttl: time.span(lease.ttlMs) });
  return (
    <span title={text} className="inline-flex items-center">
      <Bar share={left / Math.max(1, lease.ttlMs)} className={className} />
      <span className="sr-only">{text}</span>
    </span>
  );
}

/** The bar with its seconds beside it. */
export function LeaseCountdown({ lease }: { lease: LeaseView }) {
  const t = useT();
  const time = useTime();
  const left = leaseLeft(lease, useNow('fast'));
  const share = left / Math.max(1, lease.ttlMs);
  if (lease.ended === true || left === 0)
    return <span className="text-failure text-xs font-semibold">{t('lease.over')}</span>;
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <Bar share={share} className="w-8 sm:w-16" />
      <span className={clsx('text-xs', share < 0.2 ? 'text-failure' : share < 0.4 ? 'text-retry' : 'text-ink2')}>
        {time.span(Math.ceil(left / 100) * 100)}
        <span className="text-ink3 max-sm:hidden"> / {time.span(lease.ttlMs)}</span>
      </span>
    </span>
  );
}

export function ShareBar({
  share,
  className,
  tone = 'bg-started',
}: {
  share: number;
  className?: string;
  tone?: string;
}) {
  return (
    <span aria-hidden className={clsx('bg-line2 block h-0.75 overflow-hidden rounded-full', className)}>
      <span
        className={clsx('block h-full', tone)}
        style={{ width: `${Math.round(Math.min(1, Math.max(0, share)) * 100)}%` }}
      />
    </span>
  );
}
