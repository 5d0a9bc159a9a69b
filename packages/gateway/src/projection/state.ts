/**
 * The board as of one revision, in memory: compact tasks with their counters, and the few records that are kept whole.
 * Pure state: `put` and `remove` apply one key; what they touch is noted for whoever renders rows.
 *
 * Caps: `caps.tasks` entries (further tasks are counted in `dropped` and not shown), one progress and one lock per task,
 * groups of errors, tags and workflows as in `counts.ts`, 256 samples per histogram.
 */
import {
  decodeLock,
  decodeRecord,
  decodeTask,
  isLeaseholdError,
  LeaseholdError,
  TASK_STATES,
  type BulkRecord,
  type Keys,
  type LeaderRecord,
  type NodeRecord,
  type NodeStats,
  type ParsedKey,
  type ScheduleRecord,
  type Settings,
  type WorkflowRecord,
} from '@leasehold/core/model';
import type { KeyValue } from '@leasehold/core/kv';
import type { Progress } from '@leasehold/wire';
import { TaskCounts } from './counts.js';
import {
  decodeProgress,
  Dirty,
  type Caps,
  type Kept,
  type LockEntry,
  type NodeEntry,
  type ProgressEntry,
} from './kept.js';
import { RateWindows } from './pace.js';
import { Pace } from './slices.js';
import { DeclaredSecrets } from './secrets.js';
import { Table } from './table.js';
import { taskEntry, type TaskEntry } from './task-entry.js';
import { Traffic } from './traffic.js';

/** What was read of a list so far. */
interface Listed {
  readonly sameHistory: boolean;
  readonly small: (readonly [ParsedKey | undefined, KeyValue])[];
  readonly tasks: TaskEntry[];
  /** Ids that stay or come; not kept when there is nothing that could go. */
  readonly seen: Set<string> | undefined;
  /** Of them; no more than the cap. */
  count: number;
  dropped: number;
  unreadable: number;
}

export class BoardState {
  readonly tasks: Table<TaskEntry>;
  readonly counts = new TaskCounts();
  readonly traffic = new Traffic();
  readonly locks = new Map<string, LockEntry>();
  readonly progress = new Map<string, ProgressEntry>();
  readonly nodes = new Map<string, NodeEntry>();
  readonly stats = new Map<string, NodeStats>();
  readonly queues = new Map<string, Kept<Settings>>();
  readonly names = new Map<string, Kept<Settings>>();
  readonly workflows = new Map<string, Kept<WorkflowRecord>>();
  readonly schedules = new Map<string, Kept<ScheduleRecord>>();
  readonly bulks = new Map<string, Kept<BulkRecord>>();
  /** Holders of each concurrency limit: `<n>` to task id. */
  readonly slots = new Map<string, Map<number, string>>();
  readonly rates = new RateWindows();
  /** Which task holds a unique key. */
  readonly unique = new Map<string, string>();
  readonly secrets = new DeclaredSecrets();
  readonly dirty = new Dirty();
  all: Kept<Settings> | undefined;
  leader: LeaderRecord | undefined;
  leaderGoneMs: number | undefined;
  /** Tasks beyond the cap, and records that could not be read. */
  dropped = 0;
  unreadable = 0;
  readonly #keys: Keys;
  readonly #caps: Caps;
  readonly #now: () => number;
  /** False while a list is applied: nothing of it is traffic. */
  #live = false;
  /** Nothing was listed yet: what ended before is not known to `traffic`. */
  #first = true;
  #listed: Listed = { sameHistory: false, small: [], tasks: [], seen: undefined, count: 0, dropped: 0, unreadable: 0 };

