import { inspect } from 'node:util';
import type { Logger } from '@leasehold/core';
import { describe, expect, test, beforeAll, afterAll } from 'vitest';
import { TaskPage, WhoAmI, type ClientEvents } from '@leasehold/wire';
import { PERMISSIONS, ROLES, ROUTES, SOCKET_HANDLERS, type Permission } from '../src/index.js';
import { cookieName, readCookie, setCookie } from '../src/auth/cookies.js';
import { resolveAccess } from '../src/auth/options.js';
import { hashPassword, verifyPassword } from '../src/auth/password.js';
import { permissionsOf } from '../src/auth/roles.js';
import { safePath } from '../src/auth/login-routes.js';
import { selfCheck } from '../src/auth/check.js';
import { resolveOptions } from '../src/options.js';
import {
  connected,
  openAccessWorld,
  openSocket,
  PASSWORD,
  refusalOf,
  SAME_ORIGIN,
  USERS,
  type AccessWorld,
} from './access-world.js';
import type { Json } from '@leasehold/core/model';
import { openWorld, text } from './world.js';

let world: AccessWorld;
beforeAll(async () => {
  world = await openAccessWorld({ limits: { changesPerMinute: 1_000, loginsPerMinute: 100 } });
});
afterAll(() => world.close());

const OPEN_ROUTES = ['/auth/me', '/auth/login', '/auth/logout', '/auth/oidc/start', '/auth/oidc/callback'];

describe('deny by default', () => {
  test('every registered route declares a permission, and only signing in is open to anyone', () => {
    expect(world.gateway.routes.length).toBeGreaterThan(ROUTES.length);
    const open = world.gateway.routes.filter(({ permission }) => permission === 'anyone');
    expect([...new Set(open.map(({ url }) => url.replace('/api/v1', '')))].sort()).toEqual([...OPEN_ROUTES].sort());
    for (const { permission } of world.gateway.routes) {
      expect(permission === 'anyone' || PERMISSIONS.includes(permission)).toBe(true);
    }
  });

  test('nobody is let in anywhere without signing in: every registered route says 401', async () => {
    for (const { method, url, permission } of world.gateway.routes) {
      if (permission === 'anyone' || method.includes('HEAD')) continue;
      const at = url.replace('/api/v1', '').replace(/:(id|name)/, 'x');
      const answer = await world.call(method, at, method === 'POST' ? {} : undefined, SAME_ORIGIN);
      expect([url, answer.status, answer.body['code']]).toEqual([url, 401, 'signed-out']);
    }
  });

  test('every socket handler declares a permission, and asks for it with each message', async () => {
    const handlers: Record<keyof ClientEvents, true> = {
      subscribe: true,
      unsubscribe: true,
      freeze: true,
      release: true,
      window: true,
      hidden: true,
    };
    expect(Object.keys(SOCKET_HANDLERS).sort()).toEqual(Object.keys(handlers).sort());
    const rights = new Set<Permission>(['board.read']);
    const identity = { actor: { kind: 'operator', name: 'x' }, permissions: rights } as const;
    const own = await openWorld('memory', { auth: { required: true, authenticate: () => identity } });
    const socket = openSocket(own.origin, {});
    await connected(socket);
    rights.delete('board.read');
    for (const event of Object.keys(handlers) as (keyof ClientEvents)[]) {
      const reply = await socket.emitWithAck(event as 'hidden', { hidden: false });
      expect([event, reply]).toMatchObject([event, { ok: false, error: { code: 'denied' } }]);
    }
    socket.disconnect();
    await own.close();
  });

  test('roles have what the documentation says, and nothing unknown', () => {
    expect([...permissionsOf('viewer')]).toEqual(['board.read', 'cluster.read']);
    expect(permissionsOf('operator').has('lock.force-release')).toBe(false);
    expect(permissionsOf('operator').has('queue.purge')).toBe(false);
    expect(permissionsOf('operator').has('audit.read')).toBe(false);
    expect(permissionsOf('auditor').has('audit.read')).toBe(true);
    expect(permissionsOf('auditor').has('payload.read')).toBe(false);
    expect(permissionsOf('admin').size).toBe(PERMISSIONS.length);
    for (const permissions of Object.values(ROLES)) for (const each of permissions) expect(PERMISSIONS).toContain(each);
  });
});

