'use client';
import type { QueueRow } from '@leasehold/wire';
import { LogOut } from 'lucide-react';
import { useState } from 'react';
import { useActing } from '../api/acting';
import { call } from '../api/call';
import { newOperationId } from '../api/operation-id';
import { paths } from '../api/paths';
import { useT } from '../i18n';
import { Button } from '../ui/button';
import { ReasonDialog } from '../ui/reason-dialog';

/** Pauses the queue; the row then shows how many still run, until none does. */
export function DrainQueue({ queue, disabled }: { queue: QueueRow; disabled: boolean }) {
  const t = useT();
  const { act } = useActing();
  const [asking, setAsking] = useState(false);
  const { id, revision } = queue;
  const drain = (reason: string): void => {
    const body = { reason, revisionSeen: revision };
    const key = newOperationId();
    void act({
      ids: [id],
      run: () => call({ answer: 'Done', method: 'POST', path: paths.drainQueue(id), body, key }),
      said: (done) => ({
        title:
          queue.running === 0
            ? t('queue.drainedNow', { name: id })
            : t('queue.drainDone', { name: id, n: queue.running }),
        text: t('toast.atRevision', { rev: done.revision }),
      }),
    });
  };
  return (
    <>
      <Button
        kind="ghost"
        size="sm"
        disabled={disabled}
        onClick={() => setAsking(true)}
        aria-label={t('queue.drainOf', { name: id })}
      >
        <LogOut className="size-3.5" aria-hidden />
        <span className="max-sm:sr-only">{t('queue.drain')}</span>
      </Button>
      <ReasonDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('queue.drainTitle', { name: id })}
        text={t('queue.drainText')}
        action={t('queue.drain')}
        required
        onDone={(reason) => {
          setAsking(false);
          drain(reason);
        }}
      />
    </>
  );
}
