/** The sections of the summary view. */
import type { Facets, LeaderCard, SummarySection, Triage } from '@leasehold/wire';
import type { NodeStats } from '@leasehold/core/model';
import { splitPair } from './counts.js';
import { queueNames, type RowContext } from './rows.js';

type LeaderHealth = NonNullable<NodeStats['leaderHealth']>;

/** Entries of one facet. */
const SHOWN = 50;
/** Waiting longer than this is "waiting long", ms. */
const WAITING_LONG_MS = 60_000;
/** A task runs long when it runs longer than so many times its name's p95, and at least this long. */
const RUNNING_LONG_FACTOR = 2;
const RUNNING_LONG_MS = 10_000;
const LEASE_ENDING_SHARE = 0.3;
const SCHEDULE_GRACE_MS = 5_000;

/** From counters that are kept. */
export function quickSections(context: RowContext, nowMs: number): SummarySection[] {
  const { state } = context;
  const states = { id: 'states' as const, total: state.tasks.size, states: state.counts.states.toRecord() };
  return [states, facets(context), state.traffic.section(nowMs)];
}

/** Looks through all live tasks. */
export function slowSections(context: RowContext, nowMs: number): SummarySection[] {
  return [leaderCard(context, nowMs), triage(context, nowMs)];
}

function facets({ state, facts }: RowContext): Facets {
  const { counts } = state;
  const queues = [...queueNames(state)].map((name) => {
    const states = counts.queueStates.get(name);
    const live = ['WAITING', 'SCHEDULED', 'PENDING', 'STARTED', 'RETRY'].reduce(
      (sum, each) => sum + (states?.get(each) ?? 0),
      0,
    );
    const limit = state.queues.get(name)?.record.concurrency;
    return {
      name,
      live,
      running: states?.get('STARTED') ?? 0,
      paused: state.queues.get(name)?.record.paused !== undefined,
      hasWorker: facts.nodes().some((node) => !node.draining && node.queues.has(name)),
      ...(limit === undefined ? {} : { limit }),
    };
  });
  queues.sort((a, b) => b.live - a.live || (a.name < b.name ? -1 : 1));
  const nodes = state.liveNodes().map(({ record }) => ({
    id: record.id,
    host: record.host,
    running: facts.nodes().find(({ id }) => id === record.id)?.running ?? 0,
    capacity: record.queues.reduce((sum, { concurrency }) => sum + concurrency, 0),
    draining: record.draining,
  }));
  nodes.sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    id: 'facets',
    queues: queues.slice(0, SHOWN),
    names: counts.names.top(SHOWN).map(([name, count]) => ({ name, count })),
    nodes: nodes.slice(0, SHOWN),
    tags: counts.tags.top(SHOWN).map(([tag, count]) => ({ tag, count })),
    more: {
      queues: Math.max(0, queues.length - SHOWN),
      names: Math.max(0, counts.names.size - SHOWN),
      nodes: Math.max(0, nodes.length - SHOWN),
      tags: Math.max(0, counts.tags.size - SHOWN),
    },
  };
}

function leaderCard({ state }: RowContext, nowMs: number): LeaderCard {
  let overdue = 0;
  let oldestDueMs: number | undefined;
  for (const waiting of [state.counts.byState.SCHEDULED, state.counts.byState.RETRY]) {
    for (const { dueMs = Infinity } of waiting.values()) {
      if (dueMs > nowMs) continue;
      overdue++;
      oldestDueMs = Math.min(oldestDueMs ?? dueMs, dueMs);
    }
  }
  let unlocked = 0;
  for (const id of state.counts.byState.STARTED.keys()) if (!state.locks.has(id)) unlocked++;
  const late = [...state.schedules.values()].filter(({ record }) => {
    return record.paused === undefined && record.nextMs !== undefined && record.nextMs < nowMs - SCHEDULE_GRACE_MS;
  });
  const { leader, leaderGoneMs } = state;
  const health = leader === undefined ? undefined : state.stats.get(leader.node)?.leaderHealth;
  return {
    id: 'leader',
    candidates: state.liveNodes().filter(({ record }) => record.candidate).length,
    overdue,
    unlocked,
    overdueSchedules: late.length,
    ...(leader === undefined ? {} : { node: leader.node, sinceMs: leader.sinceMs }),
    ...(leaderGoneMs === undefined ? {} : { goneMs: leaderGoneMs }),
    ...(oldestDueMs === undefined ? {} : { oldestDueMs }),
    ...(health === undefined ? {} : { health: healthView(health) }),
  };
}

