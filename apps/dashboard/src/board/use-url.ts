'use client';
import { parseTasksUrl, serializeTasksUrl, type ParsedTasksUrl, type TaskFilter, type TasksUrl } from '@leasehold/wire';
import { useRouter, useSearchParams } from 'next/navigation';
import { useCallback, useMemo } from 'react';

/** The state of the page is its URL and nothing else: back, forward and a sent link show the same. */
export function useTasksUrl(): ParsedTasksUrl & { go(next: TasksUrl, how?: 'push' | 'replace'): void } {
  const params = useSearchParams();
  const router = useRouter();
  const parsed = useMemo(() => parseTasksUrl(params), [params]);
  const go = useCallback(
    (next: TasksUrl, how: 'push' | 'replace' = 'push') => router[how](hrefOf(next), { scroll: false }),
    [router],
  );
  return { ...parsed, go };
}

export function hrefOf(state: TasksUrl): string {
  const search = serializeTasksUrl(state);
  return search === '' ? '/tasks' : `/tasks?${search}`;
}

export function withFilter(state: TasksUrl, filter: TaskFilter): TasksUrl {
  return { ...state, filter };
}

export type ListFilter = 'state' | 'name' | 'queue' | 'node' | 'tag';

/** The filter with one value of one list put in, or taken out if it was in. */
export function toggled(filter: TaskFilter, part: ListFilter, value: string): TaskFilter {
  const now: readonly string[] = filter[part] ?? [];
  const next = now.includes(value) ? now.filter((each) => each !== value) : [...now, value];
  return next.length === 0 ? without(filter, part) : { ...filter, [part]: next };
}

export function without(filter: TaskFilter, part: keyof TaskFilter): TaskFilter {
  const { [part]: _gone, ...rest } = filter;
  return rest;
}
