/** What users of other boards reported, as far as the gateway answers for it. */
import { PROTOCOL, SOCKET_PATH, type ClientEvents, type ServerEvents, type Snapshot } from '@leasehold/wire';
import { settle } from '@leasehold/core/store';
import { io, type Socket } from 'socket.io-client';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorld, text, type World } from './world.js';

describe('reports from other boards', () => {
  let world: World;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.close();
    await world.close();
  });

  const connect = (protocol: number): Socket<ServerEvents, ClientEvents> => {
    const socket: Socket<ServerEvents, ClientEvents> = io(world.origin, {
      path: SOCKET_PATH,
      auth: { protocol },
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
    });
    sockets.push(socket);
    return socket;
  };

  it('tasks beyond the cap of the board are counted, not hidden in silence (report B8)', async () => {
    world = await openWorld('memory', { caps: { tasks: 2 } });
    for (let i = 0; i < 5; i++) await world.submit('mail');
    await world.caughtUp();
    expect((await world.call('GET', '/cluster')).body).toMatchObject({ feed: { rows: 2, dropped: 3 } });
  });

  it('a subscription lives through every revision: one snapshot, then changes (report B13)', async () => {
    world = await openWorld();
    const client = connect(PROTOCOL);
    const snapshots: Snapshot[] = [];
    let last = 0;
    client.on('snapshot', (snapshot, ack) => (snapshots.push(snapshot), ack()));
    client.on('change', (change, ack) => ((last = change.total ?? last), ack()));
    const order = { by: 'created', desc: true } as const;
    client.emit('subscribe', {
      sub: 's',
      query: { view: 'tasks', filter: {}, order, window: { offset: 0, limit: 50 } },
    });
    await expect.poll(() => snapshots.length).toBe(1);
    for (let i = 0; i < 10; i++) await world.submit('mail');
    await expect.poll(() => last).toBe(10);
    expect(snapshots).toHaveLength(1);
  });

  it('list and detail say the same state at the same revision, after every edge (report B20)', async () => {
    world = await openWorld();
    const { id } = await world.submit('mail');
    const agree = async (state: string): Promise<void> => {
      await world.caughtUp();
      const list = (await world.call('GET', '/tasks')).body['rows'] as unknown as {
        id: string;
        state: string;
        revision: string;
      }[];
      const detail = (await world.call('GET', `/tasks/${id}`)).body['row'] as unknown as {
        state: string;
        revision: string;
      };
      const row = list.find((each) => each.id === id);
      expect([row?.state, row?.revision]).toEqual([detail.state, detail.revision]);
      expect(detail.state).toBe(state);
    };
    await agree('PENDING');
    const holder = await world.joinNode('n1');
    const held = await world.start(holder, id);
    await agree('STARTED');
    await world.succeed(holder, held);
    await agree('SUCCESS');
  });

  it('the answer to an action carries a revision, and a board that has reached it shows what was done (report B22)', async () => {
    world = await openWorld();
    await world.submit('mail');
    await world.caughtUp();
    const answer = await world.call('POST', '/queues/default/pause', { reason: 'night' });
    expect(answer.status).toBe(200);
    const revision = BigInt(answer.body['revision'] as string);
    await world.gateway.board.reached(revision);
    const queue = (await world.call('GET', '/queues/default')).body;
    expect(queue).toMatchObject({ paused: { reason: 'night' } });
    expect(BigInt(queue['revision'] as string)).toBe(revision);
  });

  it('a retry shows which try comes next, of how many, and when (report B37)', async () => {
    world = await openWorld();
    const retry = { count: 3, backoff: 'fixed', delayMs: 60_000, maxDelayMs: 60_000, jitter: 0 } as const;
    const { id } = await world.submit('mail', [], { retry });
    const holder = await world.joinNode('n1');
    const held = await world.start(holder, id);
    const error = { type: 'Error', message: 'busy', attempt: 1, node: 'n1', atMs: world.store.now() };
    await settle(world.store, holder, held, { kind: 'failure', error });
    await world.caughtUp();
    const rows = (await world.call('GET', '/tasks?state=RETRY')).body['rows'] as unknown as { scheduleMs: number }[];
    expect(rows).toMatchObject([{ id, attempt: { n: 1, max: 4 }, why: { code: 'retry-backoff' } }]);
    expect((rows[0]?.scheduleMs ?? 0) - world.store.now()).toBeGreaterThan(30_000);
  });

  it.each([
    ['limit=1000000000', 'limit'],
    ['limit=-1', 'limit'],
    ['state=<script>', 'state[0]'],
    ['sort=constructor', 'sort'],
    ['from=yesterday', 'from'],
    ['cursor=AAAA', 'cursor'],
    ['rev=1e9', 'rev'],
    [`q=${'x'.repeat(300)}`, 'q'],
  ])('a query parameter out of bounds is refused by its name, %s (report B43)', async (search, field) => {
    world = await openWorld();
    const answer = await world.call('GET', `/tasks?${search}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid', field } });
  });

  it('a page of another version is told so, with both versions, and gets no rows (report B56)', async () => {
    world = await openWorld();
    await world.submit('mail', [text('a')]);
    const client = connect(PROTOCOL + 1);
    const refusal = await new Promise<Error & { data?: unknown }>((resolve) => client.on('connect_error', resolve));
    expect(refusal.data).toMatchObject({ code: 'protocol', protocol: PROTOCOL });
    expect(refusal.message).toContain('reload');
    expect(client.connected).toBe(false);
  });
});
