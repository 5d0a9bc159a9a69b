import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRetry, DEFAULT_RETRY, fibonacci, fibonacciNext, nextDelayMs } from '../../src/model/retry.js';
import type { RetryPolicy } from '../../src/model/signature.js';

const never = (): number => {
  throw new Error('no randomness was needed');
};
const seconds = (policy: RetryPolicy, failures: number): number => nextDelayMs(policy, failures, never) / 1_000;
const policies = fc.record<RetryPolicy>({
  count: fc.nat(100),
  backoff: fc.constantFrom('fibonacci', 'exponential', 'fixed'),
  delayMs: fc.nat(10_000_000),
  maxDelayMs: fc.integer({ min: 1, max: 100_000_000 }),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
});
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('retry delays', () => {
  it('TestFibonacci: the sequence is 1, 1, 2, 3, 5, 8', () => {
    expect([1, 2, 3, 4, 5, 6].map(fibonacci)).toEqual([1, 1, 2, 3, 5, 8]);
  });

  it('TestFibonacciNext: the next number is strictly above the start', () => {
    expect([0, 1, 3, 4, 5, 8].map(fibonacciNext)).toEqual([1, 2, 5, 5, 8, 13]);
  });

  it('Fibonacci delays from 0 are 1, 2, 3, 5, 8, 13 seconds', () => {
    expect([1, 2, 3, 4, 5, 6].map((n) => seconds(DEFAULT_RETRY, n))).toEqual([1, 2, 3, 5, 8, 13]);
  });

  it('a RetryTimeout of 4 s starts at the next Fibonacci number above it', () => {
    expect([1, 2, 3].map((n) => seconds({ ...DEFAULT_RETRY, delayMs: 4_000 }, n))).toEqual([5, 8, 13]);
  });

  it('custom delays come one after another, the last one stands, and maxDelayMs and jitter count as for the others', () => {
    const custom = checkRetry({ count: 5, delaysMs: [1_000, 30_000, 600_000] }, undefined);
    expect(custom.backoff).toBe('custom');
    expect([1, 2, 3, 4, 99].map((n) => seconds(custom, n))).toEqual([1, 30, 600, 600, 600]);
    expect(nextDelayMs({ ...custom, jitter: 0.5 }, 2, () => 0.5)).toBe(22_500);
    const fixed = checkRetry({ backoff: 'fixed', delayMs: 5 }, custom);
    expect(fixed.delaysMs).toBeUndefined();
    expect(checkRetry({ count: 1 }, custom)).toMatchObject({ count: 1, backoff: 'custom', delaysMs: custom.delaysMs });
  });

  it.each([
    [{ backoff: 'custom' as const }, 'retry.delaysMs'],
    [{ delaysMs: [] }, 'retry.delaysMs'],
    [{ delaysMs: [1, -1] }, 'retry.delaysMs[1]'],
    [{ delaysMs: [1.5] }, 'retry.delaysMs[0]'],
    [{ delaysMs: [2_000], maxDelayMs: 1_000 }, 'retry.delaysMs[0]'],
    [{ delaysMs: Array.from({ length: 51 }, () => 1) }, 'retry.delaysMs'],
    [{ backoff: 'fixed' as const, delaysMs: [1] }, 'retry.delaysMs'],
  ])('a custom policy of %j is refused, and says where', (input, field) => {
    expect(() => checkRetry(input, undefined)).toThrow(
      expect.objectContaining({ code: 'invalid', fields: expect.objectContaining({ field }) as object }) as Error,
    );
  });

  it('exponential doubles, fixed stays', () => {
    const exponential: RetryPolicy = { ...DEFAULT_RETRY, backoff: 'exponential', delayMs: 500 };
    expect([1, 2, 3, 4].map((n) => seconds(exponential, n))).toEqual([0.5, 1, 2, 4]);
    expect([1, 9].map((n) => seconds({ ...DEFAULT_RETRY, backoff: 'fixed', delayMs: 700 }, n))).toEqual([0.7, 0.7]);
  });

  it('exponential from 0 stays 0, after any number of failures', () => {
    expect(seconds({ ...DEFAULT_RETRY, backoff: 'exponential' }, 100_000)).toBe(0);
  });

  it('jitter takes its share off, and no more', () => {
    const policy: RetryPolicy = { ...DEFAULT_RETRY, backoff: 'fixed', delayMs: 8_000, jitter: 0.25 };
    expect(nextDelayMs(policy, 1, () => 0)).toBe(8_000);
    expect(nextDelayMs(policy, 1, () => 0.999_999)).toBe(6_000);
  });

  it('property: a delay is a whole number of ms between 0 and the maximum, after any number of failures', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 0, max: 1_000_000 }), randoms, (policy, failures, random) => {
        const delay = nextDelayMs(policy, failures, () => random);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(policy.maxDelayMs);
      }),
    );
  });

  it('property: without jitter, delays never shrink from one failure to the next', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 100 }), (given, failures) => {
        const policy = { ...given, jitter: 0 };
        expect(nextDelayMs(policy, failures + 1, never)).toBeGreaterThanOrEqual(nextDelayMs(policy, failures, never));
      }),
    );
  });
});
