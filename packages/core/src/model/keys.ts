/**
 * THE key layout. Builds and parses every key; nothing else spells one. All keys live under `/leasehold/<namespace>/`.
 * Names (queues, task names, unique keys, limits) are encoded so that `/`, `%`, space and any unicode are safe; ids are
 * already safe. Times and orders are 15 digits, so that bytes sort as numbers do. `docs/keys.md` is checked against this.
 */
import { LeaseholdError } from './errors.js';
import { padTime } from './order.js';

export const ROOT = '/leasehold/';

/** Percent-encodes everything but letters, digits, `-`, `_`, `.` and `~`; never empty, never `.` or `..`. */
export function encodeName(name: string): string {
  if (SAFE_NAME.test(name) && name !== '.' && name !== '..') return name;
  const encoded = encodeURIComponent(name).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return encoded === '.' || encoded === '..' ? encoded.replaceAll('.', '%2E') : encoded;
}

const SAFE_NAME = /^[A-Za-z0-9_.~-]+$/;

export function decodeName(encoded: string): string {
  return decodeURIComponent(encoded);
}

/** What hangs under a namespace, by first segment. The order is that of the table in docs/keys.md. */
export const KEY_KINDS = [
  'tasks',
  'args',
  'results',
  'locks',
  'ready',
  'due',
  'deadlines',
  'nodes',
  'orders',
  'queues',
  'names',
  'all',
  'slots',
  'rates',
  'unique',
  'workflows',
  'graphs',
  'staged',
  'joins',
  'barriers',
  'failures',
  'chores',
  'schedules',
  'fires',
  'ended',
  'progress',
  'logs',
  'stats',
  'leader',
  'audit',
  'sessions',
  'tokens',
  'bulk',
  'targets',
  'bulking',
  'runner',
  'views',
  'templates',
  'clock',
  'pins',
  'epoch',
] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** The key of one thing, parsed. */
export type ParsedKey =
  | { readonly kind: 'tasks' | 'args' | 'locks' | 'progress' | 'workflows' | 'staged'; readonly id: string }
  | { readonly kind: 'results'; readonly id: string; readonly attempt: number }
  | {
      readonly kind: 'ready';
      readonly queue: string;
      readonly shard: number;
      readonly order: number;
      readonly id: string;
    }
  | { readonly kind: 'due' | 'deadlines' | 'ended'; readonly timeMs: number; readonly id: string }
  | {
      readonly kind:
        'nodes' | 'stats' | 'schedules' | 'bulk' | 'views' | 'templates' | 'audit' | 'sessions' | 'tokens' | 'pins';
      readonly id: string;
    }
  | { readonly kind: 'orders'; readonly node: string; readonly what: string; readonly id: string }
  | { readonly kind: 'queues' | 'names' | 'unique' | 'bulking'; readonly name: string }
  | { readonly kind: 'targets'; readonly id: string; readonly part: number }
  | { readonly kind: 'slots'; readonly limit: string; readonly n: number }
  | { readonly kind: 'rates'; readonly limit: string; readonly window: number; readonly n: number }
  | { readonly kind: 'graphs'; readonly id: string; readonly part: number }
  | { readonly kind: 'barriers'; readonly id: string; readonly join: number; readonly slot: number | 'hold' }
  | { readonly kind: 'joins'; readonly id: string; readonly join: number }
  | { readonly kind: 'failures'; readonly id: string; readonly join: number; readonly slot: number }
  | { readonly kind: 'chores'; readonly id: string; readonly chore: string }
  | { readonly kind: 'fires'; readonly id: string; readonly timeMs: number }
  | { readonly kind: 'logs'; readonly id: string; readonly attempt: number; readonly n: number }
  | { readonly kind: 'clock'; readonly timeMs: number }
  | { readonly kind: 'all' | 'leader' | 'epoch' | 'runner' };

const two = (n: number): string => String(n).padStart(2, '0');
const five = (n: number): string => String(n).padStart(5, '0');

