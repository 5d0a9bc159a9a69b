import { createServer, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Problem, TaskDetail, TaskPage } from '@leasehold/wire';
import { requireSafeBind, ROUTES, type Auth, type Permission } from '../src/index.js';
import { isSecretName, previewValues, redactText, showValues } from '../src/guard/redact.js';
import { isLoopbackName } from '../src/guard/origin.js';
import { openWorld, text, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

interface Raw {
  readonly status: number;
  readonly body: string;
}

/** With headers that fetch does not let one set. */
function raw(method: string, path: string, headers: Record<string, string>, body = ''): Promise<Raw> {
  const { hostname, port } = new URL(world.origin);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers }, (response: IncomingMessage) => {
      let received = '';
      response.on('data', (part: Buffer) => (received += part.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: received }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const BODY = '{"name":"mail","args":[]}';
const json = { 'content-type': 'application/json' };
const tasksNow = async () => TaskPage.parse((await world.call('GET', '/tasks')).body).total;

describe('who is let in', () => {
  test.each([
    ['a foreign Origin', { origin: 'https://evil.example' }, 'bad-origin'],
    ['an opaque Origin', { origin: 'null' }, 'bad-origin'],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }, 'bad-origin'],
    ['a look-alike', { origin: 'http://127.0.0.1.evil.example' }, 'bad-origin'],
    ['a cross-site fetch without Origin', { 'sec-fetch-site': 'cross-site' }, 'bad-origin'],
    ['a same-site fetch', { 'sec-fetch-site': 'same-site' }, 'bad-origin'],
    ['a rebound Host', { host: 'rebound.example' }, 'bad-host'],
    ['a Host that begins like loopback', { host: '127.0.0.1.evil.example' }, 'bad-host'],
    ['a Host with credentials', { host: 'localhost@evil.example' }, 'bad-host'],
  ])('%s is refused, says which check failed, and does nothing (scenario 20)', async (_name, headers, code) => {
    const before = await tasksNow();
    const answer = await raw('POST', '/api/v1/tasks', { ...json, ...(headers as Record<string, string>) }, BODY);
    expect(answer.status).toBe(403);
    const { detail, code: got } = Problem.parse(JSON.parse(answer.body));
    expect(got).toBe(code);
    expect(detail).toMatch(/Host|Origin|Sec-Fetch-Site/);
    await world.caughtUp();
    expect(await tasksNow()).toBe(before);
  });

  test('a rebound Host may not even look', async () => {
    expect((await raw('GET', '/api/v1/tasks', { host: 'rebound.example' })).status).toBe(403);
    expect((await raw('GET', '/api/v1/openapi.json', { host: 'rebound.example' })).status).toBe(403);
  });

  test('its own page, and a program without a browser, are let in', async () => {
    expect(
      (await raw('POST', '/api/v1/tasks', { ...json, origin: world.origin, 'sec-fetch-site': 'same-origin' }, BODY))
        .status,
    ).toBe(200);
    expect((await raw('POST', '/api/v1/tasks', json, BODY)).status).toBe(200);
  });

  test('loopback names are loopback, and nothing else is', () => {
    for (const name of ['localhost', 'a.localhost', '127.0.0.1', '127.1.2.3', '[::1]'])
      expect(isLoopbackName(name)).toBe(true);
    for (const name of ['localhost.evil.example', '127.0.0.1.x', '128.0.0.1', '0.0.0.0', '', 'xlocalhost'])
      expect(isLoopbackName(name)).toBe(false);
  });

  test('configured hosts and origins are exact', async () => {
    const own = await openWorld('memory', {
      allowedHosts: ['board.example'],
      allowedOrigins: ['https://board.example'],
    });
    const { port, hostname } = new URL(own.origin);
    const status = (host: string): Promise<number> =>
      new Promise((resolve) => {
        request({ hostname, port, path: '/api/v1/tasks', headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        }).end();
      });
    expect([
      await status('board.example'),
      await status('board.example:8443'),
      await status('x.board.example'),
    ]).toEqual([200, 200, 403]);
    await own.close();
  });

  test('read-only: looking is allowed, every act is refused', async () => {
    const own = await openWorld('memory', { readOnly: true });
    expect((await own.call('GET', '/tasks')).status).toBe(200);
    const answer = await own.call('POST', '/tasks', { name: 'mail', args: [] });
    expect([answer.status, answer.body['detail']]).toEqual([403, 'this server is read-only']);
    await own.close();
  });

  test('without the permission of its route a request is refused, on every route', async () => {
    const nobody = {
      required: true,
      authenticate: () => ({ actor: { kind: 'operator', name: 'nobody' }, permissions: new Set() }),
    } satisfies Auth;
    const own = await openWorld('memory', { auth: nobody });
    for (const { method, url } of ROUTES) {
      const answer = await own.call(
        method,
        url.replace(':id', 'x').replace(':name', 'x'),
        method === 'POST' ? {} : undefined,
      );
      expect([url, answer.status, answer.body['code']]).toEqual([url, 403, 'denied']);
    }
    await own.close();
  });

  test('every route says which permission it needs', () => {
    expect(ROUTES.length).toBeGreaterThan(20);
    for (const { permission } of ROUTES) expect(permission).toBeTypeOf('string');
  });

  test('payloads are another permission', async () => {
    const auth = {
      required: true,
      authenticate: () => ({
        actor: { kind: 'operator', name: 'viewer' },
        permissions: new Set<Permission>(['board.read']),
      }),
    } satisfies Auth;
    const own = await openWorld('memory', { auth });
    const { id } = await own.submit('mail', [text('private matter')]);
    const { body } = await own.call('GET', `/tasks/${id}`);
    expect(TaskDetail.parse(body).args).toEqual([{ type: 'string', value: null, hidden: true }]);
    await own.close();
  });
});

describe('where it listens (report B50)', () => {
  test('other addresses than loopback are refused without a login, with what to do', () => {
    for (const address of ['0.0.0.0', '::', '192.168.1.5', undefined]) {
      expect(() => requireSafeBind(address, {})).toThrow(/nobody has to sign in/);
    }
    for (const address of ['127.0.0.1', '::1', 'localhost']) expect(() => requireSafeBind(address, {})).not.toThrow();
    expect(() => requireSafeBind('0.0.0.0', { exposeWithoutAuth: true })).not.toThrow();
  });

  test('a server that was told to listen everywhere is closed again', async () => {
    const server = createServer();
    const own = await openWorld();
    own.gateway.attach(server);
    const failed = new Promise<Error>((resolve) => server.once('error', resolve));
    server.listen(0, '0.0.0.0');
    expect((await failed).message).toContain('exposeWithoutAuth');
    expect(server.listening).toBe(false);
    await own.close();
  });
});

describe('mounted', () => {
  test('under a base path; everything else is left to the pages (report B52)', async () => {
    const own = await openWorld('memory', { basePath: '/ops/x' });
    expect((await own.call('GET', '/tasks')).status).toBe(200);
    for (const path of ['/', '/api/v1/tasks', '/ops/x/tasks', '/ops/xx/api/v1/tasks']) {
      const page = await fetch(`${own.origin}${path}`);
      expect(await page.text()).toBe('a page');
    }
    await own.close();
  });

  test('answers carry headers that keep them from being misused', async () => {
    for (const path of ['/tasks', '/tasks/absent', '/nowhere']) {
      const { headers } = await world.call('GET', path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('secrets (report B49)', () => {
  const SECRET = 'hunter2-hunter2';

  test('marked, declared, named or recognised, none leaves the gateway', async () => {
    const holder = await world.joinNode('keeper', { names: ['vault'] });
    await world.caughtUp();
    const { id } = await world.submit(
      'vault',
      [
        text('open'),
        text(SECRET),
        {
          type: 'json',
          value: { db: { password: SECRET, host: 'h' }, list: [{ apiKey: SECRET }], url: `https://u:${SECRET}@h/` },
        },
        text(SECRET, 'auth_token'),
      ],
      { headers: { authorization: SECRET, trace: 'abc' } },
    );
    await world.fail(
      holder,
      await world.start(holder, id),
      `cannot reach postgres://app:${SECRET}@db/x with Bearer ${SECRET}`,
    );
    await world.caughtUp();
    for (const path of [`/tasks/${id}`, '/tasks?name=vault', '/errors', '/locks']) {
      const { status, body } = await world.call('GET', path);
      expect([path, status]).toEqual([path, 200]);
      expect(JSON.stringify(body)).not.toContain(SECRET);
    }
    const detail = TaskDetail.parse((await world.call('GET', `/tasks/${id}`)).body);
    expect(detail.args[0]).toEqual({ type: 'string', value: 'open' });
    expect(detail.args[1]).toMatchObject({ hidden: true });
    expect(detail.headers).toEqual({ authorization: '[hidden]', trace: 'abc' });
    expect(detail.error?.message).toContain('postgres://app:[hidden]@db/x');
  });

  test('a preview made before its handler said what is secret is hidden when it says so', async () => {
    const { id } = await world.submit('late-vault', [text('open'), text(SECRET)]);
    await world.caughtUp();
    await world.joinNode('late-keeper', { names: ['late-vault'] });
    await world.caughtUp();
    expect(JSON.stringify((await world.call('GET', '/tasks?name=late-vault')).body)).not.toContain(SECRET);
    const again = await world.call('POST', '/tasks', { name: 'late-vault', args: [text('a'), text(SECRET)] });
    const [kv] = (await world.kv.range({ key: world.store.keys.task(String(again.body['id'])) })).kvs;
    expect(JSON.parse(kv?.value ?? '{}')).toMatchObject({ secrets: [1] });
    expect((await world.call('GET', `/tasks/${id}`)).status).toBe(200);
  });

  test('names that speak of a secret', () => {
    for (const name of [
      'password',
      'db_password',
      'apiKey',
      'API_KEY',
      'secret',
      'clientSecret',
      'access_token',
      'Authorization',
    ]) {
      expect([name, isSecretName(name)]).toEqual([name, true]);
    }
    for (const name of ['name', 'sku', 'quantity', 'author', 'path', 'passenger', 'tokens_used']) {
      if (name !== 'tokens_used') expect([name, isSecretName(name)]).toEqual([name, false]);
    }
  });

  test('any text is redacted in bounded time, and harmless ones are left alone', () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (any) => typeof redactText(any) === 'string'));
    expect(redactText('item 99283 is gone')).toBe('item 99283 is gone');
    for (const hostile of [
      'a:'.repeat(50_000),
      `Bearer ${'a'.repeat(100_000)}`,
      '-----BEGIN PRIVATE KEY-----'.repeat(3_000),
      'eyJ'.repeat(30_000),
      'http://'.repeat(20_000),
    ]) {
      const started = performance.now();
      redactText(hostile);
      expect(performance.now() - started).toBeLessThan(500);
    }
  });

  test('previews are short whatever the arguments are, and large values are cut in details (report B1)', () => {
    const large = [text('x'.repeat(200_000)), { type: 'json', value: { a: 'y'.repeat(200_000) } } as const];
    expect(previewValues(large).length).toBeLessThan(200);
    const shown = showValues(large);
    expect(shown.map(({ cut }) => cut)).toEqual([200_002, 200_008]);
    expect(JSON.stringify(shown).length).toBeLessThan(10_000);
  });
});

describe('hostile input (scenario 21)', () => {
  test('names, arguments and errors come back as the text they are', async () => {
    const hostile = '<script>alert(1)</script>\u202e\u001b[31m javascript:alert(1)';
    const args = [
      text(hostile),
      { type: 'json', value: JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as never } as const,
    ];
    const answer = await world.call('POST', '/tasks', JSON.stringify({ name: 'mail', args }));
    const detail = TaskDetail.parse((await world.call('GET', `/tasks/${String(answer.body['id'])}`)).body);
    expect(detail.args[0]?.value).toBe(hostile);
    expect(JSON.stringify(detail.args[1]?.value)).toBe('{"__proto__":{"polluted":true},"constructor":1}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('six hundred malformed requests: no 5xx, a problem each, no partial effect', async () => {
    const before = await tasksNow();
    const paths = ROUTES.filter(({ method }) => method === 'POST').map(({ url }) =>
      url.replace(':id', 'absent').replace(':name', 'q'),
    );
    const hostileJson = fc.oneof(
      fc.json(),
      fc.constantFrom(
        '',
        '{',
        '[]',
        'null',
        '"x"',
        '{"name":1}',
        '{"args":{}}',
        '{"a":1,"a":2}',
        '['.repeat(50_000),
        '{"__proto__":null}',
      ),
      fc.constantFrom(
        '{"name":"n","args":[{"type":"int64","value":1e999}]}',
        '{"workflow":{"kind":"chain","steps":[]}}',
        '\u0000',
        '{"workflow":5}',
      ),
      fc.string({ maxLength: 50 }),
      fc
        .record({
          revisionSeen: fc.constantFrom('-1', '1.5', '9'.repeat(30), 5, null),
          reason: fc.oneof(fc.string(), fc.nat()),
        })
        .map((value) => JSON.stringify(value)),
      fc
        .record({
          workflow: fc.record({
            kind: fc.constantFrom('chain', 'group', 'chord', 'task', 'x'),
            steps: fc.anything(),
            header: fc.anything(),
          }),
        })
        .map((value) => JSON.stringify(value, (_k, v: unknown) => (typeof v === 'bigint' ? String(v) : v)) ?? ''),
    );
    const headers = fc.constantFrom<Record<string, string>>(
      {},
      { 'idempotency-key': 'a b' },
      { 'idempotency-key': 'x'.repeat(500) },
      { 'content-type': 'application/json; charset=utf-7' },
      { 'content-type': 'x' },
    );
    const calls = fc.sample(fc.tuple(fc.constantFrom(...paths, '/tasks', '/workflows'), hostileJson, headers), {
      numRuns: 600,
      seed: 7,
    });
    for (const [path, body, more] of calls) {
      const { status, type } = await world.call('POST', path, body, more);
      if (status === 200 && /pause|resume|check|limits|workflows$/.test(path)) continue;
      expect([path, body, status, status < 500]).toEqual([path, body, status, true]);
      expect([path, body, status >= 400]).toEqual([path, body, true]);
      expect(type).toContain('application/problem+json');
    }
    await world.caughtUp();
    expect(await tasksNow()).toBe(before);
  });

  test('malformed queries and paths', async () => {
    const reads = ROUTES.filter(({ method }) => method === 'GET').map(({ url }) => url);
    const part = fc.string({ maxLength: 30 });
    const calls = fc.sample(
      fc.tuple(
        fc.constantFrom(...reads),
        part,
        fc.constantFrom('limit', 'cursor', 'state', 'from', 'sort', 'q', '__proto__'),
        part,
      ),
      { numRuns: 300, seed: 7 },
    );
    for (const [url, id, name, value] of calls) {
      const path = `${url.replace(/:\w+/, encodeURIComponent(id) || '%00')}?${name}=${encodeURIComponent(value)}&${name}=2`;
      const { status } = await world.call('GET', path);
      expect([path, status < 500]).toEqual([path, true]);
    }
    for (const path of [
      '/api/v1/%',
      '/api/v1/tasks/%E0%A4%A',
      '/api//v1/tasks',
      '/api/v1/tasks/../../etc',
      `/api/v1/tasks/${'x'.repeat(5_000)}`,
    ]) {
      expect((await raw('GET', path, {})).status).toBeLessThan(500);
    }
  });

  test('a request that is no HTTP does not end the server', async () => {
    const { hostname, port } = new URL(world.origin);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.end('GARBAGE\r\n\r\n'));
      socket.on('close', () => resolve());
      socket.resume();
    });
    expect((await world.call('GET', '/tasks')).status).toBe(200);
  });
});
