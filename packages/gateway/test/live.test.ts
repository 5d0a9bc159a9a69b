import { io, type Socket } from 'socket.io-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  applyChange,
  DEFAULT_TASK_ORDER,
  PROTOCOL,
  SOCKET_PATH,
  summaryOf,
  TaskDetail,
  type AnyRow,
  type Change,
  type ClientEvents,
  type Heartbeat,
  type LiveQuery,
  type LiveView,
  type Reply,
  type ServerEvents,
  type Snapshot,
  type SummarySection,
  type TaskFilter,
  type TaskRow,
} from '@leasehold/wire';
import { encodeRecord } from '@leasehold/core/model';
import { openWorld, text, type World } from './world.js';

type Client = Socket<ServerEvents, ClientEvents>;

/** A browser's side: keeps each followed window with the shared reducer. */
class Viewer {
  readonly socket: Client;
  readonly views = new Map<string, LiveView<AnyRow>>();
  readonly changes: Change<AnyRow>[] = [];
  snapshots = 0;
  gaps = 0;
  /** Set: nothing is acknowledged, as by a client that hangs. */
  deaf = false;
  beat: Heartbeat | undefined;

  constructor(world: World, more: Parameters<typeof io>[1] = {}) {
    this.socket = io(world.origin, {
      path: SOCKET_PATH,
      auth: { protocol: PROTOCOL },
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      ...more,
    });
    this.socket.on('snapshot', (snapshot, ack) => {
      this.snapshots++;
      this.views.set(snapshot.sub, snapshot as Snapshot<AnyRow>);
      if (!this.deaf) ack();
    });
    this.socket.on('change', (change, ack) => {
      this.changes.push(change as Change<AnyRow>);
      const view = this.views.get(change.sub);
      const next = view === undefined ? undefined : applyChange(view, change as Change<AnyRow>);
      if (next === undefined) this.gaps++;
      else this.views.set(change.sub, next);
      if (!this.deaf) ack();
    });
    this.socket.on('heartbeat', (beat) => (this.beat = beat));
  }

  connected(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once('connect', resolve);
      this.socket.once('connect_error', reject);
    });
  }

  ask<E extends keyof ClientEvents>(event: E, message: Parameters<ClientEvents[E]>[0]): Promise<Reply> {
    return this.socket.emitWithAck(event as 'subscribe', message as never) as unknown as Promise<Reply>;
  }

  tasks(sub = 'tasks'): readonly TaskRow[] {
    return (this.views.get(sub)?.rows ?? []) as readonly TaskRow[];
  }
}

let world: World;
let viewers: Viewer[] = [];
beforeEach(async () => {
  world = await openWorld();
});
afterEach(async () => {
  for (const viewer of viewers) viewer.socket.disconnect();
  viewers = [];
  await world.close();
});

async function open(more: Parameters<typeof io>[1] = {}): Promise<Viewer> {
  const viewer = new Viewer(world, more);
  viewers.push(viewer);
  await viewer.connected();
  return viewer;
}

const tasksQuery = (filter: TaskFilter = {}, offset = 0, limit = 10): LiveQuery => ({
  view: 'tasks',
  filter,
  order: DEFAULT_TASK_ORDER,
  window: { offset, limit },
});