/** What others tell a node. */
export type OrderKind = 'cancel' | 'drain' | 'released';

export class Keys {
  readonly namespace: string;
  /** `/leasehold/<namespace>/` */
  readonly prefix: string;

  constructor(namespace: string) {
    if (namespace === '' || encodeName(namespace).length > 200) {
      throw new LeaseholdError('invalid', 'a namespace has 1 to 200 bytes', { field: 'namespace', value: namespace });
    }
    this.namespace = namespace;
    this.prefix = `${ROOT}${encodeName(namespace)}/`;
  }

  /** All keys of a kind. */
  kind(kind: KeyKind): string {
    return `${this.prefix}${kind}/`;
  }

  task(id: string): string {
    return `${this.prefix}tasks/${id}`;
  }
  args(id: string): string {
    return `${this.prefix}args/${id}`;
  }
  result(id: string, attempt: number): string {
    return `${this.prefix}results/${id}/${five(attempt)}`;
  }
  results(id: string): string {
    return `${this.prefix}results/${id}/`;
  }
  lock(id: string): string {
    return `${this.prefix}locks/${id}`;
  }
  ready(queue: string, shard: number, order: number, id: string): string {
    return `${this.readyShard(queue, shard)}${padTime(order)}/${id}`;
  }
  readyQueue(queue: string): string {
    return `${this.prefix}ready/${encodeName(queue)}/`;
  }
  readyShard(queue: string, shard: number): string {
    return `${this.prefix}ready/${encodeName(queue)}/${two(shard)}/`;
  }
  /** The first key of a shard at or after an order. */
  readyFrom(queue: string, shard: number, order: number): string {
    return `${this.readyShard(queue, shard)}${padTime(order)}/`;
  }
  due(timeMs: number, id: string): string {
    return `${this.prefix}due/${padTime(timeMs)}/${id}`;
  }
  /** End of the range of everything due at or before a time. */
  dueUntil(timeMs: number): string {
    return `${this.prefix}due/${padTime(timeMs + 1)}/`;
  }
  deadline(timeMs: number, id: string): string {
    return `${this.prefix}deadlines/${padTime(timeMs)}/${id}`;
  }
  deadlinesUntil(timeMs: number): string {
    return `${this.prefix}deadlines/${padTime(timeMs + 1)}/`;
  }
  ended(timeMs: number, id: string): string {
    return `${this.prefix}ended/${padTime(timeMs)}/${id}`;
  }
  endedUntil(timeMs: number): string {
    return `${this.prefix}ended/${padTime(timeMs + 1)}/`;
  }
  node(id: string): string {
    return `${this.prefix}nodes/${id}`;
  }
  order(node: string, what: OrderKind, id: string): string {
    return `${this.prefix}orders/${node}/${what}/${id}`;
  }
  ordersOf(node: string): string {
    return `${this.prefix}orders/${node}/`;
  }
  queue(name: string): string {
    return `${this.prefix}queues/${encodeName(name)}`;
  }
  name(name: string): string {
    return `${this.prefix}names/${encodeName(name)}`;
  }
  all(): string {
    return `${this.prefix}all`;
  }
  slot(limit: string, n: number): string {
    return `${this.slotsOf(limit)}${five(n)}`;
  }
  slotsOf(limit: string): string {
    return `${this.prefix}slots/${encodeName(limit)}/`;
  }
  rate(limit: string, window: number, n: number): string {
    return `${this.prefix}rates/${encodeName(limit)}/${padTime(window)}/${five(n)}`;
  }
  ratesOf(limit: string): string {
    return `${this.prefix}rates/${encodeName(limit)}/`;
  }
  unique(key: string): string {
    return `${this.prefix}unique/${encodeName(key)}`;
  }
  workflow(id: string): string {
    return `${this.prefix}workflows/${id}`;
  }
  /** A part of a workflow's source; written before the workflow record exists when it is staged. */
  graph(id: string, part: number): string {
    return `${this.prefix}graphs/${id}/${five(part)}`;
  }
  graphs(id: string): string {
    return `${this.prefix}graphs/${id}/`;
  }
  /** Header of a workflow that is still being written. Nothing of it is visible until the seal removes this. */
  staged(id: string): string {
    return `${this.prefix}staged/${id}`;
  }
  /** Members that a join still awaits. */
  barrier(id: string, join: number, slot: number | 'hold'): string {
    return `${this.barrierOf(id, join)}${slot === 'hold' ? 'hold' : five(slot)}`;
  }
  barrierOf(id: string, join: number): string {
    return `${this.prefix}barriers/${id}/${five(join)}/`;
  }
  /** Says that a join is not completed yet; deleted by its completion. */
  join(id: string, join: number): string {
    return `${this.joins(id)}${five(join)}`;
  }
  joins(id: string): string {
    return `${this.prefix}joins/${id}/`;
  }
  barriers(id: string): string {
    return `${this.prefix}barriers/${id}/`;
  }
  failure(id: string, join: number, slot: number): string {
    return `${this.failuresOf(id, join)}${five(slot)}`;
  }
  failuresOf(id: string, join: number): string {
    return `${this.prefix}failures/${id}/${five(join)}/`;
  }
  failures(id: string): string {
    return `${this.prefix}failures/${id}/`;
  }
  chore(id: string, chore: string): string {
    return `${this.prefix}chores/${id}/${chore}`;
  }
  chores(id: string): string {
    return `${this.prefix}chores/${id}/`;
  }
  schedule(id: string): string {
    return `${this.prefix}schedules/${id}`;
  }
  fire(id: string, timeMs: number): string {
    return `${this.prefix}fires/${id}/${padTime(timeMs)}`;
  }
  fires(id: string): string {
    return `${this.prefix}fires/${id}/`;
  }
  progress(id: string): string {
    return `${this.prefix}progress/${id}`;
  }
  log(id: string, attempt: number, n: number): string {
    return `${this.logs(id)}${five(attempt)}/${five(n)}`;
  }
  logs(id: string): string {
    return `${this.prefix}logs/${id}/`;
  }
  stats(node: string): string {
    return `${this.prefix}stats/${node}`;
  }
  leader(): string {
    return `${this.prefix}leader`;
  }
  audit(operationId: string): string {
    return `${this.prefix}audit/${operationId}`;
  }
  /** Of somebody who signed in to a board; named by the hash of what his cookie holds. */
  session(hash: string): string {
    return `${this.prefix}sessions/${hash}`;
  }
  /** An API token of a board. */
  token(id: string): string {
    return `${this.prefix}tokens/${id}`;
  }
  bulk(id: string): string {
    return `${this.prefix}bulk/${id}`;
  }
  /** A chunk of a bulk: its tasks, then what was left of them. */
  target(id: string, part: number): string {
    return `${this.targets(id)}${five(part)}`;
  }
  targets(id: string): string {
    return `${this.prefix}targets/${id}/`;
  }
  /** The bulk that somebody has running: one each. */
  bulking(actor: string): string {
    return `${this.prefix}bulking/${encodeName(actor)}`;
  }
  /** Who works on bulks. Its create revision fences all that is done for them. */
  runner(): string {
    return `${this.prefix}runner`;
  }
  view(id: string): string {
    return `${this.prefix}views/${id}`;
  }
  template(id: string): string {
    return `${this.prefix}templates/${id}`;
  }
  clock(timeMs: number): string {
    return `${this.prefix}clock/${padTime(timeMs)}`;
  }
  pin(id: string): string {
    return `${this.prefix}pins/${id}`;
  }
  epoch(): string {
    return `${this.prefix}epoch`;
  }

