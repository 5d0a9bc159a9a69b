/**
 * A worker by hand: it reads what is ready, claims, "runs" and settles through the store's functions alone. It is as bad a
 * citizen as the guards have to bear: some claim what is locked, and some never look whether their lease can be trusted.
 */
import { prefixEnd, type KeyValue } from '../../src/kv/kv.js';
import type { AttemptOutcome } from '../../src/model/outcome.js';
import type { Settings, WorkflowRecord } from '../../src/model/records.js';
import { decodeLock, decodeRecord, decodeTask } from '../../src/model/codec.js';
import type { TaskRecord } from '../../src/model/task.js';
import { isPoison } from '../../src/model/transition.js';
import { claim, type Candidate, type Held } from '../../src/store/claim.js';
import { advance } from '../../src/store/drive.js';
import { limitsOf } from '../../src/store/edge.js';
import type { Session } from '../../src/store/session.js';
import { settle, type SettleResult } from '../../src/store/settle.js';
import { found, get } from '../../src/store/store.js';
import { readStray } from '../../src/store/strays.js';
import type { Process } from './process.js';
import { sessionOf } from './sessions.js';
import { tolerate, type World } from './world.js';

export async function worker(process: Process, world: World): Promise<void> {
  const lanes = process.random.int(1, 4);
  const careful = process.random.chance(0.5);
  for (;;) {
    const session = await sessionOf(process, process.random.int(2, 6) * 1_000);
    const run = new WorkerRun(process, world, session, careful);
    await Promise.all(Array.from({ length: lanes }, () => run.lane()));
    await session.revoke();
  }
}

class WorkerRun {
  readonly #process: Process;
  readonly #world: World;
  readonly #session: Session;
  readonly #careful: boolean;
  readonly #holding = new Set<string>();
  #fenced = false;

  constructor(process: Process, world: World, session: Session, careful: boolean) {
    this.#process = process;
    this.#world = world;
    this.#session = session;
    this.#careful = careful;
  }

