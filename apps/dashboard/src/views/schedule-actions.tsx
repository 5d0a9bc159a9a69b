'use client';
import type { ScheduleDetail, ScheduleRow } from '@leasehold/wire';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useMissing } from '../access/may';
import { useFaded } from '../api/acting';
import { useScheduleActions } from '../api/schedule-actions';
import { useT } from '../i18n';
import { Button } from '../ui/button';
import { ReasonDialog } from '../ui/reason-dialog';
import { ScheduleDialog } from './schedule-dialog';

/** Its runs are tasks when what it submits is one. */
function isTask(workflow: unknown): boolean {
  return typeof workflow === 'object' && workflow !== null && 'kind' in workflow && workflow.kind === 'task';
}

/** Of the detail and the live row, what is sent as seen is the live row's revision. */
export function ScheduleActions({ detail, row }: { detail: ScheduleDetail; row: ScheduleRow }) {
  const t = useT();
  const router = useRouter();
  const missing = useMissing('schedule.write');
  const faded = useFaded(row.id);
  const actions = useScheduleActions();
  const [asking, setAsking] = useState<'pause' | 'delete' | 'edit' | undefined>(undefined);
  const close = (): void => setAsking(undefined);
  const seen = { id: row.id, name: row.id, revision: row.revision };
  if (missing !== undefined) return null;
  return (
    <>
      <Button disabled={faded} onClick={() => void actions.run(seen, isTask(detail.workflow) ? 'tasks' : 'workflows')}>
        {t('schedule.run')}
      </Button>
      {row.paused === undefined ? (
        <Button disabled={faded} onClick={() => setAsking('pause')}>
          {t('schedule.pause')}
        </Button>
      ) : (
        <Button kind="primary" disabled={faded} onClick={() => void actions.resume(seen)}>
          {t('schedule.resume')}
        </Button>
      )}
      <Button disabled={faded} onClick={() => setAsking('edit')}>
        {t('schedule.edit')}
      </Button>
      <Button kind="danger" disabled={faded} onClick={() => setAsking('delete')}>
        {t('schedule.delete')}
      </Button>
      <ReasonDialog
        open={asking === 'pause'}
        onOpenChange={close}
        title={t('schedule.pause')}
        text={t('schedule.pauseText')}
        action={t('schedule.pause')}
        required
        onDone={(reason) => {
          close();
          void actions.pause(seen, reason);
        }}
      />
      <ReasonDialog
        open={asking === 'delete'}
        onOpenChange={close}
        title={t('schedule.delete')}
        text={t('schedule.deleteText')}
        action={t('schedule.delete')}
        onDone={(reason) => {
          close();
          void actions.remove(seen, reason, () => router.push('/schedules'));
        }}
      />
      <ScheduleDialog open={asking === 'edit'} onOpenChange={close} detail={{ ...detail, row }} />
    </>
  );
}
