/** Makes a failing plan smaller: leaves out what it also fails without. */
import type { Alter } from './network.js';
import { planText, type Plan } from './plan.js';
import { simulate, type Outcome } from './simulate.js';
import type { Failure } from './world.js';

export interface Shrunk {
  readonly plan: Plan;
  readonly outcome: Outcome;
  readonly runs: number;
}

/** What counts as the same failure: the kind and, of violations, the first invariant. */
function nature(failure: Failure | undefined): string {
  if (failure === undefined) return 'none';
  return failure.kind === 'violation' ? `violation ${failure.violations[0]?.invariant ?? ''}` : failure.kind;
}

export async function shrink(first: Plan, found: Outcome, alter?: () => Alter, mostRuns = 80): Promise<Shrunk> {
  const wanted = nature(found.failure);
  let best = { plan: first, outcome: found };
  let runs = 0;
  for (let smaller = true; smaller && runs < mostRuns;) {
    smaller = false;
    for (const plan of candidates(best.plan)) {
      if (runs++ >= mostRuns) break;
      const outcome = await simulate(plan, alter === undefined ? {} : { alter });
      if (nature(outcome.failure) !== wanted) continue;
      best = { plan, outcome };
      smaller = true;
      break;
    }
  }
  return { ...best, runs };
}

/** Plans with less, the boldest first. */
function* candidates(plan: Plan): Generator<Plan> {
  if (plan.faults.size > 0) yield { ...plan, faults: new Set() };
  if (plan.events.length > 0) yield { ...plan, events: [] };
  if (plan.acts.length > 0) yield { ...plan, acts: [] };
  if (plan.leaders > 1) yield { ...plan, leaders: 1 };
  if (plan.workers > 1) yield { ...plan, workers: 1 };
  for (const parts of lessOf(plan.parts)) yield { ...plan, parts };
  for (const acts of lessOf(plan.acts)) yield { ...plan, acts };
  for (const events of lessOf(plan.events)) yield { ...plan, events };
  for (const fault of plan.faults)
    yield { ...plan, faults: new Set([...plan.faults].filter((kind) => kind !== fault)) };
}

function* lessOf<T>(items: readonly T[]): Generator<readonly T[]> {
  const half = Math.ceil(items.length / 2);
  if (items.length > 2) {
    yield items.slice(0, half);
    yield items.slice(half);
  }
  if (items.length > 0) for (let i = 0; i < items.length; i++) yield items.filter((_, at) => at !== i);
}

/** All that is needed to look into it. */
export function describeFailure(plan: Plan, { failure, steps, revisions }: Outcome): string {
  const lines = [`LEASEHOLD_SEED='${planText(plan)}' fails after ${steps} steps and ${revisions} revisions:`];
  switch (failure?.kind) {
    case 'violation':
      lines.push(...failure.violations.slice(0, 10).map(violationLine));
      break;
    case 'stuck':
      lines.push(`it never came to an end; open: ${failure.waiting.join(', ') || 'nothing'}`);
      lines.push(...failure.left.slice(0, 20).map(violationLine));
      break;
    case 'error':
      lines.push(`${failure.process}: ${failure.error instanceof Error ? failure.error.stack : String(failure.error)}`);
      break;
    case undefined:
      break;
  }
  return lines.join('\n');
}

function violationLine({
  invariant,
  revision,
  keys,
  message,
}: {
  invariant: string;
  revision: bigint;
  keys: readonly string[];
  message: string;
}): string {
  return `  ${invariant} at revision ${revision}: ${message} (${keys.join(', ')})`;
}
