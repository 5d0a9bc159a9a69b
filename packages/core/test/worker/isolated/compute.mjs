/** Handlers that run in threads. */
export default function ([milliseconds], context) {
  context.log(`began ${context.name} ${context.attempt}`);
  const end = performance.now() + Number(milliseconds);
  while (performance.now() < end);
  context.progress(1, 'computed');
  return [BigInt(context.attempt), context.tokenNumber > 0n ? 'token' : 'none'];
}

export class BadInput extends Error {
  name = 'BadInput';
}

export function failing([how], context) {
  if (how === 1n) throw new BadInput('not that', { cause: new Error('deep') });
  if (how === 2n) context.fail('never');
  if (how === 3n) context.snooze(60_000);
  if (how === 4n) context.retryIn(60_000, new TypeError('later'));
  if (how === 5n) process.exit(3);
  return [0n, ''];
}
