'use client';
import type { TokenList, TokenView } from '@leasehold/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { problemText } from '../api/acting';
import { ApiError, call } from '../api/call';
import { paths } from '../api/paths';
import { useT } from '../i18n';
import { useTime } from '../time';
import { Button } from '../ui/button';
import { Page, PageHead } from '../ui/layout';
import { ReasonDialog } from '../ui/reason-dialog';
import { Empty, Loading } from '../ui/states';
import { Table, type Column } from '../ui/table';
import { useAccessWords } from './words';

const NewToken = lazy(async () => ({ default: (await import('./new-token')).NewToken }));

const KEY = ['tokens'];

export function TokensPage() {
  const t = useAccessWords();
  const words = useT();
  const cache = useQueryClient();
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<TokenView | null>(null);
  const { data, error } = useQuery<TokenList>({
    queryKey: KEY,
    queryFn: ({ signal }) => call({ answer: 'TokenList', path: paths.tokens(), signal }),
    retry: false,
  });
  const columns = useColumns(setRevoking);
  if (error !== null) return <Refused error={error} />;
  if (data === undefined) return <Loading />;
  const again = (): void => void cache.invalidateQueries({ queryKey: KEY });
  const revoke = async (token: TokenView, reason: string): Promise<void> => {
    setRevoking(null);
    const body = reason === '' ? {} : { reason };
    await call({ answer: 'Done', method: 'POST', path: paths.revokeToken(token.id), body });
    again();
  };
  return (
    <Page>
      <title>{`${t('token.title')} · Leasehold`}</title>
      <PageHead
        title={t('token.title')}
        note={t('token.note')}
        actions={
          <Button kind="primary" onClick={() => setMaking(true)}>
            <Plus className="size-3.5" aria-hidden />
            {t('token.new')}
          </Button>
        }
      />
      <Table
        label={t('token.title')}
        actionsLabel={words('table.actions')}
        columns={columns}
        rows={data.tokens}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={KeyRound} title={t('token.none')}>
            {t('token.noneText')}
          </Empty>
        }
      />
      {making && (
        <Suspense>
          <NewToken grantable={data.grantable} onClose={() => setMaking(false)} onMade={again} />
        </Suspense>
      )}
      {revoking !== null && (
        <ReasonDialog
          open
          onOpenChange={() => setRevoking(null)}
          title={t('token.revokeTitle', { title: revoking.title })}
          text={t('token.revokeText')}
          action={t('token.revoke')}
          onDone={(reason) => void revoke(revoking, reason)}
        />
      )}
    </Page>
  );
}

function Refused({ error }: { error: Error }) {
  const t = useAccessWords();
  const words = useT();
  const denied = error instanceof ApiError && error.code === 'denied';
  return (
    <Page>
      <Empty icon={KeyRound} title={denied ? t('token.denied') : t('token.title')}>
        {denied ? t('token.deniedText') : problemText(error, words)}
      </Empty>
    </Page>
  );
}

function useColumns(onRevoke: (token: TokenView) => void): readonly Column<TokenView>[] {
  const t = useAccessWords();
  const time = useTime();
  const scopeText = ({ scope }: TokenView): string =>
    [...(scope?.queues ?? []), ...(scope?.taskNames ?? [])].join(', ') || t('token.everything');
  return [
    {
      key: 'title',
      head: t('token.name'),
      grows: true,
      cell: ({ title }) => <span className="font-semibold wrap-anywhere">{title}</span>,
    },
    {
      key: 'prefix',
      head: t('token.prefix'),
      from: 'sm',
      cell: ({ prefix }) => <span className="font-mono text-xs">{prefix}…</span>,
    },
    {
      key: 'may',
      head: t('token.permissions'),
      from: 'md',
      cell: ({ permissions }) => (
        <span className="text-ink2 font-mono text-xs wrap-anywhere">{permissions.join(' ')}</span>
      ),
    },
    { key: 'scope', head: t('token.scope'), from: 'lg', cell: scopeText },
    { key: 'by', head: t('token.by'), from: 'lg', cell: ({ by }) => by.replace(/^operator:/, '') },
    {
      key: 'expires',
      head: t('token.expires'),
      cell: ({ expiresMs }) =>
        expiresMs <= Date.now() ? <span className="text-failure">{t('token.expired')}</span> : time.full(expiresMs),
    },
    {
      key: 'revoke',
      head: '',
      right: true,
      cell: (token) => (
        <Button kind="danger" size="sm" onClick={() => onRevoke(token)}>
          {t('token.revoke')}
        </Button>
      ),
    },
  ];
}
