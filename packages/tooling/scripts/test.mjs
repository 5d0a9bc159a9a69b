/** `npm test`: every check and every test, from a fresh checkout, and one line at the end that counts them. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bootstrap } from './bootstrap.mjs';
import { ensureChromium } from './chromium.mjs';
import { add, NONE, summaryLine } from './counting.mjs';
import { ensureEtcd } from './etcd.mjs';
import { capture, environment, Failure, main, ownDirectory, progress, root } from './lib.mjs';
import { chooseSteps } from './steps.mjs';

const reports = path.join(ownDirectory, 'reports');

main(async () => {
  const { full, chosen } = readArguments();
  await bootstrap();
  const prepared = await prepare(chosen, full);
  const results = [];
  for (const step of chosen) results.push(await runStep(step, results, prepared, full));
  const total = results.reduce((sum, { counts }) => add(sum, counts), NONE);
  printTable(results);
  process.stdout.write(`${summaryLine(total)}\n`);
  process.exit(total.failed === 0 ? 0 : 1);
});

function readArguments() {
  const { values } = parseArgs({
    options: { full: { type: 'boolean', default: false }, only: { type: 'string' } },
  });
  try {
    return { full: values.full, chosen: chooseSteps(values.only) };
  } catch (error) {
    throw new Failure(error.message);
  }
}

/** What tests need from outside. What can't be had fails the step that needs it, with the reason, and not the others. */
async function prepare(chosen, full) {
  const wants = (name) => chosen.some((step) => step.name === name);
  const obstacles = {};
  const env = full ? { LEASEHOLD_FULL: '1' } : {};
  const attempt = async (names, work) => {
    try {
      await work();
    } catch (error) {
      for (const name of names) obstacles[name] ??= error.message;
    }
  };
  if (wants('unit') || wants('e2e')) {
    progress('looking for etcd');
    await attempt(['unit', 'e2e'], () => ensureEtcd());
    // The full run tests the oldest supported version too. Where there is none, those tests say so themselves.
    if (full) await ensureEtcd('3.4').catch((error) => progress(`no etcd 3.4: ${error.message.split('\n')[0]}`));
  }
  if (wants('e2e')) {
    progress('looking for Chromium');
    await attempt(['e2e'], async () => {
      env.CHROMIUM_PATH = await ensureChromium();
    });
  }
  return { env, obstacles };
}

async function runStep(step, before, { env, obstacles }, full) {
  const failedNeed = before.find(({ name, counts }) => name === step.needs && counts.failed > 0);
  const obstacle = obstacles[step.name] ?? (failedNeed && `not run, because ${failedNeed.title} failed`);
  const began = performance.now();
  progress(step.title);
  const outcome = obstacle === undefined ? await execute(step, env, full) : { code: 1, output: `${obstacle}\n` };
  const counts = step.count(outcome.report, outcome.code);
  const seconds = (performance.now() - began) / 1000;
  if (counts.failed > 0) process.stderr.write(`\n--- ${step.title} failed ---\n${outcome.output}\n`);
  return { name: step.name, title: step.title, counts, seconds };
}

async function execute(step, env, full) {
  const file = path.join(reports, step.report ?? 'none');
  mkdirSync(reports, { recursive: true });
  // A report of an earlier run must not be counted for a run that crashed.
  rmSync(file, { force: true });
  const { code, output } = await capture('sh', ['-c', commandOf(step, file)], {
    env: environment({ ...env, ...step.env?.(file) }),
    timeoutMs: (full ? 120 : 40) * 60_000,
  });
  return { code, output, report: readReport(file) };
}

function commandOf(step, file) {
  if (step.turbo !== undefined) return `turbo run ${step.turbo} --output-logs=errors-only --env-mode=loose`;
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const script = scripts[step.script];
  if (script === undefined) throw new Failure(`package.json has no script ${step.script}`);
  return step.args === undefined ? script : `${script} ${step.args(file)}`;
}

function readReport(file) {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  } catch {
    return undefined;
  }
}

function printTable(results) {
  const width = Math.max(...results.map(({ title }) => title.length));
  process.stdout.write('\n');
  for (const { title, counts, seconds } of results) {
    const mark = counts.failed === 0 ? 'ok    ' : 'FAILED';
    process.stdout.write(
      `${mark}  ${title.padEnd(width)}  ${seconds.toFixed(1).padStart(7)} s  ${summaryLine(counts)}\n`,
    );
  }
  process.stdout.write('\n');
}
