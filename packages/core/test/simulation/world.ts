/** The simulated world: one store, its processes, the checker that reads the store's history, and what must come of it all. */
import { MemoryStore } from '../../src/kv/index.js';
import { MemoryConnection } from '../../src/kv/memory-connection.js';
import { KvError, prefixEnd, type KvEvent } from '../../src/kv/kv.js';
import { isLeaseholdError, type ErrorCode } from '../../src/model/errors.js';
import { Keys } from '../../src/model/keys.js';
import type { ScheduleRecord } from '../../src/model/records.js';
import { byRevision, Checker, type Acknowledged, type Violation } from '../../src/verify/index.js';
import type { View } from '../../src/verify/view.js';
import type { Plan } from './plan.js';
import type { FaultKind } from './network.js';
import { Process, type ProcessOptions } from './process.js';
import { Random } from './random.js';
import { Scheduler } from './scheduler.js';

export const NAMESPACE = 'sim';

/** etcd ends a lease up to half a second after its time. */
const LATEST_END_MS = 500;

export type Failure =
  | { readonly kind: 'violation'; readonly violations: readonly Violation[] }
  | { readonly kind: 'error'; readonly error: unknown; readonly process: string }
  | { readonly kind: 'stuck'; readonly left: readonly Violation[]; readonly waiting: readonly string[] };

export class World {
  readonly plan: Plan;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly memory: MemoryStore;
  readonly keys = new Keys(NAMESPACE);
  readonly checker = new Checker({ namespace: NAMESPACE });
  readonly processes: Process[] = [];
  readonly acknowledged: Acknowledged[] = [];
  /** Submissions that are not answered yet. */
  readonly open = new Set<string>();
  failure: Failure | undefined;
  /** Told of each revision after it was checked. */
  onRevision: ((view: View) => void) | undefined;
  /** No more faults: everything has to come to an end. */
  mended = false;
  readonly #alter: ProcessOptions['alter'];
  readonly #unread: (() => void)[] = [];
  #tickAt: number | undefined;

  constructor(plan: Plan, alter?: ProcessOptions['alter']) {
    this.plan = plan;
    this.random = new Random(`world/${plan.seed}`);
    this.scheduler = new Scheduler(this.random.fork('order'));
    this.memory = new MemoryStore({ now: () => this.scheduler.nowMs, schedule: this.scheduler.schedule });
    this.#alter = alter;
    this.#observe();
  }

  isFaulty(kind: FaultKind): boolean {
    return !this.mended && this.plan.faults.has(kind);
  }

  /** A process of a role; a crashed one is followed by another. */
  start(role: string, main: (process: Process, world: World) => Promise<void>): void {
    const number = this.processes.filter((process) => process.role === role).length;
    const process = new Process(this, { role, name: `${role}-${number}`, alter: this.#alter });
    this.processes.push(process);
    process.restart = () => this.start(role, main);
    main(process, this).catch((error: unknown) => this.#failed(process, error));
  }

  get running(): readonly Process[] {
    return this.processes.filter((process) => !process.owner.dead);
  }

  /** One step, its revisions checked. False when the simulation is over. */
  async step(): Promise<boolean> {
    this.#endLeases();
    const more = await this.scheduler.step();
    for (let read = this.#unread.shift(); read !== undefined; read = this.#unread.shift()) read();
    return more && this.failure === undefined;
  }

  /** Whether nothing is left to be done. */
  isQuiet(): boolean {
    return this.open.size === 0 && this.#schedulesDone() && this.checker.leftovers().length === 0;
  }

  finish(): void {
    const found = this.checker.finish({ acknowledged: this.acknowledged, quiet: true });
    if (found.length > 0) this.failure ??= { kind: 'violation', violations: found };
  }

  stuck(): void {
    this.failure ??= { kind: 'stuck', left: this.checker.leftovers(), waiting: [...this.open] };
  }

  #schedulesDone(): boolean {
    for (const kv of this.checker.view.all()) {
      if (!kv.key.startsWith(this.keys.kind('schedules'))) continue;
      const schedule = this.checker.view.recordOf<ScheduleRecord>(kv);
      if (schedule?.nextMs !== undefined || schedule?.submitting !== undefined) return false;
      const queued = schedule?.queuedMs !== undefined && schedule.fired < (schedule.count ?? Infinity);
      if (queued) return false;
    }
    return true;
  }

  #failed(process: Process, error: unknown): void {
    if (!process.owner.dead) this.failure ??= { kind: 'error', error, process: process.name };
  }

  /** The checker's own watch; it is served after every step and takes no part in the order of things. */
  #observe(): void {
    const schedule = (run: () => void): void => void this.#unread.push(run);
    const { memory } = this;
    const shared = new Proxy(memory, {
      get: (target, name) => {
        if (name === 'schedule') return schedule;
        const member = Reflect.get(target, name, target) as unknown;
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    const watch = { key: this.keys.prefix, rangeEnd: prefixEnd(this.keys.prefix), startRevision: 1n, prevKv: true };
    new MemoryConnection(shared, { name: 'observer' }).watch(watch, (message) => {
      if (message.kind === 'events') this.#check(message.events);
    });
  }

  #check(events: readonly KvEvent[]): void {
    for (const revision of byRevision(events)) {
      const found = this.checker.apply(revision);
      this.onRevision?.(this.checker.view);
      if (found.length > 0) this.failure ??= { kind: 'violation', violations: found };
    }
  }

  #endLeases(): void {
    const next = this.memory.nextExpiryMs();
    if (next === undefined) return;
    if (this.#tickAt === undefined || this.#tickAt <= this.scheduler.nowMs || next < this.#tickAt - LATEST_END_MS) {
      const atMs = Math.max(next, this.scheduler.nowMs) + this.random.int(0, LATEST_END_MS);
      this.#tickAt = atMs;
      this.scheduler.setTimer(undefined, atMs - this.scheduler.nowMs, () => void this.memory.tick());
    }
  }
}

/** Failures that a process has to live with. */
const USUAL_KV: readonly string[] = ['unavailable', 'timeout', 'closed', 'lease-not-found', 'compacted', 'no-space'];
const USUAL: readonly ErrorCode[] = [
  'wrong-state',
  'conflict',
  'not-found',
  'unique-conflict',
  'session-lost',
  'unavailable',
  'timeout',
  'closed',
];

/** Undefined when it failed in a way that happens; anything else is a fault of the product. */
export async function tolerate<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof KvError && USUAL_KV.includes(error.code)) return undefined;
    if (isLeaseholdError(error) && USUAL.includes(error.code)) return undefined;
    throw error;
  }
}
