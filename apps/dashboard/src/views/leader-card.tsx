'use client';
import { Crown, TriangleAlert } from 'lucide-react';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { useSummary } from '../live/hooks';
import { useNodeName } from '../look/node-name';
import { Section, TextLink } from '../ui/layout';

/** Who leads our nodes, since when, and what its duties leave undone. */
export function LeaderCard() {
  const t = useT();
  const name = useNodeName();
  const { leader } = useSummary();
  if (leader === undefined) return null;
  const { node, sinceMs, goneMs, overdue, unlocked, candidates, health } = leader;
  const stuck = health?.stuck ?? 0;
  return (
    <Section title={t('triage.leader')} aside={t('triage.candidates', { n: candidates })}>
      {node === undefined ? (
        <p role="alert" className="text-failure flex items-start gap-2 py-2 font-semibold">
          <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
          <span>
            {t('triage.noLeader')} {goneMs !== undefined && <Ago ms={goneMs} />}
          </span>
        </p>
      ) : (
        <p className="flex items-center gap-2 py-2">
          <Crown className="text-accent size-4 shrink-0" aria-hidden />
          <TextLink href={`/nodes/${encodeURIComponent(node)}`}>{name(node)}</TextLink>
          {sinceMs !== undefined && (
            <span className="text-ink3">
              {t('triage.leads')} <Ago ms={sinceMs} />
            </span>
          )}
        </p>
      )}
      <p className="text-ink2 flex flex-wrap gap-x-4 text-xs">
        <span className={overdue > 0 ? 'text-retry' : ''}>{t('triage.overdue', { n: overdue })}</span>
        <span className={unlocked > 0 ? 'text-retry' : ''}>{t('triage.unlocked', { n: unlocked })}</span>
        {stuck > 0 && <span className="text-failure">{t('triage.stuck', { n: stuck })}</span>}
      </p>
    </Section>
  );
}
