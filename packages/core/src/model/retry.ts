import type { RetryPolicy } from './signature.js';

/** No retries; when there are some, Machinery's delays: 1, 2, 3, 5, 8 seconds, at most a day apart. */
export const DEFAULT_RETRY: RetryPolicy = Object.freeze({
  count: 0,
  backoff: 'fibonacci',
  delayMs: 0,
  maxDelayMs: 86_400_000,
  jitter: 0,
});

/** The n-th Fibonacci number, n from 1: 1, 1, 2, 3, 5, 8 (Machinery's `Fibonacci`). */
export function fibonacci(n: number): number {
  let [now, next] = [0, 1];
  for (let i = 0; i < n && Number.isFinite(now); i++) [now, next] = [next, now + next];
  return now;
}

/** The smallest Fibonacci number strictly above `start`: 0→1, 1→2, 3→5, 4→5, 5→8, 8→13 (Machinery's `FibonacciNext`). */
export function fibonacciNext(start: number): number {
  let [now, next] = [1, 2];
  while (now <= start) [now, next] = [next, now + next];
  return now;
}

function fibonacciDelayMs(startMs: number, failures: number, maxMs: number): number {
  let seconds = startMs / 1_000;
  for (let i = 0; i < failures && seconds * 1_000 < maxMs; i++) seconds = fibonacciNext(seconds);
  return seconds * 1_000;
}

function baseDelayMs(policy: RetryPolicy, failures: number): number {
  switch (policy.backoff) {
    case 'fibonacci':
      return fibonacciDelayMs(policy.delayMs, failures, policy.maxDelayMs);
    case 'exponential':
      return policy.delayMs * 2 ** (failures - 1);
    case 'fixed':
      return policy.delayMs;
  }
}

/**
 * The delay in whole ms before the next try, after `failures` failures (1 for the first). `jitter` takes up to that share
 * off: a delay of 8 s with jitter 0.25 is between 6 and 8 s, so a policy never waits longer than it says. `random` gives
 * a number from 0 up to 1 and is asked once, and only when there is jitter.
 */
export function nextDelayMs(policy: RetryPolicy, failures: number, random: () => number): number {
  const base = Math.min(baseDelayMs(policy, Math.max(1, failures)), policy.maxDelayMs);
  const share = policy.jitter > 0 ? policy.jitter * random() : 0;
  return Math.round(base * (1 - share));
}
