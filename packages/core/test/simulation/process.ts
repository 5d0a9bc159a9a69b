/** One simulated process: its connection, store, clock and randomness. It can crash, freeze, and have its clock set. */
import type { MemoryConnection } from '../../src/kv/index.js';
import { Committer } from '../../src/store/commit.js';
import type { Store } from '../../src/store/store.js';
import { sleepOn, type Clock, type Timer } from '../../src/runtime/clock.js';
import { faulty, SimKv, type Alter } from './network.js';
import type { Random } from './random.js';
import type { Owner } from './scheduler.js';
import { START_MS } from './plan.js';
import type { World } from './world.js';

export interface ProcessOptions {
  readonly role: string;
  readonly name: string;
  /** Breaks what this process sends. Made anew for each process. */
  readonly alter?: (() => Alter) | undefined;
}

export class Process {
  readonly role: string;
  readonly name: string;
  readonly owner: Owner = { frozen: false, dead: false };
  readonly random: Random;
  readonly clock: Clock;
  readonly store: Store;
  restart: () => void = () => undefined;
  /** Wall clock minus true time. */
  skewMs = 0;
  readonly #world: World;
  readonly #connection: MemoryConnection;

  constructor(world: World, { role, name, alter }: ProcessOptions) {
    this.role = role;
    this.name = name;
    this.#world = world;
    this.random = world.random.fork(name);
    this.clock = new ProcessClock(world, this);
    const intercept = faulty(this.random.fork('network'), (kind) => world.isFaulty(kind));
    this.#connection = world.memory.connect({ name, intercept });
    const kv = new SimKv(this.#connection, world.scheduler, this.owner, alter?.());
    let ids = 0;
    this.store = {
      kv,
      keys: world.keys,
      committer: new Committer(kv, {
        sleep: (ms) => this.clock.sleep(ms),
        now: () => this.clock.monotonic(),
        inFlight: this.random.int(1, 2),
        batch: this.random.pick([1, 4, 64]),
      }),
      now: () => this.clock.now(),
      random: () => this.random.next(),
      newId: () => `${name}-${++ids}`,
      limits: { payloadBytes: 262_144, workflowTasks: 10_000 },
    };
  }

  sleep(ms: number): Promise<void> {
    return this.clock.sleep(ms);
  }

  /** Gone: nothing of it runs any more. What it has sent may arrive or be lost. */
  crash(): void {
    this.owner.dead = true;
    if (this.random.chance(0.5)) this.#connection.disconnect('refuse');
  }

  freeze(): void {
    this.owner.frozen = true;
  }

  thaw(): void {
    if (this.owner.frozen) this.#world.scheduler.thaw(this.owner);
  }
}

class ProcessClock implements Clock {
  readonly #world: World;
  readonly #process: Process;

  constructor(world: World, process: Process) {
    this.#world = world;
    this.#process = process;
  }

  now(): number {
    return START_MS + this.#world.scheduler.nowMs + this.#process.skewMs;
  }

  monotonic(): number {
    return this.#world.scheduler.nowMs;
  }

  setTimer(ms: number, run: () => void): Timer {
    return this.#world.scheduler.setTimer(this.#process.owner, ms, run);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }
}
