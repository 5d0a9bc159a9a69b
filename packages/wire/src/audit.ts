import { z } from 'zod';
import { Decimal, Millis } from './scalars.js';

/** One change, as it was written in the same transaction. */
export const AuditRow = z.object({
  /** The id of the operation. */
  id: z.string(),
  operation: z.string(),
  atMs: Millis,
  actor: z.string(),
  role: z.string().exactOptional(),
  method: z.string().exactOptional(),
  address: z.string().exactOptional(),
  targets: z.array(z.string()),
  reason: z.string().exactOptional(),
  outcome: z.enum(['done', 'refused']),
  detail: z.unknown(),
  /** What the operator saw, and the revision at which it was done. */
  revisionSeen: Decimal.exactOptional(),
  /** Of the target, before; `0` when there was none. */
  revisionBefore: Decimal.exactOptional(),
  revision: Decimal,
  request: z.string().exactOptional(),
});
export type AuditRow = z.infer<typeof AuditRow>;

export const AuditQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  /** Only what is older than this revision: `next` of the page before. */
  cursor: Decimal.optional(),
});

/** Rows of an export at most; what is older is asked for with `cursor`. */
export const AUDIT_EXPORT_ROWS = 10_000;
export const AuditExport = z.object({
  format: z.enum(['ndjson', 'csv']).default('ndjson'),
  limit: z.coerce.number().int().min(1).max(AUDIT_EXPORT_ROWS).default(1_000),
  cursor: Decimal.optional(),
});

export const AuditPage = z.object({
  revision: Decimal,
  total: z.number(),
  rows: z.array(AuditRow),
  next: Decimal.exactOptional(),
});
export type AuditPage = z.infer<typeof AuditPage>;
