let offsetMs = 0;

/** Server clock minus this browser's clock, from the last message that carried the server's time. */
export function serverOffset(): number {
  return offsetMs;
}

/** Travel time makes the estimate too small, never too large: the largest one seen lately is the best. */
export function noteServerTime(serverMs: number, localMs: number): void {
  const seen = serverMs - localMs;
  if (Number.isFinite(seen) && (Math.abs(seen - offsetMs) > 250 || seen > offsetMs)) offsetMs = seen;
}
