'use client';
import type { WaitReason } from '@leasehold/core/model';
import { useT, type Translate } from '../i18n';
import { useNow, useTime, type TimeFormat } from '../time';
import { TextLink } from '../ui/layout';
import { bytesText, grouped, shortId } from './number';

interface Told {
  readonly text: string;
  /** Where what stands in the way can be seen. */
  readonly href?: string;
}

const to = (kind: 'tasks' | 'workflows' | 'nodes', id: string): string => `/${kind}/${encodeURIComponent(id)}`;
const queueHref = (queue: string): string => `/queues?q=${encodeURIComponent(queue)}`;

/** A reason in words. Exhaustive: a new code does not compile until it has them. */
export function tellWhy(reason: WaitReason, t: Translate, time: TimeFormat, nowMs: number): Told {
  switch (reason.code) {
    case 'not-due':
      return { text: t('why.notDue', { at: time.short(reason.params.untilMs), zone: time.zone }) };
    case 'retry-backoff':
      return {
        text: t('why.retryBackoff', { when: time.relative(reason.params.untilMs, nowMs), n: reason.params.failures }),
      };
    case 'snoozed':
      return {
        text: t('why.snoozed', { when: time.relative(reason.params.untilMs, nowMs), n: reason.params.snoozes }),
      };
    case 'promotion-late':
      return { text: t('why.promotionLate', { age: time.span(nowMs - reason.params.dueMs) }) };
    case 'no-leader':
      return { text: t('why.noLeader'), href: '/nodes' };
    case 'lost-worker':
      return {
        text: t('why.lostWorker', { node: reason.params.node, n: reason.params.attempt }),
        href: to('nodes', reason.params.node),
      };
    case 'waits-for-task':
      return {
        text: t('why.waitsForTask', { name: reason.params.name ?? shortId(reason.params.taskId) }),
        href: to('tasks', reason.params.taskId),
      };
    case 'barrier': {
      const { done, total, workflowId } = reason.params;
      const text = done === undefined || total === undefined ? t('why.barrier') : t('why.barrierOf', { done, total });
      return { text, href: to('workflows', workflowId) };
    }
    case 'staged':
      return { text: t('why.staged'), href: to('workflows', reason.params.workflowId) };
    case 'workflow-stopping':
      return {
        text: t('why.workflowStopping', { reason: reason.params.reason ?? '–' }),
        href: to('workflows', reason.params.workflowId),
      };
    default:
      return tellClaim(reason, t, time, nowMs);
  }
}

type BeforeClaim =
  | 'not-due'
  | 'retry-backoff'
  | 'snoozed'
  | 'promotion-late'
  | 'no-leader'
  | 'lost-worker'
  | 'waits-for-task'
  | 'barrier'
  | 'staged'
  | 'workflow-stopping';

function tellClaim(
  reason: Exclude<WaitReason, { readonly code: BeforeClaim }>,
  t: Translate,
  time: TimeFormat,
  nowMs: number,
): Told {
  switch (reason.code) {
    case 'all-paused':
      return { text: t('why.allPaused', { by: reason.params.by, reason: reason.params.reason }) };
    case 'queue-paused': {
      const { queue, by, sinceMs, reason: why } = reason.params;
      return {
        text: t('why.queuePaused', { queue, by, since: time.short(sinceMs), reason: why }),
        href: queueHref(queue),
      };
    }
    case 'name-paused':
      return {
        text: t('why.namePaused', { name: reason.params.name, by: reason.params.by, reason: reason.params.reason }),
      };
    case 'storage-full':
      return {
        text: t('why.storageFull', {
          used: bytesText(reason.params.usedBytes),
          limit: bytesText(reason.params.softLimitBytes),
        }),
      };
    case 'no-worker':
      return { text: t('why.noWorker', { queue: reason.params.queue }), href: queueHref(reason.params.queue) };
    case 'unknown-name':
      return { text: t('why.unknownName', { name: reason.params.name, queue: reason.params.queue }), href: '/nodes' };
    case 'labels-mismatch':
      return { text: t('why.labels', { labels: reason.params.labels }), href: '/nodes' };
    case 'unique-held':
      return {
        text: t('why.unique', { key: reason.params.key, holder: shortId(reason.params.holder) }),
        href: to('tasks', reason.params.holder),
      };
    case 'concurrency': {
      const { limit, held, max, holders } = reason.params;
      const first = holders[0];
      return {
        text: t('why.concurrency', { limit, held, max }),
        ...(first === undefined ? {} : { href: to('tasks', first) }),
      };
    }
    case 'rate-limit':
      return {
        text: t('why.rateLimit', { limit: reason.params.limit, when: time.relative(reason.params.untilMs, nowMs) }),
      };
    case 'workers-busy':
      return {
        text: t('why.workersBusy', { running: reason.params.running, capacity: reason.params.capacity }),
        href: '/nodes',
      };
    case 'position': {
      const { ahead, queue } = reason.params;
      return {
        text: ahead === 0 ? t('why.next', { queue }) : t('why.position', { n: grouped(ahead), queue }),
        href: `/tasks?state=PENDING&queue=${encodeURIComponent(queue)}`,
      };
    }
  }
}

export function WhyText({ reason }: { reason: WaitReason }) {
  const t = useT();
  const time = useTime();
  return <>{tellWhy(reason, t, time, useNow()).text}</>;
}

export function WhyLink({ reason }: { reason: WaitReason }) {
  const t = useT();
  const told = tellWhy(reason, t, useTime(), useNow());
  return told.href === undefined ? <span>{told.text}</span> : <TextLink href={told.href}>{told.text}</TextLink>;
}
