import { parse, stringify } from 'lossless-json';

/** A number that JavaScript would round stays as its digits. */
export function losslessNumber(text: string): number | bigint | string {
  if (/^-?\d+$/.test(text)) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  }
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

export function parseLossless(text: string): unknown {
  return parse(text, undefined, losslessNumber);
}

/** JSON of a value that may hold bigints: they become numbers with all their digits. */
export function stringifyLossless(value: unknown, space?: number): string {
  return stringify(value, undefined, space) ?? 'null';
}
