/** Saved workflows over REST. The rules and their words are core's. */
import { z } from 'zod';
import { ArgTypeName } from './rows.js';
import { Decimal, Millis } from './scalars.js';

export const TemplateView = z.object({
  id: z.string(),
  title: z.string(),
  workflow: z.unknown(),
  /** The holes of its arguments: `{{name}}`. */
  parameters: z.array(z.object({ name: z.string(), type: ArgTypeName })),
  by: z.string(),
  createdMs: Millis,
  updatedMs: Millis,
  revision: Decimal,
});
export type TemplateView = z.infer<typeof TemplateView>;
export const TemplateList = z.object({ rows: z.array(TemplateView) });
export type TemplateList = z.infer<typeof TemplateList>;

const reason = z.string().max(500).exactOptional();
export const UpsertTemplate = z.strictObject({
  title: z.unknown(),
  workflow: z.unknown(),
  reason,
  /** `0`: it must not be there yet. */
  revisionSeen: Decimal,
});
export const DeleteTemplate = z.strictObject({ reason, revisionSeen: Decimal });
