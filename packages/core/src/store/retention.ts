/**
 * Retention: what has ended is deleted by age, number and size, in small guarded steps.
 *
 * T1  A record is deleted only as it was seen: a retry changes it, and wins. Nothing is deleted within ten minutes of its
 *     end, nothing that is pinned, and no member of a workflow that is still there.
 * T2  A workflow goes as a whole, when it is past itself. Its record goes first, in one transaction with its source: from
 *     then on it cannot be reopened, and its members are tasks without a workflow that this or any later pass deletes.
 * T3  An entry of the ended index that its record does not imply (I1) is removed.
 */
import { prefixEnd, type Compare, type KeyValue, type Op } from '../kv/kv.js';
import { decodeRecord, decodeTask } from '../model/codec.js';
import { memberId } from '../model/ids.js';
import { utf8Length } from '../model/json.js';
import { placesOf, uniqueUntilMs } from '../model/places.js';
import type { WorkflowRecord } from '../model/records.js';
import { cutoffsByAge, cutoffsOf, type Cutoffs, type Kept, type RetentionPolicy } from '../model/retention.js';
import { ENDED_STATES, isEnded, isWorkflowEnded, type EndedState } from '../model/state.js';
import type { TaskRecord } from '../model/task.js';
import { LEADER_CALL, type Leadership } from './leadership.js';
import { pages, readKeys, type Span } from './pages.js';
import { absent, del, modIs, type Store } from './store.js';
import { answered } from './submit.js';
import { deleteSpan } from './sweep.js';

export interface Retained {
  readonly deletedTasks: number;
  readonly deletedWorkflows: number;
  readonly strays: number;
}

const PAGE = 500;

/** Deletes what is past. @throws LeaseholdError `session-lost` when this leader's term is over. */
export async function deletePast(
  store: Store,
  leader: Leadership,
  cutoffs: Cutoffs,
  signal?: AbortSignal,
): Promise<Retained> {
  const pass = new Pass(store, leader, cutoffs);
  const last = Math.max(...Object.values(cutoffs));
  const span = { key: store.keys.kind('ended'), rangeEnd: store.keys.endedUntil(Math.max(0, last)) };
  for await (const page of pages(store, span, { limit: PAGE })) {
    await pass.page(page);
    if (signal?.aborted === true) break;
  }
  return pass.result();
}

interface EndedEntry {
  readonly key: string;
  readonly id: string;
}

class Pass {
  readonly #store: Store;
  readonly #leader: Leadership;
  readonly #cutoffs: Cutoffs;
  readonly #pinned = new Map<string, boolean>();
  /** Workflows met in this pass: whether their members may go. */
  readonly #workflows = new Map<string, boolean>();
  #tasks = 0;
  #retired = 0;
  #strays = 0;

  constructor(store: Store, leader: Leadership, cutoffs: Cutoffs) {
    this.#store = store;
    this.#leader = leader;
    this.#cutoffs = cutoffs;
  }

