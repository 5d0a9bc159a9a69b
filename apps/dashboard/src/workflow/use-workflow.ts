'use client';
import { compareDecimal, DEFAULT_TASK_ORDER } from '@leasehold/wire';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useRows, useTasks } from '../live/hooks';
import { useRev } from '../live/rev';

const AGAIN_MS = 1_000;

/** Of members that are drawn as one the server counts the states: read again when they changed, at most once a second. */
function useAgain(wanted: boolean, states: string, read: () => unknown): void {
  const last = useRef(0);
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  useEffect(() => {
    if (!wanted) return undefined;
    const timer = setTimeout(
      () => {
        last.current = performance.now();
        latest.current();
      },
      Math.max(0, last.current + AGAIN_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [wanted, states]);
}

/** The shape is read once for each version; the states of its members come with the live rows. */
export function useWorkflow(id: string) {
  const filter = useMemo(() => ({ ids: [id] }), [id]);
  const { view } = useRows('workflows', filter, { offset: 0, limit: 1 });
  const live = view?.rows.find((row) => row.id === id);
  const rev = useRev();
  const members = useTasks({ filter: { workflow: id }, order: DEFAULT_TASK_ORDER, window: { offset: 0, limit: 500 } });
  const query = useQuery({
    // Not before the live row says of which version: else it is read twice.
    enabled: view !== undefined,
    queryKey: ['workflow', id, rev ?? '', live?.revision ?? ''],
    queryFn: ({ signal }) => call({ answer: 'WorkflowDetail', path: paths.workflow(id, rev), signal }),
    placeholderData: (old) => (old?.row.id === id ? old : undefined),
  });
  const detail = query.data;
  const collapsed = detail?.picture?.nodes.some(({ count }) => count > 1) === true;
  useAgain(collapsed, JSON.stringify(live?.states ?? {}), query.refetch);
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
