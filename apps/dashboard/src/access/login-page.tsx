'use client';
import type { WhoAmI } from '@leasehold/wire';
import { useEffect, useState, type FormEvent } from 'react';
import { ApiError, call } from '../api/call';
import { paths } from '../api/paths';
import { basePath } from '../base-path';
import { Button, buttonClass } from '../ui/button';
import { Field, Input } from '../ui/field';
import { useAccessWords, type AccessWords } from './words';

/** Where to go afterwards: a path of ours, never another site's. */
function targetOf(search: string): string {
  const to = new URLSearchParams(search).get('to') ?? '/';
  return /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(to) ? to : '/';
}

function textOf(error: unknown, t: AccessWords): string {
  if (!(error instanceof ApiError) || error.code === 'unreachable') return t('login.unreachable');
  if (error.code === 'too-many')
    return t('login.often', { seconds: Number(error.problem?.fields?.['retryAfterS'] ?? 60) });
  return error.code === 'signed-out' ? t('login.wrong') : error.message;
}

export function LoginPage() {
  const t = useAccessWords();
  const [ways, setWays] = useState<WhoAmI['ways'] | null>(null);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  useEffect(() => {
    const ask = async (): Promise<void> => {
      try {
        const { ways: found, user } = await call({ answer: 'WhoAmI', path: paths.me() });
        if (user !== undefined && user.canSignOut)
          window.location.replace(`${basePath}${targetOf(window.location.search)}`);
        setWays(found);
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
      }
    };
    void ask();
  }, []);
  return (
    <div className="grid min-h-dvh place-items-center p-4">
      <title>{`${t('login.title')} · Leasehold`}</title>
      <div className="border-line bg-panel w-full max-w-84 rounded-lg border p-6">
        <p className="text-ink3 text-xs font-semibold">Leasehold</p>
        <h1 className="mb-4 text-lg leading-6 font-semibold">{t('login.title')}</h1>
        {ways?.password === true && <PasswordForm problem={problem} onProblem={setProblem} />}
        {ways?.password === true && ways.oidc && <p className="text-ink3 my-3 text-center text-xs">{t('login.or')}</p>}
        {ways?.oidc === true && (
          <a
            className={buttonClass({ kind: ways.password ? 'plain' : 'primary' }, 'w-full')}
            href={paths.startOidc(targetOf(window.location.search))}
          >
            {t('login.oidc')}
          </a>
        )}
        {ways !== null && !ways.password && !ways.oidc && <p className="text-ink2">{t('login.none')}</p>}
        {ways === null && problem !== undefined && <p role="alert">{problem}</p>}
      </div>
    </div>
  );
}

function PasswordForm({
  problem,
  onProblem,
}: {
  problem: string | undefined;
  onProblem: (problem: string | undefined) => void;
}) {
  const t = useAccessWords();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const field = (name: string): string => {
      const value = form.get(name);
      return typeof value === 'string' ? value : '';
    };
    setBusy(true);
    onProblem(undefined);
    try {
      const body = { user: field('user').trim(), password: field('password') };
      await call({ answer: 'SignedInOrOut', method: 'POST', path: paths.login(), body });
      // A whole load: the pages were not allowed to be seen before.
      window.location.assign(`${basePath}${targetOf(window.location.search)}`);
    } catch (error) {
      onProblem(textOf(error, t));
      setBusy(false);
    }
  };
  return (
    <form className="flex flex-col gap-3" onSubmit={(event) => void submit(event)}>
      <Field label={t('login.user')}>
        {(props) => <Input {...props} name="user" autoComplete="username" autoFocus required maxLength={100} />}
      </Field>
      <Field label={t('login.password')} error={problem}>
        {(props) => (
          <Input
            {...props}
            name="password"
            type="password"
            autoComplete="current-password"
            required
            maxLength={1_024}
          />
        )}
      </Field>
      <Button type="submit" kind="primary" disabled={busy} className="mt-1 w-full">
        {busy ? t('login.busy') : t('login.action')}
      </Button>
    </form>
  );
}
