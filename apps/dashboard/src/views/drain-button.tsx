'use client';
import type { NodeRow } from '@leasehold/wire';
import { useState } from 'react';
import { useMissing } from '../access/may';
import { useActions } from '../api/actions';
import { useFaded } from '../api/acting';
import { useT } from '../i18n';
import { nodeName } from '../look/node-name';
import { ReasonButton } from '../ui/button';
import { ReasonDialog } from '../ui/reason-dialog';

/** Asks a node to take nothing more. There is no way back: a drained node is started again. */
export function DrainButton({ node }: { node: NodeRow }) {
  const t = useT();
  const missing = useMissing('node.drain');
  const { drainNode } = useActions();
  const faded = useFaded(node.id);
  const [asking, setAsking] = useState(false);
  const name = nodeName(node.id, node.host);
  if (node.departedMs !== undefined) return null;
  const reason = missing ?? (node.draining ? t('node.drainsAlready') : undefined);
  return (
    <>
      <ReasonButton kind="danger" disabled={faded} reason={reason} onClick={() => setAsking(true)}>
        {t('node.drain')}
      </ReasonButton>
      <ReasonDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('node.drainTitle', { name })}
        text={t('node.drainText')}
        action={t('node.drain')}
        required
        onDone={(why) => {
          setAsking(false);
          void drainNode(node.id, name, why);
        }}
      />
    </>
  );
}
