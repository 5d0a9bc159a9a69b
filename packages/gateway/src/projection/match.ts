/** Filters and sorts as functions of one entry. Pure: what an entry matches never depends on anything else. */
import type { AnyRow, RowFilter, TaskFilter, TaskOrder } from '@leasehold/wire';
import type { TaskEntry } from './task-entry.js';

export type Match<E> = (entry: E) => boolean;

/** Who sees no payloads does not find tasks by them either: a search would tell what they hold, letter by letter. */
export function matchTask(filter: TaskFilter, payload = true): Match<TaskEntry> {
  const tests: Match<TaskEntry>[] = [];
  const oneOf = (values: readonly string[] | undefined, read: (entry: TaskEntry) => string | undefined): void => {
    if (values === undefined) return;
    const wanted = new Set(values);
    tests.push((entry) => wanted.has(read(entry) ?? ''));
  };
  oneOf(filter.state, (entry) => entry.state);
  oneOf(filter.name, (entry) => entry.name);
  oneOf(filter.queue, (entry) => entry.queue);
  oneOf(filter.node, (entry) => entry.node);
  oneOf(filter.ids, (entry) => entry.id);
  const { tag, workflow, error, from, to, q } = filter;
  if (tag !== undefined) tests.push((entry) => entry.tags?.some((each) => tag.includes(each)) === true);
  if (workflow !== undefined) tests.push((entry) => entry.workflow?.id === workflow);
  if (error !== undefined) tests.push((entry) => entry.error?.fingerprint === error);
  if (from !== undefined) tests.push((entry) => entry.createdMs >= from);
  if (to !== undefined) tests.push((entry) => entry.createdMs < to);
  if (q !== undefined && q !== '') tests.push(matchText(q, payload));
  return (entry) => tests.every((test) => test(entry));
}

function matchText(q: string, payload: boolean): Match<TaskEntry> {
  const wanted = q.toLowerCase();
  const has = (text: string): boolean => text.toLowerCase().includes(wanted);
  return ({ id, name, args, error, node }) =>
    has(id) ||
    has(name) ||
    (payload && has(args)) ||
    (error !== undefined && (has(error.message) || has(error.type))) ||
    (node !== undefined && has(node));
}

/** The sort key of an order; a missing time sorts as 0. */
export function taskKey({ by }: TaskOrder): (entry: TaskEntry) => number | string {
  switch (by) {
    case 'created':
      return (entry) => entry.createdMs;
    case 'updated':
      return (entry) => entry.updatedMs;
    case 'schedule':
      return (entry) => entry.scheduleAtMs;
    case 'started':
      return (entry) => entry.startedMs ?? 0;
    case 'ended':
      return (entry) => entry.endedMs ?? 0;
    case 'priority':
      return (entry) => entry.priority;
    case 'attempt':
      return (entry) => entry.attempt;
    case 'name':
      return (entry) => entry.name;
    case 'queue':
      return (entry) => entry.queue;
  }
}

/** Filter of the small views. */
export function matchRow(filter: RowFilter): Match<AnyRow> {
  const wanted = filter.q?.toLowerCase();
  return (row) => {
    if (filter.ids !== undefined && !filter.ids.includes(row.id)) return false;
    if (filter.state !== undefined && 'state' in row && !(filter.state as string[]).includes(row.state ?? ''))
      return false;
    if (filter.node !== undefined && 'node' in row && !filter.node.includes(row.node ?? '')) return false;
    if (filter.queue !== undefined && 'queue' in row && !filter.queue.includes(row.queue)) return false;
    return wanted === undefined || wanted === '' || textOf(row).includes(wanted);
  };
}

function textOf(row: AnyRow): string {
  const name = 'name' in row ? row.name : '';
  const host = 'host' in row ? row.host : '';
  const message = 'message' in row ? `${row.type} ${row.message}` : '';
  return `${row.id} ${name} ${host} ${message}`.toLowerCase();
}
