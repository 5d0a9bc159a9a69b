import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/runtime/index.js';
import { Membership } from '../../src/store/membership.js';
import { loopRenewer } from '../../src/store/renewer.js';
import type { Held } from '../../src/store/claim.js';
import { submitTask } from '../../src/store/submit.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { Claimer, type EntrySource, type Lane } from '../../src/worker/claimer.js';
import type { Entry } from '../../src/worker/window.js';
import { CLIENT, memoryWorld, openHolder } from '../store/plain-worker.js';
import { memoryRig } from '../store/stores.js';
import { handling, submit, taskOf, worker } from './rig.js';

/** Found by chaos: an old entry for a task that ran here met the lock of that very run, and took it for its own claim's. */
describe('an attempt', () => {
  it('is run once, although an old entry asks for it again while it runs', async () => {
    const { store } = memoryWorld();
    const holder = await openHolder(store, 'n1');
    const { id } = await submitTask(store, CLIENT, normalizeSignature({ name: 't', args: [] }, {}, store.now()));
    const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
    const task = await taskOf(store, id);
    const running = new Set<string>();
    const begun: Held[] = [];
    const nothing = { settings: {}, revision: 0n };
    const lane = {
      queue: 'default',
      concurrency: 5,
      weight: 1,
      active: 0,
      turns: 0,
      intake: { window: { unpark: () => undefined }, take: () => undefined, replenish: () => undefined },
    } as unknown as Lane;
    const told: string[] = [];
    let tell = (): void => undefined;
    const source: EntrySource = {
      held: () => (told.push('held'), tell()),
      again: () => (told.push('again'), tell()),
      park: () => (told.push('parked'), tell()),
    };
    const claimer = new Claimer({
      store,
      logger: silentLogger,
      clock: { sleep: () => Promise.resolve() },
      settings: {
        all: () => nothing,
        queue: () => nothing,
        name: () => nothing,
        seen: () => ({ queue: 0n, name: 0n, all: 0n }),
      },
      limits: {
        reserve: () => ({ kind: 'reserved', slots: [] }),
        release: () => undefined,
        takeFreed: () => new Map(),
      },
      rates: { usedUp: () => undefined, take: () => [], release: () => undefined, takeFreed: () => new Map() },
      lanes: [lane],
      concurrency: 5,
      session: () => undefined,
      owned: (one: string) => running.has(one),
      run: (_session: unknown, held: Held) => {
        begun.push(held);
        running.add(held.task.id);
        return new Promise(() => undefined);
      },
    } as never);
    const session = { holder, check: () => Promise.resolve() } as never;
    const old = (): Entry => ({
      key: '',
      shard: 0,
      order: task.order ?? 0,
      priority: 0,
      created: 0n,
      id,
      revision: kv?.modRevision ?? 0n,
      ready: { name: 't' } as Entry['ready'],
      seen: { task, revision: kv?.modRevision ?? 0n },
      place: 'taken',
      reason: '',
      renewed: false,
    });
    for (let n = 1; n <= 2; n++) {
      const answered = new Promise<void>((resolve) => (tell = resolve));
      claimer.tryClaim(session, lane, old(), source);
      await answered;
    }
    expect(told).toEqual(['held', 'held']);
    expect(begun.map((held) => held.task.attempt)).toEqual([1]);
  });

  it('is run once by two workers of one process, which share a session and a queue', async () => {
    const rig = memoryRig();
    const { store } = rig.process();
    const membership = new Membership({ store, clock: rig.clock, logger: silentLogger, renewer: loopRenewer });
    await membership.start();
    const runs = new Map<string, number>();
    const run = ({ id }: { readonly id: string }): void => void runs.set(id, (runs.get(id) ?? 0) + 1);
    const workers = [1, 2].map(() =>
      worker(store, rig.clock, { handlers: [handling('t', run)], membership, concurrency: 20 }),
    );
    for (const one of workers) await one.start();
    await rig.advance(500);
    const ids = await Promise.all(Array.from({ length: 300 }, () => submit(store, 't')));
    await rig.advance(20_000);
    for (const id of ids) expect((await taskOf(store, id)).state).toBe('SUCCESS');
    expect([...runs.values()].filter((count) => count !== 1)).toEqual([]);
    expect(runs.size).toBe(300);
    await Promise.all(workers.map((one) => one.stop()));
    await membership.stop();
  });
});
