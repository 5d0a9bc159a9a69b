'use client';
import { useState, type FormEvent } from 'react';
import { problemText } from '../api/acting';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useT } from '../i18n';
import { Button } from '../ui/button';
import { CopyButton } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { Field, Input } from '../ui/field';
import { useAccessWords } from './words';

interface Props {
  /** What whoever makes it may do himself: a token never does more. */
  readonly grantable: readonly string[];
  readonly onClose: () => void;
  readonly onMade: () => void;
}

export function NewToken(props: Props) {
  const t = useAccessWords();
  const [token, setToken] = useState<string | null>(null);
  return (
    <Dialog open onOpenChange={props.onClose} title={t('token.new')} description={t('token.note')}>
      {token === null ? <Form {...props} onToken={setToken} /> : <Made token={token} onClose={props.onClose} />}
    </Dialog>
  );
}

function Made({ token, onClose }: { token: string; onClose: () => void }) {
  const t = useAccessWords();
  return (
    <div className="flex flex-col gap-3 pt-2">
      <p role="status" className="text-retry text-xs">
        {t('token.once')}
      </p>
      <p className="border-line2 flex items-start gap-2 rounded-md border p-2">
        <code className="min-w-0 grow font-mono text-xs wrap-anywhere">{token}</code>
        <CopyButton text={token} />
      </p>
      <div className="flex justify-end">
        <Button kind="primary" onClick={onClose}>
          {t('token.done')}
        </Button>
      </div>
    </div>
  );
}

function Form({ grantable, onClose, onMade, onToken }: Props & { readonly onToken: (token: string) => void }) {
  const t = useAccessWords();
  const words = useT();
  const [title, setTitle] = useState('');
  const [queues, setQueues] = useState('');
  const [days, setDays] = useState('90');
  const [chosen, setChosen] = useState<readonly string[]>(['board.read']);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const lifeDays = Number(days);
  const ready =
    title.trim() !== '' && chosen.length > 0 && Number.isInteger(lifeDays) && lifeDays >= 1 && lifeDays <= 365;
  const toggle = (permission: string): void =>
    setChosen(chosen.includes(permission) ? chosen.filter((each) => each !== permission) : [...chosen, permission]);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!ready) return;
    const listed = queues
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean);
    const body = {
      title: title.trim(),
      permissions: chosen,
      lifeDays,
      ...(listed.length === 0 ? {} : { scope: { queues: listed } }),
    };
    try {
      const { token } = await call({ answer: 'TokenCreated', method: 'POST', path: paths.tokens(), body });
      onMade();
      onToken(token);
    } catch (error) {
      setProblem(problemText(error, words));
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3 pt-2">
      <Field label={t('token.name')} help={t('token.nameHelp')}>
        {(props) => (
          <Input
            {...props}
            autoFocus
            maxLength={100}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
        )}
      </Field>
      <fieldset>
        <legend className="mb-1 text-xs font-semibold">{t('token.permissions')}</legend>
        <div className="grid max-h-52 grid-cols-2 gap-x-3 overflow-auto max-sm:grid-cols-1">
          {grantable.map((permission) => (
            <label key={permission} className="flex items-center gap-2 py-0.5 font-mono text-xs">
              <input type="checkbox" checked={chosen.includes(permission)} onChange={() => toggle(permission)} />
              {permission}
            </label>
          ))}
        </div>
      </fieldset>
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Field label={t('token.queues')} help={t('token.queuesHelp')}>
          {(props) => <Input {...props} value={queues} onChange={(event) => setQueues(event.target.value)} />}
        </Field>
        <Field label={t('token.days')}>
          {(props) => (
            <Input {...props} inputMode="numeric" value={days} onChange={(event) => setDays(event.target.value)} />
          )}
        </Field>
      </div>
      {problem !== undefined && (
        <p role="alert" className="text-failure text-xs">
          {problem}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('token.back')}</Button>
        <Button type="submit" kind="primary" disabled={!ready}>
          {t('token.create')}
        </Button>
      </div>
    </form>
  );
}
