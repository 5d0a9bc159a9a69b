'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { BulkRow } from '@leasehold/wire';
import { SearchX } from 'lucide-react';
import { useState } from 'react';
import { useMissing } from '../access/may';
import { useBulkActions } from '../api/bulk-actions';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { useRows } from '../live/hooks';
import { grouped } from '../look/number';
import { plain } from '../task/parts';
import { useTime } from '../time';
import { Button, LinkButton, ReasonButton } from '../ui/button';
import { Code, Fact, Facts, Page, PageHead, Section, TextLink } from '../ui/layout';
import { ReasonDialog } from '../ui/reason-dialog';
import { Empty, Loading } from '../ui/states';
import { BulkProgress, percent } from './progress';
import { BULK_STATES, BULK_TITLES, changedBefore, filterWords } from './words';

export function BulkDetailPage({ id }: { id: string }) {
  const t = useT();
  const { view } = useRows('bulks', { ids: [id] });
  if (view === undefined) return <Loading />;
  const [row] = view.rows;
  if (row === undefined) {
    return (
      <Empty
        icon={SearchX}
        heading="h1"
        title={t('bulk.unknown')}
        action={<LinkButton href="/bulk">{t('nav.bulk')}</LinkButton>}
      >
        <Code>{id}</Code>
        <p className="mt-1">{t('bulk.unknownText')}</p>
      </Empty>
    );
  }
  const title = t(BULK_TITLES[row.action], { n: grouped(row.total) });
  return (
    <Page>
      <title>{`${title} · Leasehold`}</title>
      <PageHead title={title} note={<Code>{row.id}</Code>} actions={<Abort row={row} />} />
      <Progress row={row} />
      <div className="mt-7 grid gap-x-10 gap-y-7 lg:grid-cols-[minmax(0,1fr)_320px]">
        <Left row={row} />
        <BulkFacts row={row} />
      </div>
    </Page>
  );
}

function Abort({ row }: { row: BulkRow }) {
  const t = useT();
  const missing = useMissing('bulk.run');
  const { abort } = useBulkActions();
  const [asking, setAsking] = useState(false);
  if (row.state !== 'RUNNING') return null;
  return (
    <>
      <ReasonButton kind="danger" reason={missing} onClick={() => setAsking(true)}>
        {t('bulk.abort')}
      </ReasonButton>
      <ReasonDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('bulk.abortTitle')}
        text={t('bulk.abortText')}
        action={t('bulk.abort')}
        onDone={(reason) => {
          setAsking(false);
          void abort(row.id, reason);
        }}
      />
    </>
  );
}

function Progress({ row }: { row: BulkRow }) {
  const t = useT();
  const ended = row.endedMs !== undefined;
  const parts = [
    { word: t('bulk.done'), n: row.done, mark: 'bg-success' },
    { word: t('bulk.skipped'), n: row.skipped, mark: 'bg-retry' },
    { word: t('bulk.conflicted'), n: row.conflicted, mark: 'bg-failure' },
    { word: t('bulk.untouched'), n: row.total - row.position, mark: 'bg-line2' },
  ];
  return (
    <section aria-label={t('bulk.progress')}>
      <p className="mb-1.5 flex items-baseline gap-3">
        <b data-testid="bulk-state">{t(BULK_STATES[row.state])}</b>
        <span className="text-ink2" role={ended ? 'status' : undefined}>
          {grouped(row.position)} / {grouped(row.total)}
        </span>
        <span className="text-ink3 ml-auto">{percent(row)}</span>
      </p>
      <BulkProgress row={row} tall />
      <dl className="mt-2.5 flex flex-wrap gap-x-7 gap-y-1">
        {parts.map(({ word, n, mark }) => (
          <div key={word} className="flex items-baseline gap-2">
            <span className={`${mark} size-2 rounded-full`} aria-hidden />
            <dt className="text-ink2">{word}</dt>
            <dd className="font-semibold">{grouped(n)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Left({ row }: { row: BulkRow }) {
  const t = useT();
  const left = row.skipped + row.conflicted;
  // Asked for again whenever there is more of it.
  const pages = useInfiniteQuery({
    queryKey: ['bulk-left', row.id, left],
    queryFn: ({ pageParam, signal }) =>
      call({ answer: 'BulkLeftPage', path: paths.bulkLeft(row.id, pageParam), signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    enabled: left > 0,
    placeholderData: (before) => before,
  });
  const rows = pages.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <Section title={t('bulk.left')} aside={left === 0 ? undefined : grouped(left)}>
      {left === 0 && <p className="text-ink3 py-2">{t('bulk.leftNone')}</p>}
      <ul>
        {rows.map((each) => (
          <li
            key={each.id}
            className="border-line grid gap-x-3 border-b py-2 sm:grid-cols-[84px_minmax(0,240px)_minmax(0,1fr)]"
          >
            <span className={each.kind === 'skipped' ? 'text-retry' : 'text-failure'}>
              {t(each.kind === 'skipped' ? 'bulk.skipped' : 'bulk.conflicted')}
            </span>
            <TextLink href={`/tasks/${encodeURIComponent(each.id)}`} className="truncate">
              <Code>{each.id}</Code>
            </TextLink>
            <span className="text-ink2 wrap-anywhere">{plain(each.message)}</span>
          </li>
        ))}
      </ul>
      {pages.hasNextPage && (
        <Button className="mt-3" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t('bulk.leftMore')}
        </Button>
      )}
    </Section>
  );
}

function BulkFacts({ row }: { row: BulkRow }) {
  const t = useT();
  const time = useTime();
  const changed = changedBefore(row);
  return (
    <aside aria-label={t('task.summary')}>
      <Section title={t('task.summary')}>
        <Facts>
          <Fact term={t('bulk.filter')}>
            {filterWords(row.filter, t, time).map(({ part, value }) => (
              <p key={part}>
                {part !== '' && <span className="text-ink3">{part}: </span>}
                {plain(value)}
              </p>
            ))}
          </Fact>
          {row.priority !== undefined && <Fact term={t('bulk.priority')}>{row.priority}</Fact>}
          <Fact term={t('bulk.snapshot')}>{grouped(row.snapshot)}</Fact>
          <Fact term={t('bulk.by')}>{plain(row.by)}</Fact>
          {row.reason !== undefined && <Fact term={t('bulk.reason')}>{plain(row.reason)}</Fact>}
          <Fact term={t('bulk.started')}>
            <Ago ms={row.createdMs} />
          </Fact>
        </Facts>
        {changed > 0 && <p className="text-retry mt-2 text-xs">{t('bulk.changed', { n: grouped(changed) })}</p>}
      </Section>
    </aside>
  );
}
