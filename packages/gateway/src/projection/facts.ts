/** The facts that `explain` asks for, from the state as it is. Costly parts are computed at most once per `renew`. */
import {
  explain,
  isEnded,
  memberId,
  type Awaited,
  type CompiledWorkflow,
  type LimitFacts,
  type NodeFacts,
  type WaitFacts,
  type WaitReason,
} from '@leasehold/core/model';
import type { BoardState } from './state.js';
import type { TaskEntry } from './task-entry.js';
import { Tally } from './counts.js';

/** Compiled workflows as far as they are loaded; asking for one that is not makes it be loaded. */
export interface Graphs {
  get(workflowId: string): CompiledWorkflow | undefined;
}

export interface Storage {
  readonly usedBytes: number;
  readonly softLimitBytes: number;
}

export class Facts {
  readonly #state: BoardState;
  readonly #graphs: Graphs;
  readonly #now: () => number;
  #nodes: readonly NodeFacts[] | undefined;
  #orders: ReadonlyMap<string, Float64Array> | undefined;
  storage: Storage | undefined;

  constructor(state: BoardState, graphs: Graphs, now: () => number) {
    this.#state = state;
    this.#graphs = graphs;
    this.#now = now;
  }

  /** What was computed is computed again when next asked for. */
  renew(): void {
    this.#nodes = undefined;
    this.#orders = undefined;
  }

  /** Only what runs where. */
  renewNodes(): void {
    this.#nodes = undefined;
  }

  reasons(task: TaskEntry): readonly WaitReason[] {
    return explain(task, this.#factsOf(task));
  }

  nodes(): readonly NodeFacts[] {
    this.#nodes ??= this.#computeNodes();
    return this.#nodes;
  }

  #factsOf(task: TaskEntry): WaitFacts {
    const { queues, names, all, leader, leaderGoneMs, workflows, locks } = this.#state;
    const queue = queues.get(task.queue)?.record;
    const name = names.get(task.name)?.record;
    const workflow = task.workflow === undefined ? undefined : workflows.get(task.workflow.id)?.record;
    const awaited = task.state === 'WAITING' ? this.#awaited(task) : undefined;
    const uniqueHolder = task.unique === undefined ? undefined : this.#state.unique.get(task.unique.key);
    const members = task.workflow === undefined ? undefined : this.#state.counts.workflowMembers.get(task.workflow.id);
    return {
      nowMs: this.#now(),
      locked: locks.has(task.id),
      settings: {
        ...(queue === undefined ? {} : { queue }),
        ...(name === undefined ? {} : { name }),
        ...(all === undefined ? {} : { all: all.record }),
      },
      nodes: this.nodes(),
      limits: this.#limits(task),
      rates: this.#rates(task),
      ...(uniqueHolder === undefined ? {} : { uniqueHolder }),
      ...(leader === undefined ? {} : { leader }),
      ...(leaderGoneMs === undefined ? {} : { leaderGoneMs }),
      ...(workflow === undefined ? {} : { workflow, unfolding: (members?.size ?? 0) < workflow.tasks }),
      ...(awaited === undefined ? {} : { awaited }),
      ...this.#storage(),
      ...(task.state === 'PENDING' ? { ahead: this.#ahead(task) } : {}),
    };
  }

  /** As the leader judges it; the gateway's own limit where no leader has. */
  #storage(): { readonly storage?: Storage } {
    const { leader, stats } = this.#state;
    const judged = leader === undefined ? undefined : stats.get(leader.node)?.leaderHealth?.storage;
    if (judged === undefined) return this.storage === undefined ? {} : { storage: this.storage };
    if (!judged.full) return {};
    return { storage: { usedBytes: judged.sizeBytes, softLimitBytes: Math.min(judged.sizeBytes, judged.quotaBytes) } };
  }

  #computeNodes(): readonly NodeFacts[] {
    const running = new Map<string, Tally>();
    for (const [id, lock] of this.#state.locks) {
      const queue = this.#state.tasks.get(id)?.queue ?? '';
      let tally = running.get(lock.node);
      if (tally === undefined) running.set(lock.node, (tally = new Tally()));
      tally.add(queue, 1);
    }
    return this.#state.liveNodes().map(({ record }) => {
      const byQueue = new Map(Object.entries(running.get(record.id)?.toRecord() ?? {}));
      return {
        id: record.id,
        queues: new Map(record.queues.map(({ name, concurrency }) => [name, concurrency])),
        names: new Set(record.handlers.map(({ name }) => name)),
        labels: record.labels,
        draining: record.draining,
        running: [...byQueue.values()].reduce((sum, n) => sum + n, 0),
        runningByQueue: byQueue,
      };
    });
  }

  #limits(task: TaskEntry): readonly LimitFacts[] {
    const { slots, queues, names, all } = this.#state;
    const settings = [
      [`queue/${task.queue}`, queues.get(task.queue)?.record.concurrency] as const,
      [`name/${task.name}`, names.get(task.name)?.record.concurrency] as const,
      ['all', all?.record.concurrency] as const,
    ].flatMap(([limit, max]) => (max === undefined ? [] : [{ limit, max }]));
    return [...(task.limits ?? []), ...settings].map(({ limit, max }) => {
      return { limit, max, holders: [...(slots.get(limit)?.values() ?? [])] };
    });
  }

  /** Rates under which nothing begins now. */
  #rates(task: TaskEntry): NonNullable<WaitFacts['rates']> {
    const { queues, names, all, rates } = this.#state;
    const settings = [
      [`queue/${task.queue}`, queues.get(task.queue)?.record.rate] as const,
      [`name/${task.name}`, names.get(task.name)?.record.rate] as const,
      ['all', all?.record.rate] as const,
    ];
    return settings.flatMap(([limit, rate]) => {
      const untilMs = rate === undefined ? undefined : rates.untilMs(limit, rate, this.#now());
      return untilMs === undefined ? [] : [{ limit, untilMs }];
    });
  }

  /** Ready tasks of its queue that stand before it. */
  #ahead(task: TaskEntry): number {
    this.#orders ??= this.#computeOrders();
    const orders = this.#orders.get(task.queue) ?? new Float64Array();
    const order = task.order ?? 0;
    let low = 0;
    let high = orders.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((orders[middle] ?? 0) < order) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #computeOrders(): ReadonlyMap<string, Float64Array> {
    const byQueue = new Map<string, number[]>();
    for (const { queue, order = 0 } of this.#state.counts.byState.PENDING.values()) {
      const orders = byQueue.get(queue);
      if (orders === undefined) byQueue.set(queue, [order]);
      else orders.push(order);
    }
    return new Map([...byQueue].map(([queue, orders]) => [queue, Float64Array.from(orders).sort()]));
  }

  #awaited(task: TaskEntry): Awaited | undefined {
    if (task.workflow === undefined) return undefined;
    const { id, index } = task.workflow;
    const graph = this.#graphs.get(id);
    if (graph === undefined) return undefined;
    const before = predecessorsOf(graph).get(index);
    if (before === undefined) return undefined;
    if ('task' in before) {
      const entry = this.#state.tasks.get(memberId(id, before.task));
      const known = entry === undefined ? {} : { name: entry.name, state: entry.state };
      return { kind: 'task', id: memberId(id, before.task), ...known };
    }
    return { kind: 'join', join: before.join, ...this.barrier(graph, before.join) };
  }

  /** Slots of a join whose part has ended, of all its slots. */
  barrier(graph: CompiledWorkflow, join: number): { readonly done: number; readonly total: number } {
    const total = graph.joins[join]?.slots ?? 0;
    let done = 0;
    for (const last of lastOf(graph, join)) if (this.#over(graph, last)) done++;
    return { done, total };
  }

  #over(graph: CompiledWorkflow, part: Predecessor): boolean {
    if ('join' in part) {
      const { done, total } = this.barrier(graph, part.join);
      return done >= total;
    }
    const entry = this.#state.tasks.get(memberId(graph.id, part.task));
    return entry !== undefined && isEnded(entry.state);
  }
}

