'use client';
import { compareDecimal, type ClusterStatus } from '@leasehold/wire';
import { useQuery } from '@tanstack/react-query';
import { Database, TriangleAlert } from 'lucide-react';
import { problemText } from '../api/acting';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { bytesText, grouped } from '../look/number';
import { Code, Fact, Facts, Page, PageHead, Section, Tag } from '../ui/layout';
import { ShareBar } from '../ui/lease-bar';
import { Empty, Loading } from '../ui/states';
import { Table } from '../ui/table';
import { LeaderCard } from './leader-card';

const EVERY_MS = 5_000;

export function ClusterPage() {
  const t = useT();
  const query = useQuery({
    queryKey: ['cluster'],
    queryFn: ({ signal }) => call({ answer: 'ClusterStatus', path: paths.cluster(), signal }),
    refetchInterval: EVERY_MS,
  });
  const cluster = query.data;
  if (cluster === undefined) {
    if (query.error === null) return <Loading />;
    return (
      <Empty icon={Database} title={t('cluster.away')}>
        {problemText(query.error, t)}
      </Empty>
    );
  }
  return (
    <Page>
      <title>{`${t('nav.cluster')} · Leasehold`}</title>
      <PageHead title={t('nav.cluster')} note={t('cluster.note')} />
      {query.error !== null && <Warning title={t('cluster.away')} text={problemText(query.error, t)} />}
      {isOld(cluster.version) && (
        <Warning title={t('cluster.old', { version: cluster.version })} text={t('cluster.oldText')} />
      )}
      <Advice cluster={cluster} />
      <div className="grid gap-x-10 gap-y-7 lg:grid-cols-[minmax(0,1fr)_360px]">
        <div className="flex min-w-0 flex-col gap-7">
          <Members cluster={cluster} />
          <Storage cluster={cluster} />
        </div>
        <div className="flex min-w-0 flex-col gap-7">
          <LeaderCard />
          <FeedFacts cluster={cluster} />
        </div>
      </div>
    </Page>
  );
}

const OLDEST_GOOD = [3, 5, 28] as const;

export function isOld(version: string): boolean {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10));
  for (const [i, good] of OLDEST_GOOD.entries()) {
    const part = parts[i] ?? 0;
    if (part !== good) return part < good;
  }
  return false;
}

function Warning({ title, text }: { title: string; text: string }) {
  return (
    <div role="alert" className="border-retry/45 bg-retry/8 mb-5 flex gap-3 rounded-lg border px-4 py-3">
      <TriangleAlert className="text-retry mt-0.5 size-4 shrink-0" aria-hidden />
      <div>
        <p className="font-semibold">{title}</p>
        <p className="text-ink2">{text}</p>
      </div>
    </div>
  );
}

/** What to do about etcd's storage, the most pressing first. */
function Advice({ cluster }: { cluster: ClusterStatus }) {
  const t = useT();
  const { alarms, advice } = cluster;
  if (alarms.length > 0) return <Warning title={t('cluster.adviceAlarm')} text={t('cluster.adviceAlarmText')} />;
  if (advice === 'make-room') return <Warning title={t('cluster.adviceRoom')} text={t('cluster.adviceRoomText')} />;
  if (advice === 'none') return null;
  return <Warning title={t('cluster.adviceDefragment')} text={t('cluster.adviceDefragmentText')} />;
}

function Members({ cluster }: { cluster: ClusterStatus }) {
  const t = useT();
  return (
    <Section title={t('cluster.members')} aside={cluster.members.length}>
      <Table
        label={t('cluster.members')}
        rows={cluster.members}
        rowKey={(member) => member.id}
        columns={[
          {
            key: 'member',
            head: t('cluster.member'),
            cell: (member) => (
              <>
                <span className="font-semibold">{member.name}</span>{' '}
                {member.id === cluster.leaderId && <Tag>{t('cluster.leads')}</Tag>}
                {member.isLearner && <Tag>{t('cluster.learner')}</Tag>}
                <p className="text-2xs text-ink3 font-mono">{member.id}</p>
              </>
            ),
          },
          {
            key: 'addresses',
            head: t('cluster.addresses'),
            grows: true,
            cell: (member) => <Code>{member.clientUrls.join(' ')}</Code>,
          },
        ]}
      />
    </Section>
  );
}

function Storage({ cluster }: { cluster: ClusterStatus }) {
  const t = useT();
  const { dbSizeBytes, dbSizeInUseBytes, quotaBytes, softLimitBytes, alarms, compactedRevision } = cluster;
  const sizes = { size: bytesText(dbSizeBytes), quota: bytesText(quotaBytes) };
  const share = dbSizeBytes / quotaBytes;
  return (
    <Section title={t('cluster.storage')}>
      <Facts>
        <Fact term={t('cluster.size')}>
          {cluster.quotaKnown ? t('cluster.sizeOfTold', sizes) : t('cluster.sizeOf', sizes)}
          <ShareBar share={share} tone={share > 0.6 ? 'bg-failure' : 'bg-started'} className="mt-1.5" />
        </Fact>
        <Fact term={t('cluster.inUse')}>{bytesText(dbSizeInUseBytes)}</Fact>
        <Fact term={t('cluster.softLimit')}>
          <span className={cluster.full ? 'text-failure font-semibold' : ''}>{bytesText(softLimitBytes)}</span>
        </Fact>
        <Fact term={t('cluster.floor')}>
          {compactedRevision === undefined ? t('cluster.noFloor') : <Code>{grouped(compactedRevision)}</Code>}
        </Fact>
        <Fact term={t('cluster.alarms')}>
          {alarms.length === 0 ? (
            t('cluster.noAlarms')
          ) : (
            <span className="text-failure font-semibold">
              {alarms.map(({ alarm, memberId }) => `${alarm} (${memberId})`).join(', ')}
            </span>
          )}
        </Fact>
        <Fact term={t('cluster.version')}>{cluster.version}</Fact>
        <Fact term={t('cluster.id')}>
          <Code>{cluster.clusterId}</Code>
        </Fact>
        <Fact term={t('cluster.term')}>
          <Code>{cluster.raftTerm}</Code>
        </Fact>
      </Facts>
    </Section>
  );
}

function FeedFacts({ cluster }: { cluster: ClusterStatus }) {
  const t = useT();
  const { feed, revision, namespace } = cluster;
  const behind = compareDecimal(revision, feed.revision) > 0 ? BigInt(revision) - BigInt(feed.revision) : 0n;
  return (
    <Section title={t('cluster.feed')}>
      <Facts>
        <Fact term={t('cluster.state')}>
          <Code>{feed.state}</Code>
        </Fact>
        <Fact term={t('cluster.lag')}>{t('cluster.lagText', { n: behind.toString() })}</Fact>
        <Fact term={t('cluster.proof')}>
          <Ago ms={feed.verifiedMs} />
        </Fact>
        <Fact term={t('cluster.relists')}>{grouped(feed.relists)}</Fact>
        <Fact term={t('cluster.rows')}>{grouped(feed.rows)}</Fact>
        <Fact term={t('cluster.dropped')}>{grouped(feed.dropped)}</Fact>
        <Fact term={t('cluster.namespace')}>{namespace}</Fact>
      </Facts>
    </Section>
  );
}
