/** Signing in and out. Open to anybody: who somebody is, is what is asked here. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_BASE, LoginBody, type WhoAmI } from '@leasehold/wire';
import { isLeaseholdError } from '@leasehold/core/model';
import type { Credentials, Identity } from '../guard/identity.js';
import { peerOf } from '../guard/peer.js';
import type { AppOptions } from '../rest/app.js';
import { issueProblem, ProblemError } from '../rest/problems.js';
import { cookieName, readCookie, setCookie, type CookieLife } from './cookies.js';
import { checkForgery } from './forgery.js';
import type { Pending } from './oidc.js';
import { verifyNobody, verifyPassword } from './password.js';
import { Refusals } from './refusals.js';
import { beginSession, type Who } from './sessions.js';
import { stampOf } from './users-file.js';

export function credentialsOf(request: FastifyRequest): Credentials {
  return { headers: request.headers, ...peerOf(request.raw.socket) };
}

type LoginOptions = Pick<AppOptions, 'access' | 'store' | 'logger' | 'onAccessChanged' | 'readOnly'> & {
  readonly basePath: string;
};

const anyone = { config: { permission: 'anyone' as const }, schema: { hide: true } };

export function addLoginRoutes(app: FastifyInstance, options: LoginOptions): void {
  app.get(`${API_BASE}/auth/me`, anyone, async (request, reply) => reply.send(await me(request, options)));
  app.post(`${API_BASE}/auth/login`, anyone, (request, reply) => login(request, reply, options));
  app.post(`${API_BASE}/auth/logout`, anyone, (request, reply) => logout(request, reply, options));
  app.get(`${API_BASE}/auth/oidc/start`, anyone, (request, reply) => startOidc(request, reply, options));
  app.get(`${API_BASE}/auth/oidc/callback`, anyone, (request, reply) => endOidc(request, reply, options));
}

async function me(request: FastifyRequest, { access }: LoginOptions): Promise<WhoAmI> {
  const identity = await access.authenticate(credentialsOf(request));
  const ways = { password: access.users !== undefined, oidc: access.oidc !== undefined };
  return { ways, ...(identity === undefined ? {} : { user: shownUser(identity) }) };
}

export function shownUser({ actor, permissions, scope, csrfToken }: Identity): NonNullable<WhoAmI['user']> {
  const { name, role, method } = actor;
  return {
    name,
    permissions: [...permissions].sort(),
    canSignOut: csrfToken !== undefined,
    ...(role === undefined ? {} : { role }),
    ...(method === undefined ? {} : { method }),
    ...(scope === undefined
      ? {}
      : {
          scope: {
            ...(scope.queues === undefined ? {} : { queues: [...scope.queues] }),
            ...(scope.taskNames === undefined ? {} : { taskNames: [...scope.taskNames] }),
          },
        }),
  };
}

async function login(request: FastifyRequest, reply: FastifyReply, options: LoginOptions): Promise<FastifyReply> {
  const { access } = options;
  const { users, logins } = access;
  if (users === undefined) throw new ProblemError('not-found', 'nobody signs in with a password here');
  const body = LoginBody.safeParse(request.body);
  if (!body.success) throw issueProblem('body', body.error);
  const { address } = peerOf(request.raw.socket);
  const waitS = await logins.take(address);
  if (waitS !== undefined) {
    throw new ProblemError('too-many', `too many wrong passwords; try again in ${waitS} s`, { retryAfterS: waitS });
  }
  const user = await users.find(body.data.user);
  const right =
    user === undefined
      ? await verifyNobody(body.data.password)
      : await verifyPassword(body.data.password, user.password);
  if (user === undefined || !right) {
    const error = new ProblemError('signed-out', 'the name or the password is wrong');
    const actor = { kind: 'operator', name: body.data.user.slice(0, 100), method: 'local', address } as const;
    await new Refusals(options).record({ actor }, request, 'session.open', error);
    throw error;
  }
  await logins.passed(address);
  await enter(request, reply, options, { user: user.name, method: 'local', role: user.role, stamp: stampOf(user) });
  return reply.send({ ok: true });
}

/** A session is always a new one: whatever the browser brought along is worth nothing after signing in. */
async function enter(request: FastifyRequest, reply: FastifyReply, options: LoginOptions, who: Who): Promise<void> {
  const { access } = options;
  await leave(request, options);
  const { id, csrfToken } = await beginSession(access.context, who, peerOf(request.raw.socket).address, request.id);
  const life = { maxAgeS: Math.ceil(access.options.absoluteMs / 1_000), sameSite: 'Strict' } as const;
  reply.header('set-cookie', [
    setCookie('session', id, { ...life, httpOnly: true }, access.options),
    setCookie('csrf', csrfToken, { ...life, httpOnly: false }, access.options),
  ]);
}

