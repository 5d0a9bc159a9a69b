/**
 * Writes `fixtures/layout-<n>.json`: what a namespace looks like in the middle of everything, as this version stores it.
 * To be run once for every new layout, and its file kept for ever: `tsx --conditions=leasehold-source packages/core/test/upgrade/record.ts`.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LAYOUT_VERSION } from '../../src/model/codec.js';
import type { View } from '../../src/verify/view.js';
import { makePlan, PROFILES } from '../simulation/plan.js';
import { simulate } from '../simulation/simulate.js';
import type { Fixture, StoredKey } from './fixture.js';

const SEEDS = 150;
const KEPT = 3;

interface Shot {
  readonly score: number;
  readonly fixture: Fixture;
}

/** The more kinds of keys and states of tasks at one moment, the better. */
function scoreOf(view: View): number {
  const seen = new Set<string>();
  for (const kv of view.all()) {
    const parsed = view.keys.parse(kv.key);
    if (parsed === undefined) continue;
    seen.add(parsed.kind);
    if (parsed.kind === 'tasks') seen.add(`task ${view.taskOf(kv)?.state ?? ''} ${view.taskOf(kv)?.cause ?? ''}`);
    if (parsed.kind === 'workflows') seen.add(`workflow ${view.workflowOf(kv)?.state ?? ''}`);
  }
  return seen.size;
}

async function shotOf(seed: number): Promise<Shot> {
  const plan = makePlan(seed, PROFILES[seed % PROFILES.length]);
  let best: Shot = { score: 0, fixture: { seed, namespace: '', keys: [] } };
  await simulate(plan, {
    onRevision: (view) => {
      const score = scoreOf(view);
      if (score > best.score) best = { score, fixture: { seed, namespace: view.keys.namespace, keys: keysOf(view) } };
    },
  });
  return best;
}

/** Leased keys die with their processes, and no process lives through an upgrade. */
function keysOf(view: View): StoredKey[] {
  return [...view.all()]
    .filter(({ lease }) => lease === 0n)
    .map(({ key, value, version, modRevision }) => ({
      key,
      value,
      version: Number(version),
      revision: Number(modRevision),
    }))
    .sort((a, b) => a.revision - b.revision);
}

const shots: Shot[] = [];
for (let seed = 1; seed <= SEEDS; seed++) shots.push(await shotOf(seed));
shots.sort((a, b) => b.score - a.score);
const kept = shots.slice(0, KEPT).map(({ fixture }) => fixture);
const file = fileURLToPath(new URL(`fixtures/layout-${LAYOUT_VERSION}.json`, import.meta.url));
writeFileSync(file, `${JSON.stringify(kept)}\n`);
process.stdout.write(
  `${file}: ${shots
    .slice(0, KEPT)
    .map(({ score }) => score)
    .join(', ')} kinds and states\n`,
);