function healthView({
  promoted,
  rescued,
  repaired,
  stuck,
  lateP50Ms,
  lateP99Ms,
  compacts,
}: LeaderHealth): NonNullable<LeaderCard['health']> {
  return {
    promoted,
    rescued,
    repaired,
    ...(stuck === undefined ? {} : { stuck }),
    ...(lateP50Ms === undefined ? {} : { lateP50Ms }),
    ...(lateP99Ms === undefined ? {} : { lateP99Ms }),
    ...(compacts === undefined ? {} : { compacts }),
  };
}

function triage({ state, facts, leases }: RowContext, nowMs: number): Triage {
  const { byState, states } = state.counts;
  let waitingLong = 0;
  for (const { scheduleAtMs } of byState.PENDING.values()) if (nowMs - scheduleAtMs > WAITING_LONG_MS) waitingLong++;
  const limits = new Map<string, number>();
  let runningLong = 0;
  for (const { name, startedMs = nowMs } of byState.STARTED.values()) {
    let limit = limits.get(name);
    if (limit === undefined) {
      limit = Math.max(
        RUNNING_LONG_MS,
        RUNNING_LONG_FACTOR * (state.traffic.nameRun.percentiles(name)?.p95Ms ?? Infinity),
      );
      limits.set(name, limit);
    }
    if (nowMs - startedMs > limit) runningLong++;
  }
  const ending = state.liveNodes().filter(({ leaseId, record }) => {
    const { ttlMs, remainingMs, measuredMs } = leases.view(leaseId, record.leaseTtlMs);
    return remainingMs - (nowMs - measuredMs) < LEASE_ENDING_SHARE * ttlMs;
  });
  return {
    id: 'triage',
    failed: states.get('FAILURE'),
    errors: state.counts.errors,
    waitingLong,
    runningLong,
    leasesEnding: ending.length,
    ...unserved({ state, facts, leases }),
    paused: pausedThings({ state, facts, leases }),
  };
}

/** Queues and names of ready tasks that no live worker serves; a queue that is paused is not missed. */
function unserved({ state, facts }: RowContext): Pick<Triage, 'queuesWithoutWorker' | 'namesWithoutWorker'> {
  const nodes = facts.nodes().filter(({ draining }) => !draining);
  const queues = new Set<string>();
  const names = new Set<string>();
  for (const pair of state.counts.pending.names()) {
    const [queue, name] = splitPair(pair);
    const paused = state.queues.get(queue)?.record.paused !== undefined;
    const serving = nodes.filter((node) => node.queues.has(queue));
    if (serving.length === 0 && !paused) queues.add(queue);
    else if (!serving.some((node) => node.names.has(name))) names.add(name);
  }
  return { queuesWithoutWorker: [...queues].slice(0, SHOWN), namesWithoutWorker: [...names].slice(0, SHOWN) };
}

function pausedThings({ state }: RowContext): string[] {
  const paused = (kept: typeof state.queues, what: string) =>
    [...kept].filter(([, { record }]) => record.paused !== undefined).map(([name]) => `${what}:${name}`);
  const all = state.all?.record.paused === undefined ? [] : ['all'];
  return [...all, ...paused(state.queues, 'queue'), ...paused(state.names, 'name')].slice(0, SHOWN);
}
