import { checkFields, checkInteger, invalid, MAX_WAIT_MS, type Limits } from './check.js';
import { defined, display } from './plain.js';
import { LIMITS, type RetryPolicy } from './signature.js';

const BACKOFFS: readonly unknown[] = ['fibonacci', 'exponential', 'fixed', 'custom'] satisfies RetryPolicy['backoff'][];

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
      // Bounded, for 0 x Infinity is no delay.
      return policy.delayMs * 2 ** Math.min(failures - 1, 60);
    case 'fixed':
      return policy.delayMs;
    case 'custom': {
      const { delaysMs = [] } = policy;
      return delaysMs[Math.min(failures, delaysMs.length) - 1] ?? 0;
    }
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

/** A list of delays alone says that the policy is a custom one; another backoff leaves the list of the defaults behind. */
function merged(input: Partial<RetryPolicy> | undefined, defaults: Partial<RetryPolicy> | undefined): RetryPolicy {
  const given = defined(input ?? {});
  const custom = given.delaysMs !== undefined && given.backoff === undefined ? { backoff: 'custom' as const } : {};
  const { delaysMs, ...policy }: RetryPolicy = { ...DEFAULT_RETRY, ...defined(defaults ?? {}), ...given, ...custom };
  const listed = policy.backoff === 'custom' ? delaysMs : given.delaysMs;
  return listed === undefined ? policy : { ...policy, delaysMs: listed };
}

function checkDelays({ backoff, delaysMs, maxDelayMs }: RetryPolicy, limits: Limits): void {
  if (backoff !== 'custom') {
    if (delaysMs === undefined) return;
    throw invalid(
      'retry.delaysMs',
      `is for retry.backoff "custom", not for ${display(backoff)}; leave one of them out`,
    );
  }
  if (!Array.isArray(delaysMs) || delaysMs.length === 0 || delaysMs.length > limits.retryDelays) {
    throw invalid(
      'retry.delaysMs',
      `a custom policy has 1 to ${limits.retryDelays} delays in ms, not ${display(delaysMs)}`,
    );
  }
  delaysMs.forEach((delay: unknown, i) =>
    checkInteger(delay, `retry.delaysMs[${i}]`, 0, Math.min(maxDelayMs, MAX_WAIT_MS), ' ms'),
  );
}

/**
 * A whole retry policy from a partial one.
 * @throws LeaseholdError `invalid`, naming the field and its range.
 */
export function checkRetry(
  input: Partial<RetryPolicy> | undefined,
  defaults: Partial<RetryPolicy> | undefined,
  limits: Limits = LIMITS,
): RetryPolicy {
  if (input !== undefined && (typeof input !== 'object' || input === null || Array.isArray(input))) {
    throw invalid('retry', `${display(input)} is not a retry policy; give { count, backoff, delayMs, ... }`);
  }
  checkFields(input ?? {}, [...Object.keys(DEFAULT_RETRY), 'delaysMs'], 'retry.');
  const policy = merged(input, defaults);
  checkInteger(policy.count, 'retry.count', 0, limits.retryCount);
  if (!BACKOFFS.includes(policy.backoff)) {
    throw invalid('retry.backoff', `${display(policy.backoff)} is not one of ${BACKOFFS.join(', ')}`);
  }
  checkDelays(policy, limits);
  checkInteger(policy.maxDelayMs, 'retry.maxDelayMs', 1, MAX_WAIT_MS, ' ms');
  checkInteger(policy.delayMs, 'retry.delayMs', 0, MAX_WAIT_MS, ' ms');
  if (policy.delayMs > policy.maxDelayMs) {
    const problem = `${policy.delayMs} ms is above retry.maxDelayMs (${policy.maxDelayMs} ms); lower it or raise that`;
    throw invalid('retry.delayMs', problem);
  }
  if (typeof policy.jitter === 'number' && policy.jitter >= 0 && policy.jitter <= 1) return policy;
  throw invalid('retry.jitter', `${display(policy.jitter)} is not a share from 0 to 1`);
}
