/**
 * The REST API as one fastify instance that is mounted on somebody else's server.
 *
 * R1  Every request passes, in this order: Host, Origin (for what changes something), who it is, the permission of its
 *     route, the read-only switch, its token against forgery, how often, its schemas, its scope. A route without a
 *     permission does not start; what anybody may ask says `anyone`.
 * R2  Whatever happens, the answer is a result or a problem document with our code; no stack, no half effect.
 */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import swagger from '@fastify/swagger';
import { jsonSchemaTransform, serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { checkId, LeaseholdError } from '@leasehold/core/model';
import { API_BASE, Problem } from '@leasehold/wire';
import { READING, type Identity, type Permission } from '../guard/identity.js';
import { checkForgery } from '../auth/forgery.js';
import { addLoginRoutes, credentialsOf } from '../auth/login-routes.js';
import { Refusals } from '../auth/refusals.js';
import { requireInScope } from '../auth/scope.js';
import type { Access } from '../auth/access.js';
import { checkHost, checkOrigin, type OriginOptions } from '../guard/origin.js';
import { ACT_ROUTES } from './act-routes.js';
import { QUEUE_ROUTES } from './queue-routes.js';
import { BULK_ROUTES } from './bulk-routes.js';
import { addAuditExport } from './audit-export.js';
import { AUDIT_ROUTES } from './audit-routes.js';
import { parseLossless } from './lossless.js';
import { issueProblem, problemOf, ProblemError } from './problems.js';
import { EVENT_ROUTES } from './event-routes.js';
import { PAST_ROUTES } from './past-routes.js';
import { READ_ROUTES } from './read-routes.js';
import type { Call, Route, RouteContext } from './route.js';
import { SCHEDULE_ROUTES } from './schedule-routes.js';
import { TEMPLATE_ROUTES } from './template-routes.js';
import { SUBMIT_ROUTES } from './submit-routes.js';
import { ACCESS_ROUTES } from './access-routes.js';
import { placeOfTask } from './task-place.js';

export interface AppOptions extends RouteContext {
  readonly access: Access;
  /** Told when sessions or tokens ended, so that sockets are looked at now. */
  readonly onAccessChanged: () => void;
  readonly basePath: string;
  readonly origins: OriginOptions;
  readonly readOnly: boolean;
  readonly version: string;
  readonly bodyLimitBytes: number;
  /** Told of every change that was made, with its revision. */
  readonly onChanged: (revision: bigint) => void;
}

/** All routes below `/api/v1`, with what each needs. */
export const ROUTES: readonly Route[] = [
  ...READ_ROUTES,
  ...PAST_ROUTES,
  ...EVENT_ROUTES,
  ...AUDIT_ROUTES,
  ...ACT_ROUTES,
  ...QUEUE_ROUTES,
  ...SCHEDULE_ROUTES,
  ...SUBMIT_ROUTES,
  ...BULK_ROUTES,
  ...TEMPLATE_ROUTES,
  ...ACCESS_ROUTES,
];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `anyone`: also somebody who has not signed in. */
    permission?: Permission | 'anyone';
  }
  interface FastifyRequest {
    identity?: Identity;
  }
}

/** What the server answers to, and what each needs. */
export interface Registered {
  readonly method: string;
  readonly url: string;
  readonly permission: Permission | 'anyone';
}

export async function buildApp(
  options: AppOptions,
): Promise<{ readonly app: FastifyInstance; readonly registered: readonly Registered[] }> {
  const registered: Registered[] = [];
  const { bodyLimitBytes } = options;
  const app = Fastify({
    bodyLimit: bodyLimitBytes,
    logger: false,
    genReqId: () => options.store.newId(),
    routerOptions: { maxParamLength: 700 },
    requestTimeout: 0,
  });
  app.decorateRequest('identity', undefined);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  takeOnlyJson(app);
  const refusals = new Refusals(options);
  app.addHook('onRequest', async (request, reply) => guard(request, reply, options, refusals));
  app.addHook('preHandler', () => options.board.whole());
  app.addHook('onRoute', ({ method, url, config }) => {
    const permission = config?.permission;
    if (permission === undefined) throw new Error(`route ${String(method)} ${url} has no permission`);
    registered.push({ method: String(method), url, permission });
  });
  app.setErrorHandler((error, request, reply) => {
    const answer = problemOf(error, bodyLimitBytes);
    if (answer.status >= 500)
      options.logger.error('gateway: a request failed', {
        error,
        method: request.method,
        route: request.routeOptions.url,
      });
    return sendProblem(reply, answer);
  });
  app.setNotFoundHandler((request, reply) => {
    return sendProblem(
      reply,
      problemOf(
        new ProblemError('not-found', `there is no ${request.method} ${request.url.slice(0, 200)}`),
        bodyLimitBytes,
      ),
    );
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Leasehold',
        version: options.version,
        description: 'Errors are application/problem+json. 64-bit numbers are decimal strings.',
      },
    },
    transform: jsonSchemaTransform,
  });
  for (const each of ROUTES) add(app, each, options);
  addLoginRoutes(app, options);
  addAuditExport(app, options);
  const described = { config: { permission: 'board.read' as const }, schema: { hide: true } };
  app.get(`${API_BASE}/openapi.json`, described, () => app.swagger());
  await app.ready();
  return { app, registered };
}

