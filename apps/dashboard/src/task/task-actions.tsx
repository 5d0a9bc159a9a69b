'use client';
import type { TaskDetail, TaskRow } from '@leasehold/wire';
import { isEnded } from '@leasehold/core/model';
import { Ban, PencilLine, RotateCw } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { useMissing } from '../access/may';
import { useActions } from '../api/actions';
import { canRetry } from '../board/selection-bar';
import { ArgFields } from '../forms/arg-fields';
import { parseArgs, textOf, type ArgSpec } from '../forms/args';
import { useT } from '../i18n';
import { TASK_LOOK } from '../look/state';
import { Button, ReasonButton } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { ReasonDialog } from '../ui/reason-dialog';
import { MoreActions } from './more-actions';

/** Retry, retry with edited arguments, cancel: each says why not when the state does not allow it. */
export function TaskActions({ row, detail }: { row: TaskRow; detail: TaskDetail }) {
  const t = useT();
  const actions = useActions();
  const [editing, setEditing] = useState(false);
  const [cancelling, setCancelling] = useState(false);
  const mayRetry = useMissing('task.retry');
  const mayCancel = useMissing('task.cancel');
  const mayDelete = useMissing('task.delete');
  const state = t(TASK_LOOK[row.state].word);
  const noRetry = mayRetry ?? (canRetry(row.state) ? undefined : t('task.noRetry', { state }));
  const noCancel =
    mayCancel ??
    (row.cancelling === true ? t('row.cancelling') : isEnded(row.state) ? t('task.noCancel', { state }) : undefined);
  return (
    <>
      <MoreActions row={row} readOnly={mayDelete} />
      <ReasonButton kind="danger" reason={noCancel} onClick={() => setCancelling(true)}>
        <Ban className="size-3.5" aria-hidden />
        {t('task.cancel')}
      </ReasonButton>
      <ReasonButton reason={noRetry} onClick={() => setEditing(true)}>
        <PencilLine className="size-3.5" aria-hidden />
        {t('task.retryEdited')}
      </ReasonButton>
      <ReasonButton kind="primary" reason={noRetry} onClick={() => void actions.retryTask(row)}>
        <RotateCw className="size-3.5" aria-hidden />
        {t('task.retry')}
      </ReasonButton>
      <Dialog
        open={editing}
        onOpenChange={setEditing}
        title={t('task.retryEdited')}
        description={t('task.retryEditedText')}
        wide
      >
        <EditedArgs row={row} detail={detail} onDone={() => setEditing(false)} />
      </Dialog>
      <ReasonDialog
        open={cancelling}
        onOpenChange={setCancelling}
        title={t('cancel.title', { name: row.name })}
        text={t('cancel.text')}
        action={t('task.cancel')}
        onDone={(reason) => {
          setCancelling(false);
          void actions.cancelTask(row, reason);
        }}
      />
    </>
  );
}

function EditedArgs({ row, detail, onDone }: { row: TaskRow; detail: TaskDetail; onDone: () => void }) {
  const t = useT();
  const actions = useActions();
  const specs: readonly ArgSpec[] = detail.args.map((arg, i) => ({
    ...detail.handler?.args[i],
    name: arg.name ?? detail.handler?.args[i]?.name ?? `args[${i}]`,
    type: arg.type,
  }));
  const kept = new Set(detail.args.flatMap((arg, i) => (arg.hidden === true || arg.cut !== undefined ? [i] : [])));
  const [texts, setTexts] = useState<readonly string[]>(() =>
    detail.args.map((arg, i) => (kept.has(i) ? '' : textOf(arg.type, arg.value))),
  );
  const untouched = (i: number): boolean => kept.has(i) && (texts[i] ?? '') === '';
  const { problems } = parseArgs(specs, texts);
  const wrong = new Map([...problems].filter(([i]) => !untouched(i)));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (wrong.size > 0) return;
    const args = specs.map((spec, i) =>
      untouched(i) ? { hidden: true } : parseArgs([spec], [texts[i] ?? '']).args[0],
    );
    onDone();
    void actions.retryTask(row, args);
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4 pt-2">
      <ArgFields
        specs={specs}
        texts={texts}
        problems={wrong}
        touched="all"
        hidden={kept}
        onChange={(index, text) => setTexts((old) => old.map((each, i) => (i === index ? text : each)))}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t('action.back')}</Button>
        <Button type="submit" kind="primary" disabled={wrong.size > 0}>
          {t('task.retry')}
        </Button>
      </div>
    </form>
  );
}
