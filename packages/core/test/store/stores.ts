import type {} from '../../../tooling/vitest/provided.d.ts';
import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { connectEtcd, MemoryStore, type Kv, type MemoryConnection } from '../../src/kv/index.js';
import { idGenerator } from '../../src/model/ids.js';
import { Keys } from '../../src/model/keys.js';
import { LIMITS } from '../../src/model/signature.js';
import { FakeClock, systemClock, type Clock } from '../../src/runtime/index.js';
import { Committer, type NodeDescription, type Store } from '../../src/store/index.js';

/** A node that serves nothing, for tests of sessions. */
export const NODE: NodeDescription = {
  host: 'here',
  pid: 1,
  version: '0',
  queues: [],
  handlers: [],
  labels: {},
  draining: false,
  candidate: false,
  layout: 1,
};

/** A store in a namespace of its own. */
export function storeOn(kv: Kv, clock: Clock = systemClock, namespace = `test-${uuidv7()}`): Store {
  const next = idGenerator((count) => randomBytes(count));
  return {
    kv,
    keys: new Keys(namespace),
    committer: new Committer(kv, { sleep: (ms) => clock.sleep(ms), now: () => clock.monotonic() }),
    now: () => clock.now(),
    random: Math.random,
    newId: () => next(clock.now()),
    limits: { payloadBytes: LIMITS.payloadBytes, workflowTasks: LIMITS.workflowTasks },
  };
}

export interface MemoryRig {
  readonly clock: FakeClock;
  readonly memory: MemoryStore;
  /** Another process's handle on the same keys, with its own network. */
  process(): { readonly store: Store; readonly kv: MemoryConnection };
  /** Time passes, and leases end, as in etcd, within half a second of their time. */
  advance(ms: number): Promise<void>;
}

export function memoryRig(): MemoryRig {
  const clock = new FakeClock();
  const memory = new MemoryStore({ now: () => clock.monotonic(), schedule: clock.schedule });
  const namespace = `test-${uuidv7()}`;
  return {
    clock,
    memory,
    process: () => {
      const kv = memory.connect();
      return { store: storeOn(kv, clock, namespace), kv };
    },
    advance: async (ms) => {
      for (let left = ms; left > 0; left -= 250) {
        await clock.advance(Math.min(left, 250));
        memory.tick();
      }
      await clock.settle();
    },
  };
}

export function etcdStore(endpoint: string, namespace?: string): { store: Store; kv: Kv } {
  const kv = connectEtcd({ endpoints: [endpoint] });
  return { kv, store: storeOn(kv, systemClock, namespace) };
}

/** Resolves as soon as `done`, which is asked again and again; fails, saying what was awaited, after `limitMs`. */
export async function until(what: string, done: () => boolean | Promise<boolean>, limitMs = 15_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await done())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
