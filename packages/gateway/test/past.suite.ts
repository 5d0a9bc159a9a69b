import { pause } from '@leasehold/core/store';
import {
  PROTOCOL,
  SOCKET_PATH,
  type ClientEvents,
  type Difference,
  type Moment,
  type ServerEvents,
  type Snapshot,
  type TaskDetail,
} from '@leasehold/wire';
import { io, type Socket } from 'socket.io-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, text, type Target, type World } from './world.js';

/** The time machine, over one store. */
export function describePast(name: string, target: () => Target | Promise<Target>): void {
  describe(`the board as it was, on ${name}`, () => {
    let world: World;
    beforeEach(async () => {
      world = await openWorld(await target());
    });
    afterEach(() => world.close());

    const revisionNow = async (): Promise<string> => {
      await world.caughtUp();
      return world.gateway.board.revision;
    };

    it('lists tasks, states and reasons to wait as of the revision asked for', async () => {
      const first = await world.submit('mail', [text('a')]);
      const before = await revisionNow();
      const holder = await world.joinNode('n1');
      await world.succeed(holder, await world.start(holder, first.id));
      const second = await world.submit('mail', [text('b')]);
      await world.caughtUp();

      const then = await world.call('GET', `/tasks?rev=${before}`);
      expect(then.body).toMatchObject({ revision: before, total: 1, rows: [{ id: first.id, state: 'PENDING' }] });
      const rows = then.body['rows'] as unknown as { why?: { code: string } }[];
      expect(rows[0]?.why?.code).toBe('no-worker');
      const now = await world.call('GET', '/tasks');
      expect((now.body['rows'] as unknown as { id: string }[]).map(({ id }) => id)).toContain(second.id);
    });

    it('shows a task with the record, the lock and the attempt that it had then', async () => {
      const { id } = await world.submit('mail', [text('a')]);
      const holder = await world.joinNode('n1');
      const held = await world.start(holder, id);
      const during = await revisionNow();
      await world.succeed(holder, held, [text('sent')]);
      await world.caughtUp();
      const then = (await world.call('GET', `/tasks/${id}?rev=${during}`)).body as unknown as TaskDetail;
      expect(then).toMatchObject({ asOf: during, row: { state: 'STARTED' }, lock: { node: 'n1', attempt: 1 } });
      expect(then.results).toBeUndefined();
    });

    it('says what differs between two revisions, with counts and rows', async () => {
      const stays = await world.submit('mail');
      const ends = await world.submit('mail');
      const before = await revisionNow();
      const holder = await world.joinNode('n1');
      await world.succeed(holder, await world.start(holder, ends.id));
      const comes = await world.submit('mail');
      const operator = {
        actor: { kind: 'operator', name: 'kim' },
        operationId: world.store.newId(),
        reason: 'night',
      } as const;
      await pause(world.store, operator, { queue: 'default' });
      const after = await revisionNow();
      const url = (to: string) => `/history/difference?from=${before}${to}`;
      const expected = {
        appeared: 1,
        changed: 1,
        vanished: 0,
        same: 1,
        nodesArrived: ['n1'],
        nodesLeft: [],
        queuesPaused: ['default'],
      };
      const pinned = (await world.call('GET', url(`&to=${after}`))).body as unknown as Difference;
      expect(pinned).toMatchObject(expected);
      expect(pinned.tasks).toEqual([
        { id: comes.id, name: 'mail', queue: 'default', kind: 'appeared', to: 'PENDING' },
        { id: ends.id, name: 'mail', queue: 'default', kind: 'changed', from: 'PENDING', to: 'SUCCESS' },
      ]);
      expect(pinned.tasks.map(({ id }) => id)).not.toContain(stays.id);
      expect((await world.call('GET', url(''))).body).toMatchObject(expected);
    });

    it('refuses a revision below the compacted floor, naming the floor, and one that is still to come', async () => {
      await world.submit('mail');
      const before = await revisionNow();
      await world.submit('mail');
      const floor = await revisionNow();
      await world.kv.compact(BigInt(floor));
      const refused = await world.call('GET', `/tasks?rev=${before}`);
      expect(refused.status).toBe(410);
      expect(refused.body).toMatchObject({ code: 'compacted', fields: { revision: before, floor } });
      expect((await world.call('GET', `/tasks?rev=${floor}`)).status).toBe(200);
      const ahead = await world.call('GET', `/history/moment?rev=${BigInt(floor) + 1_000_000n}`);
      expect(ahead).toMatchObject({ status: 400, body: { code: 'invalid', field: 'rev' } });
      expect((await world.call('GET', '/history')).body).toMatchObject({ floor });
    });

    it('finds the revision of a time by the samples that the leader writes', async () => {
      const { store } = world;
      const sampleMs = store.now() - 60_000;
      const sample = { kind: 'put', key: store.keys.clock(sampleMs), value: '{}' } as const;
      const sampled = (await store.kv.txn({ compare: [], success: [sample] })).revision.toString();
      await world.submit('mail');
      await world.caughtUp();
      const at = await world.call('GET', `/history/moment?time=${sampleMs + 5_000}`);
      expect(at.body as unknown as Moment).toEqual({ revision: sampled, atMs: sampleMs, states: {} });
      expect((await world.call('GET', `/history/moment?time=${sampleMs - 1}`)).status).toBe(404);
      expect((await world.call('GET', '/history')).body).toMatchObject({
        samples: [{ revision: sampled, atMs: sampleMs }],
      });
    });

    it('answers a subscription at a revision once, and sends it no change when the board goes on', async () => {
      const { id } = await world.submit('mail');
      const rev = await revisionNow();
      await world.submit('mail');
      await world.caughtUp();
      const client: Socket<ServerEvents, ClientEvents> = io(world.origin, {
        path: SOCKET_PATH,
        auth: { protocol: PROTOCOL },
        transports: ['websocket'],
        forceNew: true,
      });
      const query = {
        view: 'tasks',
        filter: {},
        order: { by: 'created', desc: true },
        window: { offset: 0, limit: 10 },
      } as const;
      const snapshots: Snapshot[] = [];
      let changes = 0;
      client.on('snapshot', (snapshot, ack) => (snapshots.push(snapshot), ack()));
      client.on('change', (change, ack) => ((changes += change.sub === 'past' ? 1 : 0), ack()));
      client.emit('subscribe', { sub: 'past', query: { ...query, rev } });
      await expect.poll(() => snapshots.length).toBe(1);
      expect(snapshots[0]).toMatchObject({ sub: 'past', revision: rev, total: 1, rows: [{ id }] });
      client.emit('subscribe', { sub: 'live', query });
      await expect.poll(() => snapshots.length).toBe(2);
      await world.submit('mail');
      await world.caughtUp();
      // The live one has heard of it, so the past one would have.
      await expect.poll(() => world.gateway.board.state.tasks.size).toBe(3);
      expect(changes).toBe(0);
      client.close();
    });
  });
}
