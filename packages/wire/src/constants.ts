/** What both sides agree on and is no schema: a page that only reads these loads no validator. */
import type { TaskOrder } from './query.js';

export const API_BASE = '/api/v1';

/** Raised when an older client or server could misread a message. A client of another version is told, and reloads. */
export const PROTOCOL = 1;
export const SOCKET_PATH = '/api/v1/live';

/** How loudly a page says which environment it is: red, amber, or the colour of the house. */
export const ENVIRONMENT_TONES = ['alarm', 'caution', 'calm'] as const;
export type EnvironmentTone = (typeof ENVIRONMENT_TONES)[number];

export const QUERY_LIMITS = Object.freeze({
  /** Rows in one window. */
  window: 500,
  offset: 1_000_000,
  /** Values of one filter. */
  values: 50,
  text: 200,
  ids: 500,
  /** Subscriptions of one socket. */
  subscriptions: 24,
});

/** By what tasks are sorted; every order ends in the id, so it is total. */
export const TASK_SORTS = [
  'created',
  'updated',
  'schedule',
  'started',
  'ended',
  'priority',
  'attempt',
  'name',
  'queue',
] as const;
export type TaskSort = (typeof TASK_SORTS)[number];
/** Newest first. */
export const DEFAULT_TASK_ORDER: TaskOrder = Object.freeze({ by: 'created', desc: true });

export const VIEWS = [
  'tasks',
  'nodes',
  'locks',
  'queues',
  'workflows',
  'errors',
  'schedules',
  'bulks',
  'summary',
] as const;
export type ViewName = (typeof VIEWS)[number];
