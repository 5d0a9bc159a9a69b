/**
 * `npm run simulate -- --minutes N [--from SEED] [--seed 'PLAN']`: as many seeds as fit into the time, each failure made
 * smaller and printed. Exit code 1 when there was one.
 */
import { parseArgs } from 'node:util';
import { makePlan, parsePlan, PROFILES, type Plan } from './plan.js';
import { describeFailure, shrink } from './shrink.js';
import { simulate } from './simulate.js';
import { traceLines } from './trace.js';

const MOST_FAILURES = 10;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string' }, from: { type: 'string' }, seed: { type: 'string' } },
  });
  if (values.seed !== undefined) return replay(parsePlan(values.seed));
  const minutes = Number(values.minutes ?? 1);
  // Another range each time, so that nights of running see something new; the seed is all that is needed to see it again.
  const from = values.from === undefined ? Math.floor(Date.now() / 1_000) * 1_000 : Number(values.from);
  if (!(minutes > 0) || !Number.isSafeInteger(from)) {
    process.stderr.write('usage: simulate --minutes N [--from SEED] [--seed PLAN]\n');
    return 2;
  }
  return runFor(minutes * 60_000, from);
}

async function runFor(ms: number, from: number): Promise<number> {
  const end = performance.now() + ms;
  let [seeds, steps, revisions, failures] = [0, 0, 0, 0];
  for (let seed = from; performance.now() < end && failures < MOST_FAILURES; seed++, seeds++) {
    const plan = makePlan(seed, PROFILES[seed % PROFILES.length]);
    const outcome = await simulate(plan);
    steps += outcome.steps;
    revisions += outcome.revisions;
    if (outcome.failure === undefined) continue;
    failures++;
    const small = await shrink(plan, outcome);
    process.stdout.write(`${describeFailure(small.plan, small.outcome)}\n(found with seed ${seed})\n`);
  }
  process.stdout.write(`${seeds} seeds from ${from}, ${steps} steps, ${revisions} revisions, ${failures} failures\n`);
  return failures === 0 ? 0 : 1;
}

async function replay(plan: Plan): Promise<number> {
  const onRevision: Parameters<typeof simulate>[1] = {
    onRevision: (view) => process.stdout.write(`${traceLines(view).join('\n')}\n`),
  };
  const outcome = await simulate(plan, onRevision);
  const verdict = outcome.failure === undefined ? 'no failure' : describeFailure(plan, outcome);
  process.stdout.write(`${verdict}\n`);
  return outcome.failure === undefined ? 0 : 1;
}

process.exitCode = await main();
