/**
 * The proof that the simulation and the checker would notice: each guard of `mutations.ts` is broken, and caught within a few
 * seeds, by the invariant that it stands for; the same plan with the guard in place is not complained of.
 */
import { describe, expect, it } from 'vitest';
import { MUTATIONS, profileOf, type Mutation } from './mutations.js';
import { makePlan } from './plan.js';
import { describeFailure } from './shrink.js';
import { simulate, type Outcome } from './simulate.js';

/** Seeds within which a broken guard has to be noticed. */
const SEEDS = 250;

async function firstCaught(
  mutation: Mutation,
): Promise<{ readonly seed: number; readonly outcome: Outcome } | undefined> {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const outcome = await simulate(makePlan(seed, profileOf(mutation)), { alter: mutation.alter });
    if (outcome.failure !== undefined) return { seed, outcome };
  }
  return undefined;
}

/** The invariants that the failure names. */
function natures({ failure }: Outcome): readonly string[] {
  if (failure?.kind === 'violation') return failure.violations.map(({ invariant }) => invariant);
  return failure?.kind === 'error' ? ['refused'] : ['stuck'];
}

describe('a broken guard is caught', () => {
  it.each(MUTATIONS)(
    '$name: $caughtAs',
    async (mutation) => {
      const caught = await firstCaught(mutation);
      if (caught === undefined) return expect.fail(`not caught within ${SEEDS} seeds`);
      const plan = makePlan(caught.seed, profileOf(mutation));
      const named = natures(caught.outcome).some((one) => mutation.caughtAs.some((wanted) => wanted === one));
      if (!named) expect.fail(`caught as something else: ${describeFailure(plan, caught.outcome)}`);
      const whole = await simulate(plan);
      if (whole.failure !== undefined) expect.fail(`with the guard in place: ${describeFailure(plan, whole)}`);
    },
    300_000,
  );

  it('there is at least one for every invariant that a history can prove', () => {
    const proven = new Set(MUTATIONS.flatMap(({ caughtAs }) => caughtAs));
    expect([...proven].sort()).toEqual(['I1', 'I11', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'refused']);
  });
});