describe('a followed window', () => {
  test('shows what is there, and each change within a second, at a revision that has it', async () => {
    await world.submit('mail', [text('first')]);
    const viewer = await open();
    expect(await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() })).toEqual({ ok: true });
    await expect.poll(() => viewer.tasks().map(({ args }) => args)).toEqual(['"first"']);
    const { revision } = await world.submit('mail', [text('second')]);
    await expect.poll(() => viewer.tasks().map(({ args }) => args)).toEqual(['"second"', '"first"']);
    expect(BigInt(viewer.views.get('tasks')?.revision ?? 0)).toBeGreaterThanOrEqual(revision);
  });

  test('a claim appears whole: state, node, lock and token together (scenario 5)', async () => {
    const holder = await world.joinNode('n1');
    const { id } = await world.submit('mail');
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
    await expect.poll(() => viewer.tasks()[0]?.state).toBe('PENDING');
    const held = await world.start(holder, id);
    await expect.poll(() => viewer.tasks()[0]?.state).toBe('STARTED');
    const rows = viewer.changes.flatMap(({ patch = [] }) => patch as TaskRow[]);
    const started = rows.filter(({ state }) => state === 'STARTED');
    expect(started.every(({ token, node }) => token === held.token.toString() && node === 'n1')).toBe(true);
  });

  test('says why a task waits, and changes when the reason does', async () => {
    await world.submit('mail');
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
    await expect.poll(() => viewer.tasks()[0]?.why?.code).toBe('no-worker');
    await world.joinNode('n1', { names: ['other'] });
    await expect.poll(() => viewer.tasks()[0]?.why?.code).toBe('unknown-name');
    await world.joinNode('n2');
    await expect
      .poll(() => viewer.tasks()[0]?.why)
      .toEqual({ code: 'position', params: { queue: 'default', ahead: 0 } });
  });

  test('frozen: order and members stay, cells are patched, departed rows are marked, arrivals counted, until release', async () => {
    const holder = await world.joinNode('n1');
    const { id } = await world.submit('mail', [], { tags: ['a'] });
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery({ state: ['PENDING'] }) });
    await expect.poll(() => viewer.tasks().length).toBe(1);
    await viewer.ask('freeze', { sub: 'tasks', frozen: true });
    const { id: newcomer } = await world.submit('mail');
    await expect.poll(() => viewer.views.get('tasks')?.newCount).toBe(1);
    await world.start(holder, id);
    await expect.poll(() => viewer.views.get('tasks')?.departed).toEqual([id]);
    expect(viewer.tasks().map((row) => [row.id, row.state])).toEqual([[id, 'STARTED']]);
    await viewer.ask('release', { sub: 'tasks' });
    await expect.poll(() => viewer.tasks().map((row) => row.id)).toEqual([newcomer]);
    expect(viewer.views.get('tasks')).toMatchObject({ newCount: 0, departed: [], frozen: true });
    expect(viewer.gaps).toBe(0);
  });

  test('frozen: a row that leaves and comes back is neither new nor departed', async () => {
    const holder = await world.joinNode('n1');
    const { id } = await world.submit('mail');
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery({ state: ['PENDING'] }), frozen: true });
    await expect.poll(() => viewer.tasks().length).toBe(1);
    const held = await world.start(holder, id);
    await expect.poll(() => viewer.views.get('tasks')?.departed).toEqual([id]);
    const revisionSeen = held.revision.toString();
    await world.call('POST', `/locks/${id}/force-release`, { revisionSeen, reason: 'hangs' });
    await expect.poll(() => viewer.views.get('tasks')).toMatchObject({ departed: [], newCount: 0, total: 1 });
  });

  test('scrolled: another window of the same frozen list, however much arrives', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.unshift((await world.submit('mail')).id);
    await world.caughtUp();
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery({}, 0, 5), frozen: true });
    await expect.poll(() => viewer.tasks().map(({ id }) => id)).toEqual(ids.slice(0, 5));
    for (let i = 0; i < 20; i++) await world.submit('mail');
    await viewer.ask('window', { sub: 'tasks', window: { offset: 5, limit: 5 } });
    await expect.poll(() => viewer.tasks().map(({ id }) => id)).toEqual(ids.slice(5, 10));
    expect(viewer.views.get('tasks')).toMatchObject({ offset: 5, total: 12, newCount: 20 });
  });

  test('a row whose record is deleted stays, greyed, while frozen, and leaves after', async () => {
    const { id } = await world.submit('mail');
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery(), frozen: true });
    await expect.poll(() => viewer.tasks().length).toBe(1);
    await world.kv.txn({ compare: [], success: [{ kind: 'delete', key: world.store.keys.task(id) }] });
    await expect.poll(() => viewer.views.get('tasks')?.departed).toEqual([id]);
    await viewer.ask('freeze', { sub: 'tasks', frozen: false });
    await expect.poll(() => viewer.tasks().length).toBe(0);
  });

  test('a hidden tab is sent nothing; shown again, it gets one change per window (scenario 10)', async () => {
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
    await expect.poll(() => viewer.snapshots).toBe(1);
    await viewer.ask('hidden', { hidden: true });
    for (let i = 0; i < 50; i++) await world.submit('mail');
    await world.caughtUp();
    expect(viewer.changes).toHaveLength(0);
    await viewer.ask('hidden', { hidden: false });
    await expect.poll(() => viewer.views.get('tasks')?.total).toBe(50);
    expect(viewer.changes).toHaveLength(1);
  });

  test('a client that does not acknowledge is sent nothing more: no backlog', async () => {
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
    await expect.poll(() => viewer.snapshots).toBe(1);
    viewer.deaf = true;
    for (let i = 0; i < 30; i++) await world.submit('mail');
    await world.caughtUp();
    await expect.poll(() => viewer.changes.length).toBe(1);
    for (let i = 0; i < 30; i++) await world.submit('mail');
    await world.caughtUp();
    expect(viewer.changes).toHaveLength(1);
  });

  test('under a flood a client gets at most thirty changes a second', async () => {
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
    await expect.poll(() => viewer.snapshots).toBe(1);
    const started = performance.now();
    for (let i = 0; i < 400; i++) await world.submit('mail');
    await expect.poll(() => viewer.views.get('tasks')?.total).toBe(400);
    const seconds = (performance.now() - started) / 1_000;
    expect(viewer.changes.length).toBeLessThanOrEqual(Math.ceil(30 * seconds) + 2);
    expect(viewer.gaps).toBe(0);
  });
});