export type Predecessor = { readonly task: number } | { readonly join: number };

interface Shape {
  readonly before: ReadonlyMap<number, Predecessor>;
  readonly last: ReadonlyMap<number, readonly Predecessor[]>;
}
const shapes = new WeakMap<CompiledWorkflow, Shape>();

function shapeOf(graph: CompiledWorkflow): Shape {
  const known = shapes.get(graph);
  if (known !== undefined) return known;
  const before = new Map<number, Predecessor>();
  const last = new Map<number, Predecessor[]>();
  const parts = [
    ...graph.tasks.map(({ index, cont }) => ({ part: { task: index } as Predecessor, cont })),
    ...graph.joins.map(({ join, cont }) => ({ part: { join } as Predecessor, cont })),
  ];
  for (const { part, cont } of parts) {
    for (const entry of cont?.next?.entries ?? []) before.set(entry, part);
    if (cont === undefined || cont.next !== undefined) continue;
    const slots = last.get(cont.up.join) ?? [];
    slots.push(part);
    last.set(cont.up.join, slots);
  }
  const shape = { before, last };
  shapes.set(graph, shape);
  return shape;
}

/** What each task waits for; absent for those that begin. */
export function predecessorsOf(graph: CompiledWorkflow): ReadonlyMap<number, Predecessor> {
  return shapeOf(graph).before;
}

/** The last part of each slot of a join. */
export function lastOf(graph: CompiledWorkflow, join: number): readonly Predecessor[] {
  return shapeOf(graph).last.get(join) ?? [];
}
