/** What a simulation does, drawn from its seed and written as text so that it can be replayed: `42 parts=0,3 faults=late`. */
import { FAULT_KINDS, type FaultKind } from './network.js';
import { Random } from './random.js';

export const ACT_KINDS = [
  'cancel',
  'cancel-force',
  'retry',
  'retry-workflow',
  'cancel-workflow',
  'pause',
  'force-release',
  'reschedule',
] as const;
export type ActKind = (typeof ACT_KINDS)[number];

/** What happens to processes and to the store. */
export const EVENT_KINDS = ['crash', 'freeze', 'clock', 'store-leader', 'compact', 'epoch'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export interface Timed<K> {
  readonly n: number;
  readonly kind: K;
  readonly atMs: number;
}

export interface Plan {
  readonly seed: number;
  readonly profile: Profile;
  /** Numbers of what is submitted; what each is follows from seed and number. */
  readonly parts: readonly number[];
  readonly acts: readonly Timed<ActKind>[];
  readonly events: readonly Timed<EventKind>[];
  readonly faults: ReadonlySet<FaultKind>;
  readonly workers: number;
  readonly leaders: number;
}

/** How much of what; a mutation asks for more of what shows it. */
export interface Profile {
  /** Part of a plan's text, unless it is the usual one. */
  readonly name: string;
  readonly parts: readonly [number, number];
  readonly acts: readonly [number, number];
  readonly events: readonly [number, number];
  readonly actWeights: Readonly<Partial<Record<ActKind, number>>>;
  readonly eventWeights: Readonly<Partial<Record<EventKind, number>>>;
  readonly partWeights: Readonly<Partial<Record<PartKind, number>>>;
}

export type PartKind = 'task' | 'unique' | 'limited' | 'callbacks' | 'workflow' | 'large' | 'schedule';

export const USUAL: Profile = {
  name: 'usual',
  parts: [3, 8],
  acts: [0, 10],
  events: [0, 8],
  actWeights: {
    cancel: 4,
    'cancel-force': 2,
    retry: 4,
    'retry-workflow': 3,
    'cancel-workflow': 2,
    pause: 3,
    'force-release': 2,
    reschedule: 2,
  },
  eventWeights: { crash: 4, freeze: 4, clock: 2, 'store-leader': 1, compact: 2, epoch: 1 },
  partWeights: { task: 4, unique: 2, limited: 2, callbacks: 2, workflow: 8, large: 0.3, schedule: 1 },
};

/** More of what is rare in the usual mixture; each of these has found something that it had not. */
const STRESS: Readonly<Record<string, Partial<Profile>>> = {
  schedules: {
    parts: [6, 10],
    partWeights: { schedule: 1 },
    events: [10, 16],
    eventWeights: { freeze: 3, crash: 1, clock: 1, epoch: 0.5 },
  },
  retries: {
    parts: [3, 6],
    partWeights: { workflow: 1 },
    acts: [14, 24],
    actWeights: { retry: 3, 'retry-workflow': 4, 'cancel-workflow': 2, cancel: 2, 'cancel-force': 1 },
  },
  large: {
    parts: [2, 4],
    partWeights: { large: 1, workflow: 1 },
    acts: [8, 16],
    actWeights: { retry: 3, 'retry-workflow': 3, 'cancel-workflow': 3, cancel: 1 },
  },
  chaos: { parts: [6, 10], acts: [8, 16], events: [12, 24] },
};

export const PROFILES: readonly Profile[] = [
  USUAL,
  ...Object.entries(STRESS).map(([name, more]) => ({ ...USUAL, ...more, name })),
];

function profileNamed(name: string): Profile {
  const profile = PROFILES.find((one) => one.name === name);
  if (profile === undefined) throw new RangeError(`there is no profile "${name}"`);
  return profile;
}

/** True time at which every simulation begins. */
export const START_MS = 1_700_000_000_000;

/** Submissions, acts and events happen within so much time; then everything is mended and must come to an end. */
export const ACTIVE_MS = 40_000;

export function makePlan(seed: number, profile: Profile = USUAL): Plan {
  const random = new Random(`plan/${seed}`);
  const timed = <K extends string>(range: readonly [number, number], weights: Readonly<Partial<Record<K, number>>>) =>
    Array.from({ length: random.int(...range) }, (_, n) => ({
      n,
      kind: random.weighted<K>(weights),
      atMs: random.int(0, ACTIVE_MS),
    }));
  return {
    seed,
    profile,
    parts: Array.from({ length: random.int(...profile.parts) }, (_, n) => n),
    acts: timed<ActKind>(profile.acts, profile.actWeights),
    events: timed<EventKind>(profile.events, profile.eventWeights),
    faults: new Set(random.chance(0.8) ? FAULT_KINDS : []),
    workers: random.int(1, 3),
    leaders: random.int(1, 2),
  };
}

/** The shortest text from which `parsePlan` makes the same plan. */
export function planText(plan: Plan): string {
  const whole = makePlan(plan.seed, plan.profile);
  const numbers = (items: readonly { readonly n: number }[]): string => items.map(({ n }) => n).join(',');
  const words = [String(plan.seed)];
  if (plan.profile.name !== USUAL.name) words.push(`profile=${plan.profile.name}`);
  if (plan.parts.length !== whole.parts.length) words.push(`parts=${plan.parts.join(',')}`);
  if (plan.acts.length !== whole.acts.length) words.push(`acts=${numbers(plan.acts)}`);
  if (plan.events.length !== whole.events.length) words.push(`events=${numbers(plan.events)}`);
  if (plan.faults.size !== whole.faults.size) words.push(`faults=${[...plan.faults].join(',')}`);
  if (plan.workers !== whole.workers) words.push(`workers=${plan.workers}`);
  if (plan.leaders !== whole.leaders) words.push(`leaders=${plan.leaders}`);
  return words.join(' ');
}

export function parsePlan(text: string): Plan {
  const [seed = '', ...words] = text.trim().split(/\s+/);
  const given = new Map(words.map((word) => word.split('=', 2) as [string, string]));
  const whole = makePlan(Number(seed), profileNamed(given.get('profile') ?? USUAL.name));
  const kept = <T>(name: string, items: readonly T[], n: (item: T) => number | string): readonly T[] => {
    const list = given.get(name)?.split(',');
    return list === undefined ? items : items.filter((item) => list.includes(String(n(item))));
  };
  return {
    ...whole,
    parts: kept('parts', whole.parts, (n) => n),
    acts: kept('acts', whole.acts, ({ n }) => n),
    events: kept('events', whole.events, ({ n }) => n),
    faults: new Set(kept('faults', [...whole.faults], (kind) => kind)),
    workers: Number(given.get('workers') ?? whole.workers),
    leaders: Number(given.get('leaders') ?? whole.leaders),
  };
}