describe('while the store is away', () => {
  test('the heartbeat says so; back again, the window equals a fresh one, without a snapshot (scenario 7)', async () => {
    const viewer = await open();
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
    await world.submit('mail');
    await expect.poll(() => viewer.tasks().length).toBe(1);
    const [verifiedMs, { snapshots }] = [viewer.beat?.verifiedMs ?? 0, viewer];
    world.cut();
    await expect.poll(() => viewer.beat?.feed).toBe('reconnecting');
    await world.submit('mail');
    expect(viewer.tasks()).toHaveLength(1);
    world.heal();
    await expect.poll(() => viewer.tasks().length, { timeout: 10_000 }).toBe(2);
    await expect.poll(() => viewer.beat).toMatchObject({ feed: 'live' });
    expect(viewer.beat?.verifiedMs).toBeGreaterThan(verifiedMs);
    expect(viewer.snapshots).toBe(snapshots);
  });

  test('after a compaction meanwhile it lists again, says so, and frozen rows survive (scenario 8)', async () => {
    const notices: string[] = [];
    const viewer = await open();
    viewer.socket.on('notice', ({ kind, fromRevision, toRevision }) => {
      if (BigInt(toRevision) > BigInt(fromRevision)) notices.push(kind);
    });
    const { id } = await world.submit('mail');
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery(), frozen: true });
    await expect.poll(() => viewer.tasks().length).toBe(1);
    world.cut();
    await world.submit('mail');
    const { revision } = await world.submit('mail');
    await world.kv.compact(revision);
    world.heal();
    await expect.poll(() => notices, { timeout: 10_000 }).toEqual(['compacted']);
    await expect.poll(() => viewer.views.get('tasks')).toMatchObject({ generation: 2, newCount: 2, frozen: true });
    expect(viewer.tasks().map((row) => row.id)).toEqual([id]);
    await viewer.ask('release', { sub: 'tasks' });
    await expect.poll(() => viewer.tasks().length).toBe(3);
  });

  test('what needs the store is answered 503, in a problem document', async () => {
    world.cut();
    const answer = await world.call('GET', '/cluster');
    expect([answer.status, answer.body['code']]).toEqual([503, 'unavailable']);
    world.heal();
  });
});

