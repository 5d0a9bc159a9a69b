'use client';
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import {
  summaryOf,
  type LiveQuery,
  type LiveView,
  type RowFilter,
  type RowOf,
  type Summary,
  type ViewName,
  type Window,
} from '@leasehold/wire';
import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { useLocalNow } from '../time';
import { useRev } from './rev';
import type { Feed } from './feed';
import { FIRST_LINK, healthOf, LINK_KEY, liveKey, type Link, type LinkHealth } from './link';

const FeedContext = createContext<Feed | null>(null);

export function LiveProvider({ children }: { children: ReactNode }) {
  const [cache] = useState(
    () => new QueryClient({ defaultOptions: { queries: { refetchOnWindowFocus: false, retry: 1, staleTime: 2_000 } } }),
  );
  const [feed, setFeed] = useState<Feed | null>(null);
  useEffect(() => {
    let wanted = true;
    let opened: Feed | undefined;
    // The page's own code first; the socket's comes while it is drawn.
    const open = async (): Promise<void> => {
      const { Feed: Opened } = await import('./feed');
      if (wanted) setFeed((opened = new Opened(cache)));
    };
    void open();
    return () => {
      wanted = false;
      opened?.close();
    };
  }, [cache]);
  return (
    <QueryClientProvider client={cache}>
      <FeedContext value={feed}>{children}</FeedContext>
    </QueryClientProvider>
  );
}

const never = (): Promise<never> => new Promise(() => undefined);

/** What the socket put into the cache. */
function useFed<T>(queryKey: readonly unknown[]): T | undefined {
  return useQuery<T>({ queryKey, queryFn: never, enabled: false, staleTime: Infinity, gcTime: Infinity }).data;
}

/** On a page that shows the past nothing can be done: it is as if the server were read-only. */
export function useLink(): Link {
  const link = useFed<Link>(LINK_KEY) ?? FIRST_LINK;
  const rev = useRev();
  return useMemo(() => (rev === undefined ? link : { ...link, ...offInPast(link) }), [link, rev]);
}

function offInPast({ hello }: Link): Pick<Link, 'hello'> {
  return hello === undefined ? {} : { hello: { ...hello, readOnly: true } };
}

export function useHealth(): LinkHealth {
  return healthOf(useLink(), useLocalNow());
}

export interface Live<V extends ViewName> {
  /** Undefined until the first snapshot. */
  readonly view: LiveView<RowOf[V]> | undefined;
  /** The view is of an earlier question: it is shown, dimmed, until the answer comes. */
  readonly old: boolean;
  freeze(frozen: boolean): void;
  release(): void;
  moveWindow(window: Window): void;
}

/** Follows a query. The name of the subscription is the query itself, so two places that ask the same share it. */
function useFollow<V extends ViewName>(query: object, first: Window): Live<V> {
  const feed = useContext(FeedContext);
  const rev = useRev();
  const asked = JSON.stringify(rev === undefined ? query : { ...query, rev });
  const sub = useMemo(() => shortName(asked), [asked]);
  const view = useFed<LiveView<RowOf[V]>>(liveKey(sub));
  const [last, setLast] = useState<LiveView<RowOf[V]> | undefined>(undefined);
  if (view !== undefined && view !== last) setLast(view);

  const { offset, limit } = first;
  useEffect(
    () => feed?.follow(sub, { ...JSON.parse(asked), window: { offset, limit } } as LiveQuery),
    // The first window only: later ones are moved to.
    [feed, sub, asked],
  );
  const freeze = useCallback((frozen: boolean) => feed?.freeze(sub, frozen), [feed, sub]);
  const release = useCallback(() => feed?.release(sub), [feed, sub]);
  const moveWindow = useCallback((window: Window) => feed?.moveWindow(sub, window), [feed, sub]);
  return { view: view ?? last, old: view === undefined && last !== undefined, freeze, release, moveWindow };
}

/** A name of at most 100 characters that differs when the question does (FNV-1a, twice). */
function shortName(asked: string): string {
  const hash = (seed: number): string => {
    let h = seed;
    for (let i = 0; i < asked.length; i++) h = Math.imul(h ^ asked.charCodeAt(i), 16_777_619);
    return (h >>> 0).toString(36);
  };
  return `${hash(2_166_136_261)}${hash(40_389)}.${asked.length}`;
}

type TasksQuery = Pick<Extract<LiveQuery, { readonly view: 'tasks' }>, 'filter' | 'order'> & {
  readonly window?: Window;
};

export function useTasks({ filter, order, window = { offset: 0, limit: 120 } }: TasksQuery): Live<'tasks'> {
  return useFollow<'tasks'>({ view: 'tasks', filter, order }, window);
}

const ALL: Window = { offset: 0, limit: 500 };

export function useRows<V extends Exclude<ViewName, 'tasks'>>(
  view: V,
  filter: RowFilter = {},
  window: Window = ALL,
): Live<V> {
  return useFollow<V>({ view, filter }, window);
}

export function useSummary(): Summary {
  const { view } = useRows('summary');
  return useMemo(() => summaryOf(view?.rows ?? []), [view]);
}
