'use client';
import { compareDecimal, DEFAULT_TASK_ORDER, type TaskRow } from '@leasehold/wire';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useTasks } from '../live/hooks';
import { useRev } from '../live/rev';

const ONE = { offset: 0, limit: 1 } as const;

/**
 * The live row says at once what is; the detail is read again whenever the row's revision, holder or lock changes. Of
 * the two, the later revision is shown: an older answer never overwrites what is newer.
 */
export function useTask(id: string) {
  const { view } = useTasks({ filter: { ids: [id] }, order: DEFAULT_TASK_ORDER, window: ONE });
  const live = view?.rows[0];
  const rev = useRev();
  const query = useQuery({
    queryKey: ['task', id, rev ?? '', live?.revision ?? '', live?.token ?? ''],
    queryFn: ({ signal }) => call({ answer: 'TaskDetail', path: paths.task(id, rev), signal }),
    placeholderData: (old) => (old?.row.id === id ? old : undefined),
  });
  const detail = query.data;
  return { detail, row: later(live, detail?.row), error: query.error, retry: query.refetch };
}

function later(a: TaskRow | undefined, b: TaskRow | undefined): TaskRow | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareDecimal(a.revision, b.revision) >= 0 ? a : b;
}
