/** The audit as a file: the same redacted rows as the page, as lines of JSON or as CSV. */
import type { FastifyInstance } from 'fastify';
import { API_BASE, AuditExport, type AuditRow } from '@leasehold/wire';
import type { Store } from '@leasehold/core/store';
import { auditPage } from './audit-routes.js';
import { issueProblem, ProblemError } from './problems.js';

export function addAuditExport(app: FastifyInstance, { store }: { readonly store: Store }): void {
  const options = { config: { permission: 'audit.read' as const }, schema: { hide: true } };
  app.get(`${API_BASE}/audit/export`, options, async (request, reply) => {
    const query = AuditExport.safeParse(request.query);
    if (!query.success) throw issueProblem('query', query.error);
    // The audit tells of everything; somebody who may see a part of the board only has none of it.
    if (request.identity?.scope !== undefined) throw new ProblemError('not-found', 'there is no audit here');
    const { format, limit, cursor } = query.data;
    const { rows, next } = await auditPage(store, limit, cursor);
    if (next !== undefined) reply.header('x-next-cursor', next);
    return reply
      .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson')
      .header('content-disposition', `attachment; filename="audit.${format}"`)
      .serializer(String)
      .send(format === 'csv' ? csvOf(rows) : rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  });
}

const COLUMNS = [
  'id',
  'atMs',
  'operation',
  'outcome',
  'actor',
  'role',
  'method',
  'address',
  'request',
  'targets',
  'reason',
  'revisionBefore',
  'revision',
  'detail',
] as const satisfies readonly (keyof AuditRow)[];

export function csvOf(rows: readonly AuditRow[]): string {
  return [COLUMNS.join(','), ...rows.map((row) => COLUMNS.map((column) => cell(row[column])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('');
}

/** Quoted; what a spreadsheet would take for a formula gets an apostrophe before it. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : JSON.stringify(value);
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
