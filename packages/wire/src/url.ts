/**
 * The state of `/tasks` in its URL. Reading never fails: a parameter that is wrong falls back and is named in `ignored`,
 * so that the page can say so. Writing leaves out what is the default, in one fixed order: equal states, equal URLs.
 */
import { TASK_STATES, type TaskState } from '@leasehold/core/model';
import { DEFAULT_TASK_ORDER, QUERY_LIMITS, TASK_SORTS, type TaskSort } from './constants.js';
import type { TaskFilter, TaskOrder } from './query.js';

export const TASK_COLUMNS = [
  'state',
  'task',
  'queue',
  'node',
  'time',
  'attempt',
  'priority',
  'created',
  'tags',
  'workflow',
  'id',
  'revision',
] as const;
export type TaskColumn = (typeof TASK_COLUMNS)[number];

export interface TasksUrl {
  readonly filter: TaskFilter;
  readonly order: TaskOrder;
  /** Undefined: the page's own choice. */
  readonly cols?: readonly TaskColumn[];
  /** The board as it was at this revision. */
  readonly rev?: string;
  readonly layout: 'table' | 'kanban';
}

export interface ParsedTasksUrl {
  readonly state: TasksUrl;
  /** Names of parameters (known ones) whose value was not understood. */
  readonly ignored: readonly string[];
}

/** The part of URLSearchParams that is read. */
export interface SearchParams {
  getAll(name: string): string[];
}

const LIST_FILTERS = ['name', 'queue', 'node', 'tag'] as const;

export function parseTasksUrl(params: SearchParams): ParsedTasksUrl {
  const ignored = new Set<string>();
  const read = <T>(name: string, parse: (value: string) => T | undefined): T | undefined => {
    const value = params.getAll(name)[0];
    if (value === undefined || value === '') return undefined;
    const parsed = parse(value);
    if (parsed === undefined) ignored.add(name);
    return parsed;
  };
  const cols = read('cols', parseColumns);
  const rev = read('rev', (value) => (/^[1-9]\d{0,18}$/.test(value) ? value : undefined));
  const state: TasksUrl = {
    filter: parseFilter(params, read, ignored),
    order: read('sort', parseOrder) ?? DEFAULT_TASK_ORDER,
    layout: read('layout', (value) => (value === 'kanban' || value === 'table' ? value : undefined)) ?? 'table',
    ...(cols === undefined ? {} : { cols }),
    ...(rev === undefined ? {} : { rev }),
  };
  return { state, ignored: [...ignored] };
}

type Read = <T>(name: string, parse: (value: string) => T | undefined) => T | undefined;

function parseFilter(params: SearchParams, read: Read, ignored: Set<string>): TaskFilter {
  const list = (name: string): string[] => {
    const all = [...new Set(params.getAll(name).filter((value) => value !== ''))];
    const good = all.filter((value) => value.length <= 600).slice(0, QUERY_LIMITS.values);
    if (good.length < all.length) ignored.add(name);
    return good;
  };
  const filter: { -readonly [K in keyof TaskFilter]: TaskFilter[K] } = {};
  const given = params
    .getAll('state')
    .flatMap((value) => value.split(','))
    .filter((value) => value !== '');
  const states = TASK_STATES.filter((state) => given.some((value) => value.toUpperCase() === state));
  if (given.some((value) => !isState(value.toUpperCase()))) ignored.add('state');
  if (states.length > 0) filter.state = [...states];
  for (const name of LIST_FILTERS) {
    const values = list(name);
    if (values.length > 0) filter[name] = values;
  }
  const workflow = read('workflow', (value) => (/^[A-Za-z0-9._-]{1,512}$/.test(value) ? value : undefined));
  const error = read('error', (value) => (/^[A-Za-z0-9-]{1,100}$/.test(value) ? value : undefined));
  const q = read('q', (value) => (value.length <= QUERY_LIMITS.text ? value : undefined));
  const from = read('from', parseTime);
  const to = read('to', parseTime);
  if (workflow !== undefined) filter.workflow = workflow;
  if (error !== undefined) filter.error = error;
  if (q !== undefined) filter.q = q;
  if (from !== undefined) filter.from = from;
  if (to !== undefined) filter.to = to;
  if (from === undefined || to === undefined || from < to) return filter;
  ignored.add('to');
  const { to: _to, ...rest } = filter;
  return rest;
}

function isState(value: string): value is TaskState {
  return (TASK_STATES as readonly string[]).includes(value);
}

function parseOrder(value: string): TaskOrder | undefined {
  const desc = value.startsWith('-');
  const by = desc ? value.slice(1) : value;
  return (TASK_SORTS as readonly string[]).includes(by) ? { by: by as TaskSort, desc } : undefined;
}

function parseColumns(value: string): readonly TaskColumn[] | undefined {
  const names = [...new Set(value.split(','))];
  const known = names.filter((name): name is TaskColumn => (TASK_COLUMNS as readonly string[]).includes(name));
  return known.length === names.length && known.length > 0 ? known : undefined;
}

const MAX_DATE_MS = 8_640_000_000_000_000;

/** Epoch milliseconds, or an ISO date. */
function parseTime(value: string): number | undefined {
  const ms = /^\d{1,16}$/.test(value)
    ? Number(value)
    : /^\d{4}-\d{2}-\d{2}/.test(value)
      ? Date.parse(value)
      : Number.NaN;
  return Number.isFinite(ms) && ms >= 0 && ms <= MAX_DATE_MS ? ms : undefined;
}

/** Without the leading `?`; empty for the default state. */
export function serializeTasksUrl(state: TasksUrl): string {
  const { filter, order, cols, rev, layout } = state;
  const pairs: [string, string][] = [];
  const add = (name: string, value: string | number | undefined): void => {
    if (value !== undefined && value !== '') pairs.push([name, String(value)]);
  };
  for (const value of TASK_STATES.filter((each) => filter.state?.includes(each) === true)) add('state', value);
  for (const name of LIST_FILTERS) for (const value of filter[name] ?? []) add(name, value);
  add('workflow', filter.workflow);
  add('error', filter.error);
  add('q', filter.q);
  add('from', filter.from);
  add('to', filter.to);
  if (order.by !== DEFAULT_TASK_ORDER.by || order.desc !== DEFAULT_TASK_ORDER.desc) {
    add('sort', `${order.desc ? '-' : ''}${order.by}`);
  }
  add('cols', cols?.join(','));
  if (layout !== 'table') add('layout', layout);
  add('rev', rev);
  return new URLSearchParams(pairs).toString();
}