describe('local users', () => {
  test('sign in, are who they are, and sign out; the session is over everywhere', async () => {
    const olga = await world.signIn('olga');
    const { user } = WhoAmI.parse((await olga.call('GET', '/auth/me')).body);
    expect(user).toMatchObject({ name: 'olga', role: 'operator', method: 'local', canSignOut: true });
    expect((await olga.call('GET', '/tasks')).status).toBe(200);
    expect((await olga.call('POST', '/auth/logout', {})).status).toBe(200);
    expect((await olga.call('GET', '/tasks')).status).toBe(401);
  });

  test('a wrong password and an unknown name get the same answer', async () => {
    const wrong = await world.call('POST', '/auth/login', { user: 'olga', password: 'not that one' }, SAME_ORIGIN);
    const nobody = await world.call('POST', '/auth/login', { user: 'nobody', password: 'not that one' }, SAME_ORIGIN);
    expect([wrong.status, nobody.status]).toEqual([401, 401]);
    expect(wrong.body).toEqual(nobody.body);
    expect(wrong.headers.getSetCookie()).toEqual([]);
    const refused = (await world.audits()).filter(
      ({ outcome, operation }) => outcome === 'refused' && operation === 'session.open',
    );
    expect(refused.length).toBe(2);
    expect(JSON.stringify(await world.audits())).not.toContain('not that one');
  });

  test('the store holds neither passwords nor what a cookie holds', async () => {
    const olga = await world.signIn('olga');
    const id = /leasehold-session=([^;]+)/.exec(olga.cookie)?.[1] ?? 'none';
    expect(id).toHaveLength(43);
    const { kvs } = await world.kv.range({
      key: world.store.keys.prefix,
      rangeEnd: `${world.store.keys.prefix}\u{ffff}`,
    });
    const everything = JSON.stringify(kvs.map(({ key, value }) => [key, value]));
    for (const secret of [id, olga.csrfToken, PASSWORD]) expect(everything).not.toContain(secret);
  });

  test('a role that is taken away is gone with the next request; a removed user and a new password end the session', async () => {
    const own = await openAccessWorld();
    const adam = await own.signIn('adam');
    expect((await adam.call('GET', '/audit')).status).toBe(200);
    await own.setUsers([{ name: 'adam', role: 'viewer' }], PASSWORD);
    expect((await adam.call('GET', '/audit')).status).toBe(401); // The hash has another salt: another password, as far as anyone can tell.
    const again = await own.signIn('adam');
    expect((await again.call('GET', '/audit')).status).toBe(403);
    await own.setUsers([{ name: 'eve', role: 'viewer' }]);
    expect((await again.call('GET', '/tasks')).status).toBe(401);
    await own.close();
  });

  test('a session ends when nobody uses it, and at its end whatever happens', async () => {
    const own = await openAccessWorld({ sessions: { idleMs: 2_000, absoluteMs: 3_600_000 } });
    const { kvs } = await own.kv.range({
      key: own.store.keys.kind('sessions'),
      rangeEnd: `${own.store.keys.kind('sessions')}\u{ffff}`,
    });
    expect(kvs).toEqual([]);
    const vera = await own.signIn('vera');
    expect((await vera.call('GET', '/tasks')).status).toBe(200);
    const [session] = (
      await own.kv.range({
        key: own.store.keys.kind('sessions'),
        rangeEnd: `${own.store.keys.kind('sessions')}\u{ffff}`,
      })
    ).kvs;
    const status = await own.kv.leaseStatus(session?.lease ?? 0n);
    expect(status).toMatchObject({ grantedTtlS: 2 });
    await own.kv.leaseRevoke(session?.lease ?? 0n); // What etcd does when the idle time is over.
    expect((await vera.call('GET', '/tasks')).status).toBe(401);
    const next = await own.signIn('vera');
    const [record] = (
      await own.kv.range({
        key: own.store.keys.kind('sessions'),
        rangeEnd: `${own.store.keys.kind('sessions')}\u{ffff}`,
      })
    ).kvs;
    const ended = { ...(JSON.parse(record?.value ?? '{}') as object), expires_ms: 1 };
    await own.kv.txn({
      compare: [],
      success: [{ kind: 'put', key: record?.key ?? '', value: JSON.stringify(ended), lease: record?.lease ?? 0n }],
    });
    expect((await next.call('GET', '/tasks')).status).toBe(401);
    await own.close();
  });

  test('passwords are hashed with a salt, compared in full, and short ones are refused', async () => {
    const cheap = { ln: 10, r: 8, p: 1 };
    const [a, b] = await Promise.all([hashPassword(PASSWORD, cheap), hashPassword(PASSWORD, cheap)]);
    expect(a).not.toBe(b);
    expect(await verifyPassword(PASSWORD, a)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, a)).toBe(false);
    expect(await verifyPassword(PASSWORD, 'plain text')).toBe(false);
    await expect(hashPassword('short', cheap)).rejects.toThrow(/10 characters/);
    expect(await hashPassword(PASSWORD)).toMatch(/^\$scrypt\$ln=16,r=8,p=2\$/);
  });

  test('five wrong passwords a minute, then a wait that doubles (limits)', async () => {
    const own = await openAccessWorld();
    const wrong = () => own.call('POST', '/auth/login', { user: 'olga', password: 'not that one' }, SAME_ORIGIN);
    for (let n = 0; n < 5; n++) expect((await wrong()).status).toBe(401);
    const sixth = await wrong();
    expect([sixth.status, sixth.body['code'], sixth.headers.get('retry-after')]).toEqual([429, 'too-many', '60']);
    const right = await own.call('POST', '/auth/login', { user: 'olga', password: PASSWORD }, SAME_ORIGIN);
    expect(right.status).toBe(429);
    await own.close();
  });

  test('signing in rightly uses up nothing', async () => {
    const own = await openAccessWorld();
    for (let n = 0; n < 8; n++) await own.signIn('vera');
    await own.close();
  });
});

