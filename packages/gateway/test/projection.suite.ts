import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import {
  applyChange,
  DEFAULT_TASK_ORDER,
  type AnyRow,
  type LiveQuery,
  type LiveView,
  type TaskFilter,
  type TaskSort,
  type ViewName,
} from '@leasehold/wire';
import type { Held, Holder } from '@leasehold/core/store';
import { cancelTask, forceRelease, pause, retryTask } from '@leasehold/core/store';
import { createGateway, type Gateway } from '../src/index.js';
import { systemClock } from '@leasehold/core';
import { Subscription } from '../src/live/subscription.js';
import { ACTOR, openWorld, text, type Target, type World } from './world.js';

/** A small generator, so that a failing run can be repeated by its seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const VIEWS: readonly ViewName[] = ['nodes', 'locks', 'queues', 'workflows', 'errors', 'schedules', 'bulks'];

/** Everything the board shows, apart from measured countdowns and its own latencies, which a newcomer has not seen. */
function picture(gateway: Gateway): unknown {
  const { board } = gateway;
  board.refresh();
  const tasksQuery: LiveQuery = {
    view: 'tasks',
    filter: {},
    order: DEFAULT_TASK_ORDER,
    window: { offset: 0, limit: 500 },
  };
  const rowsOf = (query: LiveQuery) => {
    const followed = board.views.follow(query);
    const rows = followed.list.slice(0, 10_000).map(({ id }) => followed.row(id));
    followed.release();
    return JSON.parse(JSON.stringify(rows, (key, value: unknown) => (OWN.has(key) ? undefined : value))) as unknown;
  };
  const small = VIEWS.map((view) => [
    view,
    rowsOf({ view, filter: {}, window: { offset: 0, limit: 500 } } as LiveQuery),
  ]);
  const departed = ((small[0]?.[1] ?? []) as { departedMs?: number }[]).filter((node) => node.departedMs === undefined);
  const { counts } = board.state;
  return {
    tasks: rowsOf(tasksQuery),
    small: [['nodes', departed], ...small.slice(1)],
    states: counts.states.toRecord(),
    names: counts.names.toRecord(),
    tags: counts.tags.toRecord(),
    pending: [...counts.byState.PENDING.keys()].sort(),
  };
}
const OWN = new Set(['lease', 'wait', 'run', 'why', 'sample', 'firstMs', 'lastMs', 'message', 'fingerprint']);

const task = (order: { by: TaskSort; desc: boolean }, filter: TaskFilter = {}, offset = 0): LiveQuery => {
  return { view: 'tasks', filter, order, window: { offset, limit: 20 } };
};
const QUERIES: readonly LiveQuery[] = [
  task({ by: 'updated', desc: true }),
  task({ by: 'created', desc: true }, { state: ['PENDING', 'STARTED'] }),
  task({ by: 'attempt', desc: false }, {}, 5),
  task({ by: 'name', desc: false }, { tag: ['t1'] }),
  task({ by: 'ended', desc: true }, { q: 'mail', state: ['FAILURE', 'CANCELLED', 'SUCCESS'] }),
  { view: 'locks', filter: {}, window: { offset: 0, limit: 20 } },
  { view: 'workflows', filter: {}, window: { offset: 0, limit: 20 } },
];

interface Follower {
  readonly query: LiveQuery;
  readonly subscription: Subscription;
  /** From now on it is thawed. */
  settle(): void;
  /** The window as a browser has it: the snapshot, and every change through the shared reducer. */
  shown(): unknown;
}

/** Follows from the start, frozen and thawed on the way, as an operator's pointer comes and goes. */
function follow(gateway: Gateway, query: LiveQuery): Follower {
  const { board } = gateway;
  let view: LiveView<AnyRow> | undefined;
  let messages = 0;
  let settled = false;
  const subscription: Subscription = new Subscription({
    sub: 's',
    query,
    frozen: false,
    payload: true,
    board,
    clock: systemClock,
    everyMs: 5,
    send: (message, done) => {
      view = message.kind === 'snapshot' ? message.snapshot : view && applyChange(view, message.change);
      if (view === undefined) throw new Error('a change that does not follow');
      if (++messages % 7 === 0) setTimeout(() => subscription.freeze(!settled && messages % 2 === 0), 1);
      setTimeout(() => done(true), messages % 3);
    },
  });
  board.onChange(() => subscription.changed());
  subscription.changed();
  const settle = (): void => {
    settled = true;
    subscription.freeze(false);
  };
  return { query, subscription, settle, shown: () => windowOf(view) };
}

