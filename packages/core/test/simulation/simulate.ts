/** Runs one plan to its end. The same plan gives the same run, step by step. */
import { createHash } from 'node:crypto';
import type { View } from '../../src/verify/view.js';
import { leader } from './leader.js';
import type { Alter } from './network.js';
import { operatorOf } from './operator.js';
import { ACTIVE_MS, type EventKind, type Plan, type Timed } from './plan.js';
import { submitterOf } from './submitter.js';
import { worker } from './worker.js';
import { World, type Failure } from './world.js';

export interface Outcome {
  readonly failure?: Failure;
  readonly steps: number;
  readonly revisions: number;
  readonly simulatedMs: number;
  /** Equal for equal runs. */
  readonly digest: string;
}

const MOST_STEPS = 120_000;
const LOOK_EVERY = 40;

export interface SimulateOptions {
  /** Breaks what each process sends; made anew for each. */
  readonly alter?: () => Alter;
  readonly onRevision?: (view: View) => void;
}

export async function simulate(plan: Plan, options: SimulateOptions = {}): Promise<Outcome> {
  const world = new World(plan, options.alter);
  world.onRevision = options.onRevision;
  begin(world);
  for (const event of plan.events) world.scheduler.setTimer(undefined, event.atMs, () => happen(world, event));
  world.scheduler.setTimer(undefined, ACTIVE_MS, () => mend(world));
  for (;;) {
    if (!(await world.step())) break;
    const { steps } = world.scheduler;
    if (world.mended && steps % LOOK_EVERY === 0 && world.isQuiet()) break;
    if (steps >= MOST_STEPS) {
      world.stuck();
      break;
    }
  }
  if (world.failure === undefined) world.finish();
  return {
    ...(world.failure === undefined ? {} : { failure: world.failure }),
    steps: world.scheduler.steps,
    revisions: world.checker.revisions,
    simulatedMs: world.scheduler.nowMs,
    digest: digestOf(world),
  };
}

function begin(world: World): void {
  const { plan } = world;
  const shares = [0, 1].map((which) => plan.parts.filter((n) => n % 2 === which));
  for (const [which, parts] of shares.entries()) {
    if (parts.length > 0) world.start(`client${which}`, submitterOf(parts, world));
  }
  world.start('operator', operatorOf(plan.acts, world));
  for (let n = 0; n < plan.workers; n++) world.start(`worker${n}`, worker);
  for (let n = 0; n < plan.leaders; n++) world.start(`leader${n}`, leader);
}

function happen(world: World, { n, kind }: Timed<EventKind>): void {
  const random = world.random.fork(`event/${n}`);
  const { scheduler, memory, keys } = world;
  const process = random.pick(world.running);
  switch (kind) {
    case 'crash':
      process.crash();
      scheduler.setTimer(undefined, random.int(0, 5_000), process.restart);
      break;
    case 'freeze':
      process.freeze();
      scheduler.setTimer(undefined, random.int(500, 15_000), () => process.thaw());
      break;
    case 'clock':
      process.skewMs += random.int(-20_000, 20_000);
      break;
    case 'store-leader':
      memory.changeLeader();
      break;
    case 'compact': {
      const floor = memory.revision - BigInt(random.int(0, 30));
      if (floor > 0n) memory.compact(floor);
      break;
    }
    case 'epoch':
      memory.txn({ compare: [], success: [{ kind: 'put', key: keys.epoch(), value: String(scheduler.nowMs) }] });
      break;
  }
}

/** From now on nothing fails; whoever was away comes back, and zombies find out. */
function mend(world: World): void {
  world.mended = true;
  for (const process of world.running) {
    process.skewMs = 0;
    process.thaw();
  }
}

function digestOf(world: World): string {
  const hash = createHash('sha256');
  for (const kv of world.checker.view.all()) hash.update(`${kv.key}\n${kv.value}\n${kv.modRevision}\n`);
  return hash.update(`${world.scheduler.steps}/${world.scheduler.nowMs}`).digest('hex').slice(0, 16);
}