/** Ends the session that the request came with, if it is one. */
async function leave(request: FastifyRequest, { access, onAccessChanged }: LoginOptions): Promise<void> {
  const id = access.sessionId({ headers: request.headers });
  if (id === undefined) return;
  const identity = await access.sessions.identity(id, peerOf(request.raw.socket).address, false);
  if (identity === undefined) return;
  await access.sessions.end(id, identity.actor, request.id);
  onAccessChanged();
}

async function logout(request: FastifyRequest, reply: FastifyReply, options: LoginOptions): Promise<FastifyReply> {
  const { access } = options;
  const id = access.sessionId({ headers: request.headers });
  const identity =
    id === undefined ? undefined : await access.sessions.identity(id, peerOf(request.raw.socket).address, false);
  if (identity !== undefined) checkForgery(request.headers, identity);
  await leave(request, options);
  const gone: CookieLife = { maxAgeS: 0, sameSite: 'Strict', httpOnly: true };
  reply.header('set-cookie', [
    setCookie('session', '', gone, access.options),
    setCookie('csrf', '', { ...gone, httpOnly: false }, access.options),
  ]);
  return reply.send({ ok: true });
}

/** A path of ours, never another site's: `//evil` and `/\evil` are those. */
export function safePath(text: unknown): string {
  return typeof text === 'string' && text.length <= 500 && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) ? text : '/';
}

const LOGIN_COOKIE_S = 600;

async function startOidc(
  request: FastifyRequest,
  reply: FastifyReply,
  { access }: LoginOptions,
): Promise<FastifyReply> {
  if (access.oidc === undefined) throw new ProblemError('not-found', 'no identity provider is set up');
  const { to } = request.query as { readonly to?: unknown };
  const { url, pending } = await access.oidc.begin(safePath(to)).catch((error: unknown) => {
    if (isLeaseholdError(error)) throw error;
    throw new ProblemError('unavailable', 'the identity provider does not answer; try again', {});
  });
  const value = Buffer.from(JSON.stringify(pending)).toString('base64url');
  // Lax: the way back from the provider is a navigation from another site.
  const life = { maxAgeS: LOGIN_COOKIE_S, sameSite: 'Lax', httpOnly: true } as const;
  reply.header('set-cookie', setCookie('login', value, life, access.options));
  return reply.redirect(url.href, 302);
}

async function endOidc(request: FastifyRequest, reply: FastifyReply, options: LoginOptions): Promise<FastifyReply> {
  const { access, basePath } = options;
  if (access.oidc === undefined) throw new ProblemError('not-found', 'no identity provider is set up');
  const pending = readPending(readCookie(request.headers.cookie, cookieName('login', access.options)));
  if (pending === undefined) {
    throw new ProblemError('invalid', 'this sign-in was not begun in this browser, or too long ago; begin again');
  }
  try {
    const who = await access.oidc.end(request.url.split('?', 2)[1] ?? '', pending);
    await enter(request, reply, options, { user: who.user, method: 'oidc', role: who.role });
  } catch (error) {
    const { address } = peerOf(request.raw.socket);
    const actor = { kind: 'operator', name: 'unknown', method: 'oidc', address } as const;
    await new Refusals(options).record({ actor }, request, 'session.open', error);
    throw error;
  }
  const gone = setCookie('login', '', { maxAgeS: 0, sameSite: 'Lax', httpOnly: true }, access.options);
  const others = reply.getHeader('set-cookie');
  reply.removeHeader('set-cookie').header('set-cookie', [...(Array.isArray(others) ? others : []), gone]);
  // A page of ours goes on, not the redirect: a SameSite=Strict cookie is not sent in a chain that another site began.
  const next = `${basePath}${pending.to}`.replace(/[&"<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  return reply
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(`<!doctype html><meta http-equiv="refresh" content="0;url=${next}"><title>Leasehold</title>`);
}

export function readPending(text: string | undefined): Pending | undefined {
  if (text === undefined || text.length > 2_000) return undefined;
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString()) as Partial<Record<keyof Pending, unknown>>;
    const { state, nonce, verifier, to } = value;
    if (typeof state !== 'string' || typeof nonce !== 'string' || typeof verifier !== 'string') return undefined;
    return { state, nonce, verifier, to: safePath(to) };
  } catch {
    return undefined;
  }
}
