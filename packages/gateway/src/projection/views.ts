/** The views as live lists with rows: what subscriptions and REST lists read. */
import type { AnyRow, LiveQuery, RowFilter, RowOf, TaskFilter, TaskOrder, TaskRow, ViewName } from '@leasehold/wire';
import type { LiveList } from './live-list.js';
import { matchRow, matchTask, taskKey } from './match.js';
import {
  bulkRow,
  lockRow,
  nodeRow,
  queueRows,
  scheduleRow,
  taskRow,
  withoutPayload,
  workflowRow,
  type RowContext,
} from './rows.js';
import { Table } from './table.js';
import type { TaskEntry } from './task-entry.js';

/** A live list of rows, whatever they are made of. Give it back with `release`. */
export interface Followed {
  readonly list: Pick<LiveList<never>, 'size' | 'slice' | 'snapshot' | 'onMembership'>;
  /** As it is now, or as it was last. The same object for the same content. */
  row(id: string): AnyRow | undefined;
  /** False for a row that left the list or is gone. */
  matches(id: string): boolean;
  release(): void;
}

type SmallView = Exclude<ViewName, 'tasks'>;

interface CachedRow {
  readonly entry: TaskEntry;
  readonly lock: unknown;
  readonly progress: unknown;
  readonly version: number;
  readonly row: TaskRow;
  readonly json: string;
}

const CACHED_ROWS = 20_000;

export class Views {
  readonly #context: RowContext;
  readonly #small: { readonly [V in SmallView]: Table<RowOf[V]> };
  readonly #json = new WeakMap<AnyRow, string>();
  readonly #cache = new Map<string, CachedRow>();
  readonly #bare = new WeakMap<TaskRow, TaskRow>();
  /** Raised when facts behind explanations changed. */
  #version = 0;