describe('what roles may do (scenario 19)', () => {
  test('a viewer sees no payload, finds nothing by it, and changes nothing', async () => {
    const vera = await world.signIn('vera');
    const { id } = await world.submit('mail', [text('private matter')]);
    await world.caughtUp();
    const page = TaskPage.parse((await vera.call('GET', '/tasks')).body);
    expect(page.rows.find((row) => row.id === id)?.args).toBe('');
    expect(TaskPage.parse((await vera.call('GET', '/tasks?q=private')).body).rows).toEqual([]);
    const olga = await world.signIn('olga');
    expect(TaskPage.parse((await olga.call('GET', '/tasks?q=private')).body).rows).toHaveLength(1);
    const answer = await vera.call('POST', `/tasks/${id}/cancel`, { reason: 'x' });
    expect([answer.status, answer.body['detail']]).toEqual([403, 'this needs the permission task.cancel']);
    const refusal = (await world.audits()).find(
      ({ operation, outcome }) => operation === 'task.cancel' && outcome === 'refused',
    );
    expect(refusal).toMatchObject({ targets: [id], actor: { name: 'vera', role: 'viewer', method: 'local' } });
    expect(refusal).toHaveProperty('request');
    expect(refusal).toHaveProperty('actor.address');
  });

  test('only routes of the role answer, for every role and every route', async () => {
    for (const [user, role] of [
      ['vera', 'viewer'],
      ['olga', 'operator'],
      ['audrey', 'auditor'],
    ] as const) {
      const browser = await world.signIn(user);
      for (const { method, url, permission } of ROUTES) {
        const at = url.replace(/:(id|name)/, 'absent');
        if (permissionsOf(role).has(permission)) continue;
        const answer = await browser.call(method, at, method === 'POST' ? {} : undefined);
        expect([role, url, answer.status]).toEqual([role, url, 403]);
      }
    }
  });

  test('what is out of scope does not exist: lists, details, acts, other views', async () => {
    const shop = await world.signIn('shop');
    const foreign = await world.submit('mail', [text('a')], { queue: 'other' });
    const own = await world.submit('mail', [text('a')], { queue: 'shop' });
    await world.caughtUp();
    const ids = TaskPage.parse((await shop.call('GET', '/tasks')).body).rows.map(({ id }) => id);
    expect(ids).toEqual([own.id]);
    expect(TaskPage.parse((await shop.call('GET', '/tasks?queue=other')).body).rows).toEqual([]);
    expect((await shop.call('GET', `/tasks/${own.id}`)).status).toBe(200);
    const hidden = await shop.call('GET', `/tasks/${foreign.id}`);
    const absent = await shop.call('GET', '/tasks/absent');
    expect([hidden.status, absent.status]).toEqual([404, 404]);
    expect(
      (await shop.call('POST', `/tasks/${foreign.id}/cancel`, { reason: 'x', revisionSeen: String(foreign.revision) }))
        .status,
    ).toBe(404);
    expect(
      (await shop.call('POST', `/tasks/${own.id}/cancel`, { reason: 'x', revisionSeen: String(own.revision) })).status,
    ).toBe(200);
    for (const at of ['/workflows', '/nodes', '/errors', '/schedules', '/locks', '/queues', '/handlers', '/cluster']) {
      expect([at, (await shop.call('GET', at)).status]).toEqual([at, 404]);
    }
    expect((await shop.call('POST', '/tasks', { name: 'mail', queue: 'other', args: [] })).status).toBe(404);
    expect((await shop.call('POST', '/tasks', { name: 'mail', queue: 'shop', args: [] })).status).toBe(200);
    const smuggled = {
      name: 'mail',
      queue: 'shop',
      args: [],
      onSuccess: [{ kind: 'task', signature: { name: 'mail', queue: 'other', args: [] } }],
    };
    expect((await shop.call('POST', '/tasks', smuggled)).status).toBe(404);
    expect(
      (await shop.call('POST', '/workflows', { workflow: { kind: 'task', signature: { name: 'mail', args: [] } } }))
        .status,
    ).toBe(404);
    expect((await shop.call('POST', '/queues/other/pause', { reason: 'x' })).status).toBe(404);
    expect((await shop.call('POST', '/queues/shop/pause', { reason: 'x' })).status).toBe(200);
  });
});

