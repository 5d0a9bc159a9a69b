/**
 * The place of a task in its ready index: one number, enqueue time minus priority times the ageing step. A higher
 * priority goes first, and a waiting task ages by itself, because later arrivals get larger numbers: a task of priority p
 * is overtaken only by tasks that arrive within (q - p) steps after it with priority q. Nothing is rewritten.
 */
export const AGE_STEP_MS = 60_000;

/** Digits of an order or a time in a key; enough until the year 33658. Orders are never negative for dates after 1970. */
export const TIME_DIGITS = 15;

export function orderOf(enqueuedMs: number, priority: number, ageStepMs: number = AGE_STEP_MS): number {
  return Math.max(0, Math.floor(enqueuedMs) - priority * ageStepMs);
}

export function padTime(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms >= 10 ** TIME_DIGITS) throw new RangeError(`${ms} is not a key time`);
  return String(ms).padStart(TIME_DIGITS, '0');
}

/** FNV-1a, 32 bits: spreads ids over shards. Stable for ever; other languages need the same. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash;
}

/** Shards of a queue. */
export const SHARDS = 8;

export function shardOf(id: string): number {
  return hash32(id) % SHARDS;
}
