'use client';
import type { ErrorRow, TaskOrder } from '@leasehold/wire';
import { SearchX } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { Ago, RowTime } from '../board/row-time';
import { useMissing } from '../access/may';
import { useHandlers } from '../forms/use-handlers';
import { useT } from '../i18n';
import { useRows, useTasks } from '../live/hooks';
import { grouped } from '../look/number';
import { plain } from '../task/parts';
import { LinkButton, ReasonButton } from '../ui/button';
import { Code, Fact, Facts, Page, PageHead, Section, TextLink } from '../ui/layout';
import { StateMark } from '../ui/state-mark';
import { Empty, Loading } from '../ui/states';
import { errorTasksHref } from './errors-page';

const BulkDialog = dynamic(async () => (await import('../bulk/bulk-dialog')).BulkDialog, { ssr: false });

export function ErrorPage({ fingerprint }: { fingerprint: string }) {
  const t = useT();
  const { view } = useRows('errors');
  if (view === undefined) return <Loading />;
  const error = view.rows.find((row) => row.id === fingerprint);
  if (error === undefined) {
    return (
      <Empty
        icon={SearchX}
        heading="h1"
        title={t('error.unknown')}
        action={<LinkButton href="/errors">{t('nav.errors')}</LinkButton>}
      >
        <Code>{fingerprint}</Code>
        <p className="mt-1">{t('error.unknownText')}</p>
      </Empty>
    );
  }
  return (
    <Page>
      <title>{`${plain(error.type)} · Leasehold`}</title>
      <PageHead
        title={plain(error.type)}
        note={<span className="font-mono text-xs">{plain(error.message)}</span>}
        actions={
          <>
            <LinkButton href={errorTasksHref(fingerprint)}>{t('error.list')}</LinkButton>
            {error.failing > 0 && <RetryAll fingerprint={fingerprint} />}
          </>
        }
      />
      <div className="grid gap-x-10 gap-y-7 lg:grid-cols-[minmax(0,1fr)_320px]">
        <Latest fingerprint={fingerprint} />
        <ErrorFacts error={error} />
      </div>
    </Page>
  );
}

/** Those that have failed for good; what still retries does so by itself. */
function RetryAll({ fingerprint }: { fingerprint: string }) {
  const t = useT();
  const router = useRouter();
  const missing = useMissing('bulk.run');
  const [asking, setAsking] = useState(false);
  return (
    <>
      <ReasonButton kind="primary" reason={missing} onClick={() => setAsking(true)}>
        {t('bulk.retryAll')}
      </ReasonButton>
      {asking && (
        <BulkDialog
          open
          onOpenChange={setAsking}
          meant={{ filter: { error: fingerprint, state: ['FAILURE'] } }}
          first="retry"
          onStarted={() => router.push('/bulk')}
        />
      )}
    </>
  );
}

const LATEST: TaskOrder = { by: 'updated', desc: true };

function Latest({ fingerprint }: { fingerprint: string }) {
  const t = useT();
  const { view } = useTasks({ filter: { error: fingerprint }, order: LATEST, window: { offset: 0, limit: 10 } });
  return (
    <Section title={t('error.latest')} aside={view === undefined ? undefined : grouped(view.total)}>
      {(view?.rows ?? []).map((row) => (
        <Link
          key={row.id}
          href={`/tasks/${encodeURIComponent(row.id)}`}
          className="border-line hover:bg-ink/3 grid grid-cols-[112px_minmax(0,1fr)_auto] gap-x-3 border-b py-2 max-sm:grid-cols-[minmax(0,1fr)_auto]"
        >
          <StateMark state={row.state} className="max-sm:hidden!" />
          <span className="min-w-0">
            <b className="block truncate font-semibold">{row.name}</b>
            <span className="text-ink2 block truncate font-mono text-xs">{row.args}</span>
          </span>
          <span className="text-ink3 text-xs whitespace-nowrap">
            <RowTime row={row} />
          </span>
        </Link>
      ))}
    </Section>
  );
}

function ErrorFacts({ error }: { error: ErrorRow }) {
  const t = useT();
  const { byName } = useHandlers();
  const runbooks = error.names.flatMap((name) => {
    const url = byName.get(name)?.runbookUrl;
    return url !== undefined && /^https?:\/\//i.test(url) ? [{ name, url }] : [];
  });
  return (
    <aside aria-label={t('task.summary')}>
      <Section title={t('task.summary')}>
        <Facts>
          <Fact term={t('error.count')}>
            {grouped(error.count)} · {t('error.failing', { n: error.failing })}
          </Fact>
          <Fact term={t('error.first')}>
            <Ago ms={error.firstMs} />
          </Fact>
          <Fact term={t('error.last')}>
            <Ago ms={error.lastMs} />
          </Fact>
          <Fact term={t('error.names')}>{error.names.join(', ')}</Fact>
          <Fact term={t('error.sample')}>
            <TextLink href={`/tasks/${encodeURIComponent(error.sample)}`}>
              <Code>{error.sample}</Code>
            </TextLink>
          </Fact>
          {runbooks.map(({ name, url }) => (
            <Fact key={name} term={t('error.runbook')}>
              <a href={url} rel="noreferrer" target="_blank" className="text-accent hover:underline">
                {name}
              </a>
            </Fact>
          ))}
          <Fact term={t('error.fingerprint')}>
            <Code>{error.id}</Code>
          </Fact>
        </Facts>
      </Section>
    </aside>
  );
}