  /** What a key is; undefined for a key of another namespace or layout. */
  parse(key: string): ParsedKey | undefined {
    if (!key.startsWith(this.prefix)) return undefined;
    return parseSegments(key.slice(this.prefix.length).split('/'));
  }
}

function parseSegments(segments: readonly string[]): ParsedKey | undefined {
  const [kind, a = '', b = '', c = '', d = ''] = segments;
  const size = segments.length;
  switch (kind) {
    case 'tasks':
    case 'args':
    case 'locks':
    case 'progress':
    case 'workflows':
    case 'staged':
    case 'nodes':
    case 'stats':
    case 'schedules':
    case 'bulk':
    case 'views':
    case 'templates':
    case 'audit':
    case 'sessions':
    case 'tokens':
    case 'pins':
      return size === 2 && a !== '' ? { kind, id: a } : undefined;
    case 'queues':
    case 'names':
    case 'unique':
    case 'bulking':
      return size === 2 ? named(a, (name) => ({ kind, name })) : undefined;
    case 'all':
    case 'leader':
    case 'epoch':
    case 'runner':
      return size === 1 ? { kind } : undefined;
    case 'due':
    case 'deadlines':
    case 'ended':
      return size === 3 ? numbered(a, (timeMs) => ({ kind, timeMs, id: b })) : undefined;
    case 'ready':
      return size === 5 ? parseReady(a, b, c, d) : undefined;
    case 'results':
      return size === 3 ? numbered(b, (attempt) => ({ kind, id: a, attempt })) : undefined;
    case 'orders':
      return size === 4 ? { kind, node: a, what: b, id: c } : undefined;
    case 'slots':
      return size === 3 ? named(a, (limit) => numbered(b, (n) => ({ kind, limit, n }))) : undefined;
    case 'rates':
      return size === 4
        ? named(a, (limit) => numbered(b, (window) => numbered(c, (n) => ({ kind, limit, window, n }))))
        : undefined;
    case 'targets':
    case 'graphs':
      return size === 3 ? numbered(b, (part) => ({ kind, id: a, part })) : undefined;
    case 'joins':
      return size === 3 ? numbered(b, (join) => ({ kind, id: a, join })) : undefined;
    case 'barriers':
      return parseBarrier(size, a, b, c);
    case 'failures':
      return size === 4 ? numbered(b, (join) => numbered(c, (slot) => ({ kind, id: a, join, slot }))) : undefined;
    case 'chores':
      return size === 3 ? { kind, id: a, chore: b } : undefined;
    case 'fires':
      return size === 3 ? numbered(b, (timeMs) => ({ kind, id: a, timeMs })) : undefined;
    case 'logs':
      return size === 4 ? numbered(b, (attempt) => numbered(c, (n) => ({ kind, id: a, attempt, n }))) : undefined;
    case 'clock':
      return size === 2 ? numbered(a, (timeMs) => ({ kind, timeMs })) : undefined;
    default:
      return undefined;
  }
}

function parseReady(queue: string, shard: string, order: string, id: string): ParsedKey | undefined {
  return named(queue, (name) =>
    numbered(shard, (s) => numbered(order, (o) => ({ kind: 'ready', queue: name, shard: s, order: o, id }))),
  );
}

function parseBarrier(size: number, id: string, join: string, slot: string): ParsedKey | undefined {
  if (size !== 4) return undefined;
  if (slot === 'hold') return numbered(join, (j) => ({ kind: 'barriers', id, join: j, slot: 'hold' }));
  return numbered(join, (j) => numbered(slot, (s) => ({ kind: 'barriers', id, join: j, slot: s })));
}

function numbered(text: string, build: (n: number) => ParsedKey | undefined): ParsedKey | undefined {
  return /^\d{1,15}$/.test(text) ? build(Number(text)) : undefined;
}

function named(text: string, build: (name: string) => ParsedKey | undefined): ParsedKey | undefined {
  try {
    return build(decodeName(text));
  } catch {
    return undefined;
  }
}