  constructor(keys: Keys, caps: Caps, now: () => number) {
    this.#keys = keys;
    this.#caps = caps;
    this.#now = now;
    this.tasks = new Table((before, after) => this.#taskChanged(before, after));
  }

  /** A list begins. With the same history, tasks whose revision is known are not decoded again. */
  beginList(sameHistory: boolean): void {
    const seen = this.tasks.size === 0 ? undefined : new Set<string>();
    this.#listed = { sameHistory, small: [], tasks: [], seen, count: 0, dropped: 0, unreadable: 0 };
  }

  /** A page of the list: decoded now, seen by nobody until `applyList`. */
  addPage(kvs: readonly KeyValue[]): void {
    const listed = this.#listed;
    for (const kv of kvs) {
      const parsed = this.#keys.parse(kv.key);
      if (parsed?.kind !== 'tasks') {
        if (parsed?.kind === 'nodes') this.#readable(() => this.#learn(decodeRecord<NodeRecord>(kv.value, 'node')));
        listed.small.push([parsed, kv]);
        continue;
      }
      if (listed.count >= this.#caps.tasks) listed.dropped++;
      else this.#addTask(parsed.id, kv);
    }
  }

  #addTask(id: string, kv: KeyValue): void {
    const listed = this.#listed;
    const { sameHistory, seen, tasks } = listed;
    const known = sameHistory && this.tasks.get(id)?.revision === kv.modRevision.toString();
    if (!known && !this.#readable(() => tasks.push(this.#decode(id, kv)))) {
      listed.unreadable++;
      return;
    }
    listed.count++;
    seen?.add(id);
  }

  /**
   * The whole board anew. Tasks that are the same keep their entries, so frozen views and selections survive. Gives the
   * process its turns; until it is done, the state is of neither revision, and whoever reads it must wait (board B1).
   */
  async applyList(turn: () => Promise<void>): Promise<void> {
    const { small, tasks, seen, dropped, unreadable } = this.#listed;
    this.#live = false;
    const departed = this.#clearSmall();
    this.unreadable = unreadable;
    this.dropped = dropped;
    const pace = new Pace(turn);
    for (const [parsed, kv] of small) {
      this.#put(parsed, kv);
      if (pace.due) await pace.rest();
    }
    // What is gone first, so that there are never more than the cap.
    for (const id of this.tasks.ids()) {
      if (seen?.has(id) !== true) this.tasks.delete(id);
      if (pace.due) await pace.rest();
    }
    for (const task of tasks) {
      this.tasks.set(task);
      if (this.#first) this.traffic.learn(task);
      if (pace.due) await pace.rest();
    }
    for (const node of departed) if (!this.nodes.has(node.record.id)) this.#depart(node);
    if (this.leader === undefined) this.leaderGoneMs ??= this.#now();
    this.#live = true;
    this.#first = false;
    this.beginList(false);
  }

  put(kv: KeyValue): void {
    this.#put(this.#keys.parse(kv.key), kv);
  }

  remove(key: string): void {
    const parsed = this.#keys.parse(key);
    switch (parsed?.kind) {
      case 'tasks':
        return this.tasks.delete(parsed.id);
      case 'locks':
        this.locks.delete(parsed.id);
        this.dirty.locks.add(parsed.id);
        this.dirty.nodes = true;
        return;
      case 'progress':
        this.progress.delete(parsed.id);
        return;
      case 'nodes': {
        const node = this.nodes.get(parsed.id);
        if (node !== undefined) this.#depart(node);
        return this.#factsChanged();
      }
      default:
        return this.#removeRecord(parsed);
    }
  }

  /** Forgets nodes that have been gone for long. */
  ageOut(): void {
    for (const [id, { departedMs }] of this.nodes) {
      if (departedMs === undefined || this.#now() - departedMs < this.#caps.departedMs) continue;
      this.nodes.delete(id);
      this.dirty.nodes = true;
    }
  }

  /** What the attempt that runs now has reported. */
  progressOf(id: string, attempt: number): Progress | undefined {
    const progress = this.progress.get(id);
    return progress?.attempt === attempt ? progress.view : undefined;
  }

  liveNodes(): NodeEntry[] {
    return [...this.nodes.values()].filter(({ departedMs }) => departedMs === undefined);
  }

  #put(parsed: ParsedKey | undefined, kv: KeyValue): void {
    if (parsed !== undefined && !this.#readable(() => this.#putRecord(parsed, kv))) this.unreadable++;
  }

  /** False for a record that cannot be read; other errors are ours. */
  #readable(read: () => unknown): boolean {
    try {
      read();
      return true;
    } catch (error) {
      if (isLeaseholdError(error) || error instanceof TypeError || error instanceof SyntaxError) return false;
      throw error;
    }
  }

  #putRecord(parsed: ParsedKey, kv: KeyValue): void {
    const revision = kv.modRevision.toString();
    switch (parsed.kind) {
      case 'tasks':
        return this.#putTask(parsed.id, kv);
      case 'locks':
        this.locks.set(parsed.id, {
          ...decodeLock(kv.value),
          token: kv.createRevision.toString(),
          leaseId: kv.lease.toString(),
        });
        this.dirty.locks.add(parsed.id);
        this.dirty.nodes = true;
        return;
      case 'progress':
        this.progress.set(parsed.id, decodeProgress(kv.value));
        this.dirty.locks.add(parsed.id);
        return;
      case 'nodes':
        return this.#putNode(kv);
      case 'stats':
        this.stats.set(parsed.id, decodeRecord<NodeStats>(kv.value, 'stats'));
        this.dirty.nodes = true;
        return;
      case 'queues':
      case 'names':
        this[parsed.kind].set(parsed.name, { record: decodeRecord<Settings>(kv.value, 'settings'), revision });
        return this.#factsChanged();
      case 'all':
        this.all = { record: decodeRecord<Settings>(kv.value, 'settings'), revision };
        return this.#factsChanged();
      case 'leader':
        this.leader = decodeRecord<LeaderRecord>(kv.value, 'leader');
        this.leaderGoneMs = undefined;
        return this.#factsChanged();
      case 'workflows':
        this.workflows.set(parsed.id, { record: decodeRecord<WorkflowRecord>(kv.value, 'workflow'), revision });
        this.dirty.workflows.add(parsed.id);
        return this.#factsChanged();
      case 'schedules':
        this.schedules.set(parsed.id, { record: decodeRecord<ScheduleRecord>(kv.value, 'schedule'), revision });
        this.dirty.schedules.add(parsed.id);
        return;
      case 'bulk':
        this.bulks.set(parsed.id, { record: decodeRecord<BulkRecord>(kv.value, 'bulk'), revision });
        this.dirty.bulks.add(parsed.id);
        return;
      case 'rates':
        return this.rates.put(parsed, kv);
      case 'unique':
        this.unique.set(parsed.name, kv.value);
        return;
      case 'slots':
        return slotsOf(this.slots, parsed.limit).set(parsed.n, kv.value) && undefined;
      default:
        return;
    }
  }

  #putNode(kv: KeyValue): void {
    const record = decodeRecord<NodeRecord>(kv.value, 'node');
    this.nodes.set(record.id, { record, leaseId: kv.lease.toString(), revision: kv.modRevision.toString() });
    this.#learn(record);
    this.#factsChanged();
  }

