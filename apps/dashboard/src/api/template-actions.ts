'use client';
import type { Done, TemplateView } from '@leasehold/wire';
import { useMemo } from 'react';
import { useT } from '../i18n';
import { useActing } from './acting';
import { withReason } from './actions';
import { call } from './call';
import { paths } from './paths';

async function post(path: string, body: unknown): Promise<Done> {
  const { newOperationId } = await import('./answers');
  return call({ answer: 'Done', method: 'POST', path, body, key: newOperationId() });
}

export function useTemplateActions() {
  const t = useT();
  const { act } = useActing();
  return useMemo(
    () => ({
      save: (
        seen: { readonly id: string; readonly revision: string },
        title: string,
        workflow: unknown,
        after: () => void,
      ): Promise<boolean> =>
        act({
          ids: [],
          run: () => post(paths.template(seen.id), { title, workflow, revisionSeen: seen.revision }),
          said: ({ revision }) => ({
            title: t('template.savedToast', { title }),
            text: t('toast.atRevision', { rev: revision }),
          }),
          after,
        }),
      remove: ({ id, title, revision }: TemplateView, reason: string, after: () => void): Promise<boolean> =>
        act({
          ids: [],
          run: () => post(paths.deleteTemplate(id), { revisionSeen: revision, ...withReason(reason) }),
          said: (done) => ({
            title: t('template.deletedToast', { title }),
            text: t('toast.atRevision', { rev: done.revision }),
          }),
          after,
        }),
    }),
    [act, t],
  );
}
