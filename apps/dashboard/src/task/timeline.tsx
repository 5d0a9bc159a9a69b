'use client';
import type { HistoryEntry } from '@leasehold/wire';
import { useT } from '../i18n';
import { CAUSE_WORD } from '../look/cause';
import { useActorName } from '../look/node-name';
import { grouped } from '../look/number';
import { TASK_LOOK } from '../look/state';
import { useTime } from '../time';
import { Section } from '../ui/layout';
import { LookIcon } from '../ui/state-mark';

/** Every write of the record that etcd still has: from which edge, by whom, at which revision. Newest first. */
export function Timeline({ history, whole }: { history: readonly HistoryEntry[]; whole: boolean }) {
  const t = useT();
  const time = useTime();
  return (
    <Section title={t('task.timeline')} aside={time.zone}>
      <ol className="relative" data-testid="timeline">
        <span aria-hidden className="bg-line2 absolute top-4 bottom-4 left-[6.5px] w-px" />
        {history.toReversed().map((entry, index, all) => (
          <Entry key={entry.revision} entry={entry} before={all[index + 1]} />
        ))}
      </ol>
      {!whole && <p className="text-ink3 py-1.5 text-xs">{t('task.historyCut')}</p>}
    </Section>
  );
}

function Entry({ entry, before }: { entry: HistoryEntry; before: HistoryEntry | undefined }) {
  const t = useT();
  const time = useTime();
  const actor = useActorName();
  const look = TASK_LOOK[entry.state];
  const after = before === undefined ? null : time.span(entry.atMs - before.atMs);
  return (
    <li className="relative grid grid-cols-[14px_minmax(0,1fr)_auto] items-start gap-x-3 py-1.5">
      <span className="bg-bg mt-0.5 py-0.5">
        <LookIcon look={look} />
      </span>
      <div className="min-w-0">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <b className={look.text}>{t(look.word)}</b>
          <span>{entry.cancelling === true ? t('task.cancelAsked') : t(CAUSE_WORD[entry.cause])}</span>
          {entry.attempt > 0 && <span className="text-ink3 text-xs">{t('task.attemptN', { n: entry.attempt })}</span>}
        </p>
        <p className="text-2xs text-ink3 wrap-anywhere">
          {actor(entry.by)} · rev {grouped(entry.revision)}
        </p>
      </div>
      <div className="text-right" title={time.full(entry.atMs)}>
        <p>{time.clock(entry.atMs)}</p>
        {after !== null && <p className="text-2xs text-ink3">+{after}</p>}
      </div>
    </li>
  );
}
