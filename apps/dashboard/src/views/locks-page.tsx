'use client';
import type { LockRow } from '@leasehold/wire';
import { KeyRound, LockOpen } from 'lucide-react';
import { useState } from 'react';
import { useMissing } from '../access/may';
import { useActions } from '../api/actions';
import { useFaded } from '../api/acting';
import { Ago } from '../board/row-time';
import { useT } from '../i18n';
import { useRows } from '../live/hooks';
import { useNodeName } from '../look/node-name';
import { grouped, shortId } from '../look/number';
import { Button } from '../ui/button';
import { Code, Page, PageHead, Tag, TextLink } from '../ui/layout';
import { LeaseCountdown } from '../ui/lease-bar';
import { ReasonDialog } from '../ui/reason-dialog';
import { Empty, Loading } from '../ui/states';
import { Table, type Column } from '../ui/table';

export function LocksPage() {
  const t = useT();
  const { view } = useRows('locks');
  if (view === undefined) return <Loading />;
  return (
    <Page>
      <title>{`${t('nav.locks')} · Leasehold`}</title>
      <PageHead
        title={t('nav.locks')}
        note={t('lock.note')}
        actions={<span className="text-ink3 text-xs">{t('lock.count', { n: grouped(view.total) })}</span>}
      />
      <LockTable
        locks={view.rows}
        empty={
          <Empty icon={LockOpen} title={t('lock.none')}>
            {t('lock.noneText')}
          </Empty>
        }
      />
    </Page>
  );
}

export function LockTable({ locks, empty }: { locks: readonly LockRow[]; empty: React.ReactNode }) {
  const t = useT();
  const name = useNodeName();
  const columns: readonly Column<LockRow>[] = [
    {
      key: 'task',
      head: t('column.task'),
      grows: true,
      cell: (lock) => (
        <div className="min-w-0">
          <TextLink href={`/tasks/${encodeURIComponent(lock.id)}`} className="text-ink! font-semibold">
            {lock.name}
          </TextLink>
          <p className="text-2xs text-ink3">
            <Code className="text-2xs!">{shortId(lock.id)}</Code> · {t('task.attemptN', { n: lock.attempt })}
          </p>
        </div>
      ),
    },
    { key: 'queue', head: t('facet.queue'), from: 'md', cell: (lock) => <Tag>{lock.queue}</Tag> },
    {
      key: 'holder',
      head: t('lock.holder'),
      cell: (lock) => (
        <div>
          <TextLink href={`/nodes/${encodeURIComponent(lock.node)}`}>{name(lock.node)}</TextLink>
          <p className="text-2xs text-ink3">
            {t('lock.since')} <Ago ms={lock.sinceMs} />
          </p>
        </div>
      ),
    },
    {
      key: 'lease',
      head: t('lock.lease'),
      cell: (lock) => (
        <div>
          {lock.lease === undefined ? '–' : <LeaseCountdown lease={lock.lease} />}
          <p className="text-2xs text-ink3 font-mono max-sm:hidden">{lock.leaseId}</p>
        </div>
      ),
    },
    {
      key: 'token',
      head: t('lock.token'),
      right: true,
      from: 'sm',
      cell: (lock) => (
        <TextLink href={`/locks/${encodeURIComponent(lock.id)}`} className="text-ink! font-semibold">
          {grouped(lock.token)}
        </TextLink>
      ),
    },
    { key: 'release', head: '', right: true, from: 'sm', cell: (lock) => <ForceRelease lock={lock} /> },
  ];
  return (
    <Table
      label={t('nav.locks')}
      actionsLabel={t('table.actions')}
      columns={columns}
      rows={locks}
      rowKey={(lock) => lock.id}
      empty={empty}
    />
  );
}

export function ForceRelease({ lock }: { lock: LockRow }) {
  const t = useT();
  const missing = useMissing('lock.force-release');
  const { forceRelease } = useActions();
  const faded = useFaded(lock.id);
  const [open, setOpen] = useState(false);
  if (missing !== undefined) return null;
  return (
    <>
      <Button
        kind="ghost"
        size="sm"
        disabled={faded}
        onClick={() => setOpen(true)}
        aria-label={t('lock.releaseOf', { name: lock.name })}
      >
        <KeyRound className="size-3.5" aria-hidden />
        {t('lock.release')}
      </Button>
      <ReasonDialog
        open={open}
        onOpenChange={setOpen}
        title={t('lock.releaseTitle', { name: lock.name })}
        text={t('lock.releaseText', { node: lock.node })}
        action={t('lock.release')}
        required
        onDone={(reason) => {
          setOpen(false);
          void forceRelease(lock, reason);
        }}
      />
    </>
  );
}
