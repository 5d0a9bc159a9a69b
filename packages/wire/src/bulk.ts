/** Bulk operations over REST and socket. What an action means and which states allow it is core's. */
import { z } from 'zod';
import { TaskFilter } from './query.js';
import { Decimal, Millis } from './scalars.js';
import { BulkActionName, BulkRow } from './rows.js';

/** Which tasks are meant: what a filter shows, or those that were picked, as they were seen. */
const meant = {
  filter: TaskFilter.exactOptional(),
  tasks: z
    .array(z.strictObject({ id: z.string().min(1).max(600), revision: Decimal }))
    .min(1)
    .max(5_000)
    .exactOptional(),
};

export const CountBulk = z.strictObject({ action: BulkActionName, ...meant });
export const BulkCount = z.object({
  count: z.number(),
  /** Those of them whose state allows the action now; the others will be skipped, and listed. */
  possible: z.number(),
  /** Give it back: what comes or changes later is left alone. */
  asOf: Decimal,
  /** The count has to be typed. */
  typed: z.boolean(),
});
export type BulkCount = z.infer<typeof BulkCount>;

export const StartBulk = z.strictObject({
  action: BulkActionName,
  ...meant,
  /** As it was counted, and when. */
  count: z.int().min(1),
  asOf: Decimal,
  /** The count once more, as a person typed it, where that is asked for. */
  typed: z.string().max(20).exactOptional(),
  priority: z.unknown().optional(),
  reason: z.string().max(500).exactOptional(),
});

export const BulkLeftPage = z.object({
  rows: z.array(
    z.object({ id: z.string(), kind: z.enum(['skipped', 'conflicted']), code: z.string(), message: z.string() }),
  ),
  next: z.string().exactOptional(),
});
export type BulkLeftPage = z.infer<typeof BulkLeftPage>;
export const BulkPage = z.object({ revision: Decimal, rows: z.array(BulkRow) });
export type BulkPage = z.infer<typeof BulkPage>;
export const BulkDetail = z.object({ asOf: Decimal, row: BulkRow, updatedMs: Millis });
export type BulkDetail = z.infer<typeof BulkDetail>;
