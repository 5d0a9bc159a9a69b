/** The audit, newest first. Its records are written by core, in the transaction of the change. */
import { prefixEnd, type KeyValue } from '@leasehold/core/kv';
import { actorText, decodeRecord, type AuditRecord } from '@leasehold/core/model';
import { pages, readKeys, type Store } from '@leasehold/core/store';
import { AuditPage, AuditQuery, type AuditRow } from '@leasehold/wire';
import { redactJson, redactText } from '../guard/redact.js';
import { route, type Route } from './route.js';

const listAudit = route({
  method: 'GET',
  url: '/audit',
  permission: 'audit.read',
  summary: 'Who changed what, why and when, newest first',
  query: AuditQuery,
  response: AuditPage,
  run: ({ query }, { store }) => auditPage(store, query.limit, query.cursor),
});

export const AUDIT_ROUTES: readonly Route[] = [listAudit];

/** Keys are ids of operations, which clients choose: the order in time is that of the revisions. */
export async function auditPage(store: Store, limit: number, cursor?: string): Promise<AuditPage> {
  const key = store.keys.kind('audit');
  const all: KeyValue[] = [];
  for await (const page of pages(store, { key, rangeEnd: prefixEnd(key) }, { limit: 5_000, keysOnly: true })) {
    all.push(...page);
  }
  all.sort((a, b) => (a.createRevision < b.createRevision ? 1 : -1));
  const before = cursor === undefined ? undefined : BigInt(cursor);
  const older = before === undefined ? all : all.filter(({ createRevision }) => createRevision < before);
  const wanted = older.slice(0, limit);
  const found = await readKeys(
    store,
    wanted.map((kv) => kv.key),
  );
  const rows = found.flatMap((kv) => (kv === undefined ? [] : [auditRow(store, kv)]));
  const last = wanted.at(-1);
  const revision = all[0]?.createRevision ?? 0n;
  const more = older.length > wanted.length && last !== undefined;
  return {
    revision: revision.toString(),
    total: all.length,
    rows,
    ...(more ? { next: last.createRevision.toString() } : {}),
  };
}

function auditRow(store: Store, kv: KeyValue): AuditRow {
  const record = decodeRecord<AuditRecord>(kv.value, 'audit');
  const { actor, reason, detail, revisionSeen, revisionBefore, request } = record;
  return {
    id: kv.key.slice(store.keys.kind('audit').length),
    operation: record.operation,
    atMs: record.atMs,
    actor: actorText(actor),
    targets: [...record.targets],
    outcome: record.outcome,
    detail: detail === undefined ? null : redactJson(detail),
    revision: kv.createRevision.toString(),
    ...(actor.role === undefined ? {} : { role: actor.role }),
    ...(actor.method === undefined ? {} : { method: actor.method }),
    ...(actor.address === undefined ? {} : { address: actor.address }),
    ...(reason === undefined ? {} : { reason: redactText(reason) }),
    ...(revisionSeen === undefined ? {} : { revisionSeen }),
    ...(revisionBefore === undefined ? {} : { revisionBefore }),
    ...(request === undefined ? {} : { request }),
  };
}