describe('forgery (scenario 20)', () => {
  test('without Sec-Fetch-Site a change needs the token of its session; the refusal says so', async () => {
    const [olga, other] = [await world.signIn('olga'), await world.signIn('olga')];
    const submit = (headers: Record<string, string>) =>
      world.call('POST', '/tasks', { name: 'mail', args: [] }, { cookie: olga.cookie, ...headers });
    const bare = await submit({});
    expect([bare.status, bare.body['code']]).toEqual([403, 'bad-origin']);
    expect(bare.body['detail']).toMatch(/X-CSRF-Token/);
    expect((await submit({ origin: world.origin })).status).toBe(403);
    expect((await submit({ 'x-csrf-token': other.csrfToken })).status).toBe(403);
    expect((await submit({ 'x-csrf-token': olga.csrfToken })).status).toBe(200);
    expect((await submit({ 'sec-fetch-site': 'none' })).status).toBe(403);
    const foreign = await submit({ 'x-csrf-token': olga.csrfToken, origin: 'https://evil.example' });
    expect([foreign.status, foreign.body['detail']]).toEqual([403, expect.stringMatching(/^Origin/)]);
    expect((await world.call('POST', '/auth/logout', {}, { cookie: olga.cookie })).status).toBe(403);
  });

  test('cookies: no script reads the session, strict, and with the host prefix where there is HTTPS', async () => {
    const answer = await world.call('POST', '/auth/login', { user: 'olga', password: PASSWORD }, SAME_ORIGIN);
    const [session, csrf] = answer.headers.getSetCookie();
    expect(session).toMatch(/^leasehold-session=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=43200; SameSite=Strict; HttpOnly$/);
    expect(csrf).toMatch(/^leasehold-csrf=[^;]+; Path=\/; Max-Age=43200; SameSite=Strict$/);
    const life = { maxAgeS: 1, sameSite: 'Strict', httpOnly: true } as const;
    expect(setCookie('session', 'x', life, { secure: true })).toBe(
      '__Host-leasehold-session=x; Path=/; Max-Age=1; SameSite=Strict; HttpOnly; Secure',
    );
    expect(resolveAccess({ baseUrl: 'https://board.example' }).secure).toBe(true);
    const name = cookieName('session', { secure: true });
    expect(readCookie(`${name}=a; ${name}=b`, name)).toBeUndefined();
    expect(readCookie(`leasehold-session=a`, name)).toBeUndefined();
  });

  test('after signing in one goes to a path of ours, never to another site', () => {
    expect(safePath('/tasks?state=FAILURE')).toBe('/tasks?state=FAILURE');
    for (const bad of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a b', '/x\n', 7, undefined, '']) {
      expect(safePath(bad)).toBe('/');
    }
  });
});

describe('sockets', () => {
  test('nobody connects without a session, with an ended one, or from a foreign page', async () => {
    const socket = openSocket(world.origin, {});
    expect(await refusalOf(socket)).toMatchObject({ code: 'signed-out' });
    const vera = await world.signIn('vera');
    await expect(
      connected(openSocket(world.origin, { cookie: vera.cookie, origin: 'https://evil.example' })),
    ).rejects.toThrow();
    await vera.call('POST', '/auth/logout', {});
    expect(await refusalOf(openSocket(world.origin, { cookie: vera.cookie }))).toMatchObject({ code: 'signed-out' });
  });

  test.each([
    [
      'signing out',
      async (own: AccessWorld, cookie: string) => {
        await own.call('POST', '/auth/logout', {}, { ...SAME_ORIGIN, cookie });
      },
    ],
    [
      'a role that is taken away',
      async (own: AccessWorld) => {
        await own.setUsers(USERS.map((user) => ({ ...user, role: 'auditor' as const })));
      },
    ],
    [
      'an administrator signing the user out',
      async (own: AccessWorld) => {
        const adam = await own.signIn('adam');
        expect(
          (await adam.call('POST', '/sessions/revoke', { user: 'vera', reason: 'left the company' })).body,
        ).toEqual({ count: 1 });
      },
    ],
    [
      'the end of the session in the store',
      async (own: AccessWorld) => {
        const key = own.store.keys.kind('sessions');
        for (const { lease } of (await own.kv.range({ key, rangeEnd: `${key}\u{ffff}` })).kvs)
          await own.kv.leaseRevoke(lease);
      },
    ],
  ])('an open socket is cut within seconds of %s (scenario 23)', async (_what, end) => {
    const own = await openAccessWorld();
    const vera = await own.signIn('vera');
    const socket = openSocket(own.origin, { cookie: vera.cookie });
    await connected(socket);
    const cut = new Promise<string>((resolve) => socket.once('disconnect', resolve));
    const beganMs = performance.now();
    await end(own, vera.cookie);
    expect(await cut).toBe('io server disconnect');
    expect(performance.now() - beganMs).toBeLessThan(5_000);
    await own.close();
  });

  test('a user has so many sockets, and no more', async () => {
    const own = await openAccessWorld({ limits: { socketsPerUser: 2 } });
    const vera = await own.signIn('vera');
    const sockets = [1, 2].map(() => openSocket(own.origin, { cookie: vera.cookie }));
    await Promise.all(sockets.map(connected));
    expect(await refusalOf(openSocket(own.origin, { cookie: vera.cookie }))).toMatchObject({ code: 'too-many' });
    for (const socket of sockets) socket.disconnect();
    await own.close();
  });

  test('rows on a socket keep to payload and scope, as lists do', async () => {
    const mine = await world.submit('mail', [text('inner secret')], { queue: 'shop' });
    await world.submit('mail', [text('inner secret')], { queue: 'other' });
    await world.caughtUp();
    const follow = async (user: string, query: Parameters<ClientEvents['subscribe']>[0]['query']) => {
      const { cookie } = await world.signIn(user);
      const socket = openSocket(world.origin, { cookie });
      await connected(socket);
      const first = new Promise<readonly Record<string, unknown>[]>((resolve) => {
        socket.once('snapshot', (snapshot, ack) => {
          ack();
          resolve(snapshot.rows as never);
        });
      });
      await socket.emitWithAck('subscribe', { sub: 's', query });
      const rows = await first;
      socket.disconnect();
      return rows;
    };
    const tasks = {
      view: 'tasks',
      filter: { name: ['mail'] },
      order: { by: 'created', desc: true },
      window: { offset: 0, limit: 100 },
    } as const;
    const query = { ...tasks, filter: { name: ['mail'] } };
    expect(JSON.stringify(await follow('vera', query))).not.toContain('inner secret');
    const scoped = await follow('shop', query);
    expect(scoped.map(({ id }) => id)).toContain(mine.id);
    expect(new Set(scoped.map(({ queue }) => queue))).toEqual(new Set(['shop']));
    expect(await follow('shop', { view: 'locks', filter: {}, window: { offset: 0, limit: 100 } })).toEqual([]);
    expect(await follow('shop', { view: 'summary', filter: {}, window: { offset: 0, limit: 100 } })).toEqual([]);
  });
});

