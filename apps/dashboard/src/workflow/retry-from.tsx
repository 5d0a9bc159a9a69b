'use client';
import type { TaskRow, WorkflowRow } from '@leasehold/wire';
import { isWorkflowEnded } from '@leasehold/core/model';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useMissing } from '../access/may';
import { useActions } from '../api/actions';
import { useFaded } from '../api/acting';
import { useT } from '../i18n';
import { shortId } from '../look/number';
import { Button, ReasonButton } from '../ui/button';
import { Dialog } from '../ui/dialog';

/** Of an ended workflow: this member and all after it again, said before it happens. */
export function RetryFrom({ flow, member }: { flow: WorkflowRow; member: TaskRow }) {
  const t = useT();
  const missing = useMissing('workflow.retry');
  const { retryWorkflow } = useActions();
  const faded = useFaded(flow.id);
  const [asking, setAsking] = useState(false);
  const from = member.workflow?.index;
  if (from === undefined) return null;
  const notYet = missing ?? (isWorkflowEnded(flow.state) ? undefined : t('flow.retryFromNotYet'));
  const seen = { id: flow.id, name: flow.name === '' ? shortId(flow.id) : flow.name, revision: flow.revision };
  return (
    <>
      <ReasonButton
        kind="ghost"
        size="sm"
        reason={notYet}
        disabled={faded}
        onClick={() => setAsking(true)}
        aria-label={`${t('flow.retryFrom')}: ${from + 1}`}
        title={t('flow.retryFrom')}
      >
        <RotateCw className="size-3.5" aria-hidden />
      </ReasonButton>
      <Dialog
        open={asking}
        onOpenChange={setAsking}
        title={t('flow.retryFromTitle', { n: from + 1 })}
        description={t('flow.retryFromText')}
      >
        <div className="flex justify-end gap-2 pt-2">
          <Button onClick={() => setAsking(false)}>{t('action.back')}</Button>
          <Button
            kind="primary"
            onClick={() => {
              setAsking(false);
              void retryWorkflow(seen, from);
            }}
          >
            {t('flow.retryFrom')}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
