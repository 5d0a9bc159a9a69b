'use client';
import type { TaskRow } from '@leasehold/wire';
import { isEdge, MIN_KEPT_MS, isEnded } from '@leasehold/core/model';
import { Ellipsis } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState, type FormEvent } from 'react';
import { useTaskChanges } from '../api/task-changes';
import { PrioritySelect } from '../bulk/priority-select';
import { useT } from '../i18n';
import { TASK_LOOK } from '../look/state';
import { useNow, useTime } from '../time';
import { Button, buttonClass } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Field, Input } from '../ui/field';
import { Menu, MenuItem } from '../ui/menu';
import { ReasonDialog } from '../ui/reason-dialog';

type Asked = 'reschedule' | 'priority' | 'delete';

/** Reschedule, another priority, delete: what cannot be done now says why. */
export function MoreActions({ row, readOnly }: { row: TaskRow; readOnly: string | undefined }) {
  const t = useT();
  const time = useTime();
  const router = useRouter();
  const changes = useTaskChanges();
  const nowMs = useNow();
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const close = (): void => setAsked(undefined);
  const state = t(TASK_LOOK[row.state].word);
  const waiting = isEdge(row.state, 'rescheduled', 'PENDING');
  const noMove = readOnly ?? (waiting ? undefined : t('act.notWaiting', { state }));
  const fromMs = (row.endedMs ?? 0) + MIN_KEPT_MS;
  const noDelete =
    readOnly ??
    (!isEnded(row.state)
      ? t('act.notEnded', { state })
      : row.workflow !== undefined
        ? t('act.memberStays')
        : fromMs > nowMs
          ? t('act.tooFresh', { time: time.clock(fromMs) })
          : undefined);
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            className={buttonClass({ size: 'icon' })}
            aria-label={t('act.more')}
            title={t('act.more')}
          >
            <Ellipsis className="size-4" aria-hidden />
          </button>
        }
      >
        <Choice word={t('act.runNow')} reason={noMove} onSelect={() => void changes.move(row, { etaMs: Date.now() })} />
        <Choice word={t('act.reschedule')} reason={noMove} onSelect={() => setAsked('reschedule')} />
        <Choice word={t('act.priority')} reason={noMove} onSelect={() => setAsked('priority')} />
        <Choice word={t('act.delete')} reason={noDelete} danger onSelect={() => setAsked('delete')} />
      </Menu>
      <Dialog
        open={asked === 'reschedule'}
        onOpenChange={close}
        title={t('act.rescheduleTitle', { name: row.name })}
        description={t('act.rescheduleText')}
      >
        <WhenForm row={row} onDone={close} />
      </Dialog>
      <Dialog
        open={asked === 'priority'}
        onOpenChange={close}
        title={t('act.priorityTitle', { name: row.name })}
        description={t('act.priorityText')}
      >
        <PriorityForm row={row} onDone={close} />
      </Dialog>
      <ReasonDialog
        open={asked === 'delete'}
        onOpenChange={close}
        title={t('act.deleteTitle', { name: row.name })}
        text={t('act.deleteText')}
        action={t('bulk.action.delete')}
        onDone={(reason) => {
          close();
          void changes.remove(row, reason, () => router.push('/tasks'));
        }}
      />
    </>
  );
}

interface ChoiceProps {
  readonly word: string;
  readonly reason: string | undefined;
  readonly danger?: boolean;
  readonly onSelect: () => void;
}

function Choice({ word, reason, danger = false, onSelect }: ChoiceProps) {
  return (
    <MenuItem onSelect={onSelect} disabled={reason !== undefined} danger={danger && reason === undefined}>
      <span>
        {word}
        {reason !== undefined && <span className="text-ink3 block max-w-64 text-xs">{reason}</span>}
      </span>
    </MenuItem>
  );
}

function WhenForm({ row, onDone }: { row: TaskRow; onDone: () => void }) {
  const t = useT();
  const time = useTime();
  const changes = useTaskChanges();
  const nowMs = useNow();
  const [when, setWhen] = useState(row.scheduleMs > nowMs ? time.toInput(row.scheduleMs) : '');
  // Empty: now.
  const atMs = when === '' ? nowMs : time.fromInput(when);
  const wrong = atMs === null || atMs < nowMs;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (wrong) return;
    onDone();
    void changes.move(row, { etaMs: atMs });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3 pt-2">
      <Field label={t('act.when', { zone: time.zone })} error={wrong ? t('act.whenWrong') : undefined}>
        {(props) => (
          <Input
            {...props}
            type="datetime-local"
            step={1}
            value={when}
            onChange={(event) => setWhen(event.target.value)}
          />
        )}
      </Field>
      <Buttons onBack={onDone} ready={!wrong} />
    </form>
  );
}

function PriorityForm({ row, onDone }: { row: TaskRow; onDone: () => void }) {
  const t = useT();
  const changes = useTaskChanges();
  const [priority, setPriority] = useState(String(row.priority));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onDone();
    if (Number(priority) !== row.priority) void changes.move(row, { priority: Number(priority) });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3 pt-2">
      <Field label={t('bulk.priority')}>
        {(props) => <PrioritySelect {...props} value={priority} onPriority={setPriority} />}
      </Field>
      <Buttons onBack={onDone} ready />
    </form>
  );
}

function Buttons({ onBack, ready }: { onBack: () => void; ready: boolean }) {
  const t = useT();
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onBack}>{t('action.back')}</Button>
      <Button type="submit" kind="primary" disabled={!ready}>
        {t('act.save')}
      </Button>
    </div>
  );
}
