import { parse } from 'lossless-json';
import { LeaseholdError } from '@leasehold/core/model';

/**
 * JSON without loss: an integer beyond 2^53 becomes a bigint, so every digit of 2^60 arrives; all other numbers are
 * numbers. Keys like `__proto__` become own fields, never prototypes. Duplicate keys with different values are refused.
 * @throws LeaseholdError `invalid`.
 */
export function parseLossless(text: string): unknown {
  try {
    return parse(text, null, { parseNumber });
  } catch (cause) {
    const why =
      cause instanceof RangeError ? 'it is nested too deeply' : cause instanceof Error ? cause.message : String(cause);
    throw new LeaseholdError('invalid', `body: not JSON: ${why.slice(0, 200)}`, { field: 'body' }, { cause });
  }
}

function parseNumber(text: string): number | bigint {
  const number = Number(text);
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(number) ? BigInt(text) : number;
}