describe('API tokens', () => {
  const bearer = (token: unknown) => ({ authorization: `Bearer ${String(token)}` });

  test('are shown once, do what they were given, are listed without themselves, and end at once', async () => {
    const adam = await world.signIn('adam');
    const made = await adam.call('POST', '/tokens', { title: 'deploy', permissions: ['board.read', 'task.submit'] });
    expect(made.status).toBe(200);
    const { token, id } = made.body;
    expect(token).toMatch(/^lh_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
    const listed = await adam.call('GET', '/tokens');
    expect(JSON.stringify(listed.body)).toContain('"title":"deploy"');
    const { kvs } = await world.kv.range({
      key: world.store.keys.prefix,
      rangeEnd: `${world.store.keys.prefix}\u{ffff}`,
    });
    for (const seen of [JSON.stringify(listed.body), JSON.stringify(kvs.map((kv) => kv.value))]) {
      expect(seen).not.toContain(String(token).slice(20));
    }
    expect(JSON.stringify(listed.body)).not.toContain('hash');
    const submitted = await world.call('POST', '/tasks', { name: 'mail', args: [] }, bearer(token));
    expect(submitted.status).toBe(200);
    expect((await world.call('GET', '/audit', undefined, bearer(token))).status).toBe(403);
    const socket = openSocket(world.origin, bearer(token));
    await connected(socket);
    const cut = new Promise((resolve) => socket.once('disconnect', resolve));
    expect((await adam.call('POST', `/tokens/${String(id)}/revoke`, { reason: 'leaked' })).status).toBe(200);
    expect((await world.call('GET', '/tasks', undefined, bearer(token))).status).toBe(401);
    await cut;
    const audits = await world.audits();
    expect(audits.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(['token.create', 'token.revoke', 'task.submit']),
    );
  });

  test('cannot do more than whoever makes them, expire, and a bad one is not passed over for a good cookie', async () => {
    const adam = await world.signIn('adam');
    expect((await adam.call('POST', '/tokens', { title: 'x', permissions: ['all'] })).status).toBe(400);
    const manager = await adam.call('POST', '/tokens', { title: 'm', permissions: ['token.manage'] });
    const more = await world.call(
      'POST',
      '/tokens',
      { title: 'x', permissions: ['audit.read'] },
      bearer(manager.body['token']),
    );
    expect(more.status).toBe(403);
    const key = world.store.keys.token(String(manager.body['id']));
    const [kv] = (await world.kv.range({ key })).kvs;
    const expired = JSON.stringify({ ...(JSON.parse(kv?.value ?? '') as object), expires_ms: 1 });
    await world.kv.txn({ compare: [], success: [{ kind: 'put', key, value: expired }] });
    expect((await world.call('GET', '/tokens', undefined, bearer(manager.body['token']))).status).toBe(401);
    const alive = await adam.call('POST', '/tokens', { title: 'alive', permissions: ['token.manage'] });
    expect((await world.call('GET', '/tokens', undefined, bearer(alive.body['token']))).status).toBe(200);
    const forged = String(alive.body['token']).replace(/.$/, (c) => (c === 'A' ? 'B' : 'A'));
    expect((await world.call('GET', '/tokens', undefined, bearer(forged))).status).toBe(401);
    expect((await adam.call('GET', '/tokens', undefined, bearer('nonsense'))).status).toBe(401);
    expect((await adam.call('GET', '/tokens', undefined, { authorization: 'Basic eA==' })).status).toBe(401);
  });

  test('a scoped token sees its queue only', async () => {
    await world.submit('mail', [text('a')], { queue: 'shop' });
    await world.submit('mail', [text('a')], { queue: 'other' });
    await world.caughtUp();
    const adam = await world.signIn('adam');
    const made = await adam.call('POST', '/tokens', {
      title: 's',
      permissions: ['board.read'],
      scope: { queues: ['shop'] },
    });
    const { rows } = TaskPage.parse((await world.call('GET', '/tasks', undefined, bearer(made.body['token']))).body);
    expect(new Set(rows.map(({ queue }) => queue))).toEqual(new Set(['shop']));
  });
});

describe('revealing', () => {
  test('needs the permission and a reason, and is recorded before anything is shown (scenario 22)', async () => {
    const { id } = await world.submit('mail', [text('ann@x'), text('hunter2-hunter2', 'password')]);
    const [adam, olga] = [await world.signIn('adam'), await world.signIn('olga')];
    expect((await olga.call('POST', `/tasks/${id}/reveal`, { reason: 'curious' })).status).toBe(403);
    expect((await adam.call('POST', `/tasks/${id}/reveal`, {})).status).toBe(400);
    const shown = await adam.call('POST', `/tasks/${id}/reveal`, { reason: 'ticket 7' });
    expect(shown.body['args']).toEqual([
      { type: 'string', value: 'ann@x' },
      { type: 'string', value: 'hunter2-hunter2', name: 'password' },
    ]);
    const record = (await world.audits()).find(
      ({ operation, outcome }) => operation === 'secret.reveal' && outcome === 'done',
    );
    expect(record).toMatchObject({ reason: 'ticket 7', targets: [id], actor: { name: 'adam', role: 'admin' } });
    expect(JSON.stringify(record)).not.toContain('hunter2');
  });

  test('nothing is shown that cannot be recorded', async () => {
    const own = await openAccessWorld();
    const adam = await own.signIn('adam');
    const { id } = await own.submit('mail', [text('hunter2-hunter2', 'password')]);
    const asked = adam.call('POST', `/tasks/${id}/reveal`, { reason: 'ticket 7' }, { 'idempotency-key': 'one' });
    expect((await asked).status).toBe(200);
    own.cut();
    const { status, body } = await adam.call('POST', `/tasks/${id}/reveal`, { reason: 'ticket 8' });
    expect(status).toBe(503);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    own.heal();
    await own.close();
  });
});

describe('the audit', () => {
  test('says who, as what, by which way, from where, under which request, and the revisions before and after', async () => {
    const olga = await world.signIn('olga');
    const made = await olga.call('POST', '/tasks', { name: 'mail', args: [], reason: 'by hand' });
    await olga.call('POST', `/tasks/${String(made.body['id'])}/cancel`, {
      reason: 'a mistake',
      revisionSeen: made.body['revision'],
    });
    const of = (operation: string) =>
      world
        .audits()
        .then((all) =>
          all.findLast(
            (each) =>
              each['operation'] === operation && (each['targets'] as string[]).includes(String(made.body['id'])),
          ),
        );
    const actor = {
      name: 'olga',
      role: 'operator',
      method: 'local',
      address: expect.stringContaining('127.0.0.1') as string,
    };
    expect(await of('task.submit')).toMatchObject({
      actor,
      reason: 'by hand',
      outcome: 'done',
      revision_before: '0',
      request: expect.any(String) as string,
    });
    expect(await of('task.cancel')).toMatchObject({
      actor,
      reason: 'a mistake',
      revision_before: made.body['revision'],
    });
  });
});

describe('limits', () => {
  test('sixty changes a minute by one user; looking is free', async () => {
    const own = await openAccessWorld({ limits: { changesPerMinute: 3 } });
    const olga = await own.signIn('olga');
    for (let n = 0; n < 3; n++)
      expect((await olga.call('POST', '/tasks', { name: 'mail', args: [] })).status).toBe(200);
    const over = await olga.call('POST', '/tasks', { name: 'mail', args: [] });
    expect([over.status, over.body['code']]).toEqual([429, 'too-many']);
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await olga.call('GET', '/tasks')).status).toBe(200);
    expect((await (await own.signIn('adam')).call('POST', '/tasks', { name: 'mail', args: [] })).status).toBe(200);
    expect(resolveAccess({}).limits).toEqual({ loginsPerMinute: 5, changesPerMinute: 60, socketsPerUser: 20 });
    await own.close();
  });

  test('refusals are recorded, but not so many that they fill the store', async () => {
    const own = await openAccessWorld();
    const vera = await own.signIn('vera');
    for (let n = 0; n < 40; n++) await vera.call('POST', '/tasks/x/cancel', { reason: 'x' });
    expect((await own.audits()).filter(({ outcome }) => outcome === 'refused')).toHaveLength(30);
    await own.close();
  });
});

