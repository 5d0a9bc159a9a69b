'use client';
import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import type { MouseEvent, ReactNode } from 'react';
import { problemText, problemTitle } from '../api/acting';
import { ApiError, call } from '../api/call';
import { paths } from '../api/paths';
import { useT } from '../i18n';
import { withRev } from '../live/rev';
import { grouped } from '../look/number';
import { AtMoment, useTime } from '../time';
import { Button, LinkButton } from '../ui/button';
import { Empty, Loading } from '../ui/states';
import { basePath } from '../base-path';

/** Shows its children as of a revision, once that is known to be there; where it is not, says so and shows nothing live instead. */
export function PastGate({ rev, children }: { rev: string; children: ReactNode }) {
  const query = useQuery({
    queryKey: ['moment', rev],
    queryFn: ({ signal }) => call({ answer: 'Moment', path: paths.moment({ rev }), signal }),
    staleTime: Infinity,
    retry: false,
  });
  const onClickCapture = useKeptRev(rev);
  if (query.error !== null) return <NoPast rev={rev} error={query.error} onAgain={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading />;
  return (
    <AtMoment value={query.data.atMs}>
      <div className="flex h-full min-h-0 flex-col" onClickCapture={onClickCapture}>
        <PastBar rev={rev} atMs={query.data.atMs} />
        <div className="min-h-0 flex-1 overflow-auto">{children}</div>
      </div>
    </AtMoment>
  );
}

function PastBar({ rev, atMs }: { rev: string; atMs: number | undefined }) {
  const t = useT();
  const time = useTime();
  const live = useLiveHref();
  return (
    <div
      role="status"
      className="border-line bg-scheduled/10 flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3.5 py-1.5 text-xs"
    >
      <History className="text-scheduled size-3.5" aria-hidden />
      <span className="font-semibold">{t('past.viewing', { rev: grouped(rev) })}</span>
      {atMs !== undefined && <span className="text-ink2">{time.full(atMs)}</span>}
      <span className="text-ink3 max-sm:hidden">{t('past.note')}</span>
      <span className="grow" />
      <LinkButton size="sm" href={`/history?rev=${rev}`}>
        {t('past.move')}
      </LinkButton>
      <LinkButton size="sm" kind="primary" data-live href={live}>
        {t('past.back')}
      </LinkButton>
    </div>
  );
}

/** The same page, with the same filters, now. */
function useLiveHref(): string {
  const pathname = usePathname();
  const params = new URLSearchParams(useSearchParams().toString());
  params.delete('rev');
  return params.size === 0 ? pathname : `${pathname}?${params.toString()}`;
}

/** Links followed from a past page lead to the same moment. */
function useKeptRev(rev: string): (event: MouseEvent) => void {
  const router = useRouter();
  return (event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target === '_blank' || link.origin !== window.location.origin) return;
    const own = `${link.pathname.slice(basePath.length)}${link.search}${link.hash}`;
    const href = link.dataset['live'] === undefined ? withRev(own, rev) : own;
    if (href === own && link.dataset['live'] === undefined) return;
    event.preventDefault();
    router.push(href);
  };
}

function NoPast({ rev, error, onAgain }: { rev: string; error: Error; onAgain: () => void }) {
  const t = useT();
  const live = useLiveHref();
  const compacted = error instanceof ApiError && error.code === 'compacted';
  const floor = error instanceof ApiError ? error.problem?.fields?.['floor'] : undefined;
  return (
    <>
      <title>{`${t('nav.history')} · Leasehold`}</title>
      <Empty
        icon={History}
        heading="h1"
        title={compacted ? t('past.compacted', { rev: grouped(rev) }) : problemTitle(error, t)}
        action={
          <>
            <LinkButton href={live} kind="primary" data-live>
              {t('past.back')}
            </LinkButton>
            <LinkButton href="/history">{t('nav.history')}</LinkButton>
            {!compacted && <Button onClick={onAgain}>{t('load.again')}</Button>}
          </>
        }
      >
        {compacted
          ? typeof floor === 'string'
            ? t('past.compactedText', { floor: grouped(floor) })
            : t('past.compactedUnknown')
          : problemText(error, t)}
      </Empty>
    </>
  );
}
