/**
 * Sessions and API tokens of a board, kept in etcd so that every board of a namespace knows them and a revocation holds
 * everywhere at once. Each act writes its audit record in the same transaction.
 *
 * A session hangs on a lease of its own, as long as the idle time: etcd ends it, whatever happens to the board.
 */
import { KvError, prefixEnd, type KeyValue, type LeaseId } from '../kv/kv.js';
import type { UserSessionRecord, TokenRecord } from '../model/access.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import type { Json } from '../model/json.js';
import { act, type Operated } from './operate.js';
import { pages } from './pages.js';
import { absent, auditOp, del, put, type OperatorCall, type Store } from './store.js';

/** Tokens of a namespace at most. */
export const TOKENS_MAX = 1_000;

/** @throws LeaseholdError `conflict` when the id is taken, `too-large` above `TOKENS_MAX`. */
export async function createToken(store: Store, call: OperatorCall, record: TokenRecord): Promise<Operated> {
  const { id, title, permissions, expiresMs, scope } = record;
  const kind = store.keys.kind('tokens');
  const { count } = await store.kv.range({ key: kind, rangeEnd: prefixEnd(kind), countOnly: true });
  if (count >= TOKENS_MAX) {
    throw new LeaseholdError('too-large', `there are ${count} tokens already; revoke some first`, {
      count,
      limit: TOKENS_MAX,
    });
  }
  return act(store, call, 'token.create', { key: store.keys.token(id), id: `token:${id}`, what: 'token' }, (kv) => {
    if (kv !== undefined) throw new LeaseholdError('conflict', `token ${id} exists already`, { id });
    const detail = { title, permissions: [...permissions], expiresMs, ...(scope === undefined ? {} : { scope }) };
    return {
      compare: [],
      ops: [put(store.keys.token(id), encodeRecord(record))],
      detail: JSON.parse(JSON.stringify(detail)) as Json,
    };
  });
}

/** From the moment this returns no board lets the token in. @throws LeaseholdError `not-found`. */
export function revokeToken(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  return act(store, call, 'token.revoke', { key: store.keys.token(id), id: `token:${id}`, what: 'token' }, (kv) => {
    if (kv === undefined) throw new LeaseholdError('not-found', `there is no token ${id}`, { id });
    return { compare: [], ops: [del(store.keys.token(id))], detail: { title: tokenOf(kv).title } };
  });
}

export async function readToken(store: Store, id: string): Promise<TokenRecord | undefined> {
  const [kv] = (await store.kv.range({ key: store.keys.token(id) })).kvs;
  return kv === undefined ? undefined : tokenOf(kv);
}

/** All of a namespace, newest first. */
export async function listTokens(store: Store): Promise<readonly TokenRecord[]> {
  const key = store.keys.kind('tokens');
  const all: TokenRecord[] = [];
  for await (const page of pages(store, { key, rangeEnd: prefixEnd(key) }, { limit: 500 }))
    all.push(...page.map(tokenOf));
  return all.sort((a, b) => b.createdMs - a.createdMs);
}

const tokenOf = (kv: KeyValue): TokenRecord => decodeRecord<TokenRecord>(kv.value, 'token');

export interface OpenUserSession {
  readonly record: UserSessionRecord;
  readonly lease: LeaseId;
}

/** Signs somebody in. `hash` names the session and is not its secret. */
export async function signIn(
  store: Store,
  call: OperatorCall,
  hash: string,
  record: UserSessionRecord,
  idleS: number,
): Promise<OpenUserSession> {
  const lease = await store.kv.leaseGrant(idleS);
  const key = store.keys.session(hash);
  const answer = await store.kv.txn({
    compare: [absent(key), absent(store.keys.audit(call.operationId))],
    success: [
      put(key, encodeRecord(record), lease.id),
      auditOp(store, call, 'session.open', [`user:${record.user}`], { method: record.method }),
    ],
  });
  if (answer.succeeded) return { record, lease: lease.id };
  await store.kv.leaseRevoke(lease.id);
  throw new LeaseholdError('conflict', 'that session exists already; sign in again', {});
}

/** Undefined when it is over: signed out, idle too long, or never there. */
export async function readUserSession(store: Store, hash: string): Promise<OpenUserSession | undefined> {
  const [kv] = (await store.kv.range({ key: store.keys.session(hash) })).kvs;
  if (kv === undefined) return undefined;
  const record = decodeRecord<UserSessionRecord>(kv.value, 'session');
  return record.expiresMs <= store.now() ? undefined : { record, lease: kv.lease };
}

/** It is in use: the idle time begins again. A session that just ended is no error. */
export async function touchUserSession(store: Store, lease: LeaseId): Promise<void> {
  try {
    await store.kv.leaseKeepAlive(lease);
  } catch (error) {
    if (!(error instanceof KvError)) throw error;
  }
}

/** Signs out. False when it was over already. */
export async function signOut(store: Store, call: OperatorCall, hash: string, user: string): Promise<boolean> {
  const key = store.keys.session(hash);
  const [kv] = (await store.kv.range({ key })).kvs;
  if (kv === undefined) return false;
  const answer = await store.kv.txn({
    compare: [{ key, target: 'mod', value: kv.modRevision }],
    success: [del(key), auditOp(store, call, 'session.close', [`user:${user}`])],
  });
  if (answer.succeeded) await store.kv.leaseRevoke(kv.lease);
  return answer.succeeded;
}

/** Ends every session of a user, on every board. Returns how many there were. */
export async function signOutUser(store: Store, call: OperatorCall, user: string): Promise<number> {
  const key = store.keys.kind('sessions');
  const found: KeyValue[] = [];
  for await (const page of pages(store, { key, rangeEnd: prefixEnd(key) }, { limit: 500 })) {
    found.push(...page.filter((kv) => decodeRecord<UserSessionRecord>(kv.value, 'session').user === user));
  }
  // One request holds some hundred deletions; the audit record goes with the first.
  for (let from = 0; from < Math.max(1, found.length); from += 50) {
    const dels = found.slice(from, from + 50).map((kv) => del(kv.key));
    const audit = auditOp(store, call, 'session.close-all', [`user:${user}`], { count: found.length });
    await store.kv.txn({ compare: [], success: from === 0 ? [...dels, audit] : dels });
  }
  return found.length;
}

/** What somebody tried and was not allowed to do. It changes nothing, so it is a transaction of its own. */
export async function recordRefusal(
  store: Store,
  call: OperatorCall,
  operation: string,
  targets: readonly string[],
  detail: Json,
): Promise<void> {
  await store.kv.txn({
    compare: [absent(store.keys.audit(call.operationId))],
    success: [auditOp(store, call, operation, targets, detail, { outcome: 'refused' })],
  });
}

/**
 * Somebody is about to see what the board hides. The record of it is committed first: what cannot be recorded is not shown.
 * @throws LeaseholdError `not-found`.
 */
export function recordReveal(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  return act(store, call, 'secret.reveal', { key: store.keys.task(id), id, what: 'task' }, (kv) => {
    if (kv === undefined) throw new LeaseholdError('not-found', `there is no task ${id}`, { id });
    return { compare: [], ops: [] };
  });
}
