'use client';
import { useState, type FormEvent } from 'react';
import { useT } from '../i18n';
import { Button } from './button';
import { Dialog } from './dialog';
import { Field, Input } from './field';

interface Props {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly required?: boolean;
  /** What must be typed before it can be done. */
  readonly typed?: string | undefined;
  readonly onDone: (reason: string) => void;
}

/** Asks why, before something that others will ask about. */
export function ReasonDialog(props: Props) {
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={props.title} description={props.text}>
      <ReasonForm {...props} />
    </Dialog>
  );
}

function ReasonForm({ onOpenChange, action, required = false, typed, onDone }: Props) {
  const t = useT();
  const [reason, setReason] = useState('');
  const [count, setCount] = useState('');
  const ready = (!required || reason.trim() !== '') && (typed === undefined || count.trim() === typed);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (ready) onDone(reason.trim());
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3 pt-2">
      <Field label={required ? t('reason.label') : t('reason.optional')} help={t('reason.help')}>
        {(props) => (
          <Input
            {...props}
            autoFocus
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      {typed !== undefined && (
        <Field label={t('reason.typeCount', { n: typed })}>
          {(props) => (
            <Input {...props} inputMode="numeric" value={count} onChange={(event) => setCount(event.target.value)} />
          )}
        </Field>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={() => onOpenChange(false)}>{t('action.back')}</Button>
        <Button type="submit" kind="danger" disabled={!ready}>
          {action}
        </Button>
      </div>
    </form>
  );
}
