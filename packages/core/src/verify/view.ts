/**
 * The namespace at one revision and just before it. Rules ask `was` for what a transition was decided on and `get` for what
 * it left. Groups answer in constant time what a range would: the places of a task, the members of a barrier.
 */
import type { KeyValue, KvEvent, Revision } from '../kv/kv.js';
import { decodeLock, decodeRecord, decodeTask } from '../model/codec.js';
import { memberId } from '../model/ids.js';
import type { Keys, ParsedKey } from '../model/keys.js';
import type { WorkflowRecord } from '../model/records.js';
import type { LockRecord, TaskRecord } from '../model/task.js';

/** One key that a revision touched. Several events of one key in a revision are one change. */
export interface Change {
  readonly key: string;
  readonly parsed: ParsedKey;
  readonly before: KeyValue | undefined;
  readonly after: KeyValue | undefined;
}

type ParsedOf<K, P = ParsedKey> = P extends { readonly kind: infer Kinds } ? (K extends Kinds ? P : never) : never;

export type ChangeOf<K extends ParsedKey['kind']> = Change & { readonly parsed: ParsedOf<K> };

export type Group =
  | `places:${string}`
  | `slots:${string}`
  | `barrier:${string}`
  | `chores:${string}`
  | `joins:${string}`
  | `graphs:${string}`
  | `members:${string}`;

const NONE: ReadonlySet<string> = new Set();

export class View {
  readonly keys: Keys;
  #revision: Revision;
  readonly #now = new Map<string, KeyValue>();
  readonly #groups = new Map<Group, Set<string>>();
  #changes = new Map<string, Change>();
  readonly #decoded = new WeakMap<KeyValue, unknown>();

  constructor(keys: Keys, revision: Revision, kvs: readonly KeyValue[]) {
    this.keys = keys;
    this.#revision = revision;
    for (const kv of kvs) this.#set(kv.key, kv);
  }

  get revision(): Revision {
    return this.#revision;
  }

  /** Moves on to a revision. Returns what is of this namespace and changed. */
  advance(revision: Revision, events: readonly KvEvent[]): readonly Change[] {
    this.#revision = revision;
    this.#changes = new Map();
    for (const { type, kv } of events) {
      const parsed = this.keys.parse(kv.key);
      if (parsed === undefined) continue;
      const earlier = this.#changes.get(kv.key);
      const before = earlier === undefined ? this.#now.get(kv.key) : earlier.before;
      const after = type === 'put' ? kv : undefined;
      this.#set(kv.key, after);
      this.#changes.set(kv.key, { key: kv.key, parsed, before, after });
    }
    return [...this.#changes.values()];
  }

  /** At this revision. */
  get(key: string): KeyValue | undefined {
    return this.#now.get(key);
  }

  /** Just before this revision: what all its compares saw. */
  was(key: string): KeyValue | undefined {
    const change = this.#changes.get(key);
    return change === undefined ? this.#now.get(key) : change.before;
  }

  /** What this revision did to a key. */
  change(key: string): Change | undefined {
    return this.#changes.get(key);
  }

  changesOf<K extends ParsedKey['kind']>(kind: K): readonly ChangeOf<K>[] {
    return [...this.#changes.values()].filter((change): change is ChangeOf<K> => change.parsed.kind === kind);
  }

  group(name: Group): ReadonlySet<string> {
    return this.#groups.get(name) ?? NONE;
  }

  /** The group as it was before this revision. */
  groupBefore(name: Group): ReadonlySet<string> {
    const keys = new Set([...this.group(name)].filter((key) => this.was(key) !== undefined));
    for (const { key, parsed, before } of this.#changes.values()) {
      if (before !== undefined && this.#groupsOf(parsed, before).includes(name)) keys.add(key);
    }
    return keys;
  }

  /** Every key there is; for the last look. */
  all(): IterableIterator<KeyValue> {
    return this.#now.values();
  }

  taskOf(kv: KeyValue | undefined): TaskRecord | undefined {
    return this.#decode(kv, decodeTask);
  }

  task(id: string): TaskRecord | undefined {
    return this.taskOf(this.get(this.keys.task(id)));
  }

  wasTask(id: string): TaskRecord | undefined {
    return this.taskOf(this.was(this.keys.task(id)));
  }

  member(workflow: string, index: number): TaskRecord | undefined {
    return this.task(memberId(workflow, index));
  }

  lockOf(kv: KeyValue | undefined): LockRecord | undefined {
    return this.#decode(kv, decodeLock);
  }

  workflowOf(kv: KeyValue | undefined): WorkflowRecord | undefined {
    return this.#decode(kv, (text) => decodeRecord<WorkflowRecord>(text, 'workflow'));
  }

  recordOf<T extends object>(kv: KeyValue | undefined): T | undefined {
    return this.#decode(kv, (text) => decodeRecord<T>(text, 'record'));
  }

  #decode<T>(kv: KeyValue | undefined, decode: (text: string) => T): T | undefined {
    if (kv === undefined) return undefined;
    const known = this.#decoded.get(kv) as T | undefined;
    if (known !== undefined) return known;
    const fresh = decode(kv.value);
    this.#decoded.set(kv, fresh);
    return fresh;
  }

  #set(key: string, kv: KeyValue | undefined): void {
    const parsed = this.keys.parse(key);
    if (parsed === undefined) return;
    const old = this.#now.get(key);
    if (old !== undefined) for (const group of this.#groupsOf(parsed, old)) this.#leave(group, key);
    if (kv === undefined) {
      this.#now.delete(key);
      return;
    }
    this.#now.set(key, kv);
    for (const group of this.#groupsOf(parsed, kv)) this.#join(group, key);
  }

  #join(group: Group, key: string): void {
    const keys = this.#groups.get(group);
    if (keys === undefined) this.#groups.set(group, new Set([key]));
    else keys.add(key);
  }

  #leave(group: Group, key: string): void {
    const keys = this.#groups.get(group);
    keys?.delete(key);
    if (keys?.size === 0) this.#groups.delete(group);
  }

  #groupsOf(parsed: ParsedKey, kv: KeyValue): readonly Group[] {
    switch (parsed.kind) {
      case 'ready':
      case 'due':
      case 'deadlines':
      case 'ended':
        return [`places:${parsed.id}`];
      case 'unique':
        return [`places:${kv.value}`];
      case 'slots':
        return [`slots:${kv.value}`];
      case 'barriers':
        return [`barrier:${parsed.id}/${parsed.join}`];
      case 'chores':
      case 'joins':
      case 'graphs':
        return [`${parsed.kind}:${parsed.id}`];
      case 'tasks': {
        const workflow = this.taskOf(kv)?.workflow?.id;
        return workflow === undefined ? [] : [`members:${workflow}`];
      }
      default:
        return [];
    }
  }
}
