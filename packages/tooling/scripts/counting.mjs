/** Turns what the tools report into passed, failed and skipped. Pure. */

export const NONE = Object.freeze({ passed: 0, failed: 0, skipped: 0 });

export function add(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** A check has no report: it is one test. */
export function countCheck(code) {
  return code === 0 ? { ...NONE, passed: 1 } : { ...NONE, failed: 1 };
}

/** vitest's JSON. A file that could not even be loaded has no tests in it and must count all the same. */
export function countVitest(report, code) {
  if (!isRecord(report) || !Array.isArray(report.testResults)) return atLeastOneFailure(NONE, 1);
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  );
  const counts = {
    passed: number(report.numPassedTests),
    failed: number(report.numFailedTests) + brokenFiles.length,
    skipped: number(report.numPendingTests) + number(report.numTodoTests),
  };
  return atLeastOneFailure(counts, code);
}

/** Playwright's JSON. A flaky test passed in the end; `errors` are failures outside any test. */
export function countPlaywright(report, code) {
  if (!isRecord(report) || !isRecord(report.stats)) return atLeastOneFailure(NONE, 1);
  const { expected, flaky, unexpected, skipped } = report.stats;
  const outside = Array.isArray(report.errors) ? report.errors.length : 0;
  const counts = {
    passed: number(expected) + number(flaky),
    failed: number(unexpected) + outside,
    skipped: number(skipped),
  };
  return atLeastOneFailure(counts, code);
}

/** A tool that exits with an error and blames no test (an unhandled rejection, a crash) has still failed. */
function atLeastOneFailure(counts, code) {
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** The last line of `npm test`. */
export function summaryLine({ passed, failed, skipped }) {
  const base = `${passed} passed, ${failed} failed`;
  return skipped > 0 ? `${base}, ${skipped} skipped` : base;
}

function number(value) {
  return typeof value === 'number' ? value : 0;
}

function isRecord(value) {
  return typeof value === 'object' && value !== null;
}