  async lane(): Promise<void> {
    const { random } = this.#process;
    while (this.#goesOn()) {
      const held = await tolerate(() => this.#find());
      if (held === undefined) await this.#process.sleep(random.int(50, 600));
      else await this.#run(held);
    }
  }

  #goesOn(): boolean {
    if (this.#fenced) return false;
    return this.#careful ? this.#session.isTrusted() : this.#session.end !== 'gone';
  }

  /** Looks around, and claims one of what could be claimed. */
  async #find(): Promise<Held | undefined> {
    const { store, random } = this.#process;
    const prefix = store.keys.kind('ready');
    const { kvs } = await store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix), limit: 60, keysOnly: true });
    for (let tries = 0; tries < 3 && kvs.length > 0; tries++) {
      const entry = store.keys.parse(random.pick(kvs).key);
      if (entry?.kind !== 'ready' || this.#holding.has(entry.id)) continue;
      this.#holding.add(entry.id);
      const held = await tolerate(() => this.#take(entry.id));
      if (held !== undefined) return held;
      this.#holding.delete(entry.id);
    }
    return undefined;
  }

  async #take(id: string): Promise<Held | undefined> {
    const { store, random } = this.#process;
    const { keys } = store;
    const first = await store.kv.txn({ compare: [], success: [get(keys.task(id)), get(keys.lock(id))] });
    const record = found(first.results, 0);
    const lock = found(first.results, 1);
    if (record === undefined) return undefined;
    // A claim of its own whose answer never came.
    if (lock?.lease === this.#session.lease && decodeLock(lock.value).node === this.#session.id) {
      return readStray(store, this.#session, id);
    }
    if (lock !== undefined && !random.chance(0.15)) return undefined;
    const task = decodeTask(record.value);
    if ((task.state !== 'PENDING' && task.state !== 'STARTED') || (task.state === 'STARTED' && isPoison(task)))
      return undefined;
    const candidate = await this.#candidate(task, record.modRevision);
    if (candidate === undefined) return undefined;
    const result = await claim(store, this.#session.holder, candidate);
    if (result.kind === 'fenced') this.#fenced = true;
    return result.kind === 'claimed' ? result.held : undefined;
  }

  async #candidate(task: TaskRecord, revision: bigint): Promise<Candidate | undefined> {
    const { store } = this.#process;
    const { keys } = store;
    const settingsKeys = [keys.queue(task.queue), keys.name(task.name), keys.all()];
    const place = task.workflow;
    const workflowKeys = place === undefined ? [] : [keys.workflow(place.id)];
    const { results } = await store.kv.txn({ compare: [], success: [...settingsKeys, ...workflowKeys].map(get) });
    const settings = settingsKeys.map((_, i) => found(results, i));
    if (settings.some((kv) => kv !== undefined && decodeRecord<Settings>(kv.value, 'settings').paused !== undefined)) {
      return undefined;
    }
    const [queue = 0n, name = 0n, all = 0n] = settings.map((kv) => kv?.modRevision ?? 0n);
    const slots = await this.#freeSlots(task);
    if (slots === undefined) return undefined;
    const now = this.#underPresentVersion(task, found(results, settingsKeys.length));
    return { task: now, revision, settings: { queue, name, all }, slots };
  }

  /** A workflow that was reopened goes on under another version; now and then a worker has not heard of it. */
  #underPresentVersion(task: TaskRecord, workflow: KeyValue | undefined): TaskRecord {
    const place = task.workflow;
    if (place === undefined || workflow === undefined || this.#process.random.chance(0.1)) return task;
    const { state } = decodeRecord<WorkflowRecord>(workflow.value, 'workflow');
    return state === 'RUNNING' ? { ...task, workflow: { ...place, version: Number(workflow.version) } } : task;
  }

  async #freeSlots(task: TaskRecord): Promise<Candidate['slots'] | undefined> {
    const { store } = this.#process;
    const slots: { limit: string; n: number }[] = [];
    for (const { limit, max } of limitsOf(task)) {
      const prefix = store.keys.slotsOf(limit);
      const { kvs } = await store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix), keysOnly: true });
      const taken = new Set(kvs.map(({ key }) => key));
      const n = Array.from({ length: max }, (_, i) => i).find((i) => !taken.has(store.keys.slot(limit, i)));
      if (n === undefined) return undefined;
      slots.push({ limit, n });
    }
    return slots;
  }

  async #run(held: Held): Promise<void> {
    const { random, store } = this.#process;
    const { id } = held.task;
    await this.#process.sleep(random.int(0, this.#world.mended ? 50 : 4_000));
    const record = await tolerate(() => store.kv.range({ key: store.keys.task(id) }));
    const asked = record?.kvs[0] !== undefined && decodeTask(record.kvs[0].value).cancelRequested !== undefined;
    const outcome = this.#outcome(held.task, asked && random.chance(0.8));
    for (;;) {
      const result = await tolerate(() => settle(store, this.#session.holder, held, outcome));
      if (result !== undefined) {
        this.#holding.delete(id);
        return this.#settled(result);
      }
      if (!this.#goesOn()) return;
      await this.#process.sleep(random.int(10, 500));
    }
  }

  async #settled(result: SettleResult): Promise<void> {
    const { store, random } = this.#process;
    if (result.kind === 'fenced') this.#fenced = true;
    if (result.kind !== 'settled' || result.drive === undefined || !random.chance(0.85)) return;
    const { drive } = result;
    await tolerate(() => advance(store, { kind: 'node', name: this.#session.id }, drive));
  }

  #outcome(task: TaskRecord, stops: boolean): AttemptOutcome {
    const { random } = this.#process;
    if (stops) return { kind: 'cancelled', reason: 'asked to stop' };
    const atMs = this.#process.clock.now();
    const failure = (final = false): AttemptOutcome => ({
      kind: random.chance(0.2) ? 'timeout' : 'failure',
      error: { type: 'Error', message: 'did not work', attempt: task.attempt, atMs, ...(final ? { final } : {}) },
    });
    if (task.name === 'bad') return failure();
    if (task.name === 'flaky' && random.chance(0.4)) return failure(random.chance(0.3));
    const odd = this.#world.mended ? 1 : random.next();
    if (odd < 0.05) return { kind: 'snooze', delayMs: random.int(0, 2_000) };
    if (odd < 0.1) return { kind: 'hand-back' };
    const value = 'r'.repeat(random.chance(0.1) ? 1_000 : 4);
    return { kind: 'success', results: [{ type: 'string', value }] };
  }
}