  result(): Retained {
    return { deletedTasks: this.#tasks, deletedWorkflows: this.#retired, strays: this.#strays };
  }

  async page(page: readonly KeyValue[]): Promise<void> {
    const { keys } = this.#store;
    const entries = page.flatMap((kv): EndedEntry[] => {
      const parsed = keys.parse(kv.key);
      const cutoff = this.#cutoffs[kv.value as EndedState] ?? 0;
      return parsed?.kind === 'ended' && parsed.timeMs <= cutoff ? [{ key: kv.key, id: parsed.id }] : [];
    });
    const records = await readKeys(
      this.#store,
      entries.map(({ id }) => keys.task(id)),
    );
    await this.#readPins(entries.map(({ id }) => id));
    const tasks = records.map(readable);
    await this.#readWorkflows(tasks);
    await Promise.all(entries.map((entry, i) => this.#entry(entry, records[i], tasks[i])));
  }

  async #readPins(ids: readonly string[]): Promise<void> {
    const fresh = ids.filter((id) => !this.#pinned.has(id));
    const pins = await readKeys(
      this.#store,
      fresh.map((id) => this.#store.keys.pin(id)),
      { keysOnly: true },
    );
    fresh.forEach((id, i) => this.#pinned.set(id, pins[i] !== undefined));
  }

  async #readWorkflows(tasks: readonly (TaskRecord | undefined)[]): Promise<void> {
    const ids = [...new Set(tasks.flatMap((task) => (task?.workflow === undefined ? [] : [task.workflow.id])))];
    const fresh = ids.filter((id) => !this.#workflows.has(id));
    await this.#readPins(fresh);
    const kvs = await readKeys(
      this.#store,
      fresh.map((id) => this.#store.keys.workflow(id)),
    );
    for (const [i, id] of fresh.entries()) this.#workflows.set(id, await this.#maybeRetire(id, kvs[i]));
  }

  /** True when the workflow is not there any more, so that its members may go. */
  async #maybeRetire(id: string, kv: KeyValue | undefined): Promise<boolean> {
    if (kv === undefined) return true;
    const record = decodeRecord<WorkflowRecord>(kv.value, 'workflow');
    const past =
      isWorkflowEnded(record.state) && (record.endedMs ?? Infinity) <= (this.#cutoffs[record.state as EndedState] ?? 0);
    if (!past || this.#pinned.get(id) === true) return false;
    return this.#retire(id, kv, record);
  }

  async #retire(id: string, kv: KeyValue, record: WorkflowRecord): Promise<boolean> {
    const { keys } = this.#store;
    const guard = [modIs(kv.key, kv.modRevision)];
    for (const prefix of [keys.failures(id), keys.joins(id), keys.barriers(id), keys.chores(id)]) {
      await deleteSpan(this.#store, this.#leader, spanOf(prefix), guard);
    }
    const graphs = keys.graphs(id);
    const result = await answered(this.#store, this.#leader.fence, LEADER_CALL, {
      compare: guard,
      success: [del(kv.key), { kind: 'delete', key: graphs, rangeEnd: prefixEnd(graphs) }],
    });
    if (!result.succeeded && !result.resent) return false;
    this.#retired++;
    for (let from = 0; from < record.tasks; from += PAGE)
      await this.#members(id, from, Math.min(record.tasks, from + PAGE));
    return true;
  }

  async #members(id: string, from: number, to: number): Promise<void> {
    const { keys } = this.#store;
    const ids = Array.from({ length: to - from }, (_, n) => memberId(id, from + n));
    await this.#readPins(ids);
    const kvs = await readKeys(
      this.#store,
      ids.map((member) => keys.task(member)),
    );
    const deleting = kvs.map(async (kv) => {
      const task = readable(kv);
      if (kv === undefined || task === undefined || !isEnded(task.state)) return;
      if (this.#pinned.get(task.id) !== true)
        await this.#deleteTask(task.id, kv.modRevision, keys.ended(task.endedMs ?? 0, task.id));
    });
    await Promise.all(deleting);
  }

  async #entry({ key, id }: EndedEntry, kv: KeyValue | undefined, task: TaskRecord | undefined): Promise<void> {
    const { keys } = this.#store;
    if (kv === undefined) return this.#deleteTask(id, 0n, key);
    if (task === undefined) return;
    if (!placesOf(keys, task, () => '').has(key)) return this.#deleteStray(id, kv.modRevision, key);
    if (this.#pinned.get(id) === true) return;
    if (task.workflow !== undefined && this.#workflows.get(task.workflow.id) !== true) return;
    const heldUntilMs = uniqueUntilMs(task);
    if (heldUntilMs === undefined) return this.#deleteTask(id, kv.modRevision, key);
    // Its record says whose the unique key is, until the expirer has freed it.
    if (heldUntilMs <= this.#store.now())
      await this.#deleteTask(id, kv.modRevision, key, [absent(keys.deadline(heldUntilMs, id))]);
  }

  async #deleteStray(id: string, revision: bigint, key: string): Promise<void> {
    const compare = [modIs(this.#store.keys.task(id), revision)];
    const result = await answered(this.#store, this.#leader.fence, LEADER_CALL, { compare, success: [del(key)] });
    if (result.succeeded) this.#strays++;
  }

  /** A task and everything that is only there because of it. Its logs and results are few and bounded. */
  async #deleteTask(id: string, revision: bigint, entry: string, guards: readonly Compare[] = []): Promise<void> {
    const { keys } = this.#store;
    const ranges = [keys.results(id), keys.logs(id)];
    const success: Op[] = [
      del(keys.task(id)),
      del(keys.args(id)),
      del(keys.progress(id)),
      del(entry),
      ...ranges.map((key): Op => ({ kind: 'delete', key, rangeEnd: prefixEnd(key) })),
    ];
    const compare = [modIs(keys.task(id), revision), ...guards];
    const result = await answered(this.#store, this.#leader.fence, LEADER_CALL, { compare, success });
    if (!result.succeeded) return;
    if (revision === 0n) this.#strays++;
    else this.#tasks++;
  }
}

/** A record of a newer layout is left to those who can read it. */
function readable(kv: KeyValue | undefined): TaskRecord | undefined {
  try {
    return kv === undefined ? undefined : decodeTask(kv.value);
  } catch {
    return undefined;
  }
}

function spanOf(prefix: string): Span {
  return { key: prefix, rangeEnd: prefixEnd(prefix) };
}

const COUNT_PAGE = 5_000;
const SAMPLES = 200;

/**
 * Cutoffs by age alone are cheap. With `count` everything in the ended index is counted, and sizes are measured on a
 * random sample of each state.
 */
export async function findCutoffs(
  store: Store,
  policy: RetentionPolicy,
  options: { readonly count: boolean; readonly signal?: AbortSignal },
): Promise<Cutoffs> {
  if (!options.count) return cutoffsByAge(policy, store.now());
  const samples = Object.fromEntries(ENDED_STATES.map((state) => [state, new Sample(store.random)])) as Record<
    EndedState,
    Sample
  >;
  for await (const page of pages(store, spanOf(store.keys.kind('ended')), { limit: COUNT_PAGE })) {
    for (const kv of page) {
      const parsed = store.keys.parse(kv.key);
      if (parsed?.kind === 'ended') samples[kv.value as EndedState]?.add(parsed.timeMs, parsed.id);
    }
    if (options.signal?.aborted === true) return cutoffsByAge(policy, store.now());
  }
  const kept = await Promise.all(
    ENDED_STATES.map(async (state) => [state, await measured(store, samples[state])] as const),
  );
  return cutoffsOf(policy, Object.fromEntries(kept) as Record<EndedState, Kept>, store.now());
}

async function measured(store: Store, { times, ids }: Sample): Promise<Kept> {
  if (ids.length === 0) return { times, meanBytes: 0 };
  const sizes = await Promise.all(ids.map((id) => taskBytes(store, id)));
  return { times, meanBytes: sizes.reduce((sum, size) => sum + size, 0) / sizes.length };
}

/** All times, and some ids, each as likely as any other. */
class Sample {
  readonly times: number[] = [];
  readonly ids: string[] = [];
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  add(timeMs: number, id: string): void {
    this.times.push(timeMs);
    if (this.ids.length < SAMPLES) {
      this.ids.push(id);
      return;
    }
    const place = Math.floor(this.#random() * this.times.length);
    if (place < SAMPLES) this.ids[place] = id;
  }
}

/** Bytes that go when a task is deleted. */
async function taskBytes(store: Store, id: string): Promise<number> {
  const { keys } = store;
  const single = [keys.task(id), keys.args(id), keys.progress(id)].map((key): Op => ({ kind: 'range', key }));
  const ranges = [keys.results(id), keys.logs(id)].map((key): Op => ({ kind: 'range', key, rangeEnd: prefixEnd(key) }));
  const { results } = await store.kv.txn({ compare: [], success: [...single, ...ranges] });
  const kvs = results.flatMap((result) => (result.kind === 'range' ? result.kvs : []));
  return kvs.reduce((sum, kv) => sum + kv.key.length + utf8Length(kv.value), 0);
}
