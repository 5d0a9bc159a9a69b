/** Leaders on the memory twin with a fake clock: each is a process of its own with a lease that it renews until it dies. */
import { MemoryStore, type MemoryConnection } from '../../src/kv/index.js';
import { Leader, type LeaderOptions } from '../../src/leader/index.js';
import { FakeClock, silentLogger } from '../../src/runtime/index.js';
import type { Holder } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { makeStore, openHolder } from '../store/plain-worker.js';

export interface Node {
  readonly leader: Leader;
  readonly store: Store;
  readonly kv: MemoryConnection;
  readonly holder: Holder;
  /** Its lease ends and it learns of it at once. */
  die(): Promise<void>;
  /** Its lease ends and it learns of nothing: a paused process. `wakeUp` ends its session, as the trust window would. */
  pause(): void;
  wakeUp(): void;
}

export interface World {
  readonly clock: FakeClock;
  readonly memory: MemoryStore;
  /** A client's store. */
  readonly store: Store;
  addNode(name: string, options?: Partial<LeaderOptions>): Promise<Node>;
  /** Makes time pass until it holds. */
  until(done: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  close(): Promise<void>;
}

export function makeWorld(): World {
  const clock = new FakeClock();
  const memory = new MemoryStore({ now: () => clock.monotonic(), schedule: clock.schedule });
  const connect = (name: string): { kv: MemoryConnection; store: Store } => {
    const kv = memory.connect({ name });
    const store = makeStore(kv, {
      get nowMs() {
        return clock.now();
      },
    });
    return { kv, store: { ...store, newId: () => `${name}-${store.newId()}` } };
  };
  const nodes: Node[] = [];
  return {
    clock,
    memory,
    store: connect('client').store,
    async addNode(name, options = {}) {
      const { kv, store } = connect(name);
      const holder = await openHolder(store, name, 3_600);
      const session = new AbortController();
      const leader = new Leader({
        store,
        clock,
        logger: silentLogger,
        session: { holder, signal: session.signal },
        ...options,
      });
      await leader.start();
      const node: Node = {
        leader,
        store,
        kv,
        holder,
        die: async () => {
          session.abort();
          await leader.stop();
          memory.revoke(holder.lease);
        },
        pause: () => {
          kv.disconnect('blackhole');
          memory.revoke(holder.lease);
        },
        wakeUp: () => {
          kv.heal();
          session.abort();
        },
      };
      nodes.push(node);
      return node;
    },
    async until(done, limitMs = 60_000) {
      await clock.settle();
      for (let passed = 0; !(await done()); passed += 50) {
        if (passed >= limitMs) throw new Error(`not reached within ${limitMs} ms of fake time`);
        await clock.advance(50);
      }
    },
    async close() {
      await Promise.all(nodes.map(({ leader }) => leader.stop()));
    },
  };
}
