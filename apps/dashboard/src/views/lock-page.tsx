'use client';
import type { LockRow } from '@leasehold/wire';
import { LockOpen } from 'lucide-react';
import { useMemo } from 'react';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { useRows } from '../live/hooks';
import { useNodeName } from '../look/node-name';
import { grouped } from '../look/number';
import { Attempts } from '../task/attempts';
import { ProgressLine } from '../task/parts';
import { useTask } from '../task/use-task';
import { LinkButton } from '../ui/button';
import { Code, Fact, Facts, Page, PageHead, Section, TextLink } from '../ui/layout';
import { LeaseCountdown } from '../ui/lease-bar';
import { Empty, Loading } from '../ui/states';
import { StateMark } from '../ui/state-mark';
import { ForceRelease } from './locks-page';

const ONE = { offset: 0, limit: 1 } as const;

export function LockPage({ id }: { id: string }) {
  const t = useT();
  const filter = useMemo(() => ({ ids: [id] }), [id]);
  const { view } = useRows('locks', filter, ONE);
  if (view === undefined) return <Loading />;
  const lock = view.rows.find((row) => row.id === id);
  return lock === undefined ? <Free id={id} /> : <Held lock={lock} title={t('lock.of', { name: lock.name })} />;
}

/** Nobody holds it: what there is to say is on the task's page. */
function Free({ id }: { id: string }) {
  const t = useT();
  return (
    <Empty
      icon={LockOpen}
      heading="h1"
      title={t('lock.free')}
      action={
        <>
          <LinkButton href={`/tasks/${encodeURIComponent(id)}`}>{t('row.open')}</LinkButton>
          <LinkButton href="/locks">{t('nav.locks')}</LinkButton>
        </>
      }
    >
      <title>{`${t('nav.locks')} · Leasehold`}</title>
      <Code>{id}</Code>
      <p className="mt-1">{t('lock.freeText')}</p>
    </Empty>
  );
}

function Held({ lock, title }: { lock: LockRow; title: string }) {
  const t = useT();
  const name = useNodeName();
  const { detail, row } = useTask(lock.id);
  const lost = detail?.losses ?? 0;
  return (
    <Page>
      <title>{`${title} · Leasehold`}</title>
      <PageHead
        title={title}
        note={<Code>{lock.id}</Code>}
        actions={
          <>
            <LinkButton href={`/tasks/${encodeURIComponent(lock.id)}`}>{t('row.open')}</LinkButton>
            <ForceRelease lock={lock} />
          </>
        }
      />
      <div className="grid gap-x-10 gap-y-7 lg:grid-cols-2">
        <Section title={t('lock.held')}>
          <Facts>
            <Fact term={t('lock.holder')}>
              <TextLink href={`/nodes/${encodeURIComponent(lock.node)}`}>{name(lock.node)}</TextLink>
            </Fact>
            <Fact term={t('lock.since')}>
              <Ago ms={lock.sinceMs} /> ·{' '}
              <TextLink href={`/history?rev=${lock.token}`}>
                {t('history.atRevision', { rev: grouped(lock.token) })}
              </TextLink>
            </Fact>
            <Fact term={t('lock.token')}>
              <b>{grouped(lock.token)}</b>
            </Fact>
            <Fact term={t('lock.lease')}>{lock.lease === undefined ? '–' : <LeaseCountdown lease={lock.lease} />}</Fact>
            <Fact term={t('lock.leaseId')}>
              <Code>{lock.leaseId}</Code>
            </Fact>
            {lock.state !== undefined && (
              <Fact term={t('column.state')}>
                <StateMark state={lock.state} />
              </Fact>
            )}
          </Facts>
        </Section>
        <Section title={t('lock.contention')}>
          <p className="text-ink2 py-2">{t('lock.contentionText')}</p>
          <Facts>
            <Fact term={t('lock.attempt')}>{lock.attempt}</Fact>
            <Fact term={t('lock.losses')}>{lost}</Fact>
            <Fact term={t('lock.changes')}>
              <TextLink href={`/events?task=${encodeURIComponent(lock.id)}&kind=locks`}>{t('nav.events')}</TextLink>
            </Fact>
          </Facts>
        </Section>
        <div className="flex min-w-0 flex-col gap-7 lg:col-span-2">
          <ProgressLine progress={lock.progress} />
          {detail !== undefined && row !== undefined && <Attempts row={row} attempts={detail.attempts} />}
        </div>
      </div>
    </Page>
  );
}
