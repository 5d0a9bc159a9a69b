/**
 * A run of chaos: three etcd members, worker processes, submitters and operators; faults drawn from the seed, one after
 * another and now and then two at once; then all is mended and everything that was acknowledged must end. The verdict is
 * the checker's, from etcd's own history.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../simulation/random.js';
import type { Violation } from '../../src/verify/index.js';
import { Cluster, type Door } from './cluster.js';
import { Crew, tokensOutOfOrder } from './crew.js';
import { FAULTS, type Fault, type FaultName, type Stage } from './faults.js';
import { Load } from './load.js';
import { Measures, type Recovery, type Spread } from './measures.js';
import { Recorder } from './recorder.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly durationMs: number;
  /** Default 3. */
  readonly workers?: number;
  /** Submissions a second. Default 6. */
  readonly rate?: number;
  /** The nodes' leases. Default 4000. */
  readonly ttlMs?: number;
  /** Operators at work too. Default true. */
  readonly operators?: boolean;
  /** Only these. Default: all. */
  readonly faults?: readonly FaultName[];
  /** How long everything may take to end when all is mended. Default 120 000. */
  readonly settleMs?: number;
  readonly say?: (line: string) => void;
}

export interface ChaosReport {
  readonly seed: number;
  readonly etcd: string;
  readonly faults: Readonly<Record<string, number>>;
  readonly acknowledged: number;
  readonly ambiguous: number;
  readonly refused: number;
  readonly acts: number;
  readonly runs: number;
  readonly revisions: number;
  readonly recovery: Recovery;
  readonly unavailability: Spread;
  /** From the last fault until everything had ended. */
  readonly settledMs: number;
  readonly violations: readonly Violation[];
  /** Everything else that is wrong: tokens that did not grow, a history that could not be followed. */
  readonly problems: readonly string[];
}

const COMPACT_EVERY_MS = 10_000;

export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const say = options.say ?? (() => undefined);
  const cluster = await Cluster.start();
  const cleanups: (() => Promise<void>)[] = [() => cluster.stop()];
  try {
    const run = await begin(cluster, options, cleanups);
    const housekeeping = new AbortController();
    const keeping = keepSmall(run.stage, housekeeping.signal);
    const faults = await strike(run.stage, options, say);
    const mendedAt = performance.now();
    const quiet = await settle(run, options, say);
    housekeeping.abort();
    await keeping;
    return await report(run, options, faults, quiet, performance.now() - mendedAt);
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

interface Run {
  readonly stage: Stage;
  readonly load: Load;
}

async function begin(cluster: Cluster, options: ChaosOptions, cleanups: (() => Promise<void>)[]): Promise<Run> {
  const { seed, ttlMs = 4_000, workers = 3, rate = 6, operators = true } = options;
  const namespace = `chaos-${seed}`;
  const { revision } = await cluster.kv.range({ key: 'chaos-none' });
  const recorder = new Recorder(cluster.kv, namespace, revision);
  cleanups.push(() => Promise.resolve(recorder.close()));
  const measures = new Measures(cluster.kv, recorder, ttlMs);
  cleanups.push(() => measures.stop());
  const crew = await Crew.start(cluster, namespace, workers, ttlMs);
  cleanups.push(() => crew.stop());
  const submitter: Door = await cluster.door();
  const load = new Load({ door: submitter, namespace, random: new Random(`load/${seed}`), seed, rate, operators });
  cleanups.push(() => load.close());
  return { stage: { cluster, crew, submitter, recorder, measures, ttlMs }, load };
}

/** etcd's history would fill its small quota: what was seen is forgotten. */
async function keepSmall({ cluster, recorder }: Stage, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(COMPACT_EVERY_MS, undefined, { signal }).catch(() => undefined);
    await cluster.kv.compact(recorder.seen).catch(() => undefined);
  }
}

async function strike(
  stage: Stage,
  options: ChaosOptions,
  say: (line: string) => void,
): Promise<Record<string, number>> {
  const random = new Random(`faults/${options.seed}`);
  const names = options.faults ?? (Object.keys(FAULTS) as FaultName[]);
  const weights = Object.fromEntries(names.map((name) => [name, FAULTS[name].weight])) as Record<FaultName, number>;
  const began = performance.now();
  const counts: Record<string, number> = {};
  const running = new Set<Promise<void>>();
  const busy = new Set<string>();
  while (performance.now() - began < options.durationMs && healthy(stage)) {
    const name = random.weighted(weights);
    const fault: Fault = FAULTS[name];
    // Two faults of one kind would undo each other.
    if (busy.has(fault.area)) {
      await Promise.race(running);
      continue;
    }
    say(`${((performance.now() - began) / 1_000).toFixed(1)} s  ${name}`);
    counts[name] = (counts[name] ?? 0) + 1;
    busy.add(fault.area);
    const done = stage.measures.fault();
    const one = fault.run(stage, random.fork(`${name}/${counts[name]}`)).finally(() => {
      done();
      busy.delete(fault.area);
      running.delete(one);
    });
    running.add(one);
    if (!random.chance(0.35)) await one;
    await delay(random.int(100, 2_500));
  }
  await Promise.all(running);
  return counts;
}

/** The first violation ends a run: what follows from it would only hide it. */
function healthy({ recorder }: Stage): boolean {
  return recorder.violations.length === 0 && recorder.failure === undefined;
}

/** Waits until everything submitted has ended, and says whether it has. */
async function settle({ stage, load }: Run, options: ChaosOptions, say: (line: string) => void): Promise<boolean> {
  const { recorder, crew } = stage;
  if (!healthy(stage)) return false;
  for (const member of crew.members) member.restart();
  await load.stop();
  say('mended; waiting for everything to end');
  const late = AbortSignal.timeout(options.settleMs ?? 120_000);
  const asking = setInterval(() => recorder.ask(), 500);
  const quiet = await recorder.until(() => !healthy(stage) || recorder.checker.leftovers().length === 0, late);
  clearInterval(asking);
  // Judged in this very moment: a schedule may fire in the next.
  recorder.checker.finish({ acknowledged: load.acknowledged, quiet });
  return quiet && healthy(stage);
}

async function report(
  { stage, load }: Run,
  { seed }: ChaosOptions,
  faults: Record<string, number>,
  quiet: boolean,
  settledMs: number,
): Promise<ChaosReport> {
  const { recorder, measures, crew, cluster } = stage;
  await crew.stop();
  await measures.stop();
  const leftovers = quiet || !healthy(stage) ? [] : recorder.checker.leftovers();
  return {
    seed,
    etcd: cluster.etcd.version,
    faults,
    acknowledged: load.acknowledged.length,
    ambiguous: load.ambiguous,
    refused: load.refused,
    acts: load.acts,
    runs: crew.ran.length,
    revisions: recorder.checker.revisions,
    recovery: measures.recovery,
    unavailability: measures.unavailability,
    settledMs: Math.round(settledMs),
    violations: recorder.violations,
    problems: [
      ...tokensOutOfOrder(crew.ran).flatMap((line) => [
        line,
        ...recorder.story([recorder.keys.task(line.split(': ')[1]?.split(' ')[0] ?? '')]).slice(-8),
      ]),
      ...(recorder.failure === undefined ? [] : [`the history could not be judged: ${String(recorder.failure)}`]),
      ...leftovers.slice(0, 20).map(({ message, keys }) => `not ended in time: ${message} (${keys.join(', ')})`),
      ...recorder.violations.flatMap(({ keys }) => recorder.story(keys).slice(-12)),
    ],
  };
}
