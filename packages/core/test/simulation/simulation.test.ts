/**
 * Seeded simulation of submitters, workers, leaders and operators on the memory twin, with crashes, frozen processes, lost
 * requests and replies, late requests, clock jumps, compaction, changes of the store's leader and raised epochs. The checker
 * sees every revision; in the end everything that was acknowledged has ended and nothing is left over.
 *
 * A failing seed is made smaller and printed; `LEASEHOLD_SEED='…' npx vitest run packages/core/test/simulation` runs it alone.
 */
import { describe, expect, it } from 'vitest';
import { makePlan, parsePlan, planText, PROFILES, type Plan, type Profile } from './plan.js';
import { describeFailure, shrink } from './shrink.js';
import { simulate } from './simulate.js';
import { traceLines } from './trace.js';

const FULL = process.env['LEASEHOLD_FULL'] === '1';
const SEEDS = FULL ? 5_000 : 240;
/** One seed after the other; several tests, so that a slow machine is no timeout. */
const BLOCKS = 6;
const TIMEOUT_MS = FULL ? 3_600_000 : 300_000;

/** Every fourth seed is of a rarer kind, in turn. */
function profileOf(seed: number): Profile | undefined {
  return seed % 4 === 3 ? PROFILES[1 + (((seed - 3) / 4) % (PROFILES.length - 1))] : undefined;
}

async function requireGood(plan: Plan): Promise<void> {
  const outcome = await simulate(plan);
  if (outcome.failure === undefined) return;
  const small = await shrink(plan, outcome);
  expect.fail(
    `${describeFailure(plan, outcome)}\nmade smaller in ${small.runs} runs:\n${describeFailure(small.plan, small.outcome)}`,
  );
}

const given = process.env['LEASEHOLD_SEED'];

describe.runIf(given !== undefined)('the given seed', () => {
  it(`${given ?? ''} holds every invariant and comes to an end`, async () => {
    const plan = parsePlan(given ?? '0');
    const lines: string[] = [];
    const outcome = await simulate(plan, { onRevision: (view) => void lines.push(...traceLines(view)) });
    if (outcome.failure !== undefined) expect.fail(`${lines.join('\n')}\n${describeFailure(plan, outcome)}`);
  });
});

describe.skipIf(given !== undefined)('any seed', () => {
  for (let block = 0; block < BLOCKS; block++) {
    const [from, to] = [Math.floor((SEEDS * block) / BLOCKS), Math.floor((SEEDS * (block + 1)) / BLOCKS)];
    it(
      `holds every invariant and comes to an end: ${from} to ${to - 1}`,
      async () => {
        for (let seed = from; seed < to; seed++) await requireGood(makePlan(seed, profileOf(seed)));
      },
      TIMEOUT_MS,
    );
  }

  it('is run again exactly, step by step', async () => {
    const first = await simulate(makePlan(7));
    expect(await simulate(parsePlan(planText(makePlan(7))))).toEqual(first);
    expect((await simulate(makePlan(8))).digest).not.toBe(first.digest);
  });

  it('is written as text from which the same plan is made', () => {
    const plan = makePlan(11);
    const large = makePlan(
      12,
      PROFILES.find(({ name }) => name === 'large'),
    );
    expect(parsePlan(planText(large))).toEqual(large);
    const small: Plan = {
      ...plan,
      parts: plan.parts.slice(1),
      acts: plan.acts.slice(0, 1),
      events: [],
      faults: new Set(['late']),
      workers: 1,
    };
    expect(parsePlan(planText(small))).toEqual(small);
    expect(planText(plan)).toBe('11');
  });
});