test('progress and logs are those of the attempt that runs', async () => {
  const holder = await world.joinNode('n1');
  const { id } = await world.submit('mail');
  const held = await world.start(holder, id);
  // As a worker's notes are stored (core `store/notes`).
  const note = (fraction: number, message: string) => {
    const { attempt } = held.task;
    const lines = [{ atMs: 5, message: `line of ${message}, password=hunter2` }];
    const records = [
      [world.store.keys.progress(id), encodeRecord({ attempt, fraction, message, atMs: 5 })],
      [world.store.keys.log(id, attempt, fraction * 100), encodeRecord({ lines })],
    ] as const;
    return world.kv.txn({ compare: [], success: records.map(([key, value]) => ({ kind: 'put', key, value })) });
  };
  await note(0.25, 'a quarter');
  const viewer = await open();
  await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
  await expect.poll(() => viewer.tasks()[0]?.progress).toEqual({ fraction: 0.25, message: 'a quarter', atMs: 5 });
  await note(0.5, 'half');
  await expect.poll(() => viewer.tasks()[0]?.progress?.fraction).toBe(0.5);
  const detail = TaskDetail.parse((await world.call('GET', `/tasks/${id}`)).body);
  expect(detail.logs.map(({ message, atMs }) => [message, atMs])).toEqual([
    ['line of a quarter, password=[hidden]', 5],
    ['line of half, password=[hidden]', 5],
  ]);
  await world.kv.leaseRevoke(holder.lease);
  const next = await world.joinNode('n2');
  await world.start(next, id);
  await expect.poll(() => viewer.tasks()[0]?.attempt.n).toBe(2);
  expect(viewer.tasks()[0]?.progress).toBeUndefined();
});

describe('the other views', () => {
  test('summary: counters, facets, leader, rates', async () => {
    await world.joinNode('n1');
    await world.submit('mail');
    const viewer = await open();
    await viewer.ask('subscribe', {
      sub: 's',
      query: { view: 'summary', filter: {}, window: { offset: 0, limit: 50 } },
    });
    const summary = () => summaryOf((viewer.views.get('s')?.rows ?? []) as SummarySection[]);
    await expect.poll(() => summary().states?.states).toEqual({ PENDING: 1 });
    await expect.poll(() => summary().facets?.nodes).toMatchObject([{ id: 'n1', running: 0, capacity: 2 }]);
    expect(summary().leader?.node).toBeUndefined();
    expect(summary().leader?.goneMs).toBeTypeOf('number');
    expect(summary().rates?.submitted.reduce((sum, n) => sum + n, 0)).toBe(1);
  });

  test('locks and nodes: a lease that ends frees the lock and the node departs (scenario 6)', async () => {
    const holder = await world.joinNode('n1');
    const { id } = await world.submit('mail');
    await world.start(holder, id);
    const viewer = await open();
    const all = { filter: {}, window: { offset: 0, limit: 50 } };
    await viewer.ask('subscribe', { sub: 'locks', query: { view: 'locks', ...all } });
    await viewer.ask('subscribe', { sub: 'nodes', query: { view: 'nodes', ...all } });
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
    await expect.poll(() => viewer.views.get('locks')?.rows).toMatchObject([{ id, node: 'n1', name: 'mail' }]);
    await expect.poll(() => viewer.views.get('nodes')?.rows).toMatchObject([{ id: 'n1', running: 1 }]);
    await world.kv.leaseRevoke(holder.lease);
    await expect.poll(() => viewer.views.get('locks')?.rows).toEqual([]);
    await expect
      .poll(() => viewer.views.get('nodes')?.rows)
      .toMatchObject([{ id: 'n1', running: 0, lease: { ended: true } }]);
    await expect.poll(() => viewer.tasks()[0]?.why?.code).toBe('lost-worker');
  });
});

