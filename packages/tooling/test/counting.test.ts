import { describe, expect, it } from 'vitest';
import { add, countCheck, countPlaywright, countVitest, NONE, summaryLine } from '../scripts/counting.mjs';

const file = (status: string, ...tests: string[]): object => ({
  status,
  assertionResults: tests.map((result) => ({ status: result })),
});

describe('counting vitest', () => {
  it('adds pending and todo tests as skipped', () => {
    const report = {
      numPassedTests: 5,
      numFailedTests: 1,
      numPendingTests: 2,
      numTodoTests: 1,
      testResults: [file('failed', 'failed')],
    };
    expect(countVitest(report, 1)).toEqual({ passed: 5, failed: 1, skipped: 3 });
  });

  it('counts a file that could not be loaded', () => {
    const report = { numPassedTests: 5, numFailedTests: 0, testResults: [file('passed', 'passed'), file('failed')] };
    expect(countVitest(report, 1)).toEqual({ passed: 5, failed: 1, skipped: 0 });
  });

  it('counts a failure when the run failed outside every test', () => {
    const report = { numPassedTests: 5, numFailedTests: 0, testResults: [file('passed', 'passed')] };
    expect(countVitest(report, 1).failed).toBe(1);
    expect(countVitest(report, 0).failed).toBe(0);
  });

  it('counts a failure when there is no report, whatever the exit code', () => {
    expect(countVitest(undefined, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(countVitest({}, 0).failed).toBe(1);
  });
});

describe('counting Playwright', () => {
  it('counts a flaky test as passed and an error outside the tests as failed', () => {
    const report = { stats: { expected: 7, flaky: 1, unexpected: 2, skipped: 3 }, errors: [{ message: 'no server' }] };
    expect(countPlaywright(report, 1)).toEqual({ passed: 8, failed: 3, skipped: 3 });
  });

  it('counts a failure when there is no report', () => {
    expect(countPlaywright(undefined, 0).failed).toBe(1);
  });
});

describe('the sum', () => {
  it('takes each check as one test', () => {
    const sum = [countCheck(0), countCheck(2), countCheck(0)].reduce(add, NONE);
    expect(sum).toEqual({ passed: 2, failed: 1, skipped: 0 });
  });

  it('speaks of skipped tests only if there are any', () => {
    expect(summaryLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed');
    expect(summaryLine({ passed: 12, failed: 1, skipped: 2 })).toBe('12 passed, 1 failed, 2 skipped');
  });
});
