/** Carries out the plan's acts, at their times, on whatever is there: as people do, on stale sight and in bad moments. */
import { prefixEnd } from '../../src/kv/kv.js';
import { isLeaseholdError } from '../../src/model/errors.js';
import { advance } from '../../src/store/drive.js';
import * as operate from '../../src/store/operate.js';
import type { Operated, SettingsTarget } from '../../src/store/operate.js';
import type { OperatorCall } from '../../src/store/store.js';
import type { ActKind, Timed } from './plan.js';
import type { Process } from './process.js';
import { tolerate, type World } from './world.js';

/** Targets of pauses, resumed when the world is mended. */
const TARGETS: readonly SettingsTarget[] = [
  'all',
  { queue: 'default' },
  { queue: 'slow' },
  { name: 'good' },
  { name: 'flaky' },
];
const TRIES = 6;

export function operatorOf(acts: readonly Timed<ActKind>[], world: World): (process: Process) => Promise<void> {
  const waiting = new Set(acts);
  for (const { n } of acts) world.open.add(`act ${n}`);
  world.open.add('resume');
  return async (process) => {
    await Promise.all(
      [...waiting].map(async (act) => {
        await process.sleep(act.atMs - process.clock.monotonic());
        await carryOut(process, act);
        waiting.delete(act);
        world.open.delete(`act ${act.n}`);
      }),
    );
    while (!world.mended) await process.sleep(500);
    for (const target of TARGETS) await resume(process, target);
    world.open.delete('resume');
  };
}

async function resume(process: Process, target: SettingsTarget): Promise<void> {
  const name = process.store.newId();
  await again(process, () => operate.resume(process.store, callOf(name), target), 1_000);
}

function callOf(operationId: string): OperatorCall {
  return { actor: { kind: 'operator', name: 'ann' }, operationId, reason: 'as planned' };
}

/** Sent again under the same operation id: it is done once. */
async function again(process: Process, act: () => Promise<Operated>, tries = TRIES): Promise<void> {
  for (let i = 0; i < tries; i++) {
    let refused = false;
    const operated = await tolerate(async () => {
      try {
        return await act();
      } catch (error) {
        refused = isLeaseholdError(error);
        // An empty workflow has no member to begin from.
        if (isLeaseholdError(error, 'invalid') && error.fields['field'] === 'from') return undefined;
        throw error;
      }
    });
    if (operated !== undefined) {
      const { drive } = operated;
      if (drive !== undefined && process.random.chance(0.8)) {
        await tolerate(() => advance(process.store, { kind: 'operator', name: 'ann' }, drive));
      }
      return;
    }
    if (refused) return;
    await process.sleep(process.random.int(10, 500));
  }
}

async function carryOut(process: Process, { n, kind }: Timed<ActKind>): Promise<void> {
  const { store } = process;
  const random = process.random.fork(`act/${n}`);
  const call = callOf(`act-${n}`);
  if (kind === 'pause') {
    const target = random.pick(TARGETS);
    await again(process, () => operate.pause(store, call, target));
    await process.sleep(random.int(500, 6_000));
    return resume(process, target);
  }
  const workflows = kind === 'retry-workflow' || kind === 'cancel-workflow';
  const id = await pickId(process, workflows ? 'workflows' : 'tasks', random.next());
  if (id === undefined) return;
  await again(process, () => {
    switch (kind) {
      case 'cancel':
        return operate.cancelTask(store, call, id);
      case 'cancel-force':
        return operate.cancelTask(store, call, id, { force: true });
      case 'retry':
        return operate.retryTask(store, call, id);
      case 'retry-workflow':
        return operate.retryWorkflow(store, call, id, random.chance(0.3) ? { from: 0 } : {});
      case 'cancel-workflow':
        return operate.cancelWorkflow(store, call, id);
      case 'force-release':
        return operate.forceRelease(store, call, id);
      case 'reschedule':
        return operate.rescheduleTask(store, call, id, {
          etaMs: process.clock.now() + random.int(-1_000, 4_000),
          priority: random.int(0, 5),
        });
    }
  });
}

async function pickId(process: Process, kind: 'tasks' | 'workflows', draw: number): Promise<string | undefined> {
  const prefix = process.store.keys.kind(kind);
  const page = await tolerate(() =>
    process.store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix), keysOnly: true }),
  );
  const keys = page?.kvs ?? [];
  return keys[Math.floor(draw * keys.length)]?.key.slice(prefix.length);
}
