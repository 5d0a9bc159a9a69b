'use client';
import { clsx } from 'clsx';
import type { TaskState, WorkflowState } from '@leasehold/core/model';
import { useT } from '../i18n';
import { TASK_LOOK, WORKFLOW_LOOK, type Look } from '../look/state';

export function LookIcon({ look, className }: { look: Look; className?: string }) {
  const Icon = look.icon;
  const filled = look.icon === TASK_LOOK.STARTED.icon;
  return (
    <Icon
      aria-hidden
      className={clsx('size-3.5 shrink-0', look.text, filled && look.fill, className)}
      strokeWidth={2.25}
    />
  );
}

function Mark({ look, className }: { look: Look; className?: string | undefined }) {
  const t = useT();
  return (
    <span
      className={clsx('inline-flex items-center gap-1.5 text-xs font-semibold whitespace-nowrap', look.text, className)}
    >
      <LookIcon look={look} />
      {t(look.word)}
    </span>
  );
}

export function StateMark({ state, className }: { state: TaskState; className?: string }) {
  return <Mark look={TASK_LOOK[state]} className={className} />;
}

export function WorkflowMark({ state, className }: { state: WorkflowState; className?: string }) {
  return <Mark look={WORKFLOW_LOOK[state]} className={className} />;
}