describe('settings', () => {
  test('that let anybody in, or nobody, are refused with what to do', () => {
    const roles = { ops: 'admin' };
    const refused = (access: Parameters<typeof resolveAccess>[0]) => () => resolveAccess(access);
    expect(refused({ baseUrl: 'board.example' })).toThrow(/baseUrl/);
    expect(refused({ oidc: { issuer: 'https://i', clientId: 'c', roles } })).toThrow(/baseUrl/);
    const baseUrl = 'https://board.example';
    expect(refused({ baseUrl, oidc: { issuer: 'http://i.example', clientId: 'c', roles } })).toThrow(/only https/);
    expect(refused({ baseUrl, oidc: { issuer: 'https://i', clientId: 'c', roles: {} } })).toThrow(
      /nobody could come in/,
    );
    expect(refused({ baseUrl, oidc: { issuer: 'https://i', clientId: 'c', roles: { '*': 'admin' } } })).toThrow(
      /exact name/,
    );
    expect(refused({ proxy: { userHeader: 'x-user', groupsHeader: 'x-groups', roles } })).toThrow(/anybody could send/);
    expect(refused({ proxy: { userHeader: 'x-user', groupsHeader: 'x-groups', roles, secret: 'short' } })).toThrow(
      /24 characters/,
    );
    expect(refused({ sessions: { idleMs: 10, absoluteMs: 5 } })).toThrow(/idleMs/);
  });

  test('are looked at when the server starts, and what does not fit is named', async () => {
    const options = (more: Parameters<typeof resolveOptions>[0] extends infer O ? Partial<O> : never) =>
      resolveOptions({ kv: world.kv, access: { usersFile: world.usersFile }, ...more });
    expect(await selfCheck(options({}))).toEqual([expect.stringMatching(/^baseUrl: not set/)]);
    const plain = { usersFile: world.usersFile, baseUrl: 'http://board.example' };
    expect(await selfCheck(options({ access: plain }))).toEqual([
      expect.stringMatching(/^baseUrl: passwords and cookies cross/),
    ]);
    const good = { usersFile: world.usersFile, baseUrl: 'https://board.example' };
    expect(await selfCheck(options({ access: good }))).toEqual([]);
    expect(await selfCheck(options({ access: good, allowedOrigins: ['board.example'] }))).toEqual([
      expect.stringMatching(/^allowedOrigins/),
    ]);
    expect(await selfCheck(options({ access: good, allowedHosts: ['*.example'] }))).toEqual([
      expect.stringMatching(/^allowedHosts/),
    ]);
    expect(await selfCheck(options({ access: good, exposeWithoutAuth: true }))).toEqual([
      expect.stringMatching(/no effect/),
    ]);
    await expect(selfCheck(options({ access: { usersFile: '/nowhere/users.json' } }))).rejects.toThrow(
      /leasehold user add/,
    );
  });
});

