/** Against a real identity provider, run here on loopback. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WhoAmI } from '@leasehold/wire';
import { signedIn } from '../src/auth/oidc.js';
import { readPending } from '../src/auth/login-routes.js';
import { connected, openSocket, SAME_ORIGIN } from './access-world.js';
import { openWorld, type World } from './world.js';

const CLIENT = { client_id: 'board', client_secret: 'a secret of the client, for tests' };
const GROUPS: Readonly<Record<string, readonly string[]>> = { ann: ['staff', 'ops'], bob: ['staff'], eve: ['ops-x'] };

let provider: Server;
let world: World;
let issuer = '';
/** Who signs in at the provider next. */
let account = 'ann';

async function openPort(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Whoever comes is `account`, and agrees to everything. */
async function interact(idp: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params } = await idp.interactionDetails(request, response);
  if (prompt.name === 'login') return idp.interactionFinished(request, response, { login: { accountId: account } });
  const grant = new idp.Grant({ accountId: account, clientId: String(params['client_id']) });
  grant.addOIDCScope('openid profile groups');
  return idp.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

beforeAll(async () => {
  provider = await openPort();
  issuer = `http://127.0.0.1:${portOf(provider)}`;
  world = await openWorld('memory', {
    access: {
      // Browsers come by this name; the port is the world's, so the test rewrites it.
      baseUrl: 'http://127.0.0.1:1',
      oidc: {
        issuer,
        clientId: CLIENT.client_id,
        clientSecret: CLIENT.client_secret,
        roles: { ops: 'operator' },
        scopes: ['groups'],
      },
    },
  });
  const idp = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: ['http://127.0.0.1:1/api/v1/auth/oidc/callback'] }],
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: () => '/interaction' },
    cookies: { keys: ['for tests'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: `${id}-shown`, groups: GROUPS[id] ?? [] }),
    }),
  });
  const callback = idp.callback();
  provider.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction') !== true) return callback(request, response);
    interact(idp, request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
}, 30_000);

afterAll(async () => {
  await world.close();
  await new Promise((resolve) => {
    provider.close(resolve);
    provider.closeAllConnections();
  });
});

const cookiesOf = (response: Response): string[] =>
  response.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');

/** Follows the provider's redirects until it sends the browser back to us. */
async function throughProvider(start: string): Promise<URL> {
  const jar = new Map<string, string>();
  let at = new URL(start);
  for (let step = 0; step < 12; step++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of cookiesOf(response))
      jar.set(line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1));
    const location = response.headers.get('location');
    if (location === null) throw new Error(`the provider stopped: ${response.status} ${await response.text()}`);
    at = new URL(location, at);
    if (at.pathname === '/api/v1/auth/oidc/callback') return at;
  }
  throw new Error('the provider never came back');
}

async function begin(to = '/tasks'): Promise<{ readonly location: string; readonly cookie: string }> {
  const response = await fetch(`${world.origin}/api/v1/auth/oidc/start?to=${encodeURIComponent(to)}`, {
    redirect: 'manual',
  });
  return { location: response.headers.get('location') ?? '', cookie: cookiesOf(response).join('; ') };
}

const finish = (back: URL, cookie: string): Promise<Response> =>
  fetch(`${world.origin}${back.pathname}${back.search}`, { redirect: 'manual', headers: { cookie } });

describe('signing in with an identity provider', () => {
  test('code and PKCE: the role comes from an exact group; afterwards API and socket are open', async () => {
    account = 'ann';
    const { location, cookie } = await begin();
    const asked = new URL(location).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      client_id: 'board',
    });
    expect(asked.get('nonce')).not.toBeNull();
    const answer = await finish(await throughProvider(location), cookie);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('url=/tasks');
    const session = cookiesOf(answer).join('; ');
    const { user } = WhoAmI.parse((await world.call('GET', '/auth/me', undefined, { cookie: session })).body);
    expect(user).toMatchObject({ name: 'ann-shown (ann)', role: 'operator', method: 'oidc' });
    const submitted = await world.call(
      'POST',
      '/tasks',
      { name: 'mail', args: [] },
      { cookie: session, ...SAME_ORIGIN },
    );
    expect(submitted.status).toBe(200);
    expect((await world.call('GET', '/audit', undefined, { cookie: session })).status).toBe(403);
    const socket = openSocket(world.origin, { cookie: session });
    await connected(socket);
    socket.disconnect();
  });

  test.each([
    ['bob', 'who has no mapped group'],
    ['eve', 'whose group only looks like a mapped one'],
  ])('%s, %s, is not let in, and is told why', async (name) => {
    account = name;
    const { location, cookie } = await begin();
    const answer = await finish(await throughProvider(location), cookie);
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
      400,
      expect.stringContaining('none of your groups has a role'),
    ]);
    expect(cookiesOf(answer).filter((line) => line.includes('session'))).toEqual([]);
  });

  test('another browser, another state and a code used twice are refused', async () => {
    account = 'ann';
    const { location, cookie } = await begin();
    const back = await throughProvider(location);
    expect((await finish(back, '')).status).toBe(400);
    const other = await begin();
    expect((await finish(back, other.cookie)).status).toBe(400);
    expect((await finish(back, cookie)).status).toBe(200);
    expect((await finish(back, cookie)).status).toBe(400);
  });

  test('one is sent back to a path of ours only', async () => {
    account = 'ann';
    const { location, cookie } = await begin('//evil.example/');
    const page = await (await finish(await throughProvider(location), cookie)).text();
    expect(page).toContain('url=/"');
  });

  test('a token of another issuer, for another audience or for several, is refused', () => {
    const options = { issuer: 'https://i', clientId: 'board', roles: { ops: 'admin' } };
    const good = { iss: 'https://i', aud: 'board', sub: 'ann', groups: ['ops'] };
    expect(signedIn(good, options)).toEqual({ user: 'ann', role: 'admin' });
    const bad: readonly object[] = [
      { iss: 'https://i/' },
      { aud: 'other' },
      { aud: ['board', 'other'] },
      { aud: undefined },
      { sub: '' },
    ];
    for (const change of bad) expect(() => signedIn({ ...good, ...change }, options)).toThrow();
    for (const groups of [undefined, 'ops', [], ['OPS'], [{ ops: true }]]) {
      expect(() => signedIn({ ...good, groups, email: 'ops@board.example' }, options)).toThrow(/none of your groups/);
    }
  });

  test('what a login carries is read without trust', () => {
    for (const text of [
      undefined,
      '',
      'x',
      Buffer.from('[]').toString('base64url'),
      Buffer.from('null').toString('base64url'),
    ]) {
      expect(readPending(text)).toBeUndefined();
    }
  });
});
