/** What a scheduler process counts, in Prometheus' terms. The names are documented in docs/observability.md. */
import type { TaskContext, TaskState, WorkerHooks, WorkerStatus } from '@leasehold/core';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Of a worker process: names, kinds and help, in one place; docs, dashboards and alerts are checked against it. */
export const METRICS = Object.freeze({
  leasehold_attempts_total: 'Attempts whose outcome was committed, by the state that the task has after it',
  leasehold_attempt_seconds: 'From the claim of an attempt to its committed outcome',
  leasehold_attempts_failed_total: 'Failed attempts, by the type of their error',
  leasehold_running: 'Attempts that run now',
  leasehold_abandoned: 'Handlers that go on although their attempt is over',
  leasehold_claims_total: 'Tasks claimed by this process',
  leasehold_superseded_total: 'Outcomes that counted for nothing, because the lock had been lost',
  leasehold_session: '1 while this process has a session that it may trust',
  leasehold_leader: '1 while this process leads, as far as it knows',
  leasehold_draining: '1 while this process takes nothing more',
} as const);

type MetricName = keyof typeof METRICS;

/** What is watched of a node; a `SchedulerNode` is one. */
export interface ObservedNode {
  readonly id: string | undefined;
  readonly elected: boolean;
  readonly worker: { readonly status: WorkerStatus };
}

export interface NodeMetrics {
  readonly register: Registry;
  /** To be given to `startNode` as `hooks`; calls the ones you had. */
  readonly hooks: WorkerHooks;
  /** Reads the gauges from this node at every scrape. */
  watch(node: ObservedNode): void;
}

/** Seconds. Handlers take from a millisecond to an hour. */
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600];

/** Label values come from definitions and from errors' classes; a process that makes names up must not fill the memory. */
const MOST_NAMES = 500;

/**
 * Makes the metrics of one scheduler process. Names of tasks beyond the first 500 are counted as `(other)`.
 * @param given Hooks of your own, called after the counting.
 */
export function observeNode(given: WorkerHooks = {}, register: Registry = new Registry()): NodeMetrics {
  const named = { registers: [register], labelNames: ['queue', 'name', 'state'] as const };
  const attempts = new Counter({ ...of('leasehold_attempts_total'), ...named });
  const failed = new Counter({
    ...of('leasehold_attempts_failed_total'),
    registers: [register],
    labelNames: ['queue', 'name', 'type'] as const,
  });
  const seconds = new Histogram({
    ...of('leasehold_attempt_seconds'),
    registers: [register],
    labelNames: ['queue', 'name'] as const,
    buckets: BUCKETS,
  });
  const began = new WeakMap<TaskContext, number>();
  const names = new Names();
  return {
    register,
    hooks: {
      before: async (context) => {
        began.set(context, performance.now());
        await given.before?.(context);
      },
      error: async (context, error, state) => {
        failed.inc({ queue: context.queue, name: names.of(context.name), type: names.of(error.type) });
        await given.error?.(context, error, state);
      },
      after: async (context: TaskContext, state: TaskState) => {
        const { queue } = context;
        const name = names.of(context.name);
        attempts.inc({ queue, name, state });
        const beganAt = began.get(context);
        if (beganAt !== undefined) seconds.observe({ queue, name }, (performance.now() - beganAt) / 1_000);
        await given.after?.(context, state);
      },
    },
    watch: (node) => watchNode(register, node),
  };
}

function of<N extends MetricName>(name: N): { readonly name: N; readonly help: string } {
  return { name, help: METRICS[name] };
}

/** Read when asked for: nothing runs between two scrapes. */
function watchNode(register: Registry, node: ObservedNode): void {
  const gauge = (name: MetricName, read: (status: WorkerStatus) => number): void => {
    new Gauge({
      ...of(name),
      registers: [register],
      collect() {
        this.set(read(node.worker.status));
      },
    });
  };
  const total = (name: MetricName, read: (status: WorkerStatus) => number): void => {
    new Counter({
      ...of(name),
      registers: [register],
      collect() {
        this.reset();
        this.inc(read(node.worker.status));
      },
    });
  };
  gauge('leasehold_running', ({ running }) => running);
  gauge('leasehold_abandoned', ({ abandoned }) => abandoned);
  gauge('leasehold_session', () => (node.id === undefined ? 0 : 1));
  gauge('leasehold_leader', () => (node.elected ? 1 : 0));
  gauge('leasehold_draining', ({ draining }) => (draining ? 1 : 0));
  total('leasehold_claims_total', ({ claimed }) => claimed);
  total('leasehold_superseded_total', ({ counters }) => counters.superseded);
}

class Names {
  readonly #known = new Set<string>();

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= MOST_NAMES) return '(other)';
    this.#known.add(name);
    return name;
  }
}
