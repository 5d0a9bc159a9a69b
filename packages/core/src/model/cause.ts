/** Why an edge was taken. Kept apart from the state it led to. */
export const CAUSES = [
  'submitted',
  'due',
  'released',
  'claimed',
  'succeeded',
  'failed-retry',
  'failed-final',
  'snoozed',
  'timed-out',
  'lost',
  'handed-back',
  'cancelled',
  'expired',
  'force-released',
  'retried-by-operator',
  'quarantined',
  'rescheduled',
  'stopped',
] as const;
export type Cause = (typeof CAUSES)[number];