describe('the socket', () => {
  test('greets with its protocol and proves that it is alive while nothing happens', async () => {
    const viewer = await open();
    await expect.poll(() => viewer.beat?.feed).toBe('live');
    const first = viewer.beat?.verifiedMs ?? 0;
    await expect.poll(() => viewer.beat?.verifiedMs ?? 0, { timeout: 5_000 }).toBeGreaterThan(first);
  });

  test('after a mutation the heartbeat reaches its revision at once', async () => {
    const viewer = await open();
    const { body } = await world.call('POST', '/tasks', { name: 'mail', args: [] });
    await expect.poll(() => BigInt(viewer.beat?.revision ?? 0) >= BigInt(String(body['revision']))).toBe(true);
  });

  test('long-polling works where websockets are blocked (scenario 9)', async () => {
    const viewer = await open({ transports: ['polling'] });
    await viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() });
    await world.submit('mail');
    await expect.poll(() => viewer.tasks().length).toBe(1);
    expect(viewer.socket.io.engine.transport.name).toBe('polling');
  });

  test.each([
    ['another protocol', { auth: { protocol: 99 } }],
    ['no protocol', { auth: {} }],
    ['a foreign origin', { extraHeaders: { origin: 'https://evil.example' } }],
    ['a foreign origin over polling', { transports: ['polling'], extraHeaders: { origin: 'https://evil.example' } }],
    ['an opaque origin', { extraHeaders: { origin: 'null' } }],
    ['a rebound host', { extraHeaders: { host: 'rebound.example:80' } }],
    ['another site', { extraHeaders: { 'sec-fetch-site': 'cross-site' } }],
  ])('%s is refused', async (_name, more) => {
    const viewer = new Viewer(world, more);
    viewers.push(viewer);
    await expect(viewer.connected()).rejects.toThrow();
  });

  test('whatever a client sends is answered or ignored, never fatal', async () => {
    const viewer = await open();
    const bad = [
      undefined,
      null,
      5,
      'x',
      [],
      {},
      { sub: 1 },
      { sub: 'a', query: { view: 'evil' } },
      { sub: 'x'.repeat(1_000) },
    ];
    const huge = { sub: 'a', query: tasksQuery({}, 0, 1_000_000) };
    for (const event of ['subscribe', 'unsubscribe', 'freeze', 'release', 'window', 'hidden'] as const) {
      for (const message of [...bad, huge]) expect((await viewer.ask(event, message as never)).ok).toBe(false);
      viewer.socket.emit(event, undefined as never);
    }
    const proto = JSON.parse(
      '{"sub":"p","query":{"view":"tasks","filter":{"__proto__":{"x":1}},"order":{},"window":{}}}',
    ) as never;
    expect((await viewer.ask('subscribe', proto)).ok).toBe(false);
    expect(await viewer.ask('subscribe', { sub: 'ok', query: tasksQuery() })).toEqual({ ok: true });
  });

  test('subscriptions of one socket are bounded', async () => {
    const viewer = await open();
    const replies: Reply[] = [];
    for (let i = 0; i < 30; i++) replies.push(await viewer.ask('subscribe', { sub: `s${i}`, query: tasksQuery() }));
    expect(replies.filter(({ ok }) => ok)).toHaveLength(24);
  });

  test('fifty viewers are one watch, and one list (scenario 28)', async () => {
    let watches = 0;
    const { watch } = world.gatewayKv;
    world.gatewayKv.watch = (...given) => {
      watches++;
      return watch.apply(world.gatewayKv, given);
    };
    const all = await Promise.all(Array.from({ length: 50 }, () => open()));
    await Promise.all(all.map((viewer) => viewer.ask('subscribe', { sub: 'tasks', query: tasksQuery() })));
    await world.submit('mail');
    await expect.poll(() => all.every((viewer) => viewer.tasks().length === 1)).toBe(true);
    expect(watches).toBe(0);
    expect(world.gateway.board.state.tasks.lists).toBe(1);
  });
});
