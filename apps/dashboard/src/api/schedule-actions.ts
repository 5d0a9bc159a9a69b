'use client';
import type { Done, ScheduleDone } from '@leasehold/wire';
import { useMemo } from 'react';
import { useT } from '../i18n';
import { useActing } from './acting';
import { withReason, type Seen } from './actions';
import { call } from './call';
import { paths } from './paths';

/** What the form sends: of a schedule that is there, what is left out stays. */
export interface ScheduleDraft {
  readonly spec: string;
  readonly zone: string;
  readonly missed: string;
  readonly overlap: string;
  /** `null` takes a bound away. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly count: number | null;
  readonly jitterMs: number | null;
  readonly workflow?: unknown;
}

async function freshKey(): Promise<string> {
  return (await import('./answers')).newOperationId();
}

async function post(path: string, body: unknown): Promise<Done> {
  return call({ answer: 'Done', method: 'POST', path, body, key: await freshKey() });
}

async function runOnce(path: string, body: unknown): Promise<ScheduleDone> {
  return call({ answer: 'ScheduleDone', method: 'POST', path, body, key: await freshKey() });
}

export function useScheduleActions() {
  const t = useT();
  const { act } = useActing();
  return useMemo(() => {
    const one = (seen: Seen, run: () => Promise<Done>, title: string, after?: () => void): Promise<boolean> =>
      act({
        ids: [seen.id],
        run,
        said: ({ revision }) => ({ title, text: t('toast.atRevision', { rev: revision }) }),
        ...(after === undefined ? {} : { after }),
      });
    const body = (seen: Seen, reason = ''): object => ({ revisionSeen: seen.revision, ...withReason(reason) });
    return {
      save: (seen: Seen, draft: ScheduleDraft, after: () => void) =>
        one(
          seen,
          () => post(paths.schedule(seen.id), { ...draft, revisionSeen: seen.revision }),
          t('schedule.saved', { name: seen.name }),
          after,
        ),
      pause: (seen: Seen, reason: string) =>
        one(
          seen,
          () => post(paths.actOnSchedule(seen.id, 'pause'), body(seen, reason)),
          t('schedule.pausedToast', { name: seen.name }),
        ),
      resume: (seen: Seen) =>
        one(
          seen,
          () => post(paths.actOnSchedule(seen.id, 'resume'), body(seen)),
          t('schedule.resumedToast', { name: seen.name }),
        ),
      remove: (seen: Seen, reason: string, after: () => void) =>
        one(
          seen,
          () => post(paths.actOnSchedule(seen.id, 'delete'), body(seen, reason)),
          t('schedule.deleted', { name: seen.name }),
          after,
        ),
      run: (seen: Seen, kind: 'tasks' | 'workflows') => {
        let submittedId = '';
        return act({
          ids: [seen.id],
          run: async () => {
            const done = await runOnce(paths.actOnSchedule(seen.id, 'run'), body(seen));
            submittedId = done.submittedId;
            return done;
          },
          said: ({ revision }) => ({
            title: t('schedule.ran', { name: seen.name }),
            text: t('toast.atRevision', { rev: revision }),
            link: { href: `/${kind}/${encodeURIComponent(submittedId)}`, label: t('schedule.openRun') },
          }),
        });
      },
    };
  }, [act, t]);
}
