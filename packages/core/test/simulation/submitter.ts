/** Submits its share of the parts, each again and again under the same id until it is answered, and drives workflows on. */
import type { Actor } from '../../src/model/records.js';
import { isLeaseholdError } from '../../src/model/errors.js';
import { advance } from '../../src/store/drive.js';
import { upsertSchedule } from '../../src/store/schedules.js';
import { submitWorkflow } from '../../src/store/submit.js';
import { START_MS } from './plan.js';
import type { Process } from './process.js';
import { makePart, type Part } from './workload.js';
import { tolerate, type World } from './world.js';

/** Of a submitter and its successors after crashes. */
export function submitterOf(parts: readonly number[], world: World): (process: Process) => Promise<void> {
  const waiting = new Map(parts.map((n) => [n, makePart(world.plan.seed, n, world.plan.profile, START_MS)]));
  for (const n of parts) world.open.add(`part ${n}`);
  return async (process) => {
    await Promise.all(
      [...waiting].map(async ([n, part]) => {
        await submitPart(process, part, world, () => {
          waiting.delete(n);
          world.open.delete(`part ${n}`);
        });
      }),
    );
  };
}

async function submitPart(process: Process, part: Part, world: World, answered: () => void): Promise<void> {
  await process.sleep(part.atMs - process.clock.monotonic());
  for (;;) {
    const done = await tolerate(() => submitOnce(process, part, world));
    if (done !== undefined) {
      answered();
      if (done.drive !== undefined && process.random.chance(0.9)) await drive(process, done.drive);
      return;
    }
    await process.sleep(process.random.int(10, 1_000));
  }
}

async function drive(process: Process, id: string): Promise<void> {
  await tolerate(() => advance(process.store, actorOf(process), id));
}

function actorOf(process: Process): Actor {
  return { kind: 'client', name: process.name };
}

async function submitOnce(process: Process, part: Part, world: World): Promise<{ readonly drive?: string }> {
  const giveUpMs = process.random.int(500, 20_000);
  if (part.kind === 'schedule') {
    const call = { actor: actorOf(process), operationId: `${part.input.id}-made` };
    await upsertSchedule(process.store, call, part.input);
    return {};
  }
  try {
    const { kind, id } = await submitWorkflow(process.store, actorOf(process), part.workflow, {
      id: part.id,
      giveUpMs,
    });
    world.acknowledged.push({ kind, id });
    return kind === 'workflow' ? { drive: id } : {};
  } catch (error) {
    // Tried for so long that a date of it has passed: whether it was accepted before is not known.
    const refused = isLeaseholdError(error, 'unique-conflict') || isLeaseholdError(error, 'invalid');
    if (!refused) throw error;
    return {};
  }
}
