/**
 * What exists for somebody whose permissions are scoped to queues or task names. Deny by default: a route or a view that
 * is not listed here does not exist for him.
 */
import { LeaseholdError, type AccessScope } from '@leasehold/core/model';
import type { LiveQuery, TaskFilter } from '@leasehold/wire';

export interface Placed {
  readonly queue: string;
  readonly name: string;
}

export function inScope(scope: AccessScope | undefined, { queue, name }: Placed): boolean {
  return (scope?.queues?.includes(queue) ?? true) && (scope?.taskNames?.includes(name) ?? true);
}

function both(
  asked: readonly string[] | undefined,
  allowed: readonly string[] | undefined,
): readonly string[] | undefined {
  if (allowed === undefined) return asked;
  return asked === undefined ? allowed : asked.filter((each) => allowed.includes(each));
}

/** The same question, asked only about what is in scope. A list that became empty matches nothing. */
export function narrowFilter(filter: TaskFilter, scope: AccessScope | undefined): TaskFilter {
  if (scope === undefined) return filter;
  const queue = both(filter.queue, scope.queues);
  const name = both(filter.name, scope.taskNames);
  return {
    ...filter,
    ...(queue === undefined ? {} : { queue: [...queue] }),
    ...(name === undefined ? {} : { name: [...name] }),
  };
}

/** Of the small views only queues can be narrowed; the others tell of everything, so they are empty. */
export function narrowQuery(query: LiveQuery, scope: AccessScope | undefined): LiveQuery {
  if (scope === undefined) return query;
  if (query.view === 'tasks') return { ...query, filter: narrowFilter(query.filter, scope) };
  const ids = query.view === 'queues' && scope.queues !== undefined ? both(query.filter.ids, scope.queues) : [];
  return { ...query, filter: { ...query.filter, ids: [...(ids ?? [])] } };
}

/** What a route is about, by its method and URL; what the lists do with a scope is their own affair. */
const ABOUT: Readonly<Record<string, 'tasks' | 'task' | 'queue' | 'submission' | 'own'>> = {
  'GET /tasks': 'tasks',
  'GET /tasks/:id': 'task',
  'POST /tasks/:id/retry': 'task',
  'POST /tasks/:id/cancel': 'task',
  'POST /tasks/:id/reschedule': 'task',
  'POST /tasks/:id/reveal': 'task',
  'POST /locks/:id/force-release': 'task',
  'GET /queues/:name': 'queue',
  'POST /queues/:name/pause': 'queue',
  'POST /queues/:name/resume': 'queue',
  'POST /queues/:name/purge': 'queue',
  'POST /queues/:name/limits': 'queue',
  'POST /tasks': 'submission',
  'POST /tasks/check': 'submission',
};

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly params: unknown;
  readonly body: unknown;
}

/**
 * Nothing, or the refusal. `placeOf` finds a task's queue and name.
 * @throws LeaseholdError `not-found`.
 */
export async function requireInScope(
  scope: AccessScope | undefined,
  asked: Asked,
  placeOf: (id: string) => Promise<Placed | undefined>,
): Promise<void> {
  if (scope === undefined || (await isIn(scope, asked, placeOf))) return;
  const { id, name } = (asked.params ?? {}) as { id?: string; name?: string };
  throw new LeaseholdError('not-found', `there is no ${id ?? name ?? 'such thing'} here`, {});
}

async function isIn(
  scope: AccessScope,
  { method, url, params, body }: Asked,
  placeOf: (id: string) => Promise<Placed | undefined>,
): Promise<boolean> {
  const { id = '', name = '' } = (params ?? {}) as { id?: string; name?: string };
  switch (ABOUT[`${method} ${url}`]) {
    case 'tasks':
      return true;
    case 'task': {
      const place = await placeOf(id);
      return place !== undefined && inScope(scope, place);
    }
    // Who sees some names of a queue only must not stop the others'.
    case 'queue':
      return scope.queues?.includes(name) === true && (scope.taskNames === undefined || method === 'GET');
    case 'submission':
      return submissionIn(scope, body);
    default:
      return false;
  }
}

/**
 * What a task submits when it ends is no way around a scope, so a scoped one has no such thing. Its queue is named: a
 * handler's own default could be another.
 */
function submissionIn(scope: AccessScope, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const { name, queue, onSuccess, onError } = body as Record<string, unknown>;
  const alone = onSuccess === undefined && onError === undefined;
  return alone && typeof name === 'string' && typeof queue === 'string' && inScope(scope, { name, queue });
}
