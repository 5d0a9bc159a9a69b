import type { BulkRow, TaskFilter } from '@leasehold/wire';
import type { PlainKey, Translate } from '../i18n';
import { grouped } from '../look/number';
import { TASK_LOOK } from '../look/state';
import type { TimeFormat } from '../time';

type Part = Exclude<keyof TaskFilter, 'ids'>;

const PARTS: Readonly<Record<Part, PlainKey>> = {
  state: 'bulk.filter.state',
  name: 'bulk.filter.name',
  queue: 'bulk.filter.queue',
  node: 'bulk.filter.node',
  tag: 'bulk.filter.tag',
  workflow: 'bulk.filter.workflow',
  error: 'bulk.filter.error',
  q: 'bulk.filter.q',
  from: 'bulk.filter.from',
  to: 'bulk.filter.to',
};

/** A filter in words, part by part; of one that the server kept, what is understood. */
export function filterWords(
  filter: Readonly<Record<string, unknown>>,
  t: Translate,
  time: TimeFormat,
): readonly { readonly part: string; readonly value: string }[] {
  const words = (Object.keys(PARTS) as Part[]).flatMap((part) => {
    const value = filter[part];
    if (value === undefined) return [];
    return [{ part: t(PARTS[part]), value: valueWords(part, value, t, time) }];
  });
  const picked = filter['picked'];
  if (typeof picked === 'number') return [{ part: '', value: t('bulk.picked', { n: grouped(picked) }) }];
  return words.length === 0 ? [{ part: '', value: t('bulk.everything') }] : words;
}

function valueWords(part: Part, value: unknown, t: Translate, time: TimeFormat): string {
  if (typeof value === 'number' && (part === 'from' || part === 'to')) return time.short(value);
  const values = Array.isArray(value) ? value.map(String) : [String(value)];
  if (part !== 'state') return values.join(', ');
  return values
    .map((state) => (Object.hasOwn(TASK_LOOK, state) ? t(TASK_LOOK[state as keyof typeof TASK_LOOK].word) : state))
    .join(', ');
}

export function changedBefore(row: BulkRow): number {
  const { changed } = row.filter;
  return typeof changed === 'number' ? changed : 0;
}

export const BULK_TITLES = {
  retry: 'bulk.title.retry',
  cancel: 'bulk.title.cancel',
  delete: 'bulk.title.delete',
  reprioritise: 'bulk.title.reprioritise',
} as const;

export const BULK_ACTIONS = {
  retry: 'bulk.action.retry',
  cancel: 'bulk.action.cancel',
  delete: 'bulk.action.delete',
  reprioritise: 'bulk.action.reprioritise',
} as const;

export const BULK_STATES = {
  RUNNING: 'bulk.state.RUNNING',
  ABORTING: 'bulk.state.ABORTING',
  DONE: 'bulk.state.DONE',
  ABORTED: 'bulk.state.ABORTED',
} as const;