  constructor(context: RowContext) {
    this.#context = context;
    this.#small = {
      nodes: new Table(),
      locks: new Table(),
      queues: new Table(),
      workflows: new Table(),
      errors: new Table(),
      schedules: new Table(),
      bulks: new Table(),
      summary: new Table(),
    };
  }

  /** `payload`: whether rows show what tasks carry. */
  follow(query: LiveQuery, payload = true): Followed {
    return query.view === 'tasks'
      ? this.followTasks(query.filter, query.order, payload)
      : this.followRows(query.view, query.filter);
  }

  followTasks(filter: TaskFilter, order: TaskOrder, payload = true): Followed {
    const { tasks } = this.#context.state;
    const name = JSON.stringify([filter, order, payload]);
    const match = matchTask(filter, payload);
    const list = tasks.follow(name, () => ({ match, keyOf: taskKey(order), desc: order.desc }));
    return {
      list,
      row: (id) => (payload ? this.task(id) : this.#bareTask(id)),
      matches: (id) => {
        const entry = tasks.get(id);
        return entry !== undefined && match(entry);
      },
      release: () => tasks.release(name),
    };
  }

  followRows(view: SmallView, filter: RowFilter): Followed {
    const table = this.#small[view] as Table<AnyRow>;
    const match = matchRow(filter);
    const name = JSON.stringify(filter);
    const list = table.follow(name, () => ({ match, ...ORDERS[view] }));
    return {
      list,
      row: (id) => table.recall(id),
      matches: (id) => {
        const row = table.get(id);
        return row !== undefined && match(row);
      },
      release: () => table.release(name),
    };
  }

  small<V extends SmallView>(view: V): Table<RowOf[V]> {
    return this.#small[view];
  }

  /** A task's row; also of one that was removed lately. */
  task(id: string): TaskRow | undefined {
    const { state } = this.#context;
    const entry = state.tasks.recall(id);
    if (entry === undefined) return undefined;
    const lock = state.locks.get(id);
    const progress = state.progress.get(id);
    const waits = entry.endedMs === undefined && lock === undefined;
    const version = waits ? this.#version : 0;
    const known = this.#cache.get(id);
    if (known?.entry === entry && known.lock === lock && known.progress === progress && known.version === version)
      return known.row;
    const fresh = taskRow(this.#context, entry);
    const json = JSON.stringify(fresh);
    const row = known?.json === json ? known.row : fresh;
    if (this.#cache.size >= CACHED_ROWS) this.#cache.clear();
    this.#cache.set(id, { entry, lock, progress, version, row, json });
    return row;
  }

  /** The same object for the same row, as `task` gives it. */
  #bareTask(id: string): TaskRow | undefined {
    const row = this.task(id);
    if (row === undefined) return undefined;
    const bare = this.#bare.get(row) ?? withoutPayload(row);
    this.#bare.set(row, bare);
    return bare;
  }

  factsChanged(): void {
    this.#version++;
  }

  /** Rows of records that changed. */
  refreshDirty(): void {
    const { dirty } = this.#context.state;
    this.#each('locks', dirty.locks, (id) => lockRow(this.#context, id));
    this.#each('workflows', dirty.workflows, (id) => workflowRow(this.#context, id));
    this.#each('bulks', dirty.bulks, (id) => bulkRow(this.#context, id));
    this.#each('schedules', dirty.schedules, (id) => scheduleRow(this.#context, id));
  }

  /** Views whose rows depend on much: not more often than ten times a second. */
  refreshAggregates(sections: readonly RowOf['summary'][]): void {
    const { state } = this.#context;
    if (state.dirty.nodes)
      this.#replace(
        'nodes',
        [...state.nodes.values()].map((node) => nodeRow(this.#context, node)),
      );
    if (state.dirty.queues) this.#replace('queues', queueRows(this.#context));
    if (state.counts.errorsChanged) this.#replace('errors', state.counts.errorRows());
    state.counts.errorsChanged = false;
    state.dirty.nodes = false;
    state.dirty.queues = false;
    this.#replace('summary', sections);
  }

  /** Countdowns were measured anew. */
  leasesMeasured(): void {
    const { state } = this.#context;
    state.dirty.nodes = true;
    for (const id of state.locks.keys()) state.dirty.locks.add(id);
  }

  #each<V extends 'locks' | 'workflows' | 'schedules' | 'bulks'>(
    view: V,
    ids: Set<string>,
    render: (id: string) => RowOf[V] | undefined,
  ): void {
    for (const id of ids) {
      const row = render(id);
      if (row === undefined) this.#small[view].delete(id);
      else this.#set(view, row);
    }
    ids.clear();
  }

  #replace<V extends SmallView>(view: V, rows: readonly RowOf[V][]): void {
    const table = this.#small[view] as Table<RowOf[V]>;
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of table.ids()) if (!ids.has(id)) table.delete(id);
    for (const row of rows) this.#set(view, row);
  }

  /** Keeps the row that is there when nothing in it differs. */
  #set<V extends SmallView>(view: V, row: RowOf[V]): void {
    const table = this.#small[view] as Table<RowOf[V]>;
    const json = JSON.stringify(row);
    const before = table.get(row.id);
    if (before !== undefined && this.#json.get(before) === json) return;
    this.#json.set(row, json);
    table.set(row);
  }
}

interface Order {
  readonly keyOf: (row: AnyRow) => number | string;
  readonly desc: boolean;
}

function ordered<V extends SmallView>(keyOf: (row: RowOf[V]) => number | string, desc = false): Order {
  return { keyOf: keyOf as (row: AnyRow) => number | string, desc };
}

/** The natural order of each view. */
const ORDERS: Readonly<Record<SmallView, Order>> = {
  nodes: ordered<'nodes'>((node) => `${node.departedMs === undefined ? 0 : 1} ${node.host} ${node.id}`),
  locks: ordered<'locks'>((lock) => lock.sinceMs),
  queues: ordered<'queues'>((queue) => queue.id),
  workflows: ordered<'workflows'>((workflow) => workflow.createdMs, true),
  errors: ordered<'errors'>((error) => error.lastMs, true),
  schedules: ordered<'schedules'>((schedule) => schedule.nextMs ?? Number.MAX_SAFE_INTEGER),
  bulks: ordered<'bulks'>((bulk) => bulk.createdMs, true),
  summary: ordered<'summary'>((section) => section.id),
};
