/** What a worker can be told, checked once. */
import { availableParallelism } from 'node:os';
import { LeaseholdError } from '../model/errors.js';
import { checkName } from '../model/validate.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { silentLogger, type Logger } from '../runtime/logger.js';
import type { LeaderHealth } from '../model/leader-health.js';
import type { Membership } from '../store/membership.js';
import type { RenewerSource } from '../store/renewer.js';
import { Handlers, type Handling } from './handlers.js';
import type { WorkerHooks } from './hooks.js';

export interface QueueOptions {
  readonly name: string;
  /** Tasks of this queue that this worker runs at once. Default: the worker's. */
  readonly concurrency?: number;
  /** Its share when the worker's concurrency is what limits. Default 1. */
  readonly weight?: number;
}

export interface WorkerOptions {
  readonly handlers: readonly Handling[];
  /** Default: the queues that the handlers' definitions name. */
  readonly queues?: readonly (string | QueueOptions)[];
  /** Tasks that run at once, over all queues. Default 10. */
  readonly concurrency?: number;
  /** Tasks that ask for labels run only where these contain them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its lease is shared with others of this process (a leader, another worker). Default: a lease of its own. */
  readonly membership?: Membership;
  /** How the lease is kept when it is the worker's own; ask for `threadRenewer` with a real etcd. */
  readonly renewer?: RenewerSource;
  readonly leaseTtlMs?: number;
  readonly leaseMarginMs?: number;
  /** How long `stop` waits for handlers before it tells them to stop. Default 30000. */
  readonly stopDeadlineMs?: number;
  /** How long a handler may take to stop after it was told to, before it is abandoned. Default 2000. */
  readonly graceMs?: number;
  /** How often locks in etcd are compared with what runs here. Default 5000. */
  readonly auditEveryMs?: number;
  /** Threads for handlers with `isolate: 'thread'` at most. Default: as many as the machine has processors. */
  readonly threads?: number;
  /** How often `stats/<node>` is written; 0: never. Default 5000. */
  readonly statsEveryMs?: number;
  /** The longest wait between two looks into others' shards while idle. Default 5000. */
  readonly stealEveryMs?: number;
  readonly hooks?: WorkerHooks;
  /** The leader of this process, if it leads: goes into `stats/<node>` as well. */
  readonly leaderHealth?: () => LeaderHealth | undefined;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Shown on the board. */
  readonly host?: string;
  readonly version?: string;
}

export interface WorkerSettings {
  readonly handlers: Handlers;
  readonly queues: readonly Required<QueueOptions>[];
  readonly concurrency: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly stopDeadlineMs: number;
  readonly graceMs: number;
  readonly auditEveryMs: number;
  readonly statsEveryMs: number;
  readonly threads: number;
  readonly stealEveryMs: number;
  readonly hooks: WorkerHooks;
  readonly leaderHealth: () => LeaderHealth | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws LeaseholdError `invalid`, naming the option and its limits. */
export function workerSettings(options: WorkerOptions): WorkerSettings {
  const handlers = new Handlers(options.handlers);
  const concurrency = whole(options.concurrency ?? 10, 'concurrency', 1, 100_000);
  const named = options.queues ?? [...new Set(handlers.infos.map(({ queue }) => queue))];
  const queues = named.map((queue, i) => queueSettings(queue, i, concurrency));
  if (queues.length === 0) throw bad('queues', 'a worker serves at least one queue', 0);
  const names = new Set(queues.map(({ name }) => name));
  if (names.size !== queues.length)
    throw bad('queues', 'a queue is named twice', queues.map(({ name }) => name).join(', '));
  return Object.freeze({
    handlers,
    queues,
    concurrency,
    labels: options.labels ?? {},
    stopDeadlineMs: whole(options.stopDeadlineMs ?? 30_000, 'stopDeadlineMs', 0, 86_400_000),
    graceMs: whole(options.graceMs ?? 2_000, 'graceMs', 0, 600_000),
    auditEveryMs: whole(options.auditEveryMs ?? 5_000, 'auditEveryMs', 100, 600_000),
    threads: whole(options.threads ?? availableParallelism(), 'threads', 1, 1_000),
    statsEveryMs: whole(options.statsEveryMs ?? 5_000, 'statsEveryMs', 0, 600_000),
    stealEveryMs: whole(options.stealEveryMs ?? 5_000, 'stealEveryMs', 200, 600_000),
    hooks: options.hooks ?? {},
    leaderHealth: options.leaderHealth ?? (() => undefined),
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger,
  });
}

function queueSettings(queue: string | QueueOptions, index: number, concurrency: number): Required<QueueOptions> {
  const given: QueueOptions = typeof queue === 'string' ? { name: queue } : queue;
  const field = `queues[${index}]`;
  const weight = given.weight ?? 1;
  if (!(weight > 0 && weight <= 1_000)) throw bad(`${field}.weight`, 'a weight is above 0 and at most 1000', weight);
  return {
    name: checkName(given.name, `${field}.name`),
    concurrency: whole(given.concurrency ?? concurrency, `${field}.concurrency`, 1, 100_000),
    weight,
  };
}

function whole(value: number, field: string, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw bad(field, `a whole number from ${min} to ${max}`, value);
}

function bad(field: string, what: string, value: unknown): LeaseholdError {
  return new LeaseholdError('invalid', `${field}: ${String(value)} is refused: ${what}`, { field, value });
}
