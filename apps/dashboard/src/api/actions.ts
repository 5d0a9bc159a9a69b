'use client';
import { type Done } from '@leasehold/wire';
import { useMemo } from 'react';
import { useT, type Translate } from '../i18n';
import { useActing } from './acting';
import { call } from './call';
import { paths, type SettingsTarget } from './paths';

/** What is acted on, as the operator saw it. */
export interface Seen {
  readonly id: string;
  readonly name: string;
  readonly revision: string;
}

async function post(path: string, body: unknown, given?: string): Promise<Done> {
  const key = given ?? (await import('./answers')).newOperationId();
  return call({ answer: 'Done', method: 'POST', path, body, key });
}

export const withReason = (reason: string): { reason?: string } => (reason === '' ? {} : { reason });

/** Pauses or resumes a task name, or everything. */
export const postSettings = (
  target: SettingsTarget,
  verb: 'pause' | 'resume',
  revisionSeen: string,
  reason: string,
): Promise<Done> => post(paths.actOnSettings(target, verb), { revisionSeen, ...withReason(reason) });

export const send = {
  retryTask: ({ id, revision }: Seen, args?: readonly unknown[]) =>
    post(paths.retryTask(id), { revisionSeen: revision, ...(args === undefined ? {} : { args }) }),
  cancelTask: ({ id, revision }: Seen, reason: string) =>
    post(paths.cancelTask(id), { revisionSeen: revision, ...withReason(reason) }),
  retryWorkflow: ({ id, revision }: Seen, from?: number) =>
    post(paths.retryWorkflow(id), { revisionSeen: revision, ...(from === undefined ? {} : { from }) }),
  cancelWorkflow: ({ id, revision }: Seen, reason: string) =>
    post(paths.cancelWorkflow(id), { revisionSeen: revision, ...withReason(reason) }),
  pauseQueue: ({ id, revision }: Seen, reason: string) =>
    post(paths.pauseQueue(id), { revisionSeen: revision, reason }),
  resumeQueue: ({ id, revision }: Seen) => post(paths.resumeQueue(id), { revisionSeen: revision }),
  forceRelease: ({ id, revision }: Seen, reason: string) =>
    post(paths.forceRelease(id), { revisionSeen: revision, reason }),
  drainNode: (id: string, reason: string) => post(paths.drainNode(id), withReason(reason)),
  submitTask: (signature: unknown, key: string) => post(paths.tasks(), signature, key),
  submitWorkflow: (body: unknown, key: string) => post(paths.workflows(), body, key),
} as const;

const taskLink = (id: string, t: Translate) => ({
  href: `/tasks/${encodeURIComponent(id)}`,
  label: t('toast.openTask'),
});
const workflowLink = (id: string, t: Translate) => ({
  href: `/workflows/${encodeURIComponent(id)}`,
  label: t('toast.openWorkflow'),
});

export interface Actions {
  retryTask(seen: Seen, args?: readonly unknown[]): Promise<boolean>;
  cancelTask(seen: Seen, reason: string): Promise<boolean>;
  retryWorkflow(seen: Seen, from?: number): Promise<boolean>;
  cancelWorkflow(seen: Seen, reason: string): Promise<boolean>;
  pauseQueue(seen: Seen, reason: string): Promise<boolean>;
  resumeQueue(seen: Seen): Promise<boolean>;
  forceRelease(seen: Seen, reason: string): Promise<boolean>;
  drainNode(id: string, name: string, reason: string): Promise<boolean>;
  submitTask(name: string, signature: unknown, key: string, after: (done: Done) => void): Promise<boolean>;
  submitWorkflow(name: string, body: unknown, key: string, after: (done: Done) => void): Promise<boolean>;
}

export function useActions(): Actions {
  const t = useT();
  const { act } = useActing();
  return useMemo(() => {
    const one = (
      seen: Seen,
      run: () => Promise<Done>,
      title: string,
      link?: { href: string; label: string },
      undo?: (done: Done) => Promise<boolean>,
    ): Promise<boolean> =>
      act({
        ids: [seen.id],
        run,
        said: (done) => ({
          title,
          text: t('toast.atRevision', { rev: done.revision }),
          ...(link === undefined ? {} : { link }),
          ...(undo === undefined ? {} : { undo: { label: t('act.undo'), run: () => void undo(done) } }),
        }),
      });
    return {
      retryTask: (seen, args) =>
        one(seen, () => send.retryTask(seen, args), t('toast.retried', { name: seen.name }), taskLink(seen.id, t)),
      cancelTask: (seen, reason) =>
        one(seen, () => send.cancelTask(seen, reason), t('toast.cancelled', { name: seen.name }), taskLink(seen.id, t)),
      retryWorkflow: (seen, from) =>
        one(
          seen,
          () => send.retryWorkflow(seen, from),
          t('toast.retried', { name: seen.name }),
          workflowLink(seen.id, t),
        ),
      cancelWorkflow: (seen, reason) =>
        one(
          seen,
          () => send.cancelWorkflow(seen, reason),
          t('toast.cancelled', { name: seen.name }),
          workflowLink(seen.id, t),
        ),
      pauseQueue: (seen, reason) =>
        one(
          seen,
          () => send.pauseQueue(seen, reason),
          t('toast.paused', { name: seen.name }),
          undefined,
          ({ revision }) => one(seen, () => send.resumeQueue({ ...seen, revision }), t('act.undone')),
        ),
      resumeQueue: (seen) =>
        one(
          seen,
          () => send.resumeQueue(seen),
          t('toast.resumed', { name: seen.name }),
          undefined,
          ({ revision }) => one(seen, () => send.pauseQueue({ ...seen, revision }, t('act.undo')), t('act.undone')),
        ),
      forceRelease: (seen, reason) =>
        one(
          seen,
          () => send.forceRelease(seen, reason),
          t('toast.released', { name: seen.name }),
          taskLink(seen.id, t),
        ),
      drainNode: (id, name, reason) =>
        one({ id, name, revision: '0' }, () => send.drainNode(id, reason), t('node.drainAsked', { name })),
      submitTask: (name, signature, key, after) =>
        act({
          ids: [],
          run: () => send.submitTask(signature, key),
          said: (done) => ({
            title: t('toast.submitted', { name }),
            text: t('toast.atRevision', { rev: done.revision }),
            link: taskLink(done.id, t),
          }),
          after,
        }),
      submitWorkflow: (name, body, key, after) =>
        act({
          ids: [],
          run: () => send.submitWorkflow(body, key),
          said: (done) => ({
            title: t('toast.submitted', { name }),
            text: t('toast.atRevision', { rev: done.revision }),
            link: workflowLink(done.id, t),
          }),
          after,
        }),
    };
  }, [act, t]);
}
