'use client';
import { compareDecimal, DEFAULT_TASK_ORDER } from '@leasehold/wire';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useRows, useTasks } from '../live/hooks';

/** The shape is read once for each version; the states of its members come with the live rows. */
export function useWorkflow(id: string) {
  const filter = useMemo(() => ({ ids: [id] }), [id]);
  const { view } = useRows('workflows', filter, { offset: 0, limit: 1 });
  const live = view?.rows.find((row) => row.id === id);
  const members = useTasks({ filter: { workflow: id }, order: DEFAULT_TASK_ORDER, window: { offset: 0, limit: 500 } });
  const query = useQuery({
    queryKey: ['workflow', id, live?.revision ?? ''],
    queryFn: ({ signal }) => call({ answer: 'WorkflowDetail', path: paths.workflow(id), signal }),
    placeholderData: (old) => (old?.row.id === id ? old : undefined),
  });
  const detail = query.data;
  const row =
    live === undefined || (detail !== undefined && compareDecimal(detail.row.revision, live.revision) > 0)
      ? detail?.row
      : live;
  const rows = useMemo(
    () => new Map((members.view?.rows ?? detail?.members ?? []).map((member) => [member.id, member])),
    [members.view, detail],
  );
  return { detail, row, rows, error: query.error, retry: query.refetch };
}