describe('a proxy that signs people in', () => {
  const proxy = {
    userHeader: 'x-user',
    groupsHeader: 'x-groups',
    roles: { ops: 'operator', boss: 'admin' },
    secret: 'a shared secret of some length',
  };
  const from = { 'x-user': 'ann', 'x-groups': 'staff,ops', 'x-forwarded-for': '203.0.113.9, 198.51.100.7' };
  const shown = { 'x-leasehold-proxy-secret': proxy.secret };

  test('is believed with its secret only, by exact groups, and its changes say where they come from', async () => {
    const own = await openWorld('memory', { access: { proxy } });
    const status = async (headers: Record<string, string>) =>
      (await own.call('GET', '/tasks', undefined, headers)).status;
    expect(await status({ ...from, ...shown })).toBe(200);
    expect(await status(from)).toBe(401);
    expect(await status({ ...from, 'x-leasehold-proxy-secret': 'another secret of some length.' })).toBe(401);
    expect(await status({ ...from, ...shown, 'x-groups': 'xops,ops2' })).toBe(401);
    const submit = (headers: Record<string, string>) =>
      own.call('POST', '/tasks', { name: 'mail', args: [] }, { ...from, ...shown, ...headers });
    expect((await submit({})).status).toBe(403);
    expect((await submit(SAME_ORIGIN)).status).toBe(200);
    const key = own.store.keys.kind('audit');
    const [record] = (await own.kv.range({ key, rangeEnd: `${key}\u{ffff}` })).kvs
      .map((kv) => JSON.parse(kv.value) as Record<string, unknown>)
      .filter(({ outcome }) => outcome === 'done');
    expect(record).toMatchObject({
      actor: { name: 'ann', role: 'operator', method: 'proxy', address: '198.51.100.7' },
    });
    await own.close();
  });

  test('listed peers count only with a client certificate', async () => {
    const own = await openWorld('memory', {
      access: { proxy: { ...proxy, secret: undefined as never, peers: ['127.0.0.1'] } },
    });
    expect((await own.call('GET', '/tasks', undefined, from)).status).toBe(401);
    await own.close();
  });
});