function snapshotOf(gateway: Gateway, query: LiveQuery): unknown {
  let view: LiveView<AnyRow> | undefined;
  const subscription = new Subscription({
    sub: 's',
    query,
    frozen: false,
    payload: true,
    board: gateway.board,
    clock: systemClock,
    everyMs: 0,
    send: (message) => {
      if (message.kind === 'snapshot') view = message.snapshot;
    },
  });
  subscription.changed();
  subscription.close();
  return windowOf(view);
}

function windowOf(view: LiveView<AnyRow> | undefined): unknown {
  const { seq: _seq, revision: _revision, generation: _generation, ...rest } = view ?? {};
  return JSON.parse(JSON.stringify(rest, (key, value: unknown) => (key === 'lease' ? undefined : value)));
}

export function projectionSuite(name: string, target: () => Target, runs: number, steps: number): void {
  describe(`the projection on ${name}`, () => {
    test.each(Array.from({ length: runs }, (_, i) => i + 1))(
      'after any history, what was followed is what a newcomer lists (seed %i)',
      async (seed) => {
        const world = await openWorld(target());
        try {
          const followers = QUERIES.map((query) => follow(world.gateway, query));
          await randomHistory(world, randomOf(seed), steps);
          await world.caughtUp();
          for (const follower of followers) follower.settle();
          const fresh = await createGateway({ kv: world.kv, namespace: world.store.keys.namespace });
          await fresh.ready();
          // Graphs for explanations are loaded when first asked for: both sides get there.
          const differing = () =>
            followers.filter(({ shown, query }) => !isDeepStrictEqual(shown(), snapshotOf(fresh, query)));
          await vi.waitFor(() => expect(differing().map(({ query }) => query)).toEqual([]), 5_000);
          for (const { subscription } of followers) subscription.close();
          expect(picture(world.gateway)).toEqual(picture(fresh));
          await fresh.close();
        } finally {
          await world.close();
        }
      },
    );
  });
}

async function randomHistory(world: World, random: () => number, steps: number): Promise<void> {
  const ids: string[] = [];
  const holders: Holder[] = [await world.joinNode('n0', { concurrency: 100 })];
  const held: { holder: Holder; held: Held }[] = [];
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const call = () => ({ actor: ACTOR, operationId: world.store.newId() });
  const acts: (() => Promise<unknown>)[] = [
    async () => ids.push((await world.submit('mail', [text('x')], { tags: [`t${Math.floor(random() * 3)}`] })).id),
    async () => ids.push((await world.submit('fax', [], { etaMs: Date.now() + 1e6, priority: 3 })).id),
    async () => world.call('POST', '/workflows', { workflow: chain() }),
    async () => holders.push(await world.joinNode(`n${holders.length}`, { concurrency: 100 })),
    async () => {
      const [holder, id] = [pick(holders), pick(ids)];
      if (holder !== undefined && id !== undefined) held.push({ holder, held: await world.start(holder, id) });
    },
    async () => {
      const running = held.pop();
      if (running !== undefined) await world.succeed(running.holder, running.held, [text('done')]);
    },
    async () => {
      const running = held.pop();
      if (running !== undefined) await world.fail(running.holder, running.held, `bad item ${Math.floor(random() * 9)}`);
    },
    async () => retryTask(world.store, call(), pick(ids) ?? ''),
    async () => cancelTask(world.store, call(), pick(ids) ?? ''),
    async () => forceRelease(world.store, { ...call(), reason: 'x' }, pick(ids) ?? ''),
    async () => pause(world.store, call(), { queue: pick(['other', 'more']) ?? '' }),
    async () => {
      const id = pick(ids) ?? '';
      await world.kv.txn({ compare: [], success: [{ kind: 'delete', key: world.store.keys.task(id) }] });
    },
    async () => {
      if (holders.length > 1 && random() < 0.3) await world.kv.leaseRevoke(holders.pop()?.lease ?? 0n);
    },
  ];
  // What the state does not allow is refused, and that is fine here.
  for (let i = 0; i < steps; i++) await (pick(acts) ?? acts[0])?.().catch(() => undefined);
}

function chain(): unknown {
  const task = { kind: 'task', signature: { name: 'mail', args: [] } };
  return { kind: 'chain', steps: [task, { kind: 'group', members: [task, task] }, task] };
}
