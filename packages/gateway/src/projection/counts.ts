/** Counters and indexes over task entries: updated with each change, from the entry before and after. */
import { isEnded, TASK_STATES, type TaskState } from '@leasehold/core/model';
import type { ErrorRow } from '@leasehold/wire';
import type { TaskEntry } from './task-entry.js';

/** A count by name that forgets names at zero. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, by: 1 | -1): void {
    const next = (this.#counts.get(name) ?? 0) + by;
    if (next === 0) this.#counts.delete(name);
    else this.#counts.set(name, next);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  get size(): number {
    return this.#counts.size;
  }

  names(): Iterable<string> {
    return this.#counts.keys();
  }

  /** The largest, in order of size and then of name. */
  top(limit: number): readonly (readonly [name: string, count: number])[] {
    return [...this.#counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, limit);
  }

  toRecord(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}

/** Names whose tags, errors and workflows are counted; further ones exist but have no group. */
const GROUP_CAP = 5_000;
const NAMES_SHOWN = 10;

interface ErrorGroup {
  readonly id: string;
  type: string;
  message: string;
  firstMs: number;
  lastMs: number;
  sample: string;
  failing: number;
  count: number;
  readonly names: Tally;
}

export class TaskCounts {
  readonly states = new Tally();
  readonly names = new Tally();
  readonly tags = new Tally();
  /** Running by node; `running` needs a lock, this goes by the record. */
  readonly nodes = new Tally();
  /** Ready tasks by `pairOf` queue and name. */
  readonly pending = new Tally();
  readonly queueStates = new Map<string, Tally>();
  readonly workflowStates = new Map<string, Tally>();
  readonly workflowMembers = new Map<string, Map<number, string>>();
  readonly byState: Readonly<Record<TaskState, Map<string, TaskEntry>>>;
  readonly #errors = new Map<string, ErrorGroup>();
  /** Set when a group changed; whoever renders them clears it. */
  errorsChanged = true;
  /** Groups that were left out because there were too many. */
  dropped = 0;

  constructor() {
    const maps = TASK_STATES.map((state) => [state, new Map<string, TaskEntry>()]);
    this.byState = Object.fromEntries(maps) as Record<TaskState, Map<string, TaskEntry>>;
  }

  change(before: TaskEntry | undefined, after: TaskEntry | undefined): void {
    if (before !== undefined) this.#count(before, -1);
    if (after !== undefined) this.#count(after, 1);
    if (before !== undefined && after?.state !== before.state) this.#indexOf(before)?.delete(before.id);
    if (after !== undefined) this.#indexOf(after)?.set(after.id, after);
    this.#members(before, after);
    this.#error(before, after);
  }

  /** Kinds of errors that tasks carry now. */
  get errors(): number {
    return this.#errors.size;
  }

  errorRows(): readonly ErrorRow[] {
    return [...this.#errors.values()].map(({ id, type, message, firstMs, lastMs, sample, failing, count, names }) => {
      return {
        id,
        type,
        message,
        firstMs,
        lastMs,
        sample,
        failing,
        count,
        names: names.top(NAMES_SHOWN).map(([name]) => name),
      };
    });
  }

  /** Ended tasks are many and are looked up by nobody: only live ones are indexed by state. */
  #indexOf(entry: TaskEntry): Map<string, TaskEntry> | undefined {
    return isEnded(entry.state) ? undefined : this.byState[entry.state];
  }

  #count(entry: TaskEntry, by: 1 | -1): void {
    this.states.add(entry.state, by);
    this.names.add(entry.name, by);
    tallyOf(this.queueStates, entry.queue).add(entry.state, by);
    if (entry.state === 'PENDING') this.pending.add(pairOf(entry.queue, entry.name), by);
    if (entry.state === 'STARTED' && entry.node !== undefined) this.nodes.add(entry.node, by);
    for (const tag of entry.tags ?? []) {
      if (by < 0 || this.tags.size < GROUP_CAP || this.tags.get(tag) > 0) this.tags.add(tag, by);
    }
    const queue = this.queueStates.get(entry.queue);
    if (queue?.size === 0) this.queueStates.delete(entry.queue);
  }

  #members(before: TaskEntry | undefined, after: TaskEntry | undefined): void {
    if (before?.workflow !== undefined) {
      const tally = tallyOf(this.workflowStates, before.workflow.id);
      tally.add(before.state, -1);
      if (after === undefined) this.workflowMembers.get(before.workflow.id)?.delete(before.workflow.index);
      if (tally.size === 0 && after === undefined) {
        this.workflowStates.delete(before.workflow.id);
        this.workflowMembers.delete(before.workflow.id);
      }
    }
    if (after?.workflow === undefined) return;
    const { id, index } = after.workflow;
    tallyOf(this.workflowStates, id).add(after.state, 1);
    let members = this.workflowMembers.get(id);
    if (members === undefined) this.workflowMembers.set(id, (members = new Map()));
    members.set(index, after.id);
  }

  #error(before: TaskEntry | undefined, after: TaskEntry | undefined): void {
    if (before?.error === undefined && after?.error === undefined) return;
    this.errorsChanged = true;
    if (before?.error !== undefined) this.#leaveError(before, before.error.fingerprint);
    if (after?.error === undefined || after.state === 'CANCELLED') return;
    const { fingerprint, type, message } = after.error;
    const atMs = after.endedMs ?? after.updatedMs;
    let group = this.#errors.get(fingerprint);
    if (group === undefined) {
      if (this.#errors.size >= GROUP_CAP) {
        this.dropped++;
        return;
      }
      group = {
        id: fingerprint,
        type,
        message,
        firstMs: atMs,
        lastMs: atMs,
        sample: after.id,
        failing: 0,
        count: 0,
        names: new Tally(),
      };
      this.#errors.set(fingerprint, group);
    }
    group.count++;
    if (after.state === 'FAILURE') group.failing++;
    group.names.add(after.name, 1);
    group.firstMs = Math.min(group.firstMs, atMs);
    if (atMs >= group.lastMs) Object.assign(group, { lastMs: atMs, sample: after.id, message });
  }

  #leaveError(before: TaskEntry, fingerprint: string): void {
    const group = this.#errors.get(fingerprint);
    if (group === undefined || before.state === 'CANCELLED') return;
    group.count--;
    if (before.state === 'FAILURE') group.failing--;
    group.names.add(before.name, -1);
    if (group.count <= 0) this.#errors.delete(fingerprint);
  }
}

/** Names are texts without line ends; the first one separates. */
function pairOf(queue: string, name: string): string {
  return `${queue}\n${name}`;
}

export function splitPair(pair: string): readonly [queue: string, name: string] {
  const at = pair.indexOf('\n');
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function tallyOf(tallies: Map<string, Tally>, name: string): Tally {
  let tally = tallies.get(name);
  if (tally === undefined) tallies.set(name, (tally = new Tally()));
  return tally;
}
