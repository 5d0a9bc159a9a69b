'use client';
import type { BulkActionName, BulkCount, Done, TaskFilter } from '@leasehold/wire';
import { useMemo } from 'react';
import { useT } from '../i18n';
import { grouped } from '../look/number';
import { useActing } from './acting';
import { withReason } from './actions';
import { call } from './call';
import { paths } from './paths';

/** Which tasks: what a filter shows, or those that were picked, as they were seen. */
export type Meant =
  { readonly filter: TaskFilter } | { readonly tasks: readonly { readonly id: string; readonly revision: string }[] };

export interface BulkRequest {
  readonly action: BulkActionName;
  readonly meant: Meant;
  readonly count: number;
  readonly asOf: string;
  readonly reason: string;
  readonly typed?: string;
  readonly priority?: number;
}

export function countBulk(action: BulkActionName, meant: Meant, signal: AbortSignal): Promise<BulkCount> {
  return call({
    answer: 'BulkCount',
    method: 'POST',
    path: paths.countBulk(),
    body: { action, ...asked(meant) },
    signal,
  });
}

/** Of rows, only what the server needs to know them by. */
function asked(meant: Meant): object {
  return 'filter' in meant
    ? { filter: meant.filter }
    : { tasks: meant.tasks.map(({ id, revision }) => ({ id, revision })) };
}

async function post(path: string, body: unknown): Promise<Done> {
  const { newOperationId } = await import('./answers');
  return call({ answer: 'Done', method: 'POST', path, body, key: newOperationId() });
}

export interface BulkActions {
  start(request: BulkRequest, after?: () => void): Promise<boolean>;
  abort(id: string, reason: string): Promise<boolean>;
}

export function useBulkActions(): BulkActions {
  const t = useT();
  const { act } = useActing();
  return useMemo(() => {
    const link = (id: string) => ({ href: `/bulk/${encodeURIComponent(id)}`, label: t('bulk.open') });
    return {
      start: ({ action, meant, count, asOf, reason, typed, priority }, after) =>
        act({
          ids: 'tasks' in meant ? meant.tasks.map(({ id }) => id) : [],
          run: () =>
            post(paths.bulks(), {
              action,
              ...asked(meant),
              count,
              asOf,
              ...withReason(reason),
              ...(typed === undefined ? {} : { typed }),
              ...(priority === undefined ? {} : { priority }),
            }),
          said: ({ id, revision }) => ({
            title: t('bulk.startedToast', { n: grouped(count) }),
            text: t('toast.atRevision', { rev: revision }),
            link: link(id),
          }),
          ...(after === undefined ? {} : { after }),
        }),
      abort: (id, reason) =>
        act({
          ids: [id],
          run: () => post(paths.abortBulk(id), withReason(reason)),
          said: ({ revision }) => ({ title: t('bulk.abortAsked'), text: t('toast.atRevision', { rev: revision }) }),
        }),
    };
  }, [act, t]);
}
