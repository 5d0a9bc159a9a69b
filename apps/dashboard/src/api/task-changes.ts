'use client';
import type { Done, TaskRow } from '@leasehold/wire';
import { useMemo } from 'react';
import { useT } from '../i18n';
import { useActing } from './acting';
import { withReason } from './actions';
import { call } from './call';
import { paths } from './paths';

interface Move {
  readonly etaMs?: number;
  readonly priority?: number;
}

async function post(path: string, body: unknown): Promise<Done> {
  const { newOperationId } = await import('./answers');
  return call({ answer: 'Done', method: 'POST', path, body, key: newOperationId() });
}

export function useTaskChanges() {
  const t = useT();
  const { act } = useActing();
  return useMemo(() => {
    const link = (id: string) => ({ href: `/tasks/${encodeURIComponent(id)}`, label: t('toast.openTask') });
    const send = ({ id }: Pick<TaskRow, 'id'>, revision: string, move: Move): Promise<Done> =>
      post(paths.rescheduleTask(id), { revisionSeen: revision, ...move });
    /** Guarded by the revision that the change itself made: whatever came after it is not undone. */
    const undo = (row: TaskRow, done: Done, back: Move) =>
      void act({
        ids: [row.id],
        run: () => send(row, done.revision, back),
        said: ({ revision }) => ({ title: t('act.undone'), text: t('toast.atRevision', { rev: revision }) }),
      });
    return {
      /** Another time or priority; the toast takes it back. */
      move: (row: TaskRow, change: Move): Promise<boolean> =>
        act({
          ids: [row.id],
          run: () => send(row, row.revision, change),
          said: (done) => ({
            title:
              change.priority === undefined
                ? t('act.rescheduled', { name: row.name })
                : t('act.prioritised', { name: row.name, n: change.priority }),
            text: t('toast.atRevision', { rev: done.revision }),
            link: link(row.id),
            undo: {
              label: t('act.undo'),
              run: () =>
                undo(row, done, change.priority === undefined ? { etaMs: row.scheduleMs } : { priority: row.priority }),
            },
          }),
        }),
      remove: ({ id, name, revision }: TaskRow, reason: string, after: () => void): Promise<boolean> =>
        act({
          ids: [id],
          run: () => post(paths.deleteTask(id), { revisionSeen: revision, ...withReason(reason) }),
          said: (done) => ({ title: t('act.deleted', { name }), text: t('toast.atRevision', { rev: done.revision }) }),
          after,
        }),
    };
  }, [act, t]);
}