describe('the audit as a file', () => {
  test('is redacted, capped, for auditors only, and no formula for a spreadsheet', async () => {
    const [audrey, olga] = [await world.signIn('audrey'), await world.signIn('olga')];
    await olga.call('POST', '/tasks', { name: 'mail', args: [], reason: '=HYPERLINK("x") password=hunter2' });
    const get = (query: string, cookie = audrey.cookie) =>
      fetch(`${world.origin}/api/v1/audit/export?${query}`, { headers: { cookie } });
    expect((await get('format=csv', olga.cookie)).status).toBe(403);
    const csv = await get('format=csv&limit=5');
    expect([csv.headers.get('content-type'), csv.headers.get('content-disposition')]).toEqual([
      'text/csv; charset=utf-8',
      'attachment; filename="audit.csv"',
    ]);
    const lines = (await csv.text()).trim().split('\r\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(/^id,atMs,operation,outcome,actor,role,method,address,request/);
    expect(lines.join('\n')).toContain(`"'=HYPERLINK(""x"") password=[hidden]"`);
    expect(lines.join('\n')).not.toContain('hunter2');
    const ndjson = (await (await get('limit=2')).text()).trim().split('\n');
    expect(ndjson.map((line) => (JSON.parse(line) as { operation: string }).operation)).toHaveLength(2);
    expect((await get('limit=10001')).status).toBe(400);
  });
});

describe('retrying with edits', () => {
  test('keeps what was hidden as it was, inside of values too', async () => {
    const olga = await world.signIn('olga');
    const stored = { db: { password: 'hunter2-hunter2', host: 'old' }, url: 'https://u:hunter2-hunter2@h/', n: 1 };
    const { id, revision } = await world.submit('mail', [text('a'), { type: 'json', value: stored }], {
      etaMs: Date.now() + 3_600_000,
    });
    await world.caughtUp();
    const shown = (await olga.call('GET', `/tasks/${id}`)).body['args'] as { value: Record<string, Json> }[];
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    const edited = structuredClone(shown);
    Object.assign(edited[1]?.value['db'] ?? {}, { host: 'new' });
    const answer = await olga.call('POST', `/tasks/${id}/retry`, { revisionSeen: String(revision), args: edited });
    expect(answer.body).toMatchObject({ id });
    const adam = await world.signIn('adam');
    const whole = await adam.call('POST', `/tasks/${id}/reveal`, { reason: 'to see' });
    expect(whole.body['args']).toEqual([
      { type: 'string', value: 'a' },
      { type: 'json', value: { ...stored, db: { password: 'hunter2-hunter2', host: 'new' } } },
    ]);
    const moved = [shown[0], { type: 'json', value: { elsewhere: '[hidden]' } }];
    const refused = await olga.call('POST', `/tasks/${id}/retry`, {
      revisionSeen: String(answer.body['revision']),
      args: moved,
    });
    expect([refused.status, refused.body['field']]).toEqual([400, 'args[1]']);
  });
});

describe('the log', () => {
  test('never has a password, what a cookie holds, a token, or what was revealed', async () => {
    const lines: unknown[] = [];
    const write = (message: string, fields?: unknown): void => void lines.push([message, fields]);
    const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
    const own = await openAccessWorld({}, { logger });
    const adam = await own.signIn('adam');
    await own.call('POST', '/auth/login', { user: 'adam', password: 'not that one' }, SAME_ORIGIN);
    const { token } = (await adam.call('POST', '/tokens', { title: 'x', permissions: ['board.read'] })).body;
    const { id } = await own.submit('mail', [text('hunter2-hunter2', 'password')]);
    await adam.call('POST', `/tasks/${id}/reveal`, { reason: 'ticket' });
    const vera = await own.signIn('vera');
    for (let n = 0; n < 35; n++) await vera.call('POST', '/tasks/x/cancel', { reason: 'x' });
    own.cut();
    await adam.call('GET', '/audit');
    await own.call('GET', '/audit', undefined, { authorization: `Bearer ${String(token)}` });
    own.heal();
    const session = /leasehold-session=([^;]+)/.exec(adam.cookie)?.[1] ?? 'none';
    expect(lines.length).toBeGreaterThan(2);
    const log = inspect(lines, { depth: 12 });
    for (const secret of [PASSWORD, 'not that one', session, adam.csrfToken, String(token).slice(20), 'hunter2']) {
      expect(log).not.toContain(secret);
    }
    await own.close();
  });
});
