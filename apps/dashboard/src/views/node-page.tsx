'use client';
import type { LockRow, NodeRow } from '@leasehold/wire';
import { HeartCrack, SearchX } from 'lucide-react';
import { Ago } from '../board/row-time';
import { signatureText } from '../forms/use-handlers';
import { useT } from '../i18n';
import { useRows } from '../live/hooks';
import { nodeName } from '../look/node-name';
import { bytesText, grouped } from '../look/number';
import { useTime } from '../time';
import { LinkButton } from '../ui/button';
import { Code, Fact, Facts, Page, PageHead, Section, Tag, TextLink } from '../ui/layout';
import { LeaseCountdown } from '../ui/lease-bar';
import { Empty, Loading } from '../ui/states';
import { DrainButton } from './drain-button';
import { LockTable } from './locks-page';
import { NodeBadges } from './nodes-page';

export function NodePage({ id }: { id: string }) {
  const t = useT();
  const { view } = useRows('nodes');
  const locks = useRows('locks');
  const held = (locks.view?.rows ?? []).filter((lock) => lock.node === id);
  if (view === undefined) return <Loading />;
  const node = view.rows.find((each) => each.id === id);
  if (node === undefined) {
    return (
      <Empty icon={SearchX} title={t('node.unknown')} action={<LinkButton href="/nodes">{t('nav.nodes')}</LinkButton>}>
        <Code>{id}</Code>
        <p className="mt-1">{t('node.unknownText')}</p>
      </Empty>
    );
  }
  return (
    <Page>
      <title>{`${nodeName(id, node.host)} · Leasehold`}</title>
      <PageHead
        title={
          <span className="flex flex-wrap items-center gap-x-3">
            {nodeName(node.id, node.host)} <NodeBadges node={node} />
          </span>
        }
        note={
          <>
            <Code>{node.id}</Code> · {node.host} · pid {node.pid}
          </>
        }
        actions={
          <>
            <LinkButton href={`/tasks?node=${encodeURIComponent(id)}`}>{t('node.itsTasks')}</LinkButton>
            <DrainButton node={node} />
          </>
        }
      />
      <div className="grid gap-x-10 gap-y-7 lg:grid-cols-[minmax(0,1fr)_320px]">
        <div className="flex min-w-0 flex-col gap-7">
          <IfItDies node={node} held={held} />
          <Section title={t('nav.locks')} aside={held.length}>
            <LockTable locks={held} empty={<p className="text-ink3 py-3">{t('lock.noneHere')}</p>} />
          </Section>
          <Handlers node={node} />
        </div>
        <NodeFacts node={node} />
      </div>
    </Page>
  );
}

/** What its lease holds up: said before it happens. */
function IfItDies({ node, held }: { node: NodeRow; held: readonly LockRow[] }) {
  const t = useT();
  const time = useTime();
  const gone = node.departedMs !== undefined;
  return (
    <section aria-label={t('node.ifItDies')} className="border-line2 flex gap-3 rounded-lg border px-4 py-3">
      <HeartCrack className="text-ink3 mt-0.5 size-4 shrink-0" aria-hidden />
      <div>
        <h2 className="text-ink3 text-xs font-semibold">{gone ? t('node.itDied') : t('node.ifItDies')}</h2>
        <p className="text-base font-semibold">
          {gone
            ? t('node.diedText')
            : t('node.ifItDiesText', { locks: held.length, tasks: held.length, ttl: time.span(node.lease.ttlMs) })}
        </p>
        {node.leader && !gone && <p className="text-ink2">{t('node.ifLeaderDies')}</p>}
      </div>
    </section>
  );
}

function Handlers({ node }: { node: NodeRow }) {
  const t = useT();
  return (
    <Section title={t('node.handlers')} aside={node.handlers.length}>
      <ul className="divide-line divide-y">
        {node.handlers.map((handler) => (
          <li key={handler.name} className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 py-2">
            <div className="min-w-0">
              <p className="font-semibold wrap-anywhere">
                {handler.name}
                <span className="text-ink3 ml-2 font-mono text-xs font-normal">{signatureText(handler)}</span>
              </p>
              {handler.description !== undefined && (
                <p className="text-ink2 text-xs wrap-anywhere">{handler.description}</p>
              )}
            </div>
            <TextLink href={`/tasks/new?name=${encodeURIComponent(handler.name)}`} className="text-xs">
              {t('node.submit')}
            </TextLink>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function NodeFacts({ node }: { node: NodeRow }) {
  const t = useT();
  const time = useTime();
  const { stats, lease } = node;
  return (
    <aside aria-label={t('task.summary')} className="flex flex-col gap-6">
      <Section title={t('lock.lease')}>
        <Facts>
          <Fact term={t('node.left')}>
            <LeaseCountdown lease={lease} />
          </Fact>
          <Fact term={t('lock.leaseId')}>
            <Code>{lease.id}</Code>
          </Fact>
          {lease.renewedMs !== undefined && (
            <Fact term={t('node.renewed')}>
              <Ago ms={lease.renewedMs} />
            </Fact>
          )}
        </Facts>
      </Section>
      <Section title={t('task.summary')}>
        <Facts>
          <Fact term={t('node.running')}>
            {node.running} / {node.capacity}
          </Fact>
          <Fact term={t('nav.queues')}>
            <span className="flex flex-wrap gap-1">
              {node.queues.map((queue) => (
                <Tag key={queue.name}>
                  {queue.name} {queue.running}/{queue.concurrency}
                </Tag>
              ))}
            </span>
          </Fact>
          <Fact term={t('node.labels')}>
            {Object.entries(node.labels).length === 0
              ? '–'
              : Object.entries(node.labels)
                  .map(([name, value]) => `${name}=${value}`)
                  .join(', ')}
          </Fact>
          <Fact term={t('node.version')}>{node.version}</Fact>
          <Fact term={t('node.up')}>{time.full(node.startedMs)}</Fact>
          {stats !== undefined && (
            <>
              <Fact term={t('node.counts')}>
                {t('node.countsText', {
                  claimed: grouped(stats.claimed),
                  succeeded: grouped(stats.succeeded),
                  failed: grouped(stats.failed),
                })}
              </Fact>
              <Fact term={t('node.health')}>
                {t('node.delay', { ms: stats.eventLoopDelayMs.toFixed(1) })} · {bytesText(stats.rssBytes)}
              </Fact>
              {stats.clockSkewMs !== undefined && (
                <Fact term={t('node.clock')}>{t('node.skew', { ms: Math.round(stats.clockSkewMs) })}</Fact>
              )}
            </>
          )}
        </Facts>
      </Section>
    </aside>
  );
}
