/** What is submitted: drawn from the seed and the part's number alone. */
import type { FailurePolicy, Signature, Workflow } from '../../src/model/signature.js';
import type { ScheduleInput } from '../../src/store/schedules.js';
import type { PartKind, Profile } from './plan.js';
import { Random } from './random.js';

export type Part =
  | { readonly kind: 'submit'; readonly id: string; readonly atMs: number; readonly workflow: Workflow }
  | { readonly kind: 'schedule'; readonly atMs: number; readonly input: ScheduleInput };

/** What its handler does is in the name: `good`, `bad` (always fails), `flaky` (by the draw of the worker). */
const NAMES = ['good', 'good', 'flaky', 'flaky', 'bad'] as const;
const QUEUES = ['default', 'default', 'slow'] as const;
const POLICIES: readonly FailurePolicy[] = ['stop', 'wait-all', 'ignore'];

export function makePart(seed: number, n: number, profile: Profile, startMs: number): Part {
  const random = new Random(`part/${seed}/${n}`);
  const kind = random.weighted<PartKind>(profile.partWeights);
  const atMs = random.int(0, 20_000);
  const id = `p${n}`;
  if (kind === 'schedule') return { kind: 'schedule', atMs, input: makeSchedule(random, id) };
  return { kind: 'submit', id, atMs, workflow: makeWorkflow(random, kind, startMs + atMs) };
}

function makeWorkflow(random: Random, kind: Exclude<PartKind, 'schedule'>, nowMs: number): Workflow {
  const task = (more: Partial<Signature> = {}): Workflow => ({
    kind: 'task',
    signature: signature(random, nowMs, more),
  });
  switch (kind) {
    case 'task':
      return task();
    case 'unique':
      return task({
        unique: { key: `u${random.int(0, 1)}`, onConflict: random.pick(['reject', 'existing', 'replace']) },
      });
    case 'limited':
      return task({ concurrency: { key: `c${random.int(0, 1)}`, max: random.int(1, 2) } });
    case 'callbacks':
      return task({ onSuccess: [nested(random, 1)], onError: [leaf(random)] });
    case 'workflow':
      return nested(random, 3);
    case 'large':
      return {
        kind: 'chord',
        header: Array.from({ length: random.int(34, 40) }, () => leaf(random)),
        callback: leaf(random),
      };
  }
}

function signature(random: Random, nowMs: number, more: Partial<Signature>): Signature {
  const etaMs = random.chance(0.25) ? { etaMs: nowMs + random.int(0, 8_000) } : {};
  const expiresMs = random.chance(0.1) ? { expiresMs: nowMs + random.int(500, 20_000) } : {};
  const deadlineMs = random.chance(0.1) ? { deadlineMs: nowMs + random.int(1_000, 30_000) } : {};
  return { ...plain(random), ...etaMs, ...expiresMs, ...deadlineMs, ...more };
}

function plain(random: Random): Signature {
  return {
    name: random.pick(NAMES),
    args: [{ type: 'int64', value: String(random.int(0, 99)) }],
    queue: random.pick(QUEUES),
    priority: random.int(0, 2),
    retry: { count: random.int(0, 2), backoff: 'fixed', delayMs: random.int(0, 3_000) },
    ...(random.chance(0.15) ? { immutable: true } : {}),
  };
}

function leaf(random: Random): Workflow {
  return { kind: 'task', signature: plain(random) };
}

function nested(random: Random, depth: number): Workflow {
  const inner = (): Workflow => (depth <= 1 || random.chance(0.55) ? leaf(random) : nested(random, depth - 1));
  const several = (least: number, most: number): Workflow[] => Array.from({ length: random.int(least, most) }, inner);
  const onFailure = random.pick(POLICIES);
  const onError = random.chance(0.2) ? { onError: leaf(random) } : {};
  const limit = random.chance(0.25) ? { concurrency: random.int(1, 2) } : {};
  switch (random.pick(['chain', 'chain', 'group', 'chord'] as const)) {
    case 'chain':
      return { kind: 'chain', steps: several(1, 4), onFailure, ...onError };
    case 'group':
      return { kind: 'group', members: several(0, 4), onFailure, ...onError, ...limit };
    case 'chord':
      return { kind: 'chord', header: several(0, 4), callback: inner(), onFailure, ...onError, ...limit };
  }
}

function makeSchedule(random: Random, id: string): ScheduleInput {
  return {
    id,
    spec: `@every ${random.int(2, 6)}s`,
    workflow: random.chance(0.5) ? leaf(random) : nested(random, 1),
    count: random.int(1, 3),
    missed: random.pick(['skip', 'one', 'all']),
    overlap: random.pick(['allow', 'skip', 'queue', 'cancel-other']),
    ...(random.chance(0.3) ? { jitterMs: random.int(1, 1_500) } : {}),
  };
}