  #learn({ handlers }: NodeRecord): void {
    const learnt = handlers.filter((handler) => this.secrets.learn(handler)).map(({ name }) => name);
    if (learnt.length > 0) this.#hidePreviews(new Set(learnt));
  }

  /** Previews made before their secrets were known. */
  #hidePreviews(names: ReadonlySet<string>): void {
    for (const task of this.tasks.values()) if (names.has(task.name)) this.tasks.set({ ...task, args: '…' });
  }

  #putTask(id: string, kv: KeyValue): void {
    const task = this.#decode(id, kv);
    if (this.tasks.size >= this.#caps.tasks && this.tasks.get(id) === undefined) this.dropped++;
    else this.tasks.set(task);
  }

  #decode(id: string, kv: KeyValue): TaskEntry {
    const task = decodeTask(kv.value);
    const legible = task.id === id && typeof task.name === 'string' && TASK_STATES.includes(task.state);
    if (!legible) throw new LeaseholdError('unreadable', 'a task record is not of this layout', { id });
    return taskEntry(task, kv.modRevision, this.secrets.of(task));
  }

  #removeRecord(parsed: ParsedKey | undefined): void {
    switch (parsed?.kind) {
      case 'stats':
        this.stats.delete(parsed.id);
        this.dirty.nodes = true;
        return;
      case 'queues':
      case 'names':
        this[parsed.kind].delete(parsed.name);
        return this.#factsChanged();
      case 'all':
        this.all = undefined;
        return this.#factsChanged();
      case 'leader':
        this.leader = undefined;
        this.leaderGoneMs = this.#now();
        return this.#factsChanged();
      case 'workflows':
        this.workflows.delete(parsed.id);
        this.dirty.workflows.add(parsed.id);
        return;
      case 'schedules':
        this.schedules.delete(parsed.id);
        this.dirty.schedules.add(parsed.id);
        return;
      case 'bulk':
        this.bulks.delete(parsed.id);
        this.dirty.bulks.add(parsed.id);
        return;
      case 'rates':
        return this.rates.remove(parsed);
      case 'unique':
        this.unique.delete(parsed.name);
        return;
      case 'slots': {
        const held = this.slots.get(parsed.limit);
        held?.delete(parsed.n);
        if (held?.size === 0) this.slots.delete(parsed.limit);
        return;
      }
      default:
        return;
    }
  }

  #taskChanged(before: TaskEntry | undefined, after: TaskEntry | undefined): void {
    this.counts.change(before, after);
    if (this.#live) this.traffic.change(before, after, this.#now());
    const { id } = (after ?? before) as TaskEntry;
    if (this.locks.has(id)) this.dirty.locks.add(id);
    this.dirty.queues = true;
    const workflow = (after ?? before)?.workflow;
    if (workflow !== undefined) this.dirty.workflows.add(workflow.id);
  }

  #factsChanged(): void {
    this.dirty.facts = true;
    this.dirty.nodes = true;
    this.dirty.queues = true;
  }

  #depart(node: NodeEntry): void {
    this.nodes.set(node.record.id, { departedMs: this.#now(), ...node });
    this.dirty.nodes = true;
  }

  /** Everything but tasks; gives back the nodes that were known. */
  #clearSmall(): NodeEntry[] {
    const known = [...this.nodes.values()];
    for (const id of this.locks.keys()) this.dirty.locks.add(id);
    for (const id of this.workflows.keys()) this.dirty.workflows.add(id);
    for (const id of this.schedules.keys()) this.dirty.schedules.add(id);
    for (const id of this.bulks.keys()) this.dirty.bulks.add(id);
    const maps = [
      this.locks,
      this.progress,
      this.nodes,
      this.stats,
      this.queues,
      this.names,
      this.workflows,
      this.schedules,
      this.bulks,
      this.slots,
      this.rates,
      this.unique,
    ];
    for (const map of maps) map.clear();
    this.all = undefined;
    this.leader = undefined;
    this.dropped = 0;
    this.unreadable = 0;
    this.#factsChanged();
    return known;
  }
}

function slotsOf(slots: Map<string, Map<number, string>>, limit: string): Map<number, string> {
  let held = slots.get(limit);
  if (held === undefined) slots.set(limit, (held = new Map()));
  return held;
}
