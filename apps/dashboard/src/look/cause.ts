import type { Cause } from '@leasehold/core/model';
import type { PlainKey } from '../i18n';

/** Why an edge was taken, in words. */
export const CAUSE_WORD: Readonly<Record<Cause, PlainKey>> = {
  submitted: 'cause.submitted',
  due: 'cause.due',
  released: 'cause.released',
  claimed: 'cause.claimed',
  succeeded: 'cause.succeeded',
  'failed-retry': 'cause.failedRetry',
  'failed-final': 'cause.failedFinal',
  snoozed: 'cause.snoozed',
  'timed-out': 'cause.timedOut',
  lost: 'cause.lost',
  'handed-back': 'cause.handedBack',
  cancelled: 'cause.cancelled',
  expired: 'cause.expired',
  'force-released': 'cause.forceReleased',
  'retried-by-operator': 'cause.retriedByOperator',
  quarantined: 'cause.quarantined',
  rescheduled: 'cause.rescheduled',
  stopped: 'cause.stopped',
};