/** Only application/json is parsed, without loss; anything else that has a body is refused. */
function takeOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, parseLossless(body as string));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

async function guard(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AppOptions,
  refusals: Refusals,
): Promise<void> {
  reply.headers(SECURITY_HEADERS);
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  const refusal =
    checkHost(request.headers, options.origins) ??
    (changes ? checkOrigin(request.headers, options.origins) : undefined);
  if (refusal !== undefined) throw new ProblemError(refusal.code, refusal.detail);
  const { permission } = request.routeOptions.config;
  if (permission === 'anyone') return;
  if (permission === undefined) return; // Not found.
  const identity = await options.access.authenticate(credentialsOf(request));
  if (identity === undefined) throw new ProblemError('signed-out', 'not signed in, or not any more');
  request.identity = identity;
  try {
    allow(identity, permission, options.readOnly);
    if (changes) checkForgery(request.headers, identity);
  } catch (error) {
    await refusals.record(identity, request, permission, error);
    throw error;
  }
  if (changes) await keepPace(request, permission, identity, options.access);
}

function allow(identity: Identity, permission: Permission, readOnly: boolean): void {
  if (!identity.permissions.has(permission)) {
    throw new ProblemError('denied', `this needs the permission ${permission}`, { permission });
  }
  if (readOnly && !READING.has(permission)) {
    throw new ProblemError('denied', 'this server is read-only', { permission });
  }
}

async function keepPace(
  request: FastifyRequest,
  permission: Permission,
  identity: Identity,
  { acts }: Access,
): Promise<void> {
  const looks = READING.has(permission) && permission !== 'secret.reveal';
  const asks = looks || request.routeOptions.url?.endsWith('/check') === true;
  const waitS = asks ? await acts.check(identity) : await acts.change(identity);
  if (waitS === undefined) return;
  throw new ProblemError('too-many', `too many changes in a minute; try again in ${waitS} s`, { retryAfterS: waitS });
}

export const SECURITY_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
});

function sendProblem(reply: FastifyReply, answer: Problem): FastifyReply {
  const waitS = answer.fields?.['retryAfterS'];
  if (typeof waitS === 'number') reply.header('retry-after', waitS);
  return reply.code(answer.status).type('application/problem+json').serializer(JSON.stringify).send(answer);
}

function add(app: FastifyInstance, each: Route, options: AppOptions): void {
  const { method, url, permission, summary } = each;
  app.route({
    method,
    url: `${API_BASE}${url}`,
    config: { permission },
    schema: {
      summary,
      params: each.params,
      querystring: each.query,
      ...(method === 'POST' ? { body: each.body } : {}),
      response: { 200: each.response, default: Problem },
    },
    // Checked by hand, in the handler, so that refusals are problems with a field; the schemas above are the document.
    validatorCompiler: () => (value) => ({ value }),
    serializerCompiler: () => (value) => JSON.stringify(value),
    handler: async (request, reply) => {
      const call = callOf(each, request);
      const asked = { method, url, params: call.params, body: call.body };
      await requireInScope(call.identity.scope, asked, (id) => placeOfTask(options.store, id));
      const result = await each.run(call, options);
      const revision = method === 'POST' && isDone(result) ? BigInt(result.revision) : undefined;
      if (revision !== undefined) options.onChanged(revision);
      return reply.send(result);
    },
  });
}

function isDone(result: unknown): result is { readonly revision: string } {
  return (
    typeof result === 'object' && result !== null && typeof (result as { revision?: unknown }).revision === 'string'
  );
}

function callOf(each: Route, request: FastifyRequest): Call<unknown, unknown, unknown> {
  const { identity } = request;
  if (identity === undefined) throw new ProblemError('signed-out', 'not signed in');
  const key = request.headers['idempotency-key'];
  return {
    params: parsed(each.params, 'path', request.params),
    query: parsed(each.query, 'query', request.query),
    body: parsed(each.body, 'body', each.method === 'GET' ? {} : (request.body ?? {})),
    identity,
    operationId: key === undefined ? request.id : operationId(key),
    idempotent: key !== undefined,
    requestId: request.id,
  };
}

function operationId(key: string | string[]): string {
  if (typeof key === 'string') return checkId(key, 'Idempotency-Key');
  throw new LeaseholdError('invalid', 'Idempotency-Key: give it once', { field: 'Idempotency-Key' });
}

function parsed(schema: Route['params'], part: string, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw issueProblem(part, result.error);
}
