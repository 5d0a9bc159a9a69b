import { z } from 'zod';

/** Revisions, tokens and lease ids pass 2^53: decimal digits, end to end. */
export const Decimal = z.string().regex(/^\d{1,20}$/, 'decimal digits');
export type Decimal = z.infer<typeof Decimal>;

/** Epoch milliseconds. */
export const Millis = z.number();

/** Compares two decimal strings as numbers: negative, 0 or positive. */
export function compareDecimal(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
