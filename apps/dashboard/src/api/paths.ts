import { API_BASE } from '@leasehold/wire';
import { basePath } from '../base-path';

/** Every address of the gateway that the page uses. Names may hold `/`, `.`, `%` and spaces: each part is encoded. */
const at = (...parts: readonly string[]): string =>
  [`${basePath}${API_BASE}`, ...parts.map(encodeURIComponent)].join('/');

/** What has settings besides queues. */
export type SettingsTarget = 'all' | { readonly name: string };

const asOf = (path: string, rev: string | undefined): string => (rev === undefined ? path : `${path}?rev=${rev}`);

export const paths = {
  tasks: () => at('tasks'),
  histogram: (search: string) => `${at('tasks-histogram')}?${search}`,
  task: (id: string, rev?: string) => asOf(at('tasks', id), rev),
  checkTask: () => at('tasks', 'check'),
  retryTask: (id: string) => at('tasks', id, 'retry'),
  cancelTask: (id: string) => at('tasks', id, 'cancel'),
  rescheduleTask: (id: string) => at('tasks', id, 'reschedule'),
  deleteTask: (id: string) => at('tasks', id, 'delete'),
  bulks: () => at('bulk'),
  countBulk: () => at('bulk', 'count'),
  abortBulk: (id: string) => at('bulk', id, 'abort'),
  bulkLeft: (id: string, cursor: string | undefined) =>
    `${at('bulk', id, 'left')}${cursor === undefined ? '' : `?cursor=${cursor}`}`,
  templates: () => at('templates'),
  template: (id: string) => at('templates', id),
  deleteTemplate: (id: string) => at('templates', id, 'delete'),
  workflows: () => at('workflows'),
  workflow: (id: string, rev?: string) => asOf(at('workflows', id), rev),
  checkWorkflow: () => at('workflows', 'check'),
  retryWorkflow: (id: string) => at('workflows', id, 'retry'),
  cancelWorkflow: (id: string) => at('workflows', id, 'cancel'),
  pauseQueue: (name: string) => at('queues', name, 'pause'),
  drainQueue: (name: string) => at('queues', name, 'drain'),
  queueDetail: (name: string, rev?: string) => asOf(at('queues', name, 'detail'), rev),
  actOnSettings: (target: SettingsTarget, verb: 'pause' | 'resume') =>
    target === 'all' ? at('all', verb) : at('names', target.name, verb),
  resumeQueue: (name: string) => at('queues', name, 'resume'),
  forceRelease: (id: string) => at('locks', id, 'force-release'),
  drainNode: (id: string) => at('nodes', id, 'drain'),
  handlers: () => at('handlers'),
  cluster: () => at('cluster'),
  history: () => at('history'),
  moment: (query: Readonly<Record<'rev' | 'time', string>> | { readonly rev: string } | { readonly time: string }) =>
    `${at('history', 'moment')}?${new URLSearchParams(query).toString()}`,
  difference: (from: string, to: string | undefined) =>
    `${at('history', 'difference')}?from=${from}${to === undefined ? '' : `&to=${to}`}`,
  events: (search: string) => `${at('events')}?${search}`,
  auditFile: () => `${at('audit', 'export')}?format=csv&limit=10000`,
  me: () => at('auth', 'me'),
  login: () => at('auth', 'login'),
  logout: () => at('auth', 'logout'),
  startOidc: (to: string) => `${at('auth', 'oidc', 'start')}?to=${encodeURIComponent(to)}`,
  tokens: () => at('tokens'),
  revokeToken: (id: string) => at('tokens', id, 'revoke'),
  reveal: (id: string) => at('tasks', id, 'reveal'),
  audit: (limit: number, cursor: string | undefined) =>
    `${at('audit')}?limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
  schedule: (id: string) => at('schedules', id),
  actOnSchedule: (id: string, verb: 'pause' | 'resume' | 'delete' | 'run') => at('schedules', id, verb),
} as const;
