'use client';
import { clsx } from 'clsx';
import { useT, type Translate } from '../i18n';
import { useHealth, useLink } from '../live/hooks';
import type { LinkHealth, Pulse } from '../live/link';
import { useRev } from '../live/rev';
import { grouped } from '../look/number';
import { useTime, type TimeFormat } from '../time';
import { Tip } from '../ui/tip';

function pulseText(pulse: Pulse, t: Translate, time: TimeFormat): string {
  switch (pulse.kind) {
    case 'connecting':
      return t('live.connecting');
    case 'refused':
      return t('live.refused');
    case 'past':
      return t('past.viewing', { rev: grouped(pulse.revision) });
    case 'live':
      return t('live.live', { rev: grouped(pulse.revision) });
    case 'idle':
      return t('live.idle', { age: time.age(pulse.ageMs) });
    case 'paused':
      return t('live.paused', { n: grouped(pulse.arrivals) });
    case 'reconnecting':
      return pulse.asOfMs === null
        ? t('live.reconnecting')
        : t('live.reconnectingAsOf', { time: time.clock(pulse.asOfMs) });
  }
}

function noteText(
  { pulse, proofAgeMs }: LinkHealth,
  t: Translate,
  time: TimeFormat,
  problem: string | undefined,
): string {
  if (pulse.kind === 'refused') return pulse.text;
  if (pulse.kind === 'reconnecting') return pulse.cause === 'etcd' ? t('live.etcdDown') : t('live.serverDown');
  if (pulse.kind === 'past') return t('past.note');
  if (problem !== undefined && pulse.kind === 'connecting') return problem;
  return proofAgeMs === null ? t('live.noProof') : t('live.proof', { age: time.age(proofAgeMs), zone: time.zone });
}

/** Tells the truth about what is on the screen: what it says comes from received messages, never from a timer alone. */
export function LivePill() {
  const t = useT();
  const time = useTime();
  const rev = useRev();
  const now = useHealth();
  const { problem, hello } = useLink();
  const health: LinkHealth = rev === undefined ? now : { ...now, pulse: { kind: 'past', revision: rev } };
  const { pulse, freshness } = health;
  const good = freshness === 'fresh' && (pulse.kind === 'live' || pulse.kind === 'idle');
  return (
    <Tip text={noteText(health, t, time, problem)} side="bottom">
      <button
        type="button"
        data-testid="live-pill"
        data-pulse={pulse.kind}
        data-freshness={freshness}
        className={clsx(
          'inline-flex h-6.5 min-w-0 items-center gap-2 rounded-full border px-2.5 text-xs whitespace-nowrap',
          good ? 'border-line2 text-ink2' : 'border-retry/50 text-retry',
          freshness === 'stale' && 'hatched',
        )}
      >
        <span
          aria-hidden
          className={clsx(
            'size-1.75 shrink-0 rounded-full',
            good ? 'bg-started ring-started/22 ring-3' : 'bg-retry ring-retry/22 ring-3',
            pulse.kind === 'reconnecting' && 'animate-pulse-dot',
          )}
        />
        <span className="truncate">{pulseText(pulse, t, time)}</span>
        {rev === undefined && hello?.readOnly === true && (
          <span className="text-retry font-semibold">{t('live.readOnly')}</span>
        )}
      </button>
    </Tip>
  );
}
