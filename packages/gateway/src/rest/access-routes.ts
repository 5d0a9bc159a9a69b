/** API tokens, signing others out, and seeing what is hidden. */
import { decodePayload, decodeTask, LeaseholdError, type TaskRecord, type TypedValue } from '@leasehold/core/model';
import {
  createToken,
  decodeResults,
  listTokens,
  recordReveal,
  revokeToken,
  signOutUser,
  type Store,
} from '@leasehold/core/store';
import {
  CreateToken,
  Done,
  Revealed,
  RevealTask,
  RevokeToken,
  SignedOut,
  SignOutUser,
  TokenCreated,
  TokenList,
  type TokenView,
} from '@leasehold/wire';
import { actorText } from '@leasehold/core/model';
import { requirePermissions, scopeWithin, uncovered } from '../auth/roles.js';
import { makeToken } from '../auth/tokens.js';
import { ProblemError } from './problems.js';
import { IdParams, operatorCall, route, type Route } from './route.js';

const DAY_MS = 86_400_000;

const getTokens = route({
  method: 'GET',
  url: '/tokens',
  permission: 'token.manage',
  summary: 'API tokens: what each may do and until when; never the tokens themselves',
  response: TokenList,
  run: async ({ identity }, { store }) => ({
    tokens: (await listTokens(store)).map(({ hash: _hash, ...shown }): TokenView => shown as TokenView),
    grantable: [...identity.permissions].sort(),
  }),
});

const newToken = route({
  method: 'POST',
  url: '/tokens',
  permission: 'token.manage',
  summary: 'Make an API token; the answer is the only place where it is ever shown',
  body: CreateToken,
  response: TokenCreated,
  run: async (call, { store }) => {
    const { title, scope, lifeDays } = call.body;
    const permissions = requirePermissions(call.body.permissions, 'permissions');
    const more = uncovered(permissions, call.identity);
    if (more !== undefined || !scopeWithin(scope, call.identity.scope)) {
      throw new ProblemError(
        'denied',
        `a token cannot do more than whoever makes it${more === undefined ? '' : `: ${more}`}`,
      );
    }
    const { id, token, prefix, hash } = makeToken();
    const nowMs = store.now();
    const operated = await createToken(store, operatorCall(call, call.body), {
      id,
      title,
      prefix,
      hash,
      permissions,
      createdMs: nowMs,
      expiresMs: nowMs + lifeDays * DAY_MS,
      by: actorText(call.identity.actor),
      ...(scope === undefined ? {} : { scope }),
    });
    if (operated.done) return { id, revision: operated.revision.toString(), token };
    throw new LeaseholdError('conflict', 'that operation was carried out before, and a token is shown only once', {});
  },
});

const endToken = route({
  method: 'POST',
  url: '/tokens/:id/revoke',
  permission: 'token.manage',
  summary: 'Revoke an API token: from now on nobody comes in with it, anywhere',
  params: IdParams,
  body: RevokeToken,
  response: Done,
  run: async (call, { store, onAccessChanged }) => {
    const { id } = call.params;
    const { revision } = await revokeToken(store, operatorCall(call, call.body), id);
    onAccessChanged?.();
    return { id, revision: revision.toString() };
  },
});

const signOutOther = route({
  method: 'POST',
  url: '/sessions/revoke',
  permission: 'session.revoke',
  summary: 'Sign a user out, on every board',
  body: SignOutUser,
  response: SignedOut,
  run: async (call, { store, onAccessChanged }) => {
    const count = await signOutUser(store, operatorCall(call, call.body), call.body.user);
    onAccessChanged?.();
    return { count };
  },
});

const revealOne = route({
  method: 'POST',
  url: '/tasks/:id/reveal',
  permission: 'secret.reveal',
  summary: 'The hidden values of a task, for a reason that is recorded first',
  params: IdParams,
  body: RevealTask,
  response: Revealed,
  run: async (call, { store }) => {
    const { id } = call.params;
    await recordReveal(store, operatorCall(call, call.body), id);
    return whole(store, id);
  },
});

/** What `redact.ts` would hide: the one way past it, and only after the record of it is written. */
async function whole(store: Store, id: string): Promise<Revealed> {
  const { keys, kv } = store;
  const answer = await kv.txn({
    compare: [],
    success: [
      { kind: 'range', key: keys.task(id) },
      { kind: 'range', key: keys.args(id) },
    ],
  });
  const [record, payload] = answer.results.map((result) => (result.kind === 'range' ? result.kvs[0] : undefined));
  if (record === undefined) throw new LeaseholdError('not-found', `there is no task ${id}`, { id });
  const task = decodeTask(record.value);
  const results = task.results ?? (await largeResults(store, task));
  const args = task.args ?? (payload === undefined ? [] : (decodePayload(payload.value).args ?? []));
  return {
    id,
    args: [...args],
    ...(results === undefined ? {} : { results: [...results] }),
    ...(task.error === undefined ? {} : { error: [task.error.message, task.error.stack].filter(Boolean).join('\n') }),
    ...(task.headers === undefined ? {} : { headers: { ...task.headers } }),
  };
}

async function largeResults(store: Store, task: TaskRecord): Promise<readonly TypedValue[] | undefined> {
  if (task.resultRef === undefined) return undefined;
  const [kv] = (await store.kv.range({ key: store.keys.result(task.id, task.resultRef) })).kvs;
  return kv === undefined ? undefined : decodeResults(kv.value);
}

export const ACCESS_ROUTES: readonly Route[] = [getTokens, newToken, endToken, signOutOther, revealOne];
