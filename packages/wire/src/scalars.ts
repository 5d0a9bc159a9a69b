import { z } from 'zod';

/** Revisions, tokens and lease ids pass 2^53: decimal digits, end to end. */
export const Decimal = z.string().regex(/^\d{1,20}$/, 'decimal digits');
export type Decimal = z.infer<typeof Decimal>;

/** Epoch milliseconds. */
export const Millis = z.number();
