/** The steps of `npm test`, in their order. The commands themselves stand in the root package.json, once. */
import { countCheck, countPlaywright, countVitest } from './counting.mjs';

/**
 * - script: which script of the root package.json it runs
 * - report: the file its JSON goes to, with the arguments and variables that send it there
 * - needs: a step without which this one would only fail in a confusing way
 * The build comes before the checks that read types out of dist.
 */
export const steps = [
  { name: 'format', title: 'format', script: 'format:check', count: check },
  { name: 'build', title: 'build', turbo: 'build', count: check },
  { name: 'lint', title: 'lint', script: 'lint', count: check },
  { name: 'types', title: 'types', turbo: 'typecheck', needs: 'build', count: check },
  { name: 'law', title: 'import law', script: 'law', count: check },
  { name: 'dead', title: 'dead code', script: 'dead', count: check },
  {
    name: 'unit',
    title: 'unit and conformance tests',
    script: 'unit',
    report: 'vitest.json',
    args: (file) => `--reporter=default --reporter=json --outputFile.json='${file}'`,
    count: countVitest,
  },
  {
    name: 'e2e',
    title: 'end-to-end tests',
    script: 'e2e',
    needs: 'build',
    report: 'playwright.json',
    args: () => '--reporter=list,json',
    env: (file) => ({ PLAYWRIGHT_JSON_OUTPUT_NAME: file, PLAYWRIGHT_JSON_OUTPUT_FILE: file }),
    count: countPlaywright,
  },
];

function check(_report, code) {
  return countCheck(code);
}

/** Throws on a name that is no step: a typing error must not become a run of nothing that succeeds. */
export function chooseSteps(only) {
  if (only === undefined) return steps;
  const wanted = only.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    throw new RangeError(`no such step: ${unknown.join(', ')}. There are ${steps.map(({ name }) => name).join(', ')}`);
  }
  return steps.filter(({ name }) => wanted.includes(name));
}
