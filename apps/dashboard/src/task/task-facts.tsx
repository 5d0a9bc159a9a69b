'use client';
import type { TaskDetail, TaskRow } from '@leasehold/wire';
import { useT } from '../i18n';
import { useActorName, useNodeName } from '../look/node-name';
import { grouped, shortId } from '../look/number';
import { Ago } from '../board/row-time';
import { useTime } from '../time';
import { Code, Fact, Facts, Section, Tag, TextLink } from '../ui/layout';
import { LeaseCountdown } from '../ui/lease-bar';

export function TaskFacts({ row, detail }: { row: TaskRow; detail: TaskDetail }) {
  const t = useT();
  return (
    <aside aria-label={t('task.summary')} className="flex min-w-0 flex-col gap-6">
      <LockFacts detail={detail} />
      <Summary row={row} detail={detail} />
      <Policy detail={detail} />
      {detail.headers !== undefined && Object.keys(detail.headers).length > 0 && (
        <Section title={t('task.headers')}>
          <Pairs pairs={detail.headers} />
        </Section>
      )}
    </aside>
  );
}

function Pairs({ pairs }: { pairs: Readonly<Record<string, string>> }) {
  return (
    <Facts>
      {Object.entries(pairs).map(([name, value]) => (
        <Fact key={name} term={name}>
          <Code>{value}</Code>
        </Fact>
      ))}
    </Facts>
  );
}

/** Who holds it now, for how long yet, and the number that proves it. */
function LockFacts({ detail: { lock, row } }: { detail: TaskDetail }) {
  const t = useT();
  const name = useNodeName();
  if (lock === undefined) {
    if (row.state !== 'STARTED') return null;
    return (
      <Section title={t('task.lock')}>
        <p className="text-failure py-2">{t('task.noLock')}</p>
      </Section>
    );
  }
  return (
    <Section title={t('task.lock')} aside={<TextLink href="/locks">{t('nav.locks')}</TextLink>}>
      <Facts>
        <Fact term={t('lock.holder')}>
          <TextLink href={`/nodes/${encodeURIComponent(lock.node)}`}>{name(lock.node)}</TextLink>
        </Fact>
        {lock.lease !== undefined && (
          <Fact term={t('lock.lease')}>
            <LeaseCountdown lease={lock.lease} />
          </Fact>
        )}
        <Fact term={t('lock.token')}>
          <b data-testid="fencing-token">{grouped(lock.token)}</b>
        </Fact>
        <Fact term={t('lock.since')}>
          <Ago ms={lock.sinceMs} />
        </Fact>
        <Fact term={t('lock.leaseId')}>
          <Code>{lock.leaseId}</Code>
        </Fact>
      </Facts>
    </Section>
  );
}

function Summary({ row, detail }: { row: TaskRow; detail: TaskDetail }) {
  const t = useT();
  const actor = useActorName();
  const submitted = detail.history.find((entry) => entry.cause === 'submitted');
  const time = useTime();
  return (
    <Section title={t('task.summary')} aside={t('board.asOf', { rev: grouped(detail.asOf) })}>
      <Facts>
        <Fact term={t('facet.queue')}>
          <TextLink href={`/tasks?queue=${encodeURIComponent(row.queue)}`}>{row.queue}</TextLink>
          {row.priority > 0 && <span className="text-ink3"> · {t('row.priority', { n: row.priority })}</span>}
        </Fact>
        {row.workflow !== undefined && (
          <Fact term={t('facet.workflow')}>
            <TextLink href={`/workflows/${encodeURIComponent(row.workflow.id)}`}>{shortId(row.workflow.id)}</TextLink>
            <span className="text-ink3"> · {t('task.member', { n: row.workflow.index + 1 })}</span>
          </Fact>
        )}
        {detail.parent !== undefined && (
          <Fact term={t('task.parent')}>
            <TextLink href={`/tasks/${encodeURIComponent(detail.parent)}`}>{shortId(detail.parent)}</TextLink>
          </Fact>
        )}
        {submitted !== undefined && <Fact term={t('task.submittedBy')}>{actor(submitted.by)}</Fact>}
        <Fact term={t('task.changedBy')}>{actor(detail.by)}</Fact>
        <Fact term={t('time.created')}>{time.full(row.createdMs)}</Fact>
        {row.scheduleMs !== row.createdMs && <Fact term={t('time.due')}>{time.full(row.scheduleMs)}</Fact>}
        {row.startedMs !== undefined && <Fact term={t('time.started')}>{time.full(row.startedMs)}</Fact>}
        {row.endedMs !== undefined && <Fact term={t('time.ended')}>{time.full(row.endedMs)}</Fact>}
        {row.startedMs !== undefined && row.endedMs !== undefined && (
          <Fact term={t('task.ran')}>{time.span(row.endedMs - row.startedMs)}</Fact>
        )}
        {row.tags !== undefined && row.tags.length > 0 && (
          <Fact term={t('facet.tag')}>
            <span className="flex flex-wrap gap-1">
              {row.tags.map((tag) => (
                <Tag key={tag}>{tag}</Tag>
              ))}
            </span>
          </Fact>
        )}
        {detail.unique !== undefined && (
          <Fact term={t('form.unique')}>
            <Code>{detail.unique}</Code>
          </Fact>
        )}
        <Fact term={t('task.revision')}>{grouped(row.revision)}</Fact>
      </Facts>
    </Section>
  );
}

function Policy({ detail }: { detail: TaskDetail }) {
  const t = useT();
  const time = useTime();
  const { retry, failures, losses, snoozes, handBacks, timeoutMs, expiresMs, deadlineMs, labels } = detail;
  return (
    <Section title={t('task.policy')}>
      <Facts>
        <Fact term={t('form.retries')}>
          {retry.count} <span className="text-ink3">{retry.backoff}</span>
        </Fact>
        <Fact term={t('form.timeout')}>{time.span(timeoutMs)}</Fact>
        {expiresMs !== undefined && <Fact term={t('task.expires')}>{time.full(expiresMs)}</Fact>}
        {deadlineMs !== undefined && <Fact term={t('task.deadline')}>{time.full(deadlineMs)}</Fact>}
        <Fact term={t('task.counters')}>{t('task.countersText', { failures, losses, snoozes, handBacks })}</Fact>
        {labels !== undefined && Object.keys(labels).length > 0 && (
          <Fact term={t('node.labels')}>
            {Object.entries(labels)
              .map(([name, value]) => `${name}=${value}`)
              .join(', ')}
          </Fact>
        )}
      </Facts>
    </Section>
  );
}
